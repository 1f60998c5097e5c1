import type { WatchState } from './watch-state.ts'

export interface AssignedPerformer {
  /** Null for a performer of a site. */
  readonly performer: number | null
  readonly name: string
  /** Source for an <img>, or null. */
  readonly picture: string | null
}

type AssignmentState = Pick<WatchState, 'assignments' | 'performers'>

export function performerOf({ assignments, performers }: AssignmentState, channelId: number): AssignedPerformer | null {
  const assignment = byChannel(assignments).get(channelId)
  if (assignment === undefined) return null
  const { id, name } = assignment.performer
  const performer = assignment.site === undefined ? performers.find((candidate) => candidate.id === id) : undefined
  return { performer: id, name: performer?.name ?? name, picture: showable(performer?.picture ?? null) }
}

/** Null unless the Content-Security-Policy allows it: a data URL, or a path on this service. */
export function showable(picture: string | null): string | null {
  return picture !== null && /^(data:image\/|\/(?!\/))/.test(picture) ? picture : null
}

type Assignments = AssignmentState['assignments']

const indexes = new WeakMap<Assignments, ReadonlyMap<number | null, Assignments[number]>>()

/** Indexes assignments once, because each of thousands of channels looks for its own. */
function byChannel(assignments: Assignments): ReadonlyMap<number | null, Assignments[number]> {
  const known = indexes.get(assignments)
  if (known !== undefined) return known
  const index = new Map(assignments.toReversed().map((assignment) => [assignment.channel_id, assignment]))
  indexes.set(assignments, index)
  return index
}
