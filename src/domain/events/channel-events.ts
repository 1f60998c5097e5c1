/**
 * Derives events from two states of a channel or receiver. A state is reduced to facts, some of which must be
 * remembered: while a receiver is offline or stale, the last known facts apply.
 */

import type { EventKind } from '../../contract/values.ts'
import { noData } from '../alerts/alert.ts'
import { listNames } from '../alerts/alert-names.ts'
import { toChannelData } from '../alerts/channel-alerts.ts'
import { boundOf, hasRow, type Thresholds } from '../conditions/condition.ts'
import { type Channel, frequencyOf, isChannelMuted, type Receiver } from '../equipment/receiver.ts'
import type { Title } from '../equipment/slot-record.ts'
import type { EventData } from './event.ts'
import { draftEvent, type EventDraft } from './event.ts'

export interface ChannelFacts {
  readonly isOn: boolean
  readonly isMuted: boolean
  readonly isBatteryLow: boolean
  readonly isBatteryCritical: boolean
  /** The last reading in percent, whatever the transmitter. */
  readonly battery: number | null
  readonly frequency: string | null
  readonly channelName: string | null
  readonly transmitterName: string | null
}

/**
 * Returns the facts before the first report of a channel. A transmitter that is on in that report was switched on at an
 * unknown time before. Everything else in it begins with the report.
 */
export function factsBefore({ transmitter }: Channel): ChannelFacts {
  return {
    isOn: transmitter !== null,
    isMuted: false,
    isBatteryLow: false,
    isBatteryCritical: false,
    battery: null,
    frequency: null,
    channelName: null,
    transmitterName: null,
  }
}

/** Reads the facts of a channel, even if its receiver is offline or stale. */
export function readFacts(channel: Channel): ChannelFacts {
  const { condition, transmitter, last_transmitter } = channel
  const isCritical = hasRow(condition, 'battery_critical')
  return {
    isOn: transmitter !== null,
    isMuted: transmitter !== null && isChannelMuted(channel),
    isBatteryLow: isCritical || hasRow(condition, 'battery_low'),
    isBatteryCritical: isCritical,
    battery: (transmitter ?? last_transmitter)?.battery ?? null,
    frequency: frequencyOf(channel),
    channelName: channel.name,
    transmitterName: transmitter?.name ?? null,
  }
}

/** Facts that are unknown now keep their last known value. */
export function nextFacts(before: ChannelFacts, channel: Channel): ChannelFacts {
  const { condition } = channel
  if (hasRow(condition, 'receiver_offline')) return before
  const read = readFacts(channel)
  const { isBatteryLow, isBatteryCritical } = read
  if (hasRow(condition, 'stale')) return { ...before, isBatteryLow, isBatteryCritical }
  return {
    ...read,
    battery: read.battery ?? before.battery,
    frequency: read.frequency ?? before.frequency,
    channelName: read.channelName ?? before.channelName,
    transmitterName: read.isOn ? (read.transmitterName ?? before.transmitterName) : null,
  }
}

interface Happening {
  readonly kind: EventKind
  readonly data?: EventData
}

/** A rise by at least this many percent means a new battery. */
const batteryRise = 20

export function compareFacts(before: ChannelFacts, after: ChannelFacts): Happening[] {
  const happenings: Happening[] = []
  const change = (kind: EventKind, from: string | number | null, to: string | number | null) => {
    if (from !== null && to !== null && from !== to) happenings.push({ kind, data: { from, to } })
  }
  if (!before.isOn && after.isOn) happenings.push({ kind: 'transmitter_on' })
  if (before.isOn && !after.isOn) happenings.push({ kind: 'transmitter_off' })
  if (!before.isMuted && after.isMuted) happenings.push({ kind: 'muted' })
  // A transmitter that is off is neither muted nor unmuted.
  if (before.isMuted && !after.isMuted && after.isOn) happenings.push({ kind: 'unmuted' })
  if (after.isBatteryCritical && !before.isBatteryCritical) happenings.push({ kind: 'battery_critical' })
  else if (after.isBatteryLow && !before.isBatteryLow) happenings.push({ kind: 'battery_low' })
  if (before.battery !== null && after.battery !== null && after.battery - before.battery >= batteryRise) {
    change('battery_changed', before.battery, after.battery)
  }
  change('frequency_changed', before.frequency, after.frequency)
  if (before.channelName !== after.channelName) change('renamed', before.channelName, after.channelName)
  else if (before.isOn && after.isOn) change('renamed', before.transmitterName, after.transmitterName)
  return happenings
}

