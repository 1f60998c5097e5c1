import type { AlertBody } from '../../../src/contract/alerts.ts'
import type { Severity } from '../../../src/contract/values.ts'
import { groupBy } from '../../../src/domain/group-by.ts'
import { useWatchState } from '../../app/context.ts'

const severityOrder: Readonly<Record<Severity, number>> = { critical: 0, warning: 1, info: 2 }

/** A snoozed alert is open. */
export function isOpen({ state }: Pick<AlertBody, 'state'>): boolean {
  return state === 'raised' || state === 'snoozed'
}

/** Alerts from a followed site can only be handled at that site. */
export function canRespond({ state, site }: Pick<AlertBody, 'state' | 'site'>): boolean {
  return site === null && isOpen({ state })
}

export function newestFirst(a: AlertBody, b: AlertBody): number {
  return Date.parse(b.raised_at) - Date.parse(a.raised_at) || b.id - a.id
}

/** True if it asks for attention: neither acknowledged, snoozed nor silenced. */
export function isUnhandled({ state, silenced }: Pick<AlertBody, 'state' | 'silenced'>): boolean {
  return state === 'raised' && !silenced
}

export function mostUrgentFirst(a: AlertBody, b: AlertBody): number {
  const byState = Number(isUnhandled(b)) - Number(isUnhandled(a)) || Number(isOpen(b)) - Number(isOpen(a))
  return byState || severityOrder[a.severity] - severityOrder[b.severity] || newestFirst(a, b)
}

/**
 * The most urgent alert of the channel or its receiver. It may be acknowledged, so that the card can show who
 * responded.
 */
export function useChannelAlert(receiverId: number, channelId: number): AlertBody | null {
  return useWatchState(({ alerts }) => findChannelAlert(alerts, receiverId, channelId))
}

export function findChannelAlert(
  alerts: readonly AlertBody[],
  receiverId: number,
  channelId: number,
): AlertBody | null {
  const { byChannel, byReceiver } = indexOf(alerts)
  const ofReceiver = byReceiver
    .get(receiverId)
    ?.filter(
      ({ kind, data }) =>
        kind === 'receiver_offline' || (kind === 'levels_lost' && data.channels?.includes(channelId) === true),
    )
  return [...(byChannel.get(channelId) ?? []), ...(ofReceiver ?? [])].toSorted(mostUrgentFirst)[0] ?? null
}

interface AlertIndex {
  readonly byChannel: ReadonlyMap<number | null, readonly AlertBody[]>
  /** Without those of channels. */
  readonly byReceiver: ReadonlyMap<number | null, readonly AlertBody[]>
}

/** Lists of alerts are replaced, never changed. */
const indexes = new WeakMap<readonly AlertBody[], AlertIndex>()

function indexOf(alerts: readonly AlertBody[]): AlertIndex {
  const known = indexes.get(alerts)
  if (known !== undefined) return known
  const byChannel = groupBy(alerts, ({ channel_id }) => channel_id)
  const index = { byChannel, byReceiver: groupBy(byChannel.get(null) ?? [], ({ receiver_id }) => receiver_id) }
  indexes.set(alerts, index)
  return index
}
