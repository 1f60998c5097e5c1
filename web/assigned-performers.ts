/** The performers who are assigned to the transmitters of channels. */

import type { LivePerformerBody } from '../src/contract/live-messages.ts'
import type { WatchState } from './state.ts'

export interface AssignedPerformer {
  readonly performer: number
  readonly name: string
  /** Source for an <img>, or null. */
  readonly picture: string | null
}

type AssignmentState = Pick<WatchState, 'assignments' | 'performers' | 'pictures'>

/** Returns the performer who is assigned to the transmitter that a channel receives. */
export function performerOf(
  { assignments, performers, pictures }: AssignmentState,
  channelId: number,
): AssignedPerformer | null {
  const assignment = assignments.find(({ channel_id }) => channel_id === channelId)
  if (assignment === undefined) return null
  const { id, name } = assignment.performer
  const performer = performers.find((candidate) => candidate.id === id)
  const key = performer === undefined ? null : pictureKey(performer)
  const picture = key === null ? (performer?.picture ?? null) : (pictures.get(key) ?? null)
  return { performer: id, name: performer?.name ?? name, picture: showable(picture) }
}

/** Returns the picture if the Content-Security-Policy allows it: a data URL, or a path on this service. */
export function showable(picture: string | null): string | null {
  return picture !== null && /^(data:image\/|\/(?!\/))/.test(picture) ? picture : null
}

/** Identifies a picture that is too large for messages; null for any other picture. */
export function pictureKey({ id, picture_tag }: LivePerformerBody): string | null {
  return picture_tag === undefined ? null : `${id} ${picture_tag}`
}
