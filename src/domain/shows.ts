/** Shows: the changes that each state allows, and the channels that belong to a show. */

import type { Group } from '../contract/groups.ts'
import type { AnnouncedShow, ShowBody } from '../contract/shows.ts'
import type { ShowState } from '../contract/values.ts'
import { RequestError } from './errors.ts'
import { isSameJson } from './json.ts'
import { toTimestamp } from './timestamp.ts'
import type { Unstored } from './versions.ts'

/** Times are epoch milliseconds. */
export interface Show {
  readonly id: number
  readonly title: string
  readonly starts_at: number | null
  readonly ends_at: number | null
  readonly group_ids: readonly number[]
  readonly notes: string
  readonly started_at: number | null
  readonly ended_at: number | null
  /**
   * The channels of an ended show, which later changes of its groups do not affect; null before the end, and for an
   * imported show.
   */
  readonly channel_ids: readonly number[] | null
  /** Increases with every change of its scenes, which is announced as a change of the show. */
  readonly scenes_revision: number
  /** Starting or ending the show does not change it. */
  readonly version: number
}

export type NewShow = Omit<Unstored<Show>, 'scenes_revision'>

/** The fields that users enter. */
export type ShowPlan = Pick<Show, 'title' | 'starts_at' | 'ends_at' | 'group_ids' | 'notes'>

export function stateOf({ started_at, ended_at }: Pick<Show, 'started_at' | 'ended_at'>): ShowState {
  if (ended_at !== null) return 'ended'
  return started_at === null ? 'planned' : 'running'
}

export function toShowBody(show: Show): ShowBody {
  const { channel_ids: _, scenes_revision: __, starts_at, ends_at, started_at, ended_at, ...fields } = show
  return {
    ...fields,
    state: stateOf(show),
    starts_at: toTimestampOrNull(starts_at),
    ends_at: toTimestampOrNull(ends_at),
    started_at: toTimestampOrNull(started_at),
    ended_at: toTimestampOrNull(ended_at),
  }
}

function toTimestampOrNull(time: number | null): string | null {
  return time === null ? null : toTimestamp(time)
}

/** Throws a RequestError if the change is not allowed. */
export function changePlan(show: Show, change: Partial<ShowPlan>): Show {
  const changed = { ...show, ...change }
  requireOrder(changed)
  if (stateOf(show) === 'ended' && !isSameJson(show.group_ids, changed.group_ids)) {
    throw wrongState('The channels of an ended show cannot be changed.')
  }
  return changed
}

export function requireOrder({ starts_at, ends_at }: Pick<ShowPlan, 'starts_at' | 'ends_at'>): void {
  if (starts_at === null || ends_at === null || ends_at > starts_at) return
  throw new RequestError('bad_request', { details: 'ends_at: expected a time after starts_at' })
}

/**
 * Throws a RequestError if one of the groups does not exist. Groups that the show already has may have been removed.
 */
export function requireGroups(
  { group_ids }: Pick<ShowPlan, 'group_ids'>,
  groups: readonly Pick<Group, 'id'>[],
  before: readonly number[] = [],
): void {
  const known = new Set([...groups.map(({ id }) => id), ...before])
  const unknown = group_ids.find((id) => !known.has(id))
  if (unknown !== undefined) {
    throw new RequestError('bad_request', { details: `group_ids: there is no group ${unknown}` })
  }
}

/** Throws a RequestError unless the show is planned. */
export function start(show: Show, now: number): Show {
  if (stateOf(show) === 'running') throw wrongState('The show is already running.')
  if (stateOf(show) === 'ended') throw wrongState('The show has ended and cannot be started again.')
  return { ...show, started_at: now }
}

/** Throws a RequestError unless the show is running. */
export function end(show: Show, now: number, channel_ids: readonly number[]): Show {
  if (show.started_at === null || stateOf(show) !== 'running') throw wrongState('The show is not running.')
  // The system clock may have been set back.
  return { ...show, ended_at: Math.max(now, show.started_at), channel_ids }
}

export function requireNotRunning(show: Show): void {
  if (stateOf(show) === 'running') throw wrongState('The show is running. End it before you delete it.')
}

function wrongState(message: string): RequestError {
  return new RequestError('wrong_state', { subject: message })
}

/** Lists the channels in the show's groups; all channels if it has no groups. */
export function listChannelsOfShow(
  { group_ids, channel_ids }: Pick<Show, 'group_ids' | 'channel_ids'>,
  channels: readonly { readonly id: number; readonly slot: number }[],
  groups: readonly Pick<Group, 'id' | 'slots'>[],
): readonly number[] {
  if (channel_ids !== null) return channel_ids
  const slots = new Set(groups.filter(({ id }) => group_ids.includes(id)).flatMap((group) => group.slots))
  return channels.filter(({ slot }) => group_ids.length === 0 || slots.has(slot)).map(({ id }) => id)
}

/** Lists the shows that differ, in the form in which they are announced. */
export function listShowChanges(before: readonly Show[], after: readonly Show[]): AnnouncedShow[] {
  const known = new Map(before.map((show) => [show.id, show]))
  const remaining = new Set(after.map(({ id }) => id))
  return [
    ...after.filter((show) => !isSameJson(known.get(show.id), show)).map(toShowBody),
    ...before
      .filter(({ id }) => !remaining.has(id))
      .map((show) => ({ ...toShowBody(show), state: 'deleted' as const })),
  ]
}

export interface RunningShow {
  readonly id: number
  readonly group_ids: readonly number[]
}

interface SlotGroup {
  readonly id: number
  readonly slots: readonly number[]
}

/** Lists the running shows that have no groups, or have the channel's slot in one of their groups. */
export function listShowsOfSlot(
  slot: number,
  runningShows: readonly RunningShow[],
  groups: readonly SlotGroup[],
): readonly number[] {
  if (runningShows.length === 0) return []
  const groupsOfSlot = new Set(groups.filter(({ slots }) => slots.includes(slot)).map(({ id }) => id))
  return runningShows
    .filter(({ group_ids }) => group_ids.length === 0 || group_ids.some((id) => groupsOfSlot.has(id)))
    .map(({ id }) => id)
}
