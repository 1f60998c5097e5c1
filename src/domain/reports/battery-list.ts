/** The batteries to change so that every pack lasts until a given time. */

import type { BatteryChange, BatteryList } from '../../contract/reports.ts'
import type { ChangeReason } from '../../contract/values.ts'
import { batteryBounds, isAtOrUnder, readBattery } from '../conditions/battery.ts'
import { hasRow, type Thresholds } from '../conditions/condition.ts'
import { byteOrderMark, toCell, toLine } from '../csv.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { type Forecast, fastestRate } from '../forecast/forecast.ts'
import { toTimestamp } from '../timestamp.ts'

const minuteMs = 60_000
/** A pack that has been off for longer has probably been charged. */
const offForMs = 12 * 60 * minuteMs

export interface BatteryListState {
  readonly receivers: readonly Receiver[]
  /** Epoch milliseconds. */
  readonly before: number
  readonly now: number
  titleOf(receiver: Receiver, channel: Channel): string
  /** Null without enough data for a forecast. */
  forecastOf(channel: Channel): Forecast | null
  thresholdsOf(receiver: Receiver, channel: Channel): Thresholds
}

/** Packs with an unknown run time are listed last. */
export function toBatteryList(state: BatteryListState): BatteryList {
  const changes = state.receivers
    .flatMap((receiver) => receiver.channels.flatMap((channel) => toChange(receiver, channel, state) ?? []))
    .sort((a, b) => Number(a.reason === 'unknown') - Number(b.reason === 'unknown') || a.slot - b.slot)
  return { before: toTimestamp(state.before), changes }
}

/** Null if the battery lasts, or if there is no pack. */
function toChange(receiver: Receiver, channel: Channel, state: BatteryListState): BatteryChange | null {
  const { transmitter, last_transmitter: last, condition } = channel
  const { now } = state
  if (transmitter === null && (last === null || last.last_seen < now - offForMs)) return null
  const isCurrent = receiver.is_active && transmitter !== null && !hasRow(condition, 'stale')
  const lastSeen = transmitter === null ? (last?.last_seen ?? now) : receiver.last_seen
  const forecast = isCurrent ? state.forecastOf(channel) : null
  const reading = transmitter === null ? toLastReading(last) : readBattery(transmitter)
  const isEmpty = condition.state === 'battery_died'
  const bounds = batteryBounds(state.thresholdsOf(receiver, channel)).battery_low
  const reason = reasonFor({
    percent: reading.percent,
    minutes: isEmpty ? null : (forecast?.low ?? reading.minutes),
    isNearlyEmpty: isEmpty || isAtOrUnder(reading, bounds),
    // A pack out of range keeps discharging; one that is off does not.
    needed: (state.before - (isCurrent || transmitter === null ? now : lastSeen)) / minuteMs,
  })
  if (reason === null) return null
  return {
    channel_id: channel.id,
    slot: channel.slot,
    title: state.titleOf(receiver, channel),
    pack: (transmitter ?? last)?.name ?? null,
    model: transmitter?.details?.model ?? null,
    battery_type: transmitter?.details?.battery_type ?? null,
    battery: reading.percent,
    minutes_left: forecast?.minutes_left ?? reading.minutes,
    forecast,
    reason,
    state: condition.state,
    last_seen: isCurrent ? null : toTimestamp(lastSeen),
  }
}

function toLastReading(last: Channel['last_transmitter']) {
  return { percent: last?.battery ?? null, minutes: last?.minutes_left ?? null, isLow: null }
}

interface Endurance {
  readonly percent: number | null
  readonly minutes: number | null
  readonly isNearlyEmpty: boolean
  /** Minutes. */
  readonly needed: number
}

/** Null if the battery lasts for the needed time. */
function reasonFor({ percent, minutes, isNearlyEmpty, needed }: Endurance): ChangeReason | null {
  if (minutes !== null) return minutes < needed ? 'will_not_last' : null
  if (isNearlyEmpty) return 'nearly_empty'
  return percent !== null && (percent / fastestRate) * 60 >= needed ? null : 'unknown'
}

const columns = [
  ...(['slot', 'title', 'pack', 'model', 'battery_type', 'battery', 'minutes_left'] as const),
  ...(['reason', 'state', 'last_seen'] as const),
]

export function toBatteryListCsv({ changes }: BatteryList): string {
  const lines = changes.map((change) => toLine(columns.map((column) => toCell(change[column]))))
  return byteOrderMark + toLine(columns) + lines.join('')
}
