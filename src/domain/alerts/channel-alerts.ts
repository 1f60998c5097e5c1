/** The causes of alerts about a receiver and its channels. The battery rows of a channel have one alert together. */

import type { AlertKind } from '../../contract/alert-kinds.ts'
import { batteryBounds, findCrossing, readBattery } from '../conditions/battery.ts'
import { boundOf, conditionTable, hasRow, type Thresholds } from '../conditions/condition.ts'
import { type Channel, frequencyOf, type Receiver } from '../equipment/receiver.ts'
import { toTimestamp } from '../timestamp.ts'
import { type Alert, type AlertData, batteryKinds, noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

const otherKinds = ['stale', 'encryption_error', 'interference', 'rf_weak', 'no_audio', 'muted'] as const
const channelKinds = [...batteryKinds, ...otherKinds]
type ChannelKind = (typeof channelKinds)[number]

/** Called for every report, so it compares identities. */
export function canChangeCauses(before: Receiver | undefined, after: Receiver): boolean {
  if (before === undefined || before.is_active !== after.is_active || before.details !== after.details) return true
  if (before.channels === after.channels) return false
  if (before.channels.length !== after.channels.length) return true
  return after.channels.some((channel, index) => {
    const known = before.channels[index]
    return known !== channel && (known === undefined || hasOtherValues(known, channel))
  })
}

function hasOtherValues(before: Channel, after: Channel): boolean {
  const { condition, transmitter, slot } = after
  if (condition !== before.condition || slot !== before.slot || frequencyOf(after) !== frequencyOf(before)) return true
  const known = before.transmitter
  const isSameBattery = transmitter?.battery === known?.battery
  return !isSameBattery || transmitter?.details?.battery_minutes !== known?.details?.battery_minutes
}

interface ReceiverContext {
  readonly areSourcesFailing: boolean
  thresholds(channel: Channel): Thresholds
  /** True if a mute of the channel needs attention, or is marked as on purpose. */
  needsMuteAlert(channel: Channel): boolean
}

export function listReceiverCauses(receiver: Receiver, context: ReceiverContext): readonly Cause[] {
  const { is_active, channels } = receiver
  const causes: Cause[] = is_active ? [] : [toOfflineCause(receiver, context.areSourcesFailing)]
  const silent = channels.filter(hasLostLevels)
  if (silent.length > 0) causes.push(toLevelsLostCause(receiver, silent, context.areSourcesFailing))
  for (const channel of channels) {
    for (const kind of channelKinds) {
      if (!hasRow(channel.condition, kind)) continue
      if (kind !== 'muted' || context.needsMuteAlert(channel))
        causes.push(toChannelCause(receiver, channel, kind, context))
    }
  }
  return causes
}

/** The receiver was in use if one of its channels was. */
function toOfflineCause({ id, name, manufacturer, last_seen, channels }: Receiver, isInhibited: boolean): Cause {
  const offline = channels.map(({ condition }) => condition).filter(({ state }) => state === 'receiver_offline')
  return {
    subject: `receiver:${id}`,
    kind: 'receiver_offline',
    severity: offline.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning',
    since: offline.length === 0 ? null : Math.min(...offline.map(({ since }) => since)),
    isInhibited,
    manufacturer,
    receiver_id: id,
    channel_id: null,
    data: { ...noData, name, receiver: name, lost_at: toTimestamp(last_seen) },
  }
}

function hasLostLevels({ condition, transmitter }: Channel): boolean {
  return transmitter !== null && hasRow(condition, 'no_levels')
}

function toLevelsLostCause(receiver: Receiver, silent: readonly Channel[], areSourcesFailing: boolean): Cause {
  const { id, name, manufacturer, is_active } = receiver
  const since = silent.flatMap(({ condition }) => (condition.state === 'no_levels' ? condition.since : []))
  return {
    subject: `levels:${id}`,
    kind: 'levels_lost',
    since: since.length === 0 ? null : Math.min(...since),
    isInhibited: areSourcesFailing || !is_active,
    manufacturer,
    receiver_id: id,
    channel_id: null,
    data: { ...noData, name, receiver: name, channels: silent.map((channel) => channel.id) },
  }
}

export function toChannelCause(
  receiver: Receiver,
  channel: Channel,
  kind: ChannelKind,
  { areSourcesFailing, thresholds }: Omit<ReceiverContext, 'needsMuteAlert'>,
): Cause {
  const { condition } = channel
  const bounds = thresholds(channel)
  const isBattery = batteryKinds.some((battery) => battery === kind)
  return {
    subject: `${isBattery ? 'battery' : kind}:${channel.id}`,
    kind,
    // A mute that began before the show needs attention only once the show starts.
    since: condition.state === kind && kind !== 'muted' ? condition.since : null,
    isInhibited: areSourcesFailing || !receiver.is_active,
    manufacturer: receiver.manufacturer,
    receiver_id: receiver.id,
    channel_id: channel.id,
    data: {
      ...toChannelData(receiver, channel, boundOf(kind, bounds)),
      ...toKindData(receiver, channel, kind, bounds),
    },
  }
}

function toKindData(
  { last_seen }: Receiver,
  { transmitter, last_transmitter: last, rf_level }: Channel,
  kind: ChannelKind,
  thresholds: Thresholds,
): Partial<AlertData> {
  const level = transmitter?.rf_level ?? rf_level
  switch (kind) {
    case 'battery_low':
    case 'battery_critical':
      return (transmitter && findCrossing(readBattery(transmitter), batteryBounds(thresholds)[kind])) ?? {}
    case 'battery_died':
      return last === null ? {} : { died_at: toTimestamp(last.last_seen) }
    case 'stale':
      return { lost_at: toTimestamp(last_seen) }
    case 'rf_weak':
      return level === null || level >= thresholds.RF_WEAK_DBM ? {} : { rf_level: level }
    default:
      return {}
  }
}

/** A cause about a channel that does not follow from its condition. */
export function toCauseOf(
  kind: AlertKind,
  receiver: Receiver,
  channel: Channel,
  isInhibited: boolean,
  data: Partial<AlertData>,
): Cause {
  return {
    ...{ subject: `${kind}:${channel.id}`, kind, since: null, isInhibited },
    ...{ manufacturer: receiver.manufacturer, receiver_id: receiver.id, channel_id: channel.id },
    data: { ...toChannelData(receiver, channel, null), ...data },
  }
}

export function toChannelData(receiver: Receiver, channel: Channel, threshold: number | null): AlertData {
  const { transmitter, last_transmitter, slot } = channel
  return {
    name: (transmitter ?? last_transmitter)?.name ?? channel.name ?? `${receiver.name}, channel ${channel.channel}`,
    slot,
    battery: (transmitter ?? last_transmitter)?.battery ?? null,
    minutes_left: transmitter?.details?.battery_minutes ?? last_transmitter?.minutes_left ?? null,
    threshold,
    receiver: receiver.name,
  }
}

/**
 * The ending of an open alert whose cause is not listed. Rows that are not evaluated while the receiver is offline or
 * stale, or while levels are lost, may still be true, so their alerts stay open.
 */
export function receiverAlertEnding(receiver: Receiver, { kind, channel_id }: Alert): AlertEnding | null {
  if (kind === 'receiver_offline') return 'resolved'
  if (kind === 'levels_lost') return isJudged(receiver) ? 'resolved' : null
  if (!isChannelKind(kind)) return null
  const channel = receiver.channels.find(({ id }) => id === channel_id)
  if (channel === undefined) return 'unmonitored'
  if (kind === 'battery_died') return 'resolved'
  if (!receiver.is_active) return null
  return isEvaluated(kind, channel) ? 'resolved' : null
}

function isJudged({ is_active, channels }: Receiver): boolean {
  return is_active && !channels.some(({ condition }) => hasRow(condition, 'stale'))
}

function isChannelKind(kind: AlertKind): kind is ChannelKind {
  return channelKinds.some((known) => known === kind)
}

/** True if the values that the row needs are known. */
function isEvaluated(kind: ChannelKind, { condition }: Channel): boolean {
  const needs = conditionTable.find(({ state }) => state === kind)?.needs
  if (needs === 'levels' && hasRow(condition, 'no_levels')) return false
  return (needs !== 'levels' && needs !== 'reception') || !hasRow(condition, 'stale')
}
