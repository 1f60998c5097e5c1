/** The events of the day before the show, as Micwatch would have recorded them. */

import type { EventKind } from '../../src/contract/values.ts'
import type { OnPeriod, Period, VenueDay } from './day.ts'
import {
  batteryRows,
  type PlayedChannel,
  type ReportedScale,
  reportedBattery,
  timeAtBattery,
  type WeakSpan,
} from './day-levels.ts'

/** An event without its text. Times are epoch milliseconds; both ids are null for the whole venue. */
export interface PlayedEvent {
  readonly time: number
  /** Null for an event without a duration. */
  readonly until: number | null
  readonly kind: EventKind
  readonly channelId: number | null
  readonly receiverId: number | null
  /** The text of a marker. */
  readonly text?: string
  readonly data?: {
    readonly seconds?: number
    readonly lowest_dbm?: number
    readonly battery?: number
    readonly from?: number
    readonly to?: number
  }
}

type Happening = Pick<PlayedEvent, 'kind' | 'data'> & { readonly atMs: number; readonly untilMs?: number }

/** Lists the events of a channel on the day, except dropouts. */
export function listChannelEvents(channel: PlayedChannel, receiverId: number, startedAt: number): PlayedEvent[] {
  const { id, day, scale, offline } = channel
  const happenings = scale.hasFixedTransmitter ? [] : [...transmitterEvents(day.on, scale), ...muteEvents(channel)]
  const interferences = day.interference.map(
    ({ fromMs, toMs }): Happening => ({
      atMs: fromMs,
      untilMs: toMs,
      kind: 'interference',
      data: { seconds: toSeconds(toMs - fromMs) },
    }),
  )
  const isReceived = ({ atMs }: Happening) => offline.every(({ fromMs, toMs }) => atMs < fromMs || atMs >= toMs)
  return [...happenings, ...interferences].filter(isReceived).map(({ atMs, untilMs, ...fields }) => ({
    ...fields,
    time: startedAt + atMs,
    until: untilMs === undefined ? null : startedAt + untilMs,
    channelId: id,
    receiverId,
  }))
}

function transmitterEvents(periods: readonly OnPeriod[], scale: ReportedScale): Happening[] {
  return periods.flatMap((period, index): Happening[] => {
    const previous = periods[index - 1]
    const [from, to] = [previous?.batteryTo, period.batteryFrom].map((percent) =>
      percent === undefined ? null : reportedBattery(scale, Math.round(percent)),
    )
    const isChanged = from != null && to != null && to - from >= 20
    const changed: Happening = { atMs: period.fromMs, kind: 'battery_changed', data: { from: from ?? 0, to: to ?? 0 } }
    return [
      { atMs: period.fromMs, kind: 'transmitter_on' },
      ...(isChanged ? [changed] : []),
      ...batteryEvents(period, scale),
      // The last period continues into the show.
      ...(period.toMs < 0 ? [{ atMs: period.toMs, kind: 'transmitter_off' } as const] : []),
    ]
  })
}

/** Returns the times at which the battery became low and critical. */
function batteryEvents(period: OnPeriod, scale: ReportedScale): Happening[] {
  return batteryRows.flatMap(({ row, percent }): Happening[] => {
    if (row === 'battery_replace_soon' || scale.battery !== 'percent') return []
    const atMs = timeAtBattery(period, percent)
    return atMs === null ? [] : [{ atMs, kind: row, data: { battery: percent } }]
  })
}

function muteEvents({ day, isMuted }: PlayedChannel): Happening[] {
  if (isMuted) return []
  const isOn = (timeMs: number) => day.on.some(({ fromMs, toMs }) => fromMs <= timeMs && timeMs < toMs)
  return day.muted.flatMap(({ fromMs, toMs }) => {
    const ends: Happening[] = [
      { atMs: fromMs, kind: 'muted' },
      { atMs: toMs, kind: 'unmuted' },
    ]
    return ends.filter(({ atMs }) => isOn(atMs))
  })
}

export function listReceiverEvents(offline: readonly Period[], receiverId: number, startedAt: number): PlayedEvent[] {
  const common = { until: null, channelId: null, receiverId }
  return offline.flatMap(({ fromMs, toMs }): PlayedEvent[] => [
    { ...common, time: startedAt + fromMs, kind: 'receiver_offline' },
    { ...common, time: startedAt + toMs, kind: 'receiver_online' },
  ])
}

export function toDropoutEvent({ channelId, fromMs, toMs, lowestDbm }: WeakSpan, receiverId: number): PlayedEvent {
  const data = { seconds: toSeconds(toMs - fromMs), lowest_dbm: lowestDbm }
  return { time: fromMs, until: toMs, kind: 'rf_dropout', channelId, receiverId, data }
}

/**
 * Lists the remarks of the crew as markers. `findChannel` returns the ids of a channel in a device of the show, or null
 * if it is not monitored.
 */
export function listMarkers(
  { remarks }: VenueDay,
  startedAt: number,
  findChannel: (deviceId: string, channel: number) => { readonly id: number; readonly receiverId: number } | null,
): PlayedEvent[] {
  return remarks.map(({ fromMs, toMs, text, channel }) => {
    const found = channel === undefined ? null : findChannel(channel.deviceId, channel.channel)
    return {
      time: startedAt + fromMs,
      until: toMs === null ? null : startedAt + toMs,
      kind: 'marker',
      channelId: found?.id ?? null,
      receiverId: found?.receiverId ?? null,
      text,
    }
  })
}

function toSeconds(ms: number): number {
  return Math.round(ms / 100) / 10
}