/** Kinds that cannot follow themselves on one channel, because the other kind must be between them. */
const alternating: Partial<Record<EventKind, string>> = {
  transmitter_on: 'transmitter',
  transmitter_off: 'transmitter',
}

/** A channel as events name it. */
export interface NamedChannel {
  readonly receiver: Receiver
  readonly channel: Channel
  readonly title: Title
}

/** The data of an event of a channel. */
export function toEventData({ receiver, channel, title }: NamedChannel, threshold: number | null = null): EventData {
  return { ...toChannelData(receiver, channel, threshold), ...listNames(channel, title) }
}

export function toChannelEvent(
  named: NamedChannel,
  { kind, data }: Happening,
  { time, thresholds }: { readonly time: number; readonly thresholds: Thresholds },
): EventDraft {
  const { receiver, channel } = named
  const subject = alternating[kind]
  const lastSeen = kind === 'transmitter_off' ? (channel.last_transmitter?.last_seen ?? time) : time
  return draftEvent(kind, aboutChannel(receiver, channel), {
    time: Math.min(time, lastSeen),
    data: { ...toEventData(named, boundOf(kind, thresholds)), ...data },
    subject: subject === undefined ? null : `${subject}:${channel.id}`,
  })
}

export function aboutChannel({ id, manufacturer }: Pick<Receiver, 'id' | 'manufacturer'>, channel: { id: number }) {
  return { channel_id: channel.id, receiver_id: id, manufacturer }
}

/** The rows of a condition that are recorded as ranges. */
export const rangeKinds = ['interference', 'clipping'] as const
/** The ranges that are found in the sound. */
export const audioRangeKinds = ['audio_dropout', 'audio_clipping'] as const
export type AudioRangeKind = (typeof audioRangeKinds)[number]
export type RangeKind = (typeof rangeKinds)[number] | AudioRangeKind | 'rf_dropout'

/** Identifies an open range. */
export function rangeSubject(kind: RangeKind, channelId: number): string {
  return `${kind}:${channelId}`
}

/** Creates an open range of a channel. */
export function toRange(
  named: NamedChannel,
  kind: RangeKind,
  {
    time,
    thresholds,
    data: more,
  }: { readonly time: number; readonly thresholds: Thresholds; readonly data?: EventData },
): EventDraft {
  const { receiver, channel } = named
  const channelData = toEventData(named, boundOf(kind, thresholds))
  const data = { ...channelData, ...more }
  const subject = rangeSubject(kind, channel.id)
  return draftEvent(kind, aboutChannel(receiver, channel), { time, is_open: true, data, subject })
}

/** The earlier state for `compareReceiverStates`. */
export type ReceiverFacts = Pick<Receiver, 'name' | 'is_active' | 'is_named_by_hand'>

/**
 * Lists the events between two states of a receiver, except those of its channels. The receiver was lost when its last
 * value was received.
 */
export function compareReceiverStates(before: ReceiverFacts, after: Receiver, time: number): EventDraft[] {
  const about = aboutReceiver(after)
  const data = { ...noData, name: after.name, receiver: after.name }
  const drafts: EventDraft[] = []
  if (before.is_active !== after.is_active) {
    const isCritical = after.channels.some(({ condition }) => condition.severity === 'critical')
    drafts.push(
      draftEvent(after.is_active ? 'receiver_online' : 'receiver_offline', about, {
        time: after.is_active ? time : Math.min(time, after.last_seen),
        data,
        subject: `receiver:${after.id}`,
        ...(!after.is_active && isCritical && { severity: 'critical' }),
      }),
    )
  }
  // The event of a name that a user has entered is stored with it.
  const isReported = !before.is_named_by_hand && !after.is_named_by_hand
  if (isReported && before.name !== after.name) {
    drafts.push(draftEvent('renamed', about, { time, data: { ...data, from: before.name, to: after.name } }))
  }
  return drafts
}

export function aboutReceiver({ id, manufacturer }: Pick<Receiver, 'id' | 'manufacturer'>) {
  return { channel_id: null, receiver_id: id, manufacturer }
}
