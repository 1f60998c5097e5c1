/** Selects the recorded seconds that are kept as long as minutes: those of shows, and those around alerts. */

import type { Group } from '../../contract/groups.ts'
import { listChannelsOfShow, type Show } from '../shows.ts'
import type { PinnedRange } from './level-history.ts'

/** An alert of a channel, or of a receiver and so of all its channels. Times are epoch milliseconds. */
export interface AlertRange {
  readonly channel_id: number | null
  readonly receiver_id: number | null
  readonly raised_at: number
  readonly cleared_at: number | null
}

export interface Pinned {
  readonly alerts: readonly AlertRange[]
  readonly shows: readonly Show[]
  readonly groups: readonly Pick<Group, 'id' | 'slots'>[]
  readonly channels: readonly { readonly id: number; readonly slot: number; readonly receiverId: number }[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Seconds are kept this long before and after an alert. */
const aroundAlertMs = 60_000

export function listPinnedRanges({ alerts, shows, groups, channels, now }: Pinned): PinnedRange[] {
  const idsOf = new Map<number, number[]>()
  for (const { id, receiverId } of channels) idsOf.set(receiverId, [...(idsOf.get(receiverId) ?? []), id])
  const toRange = (channelId: number, from: number, to: number): PinnedRange => ({
    channelId,
    from: Math.floor(from / 1000),
    to: Math.ceil(to / 1000),
  })
  return [
    ...alerts.flatMap(({ channel_id, receiver_id, raised_at, cleared_at }) => {
      const ofReceiver = receiver_id === null ? [] : (idsOf.get(receiver_id) ?? [])
      const ids = channel_id === null ? ofReceiver : [channel_id]
      return ids.map((id) => toRange(id, raised_at - aroundAlertMs, (cleared_at ?? now) + aroundAlertMs))
    }),
    ...shows.flatMap((show) => {
      const { started_at, ended_at } = show
      if (started_at === null) return []
      return listChannelsOfShow(show, channels, groups).map((id) => toRange(id, started_at, ended_at ?? now))
    }),
  ]
}
