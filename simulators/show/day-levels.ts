/** The recorded seconds of the day before the show, as Micwatch would have recorded them. */

import { conditionTable } from '../../src/domain/conditions/condition.ts'
import {
  type ColumnName,
  columnNames,
  noValue,
  type RecordedSeconds,
  type StateLetter,
  stateLetters,
  toRowMask,
} from '../../src/domain/history/columns.ts'
import { batteryAt, reportedMinutes } from './battery.ts'
import type { ChannelSetup, DeviceSetup } from './cast.ts'
import { batteryIn, type ChannelDay, findPeriod, type OnPeriod, type Period } from './day.ts'
import { findDropout, noiseAt, signalAt } from './levels.ts'

/** The values that a device reports. */
export interface ReportedScale {
  /** Lowest and highest level in dBm; null without RF. */
  readonly rf: readonly [lowest: number, highest: number] | null
  /** Lowest and highest level in dBFS; null without audio. */
  readonly audio: readonly [lowest: number, highest: number] | null
  /** The difference between reported peak and RMS in dB; 0 if the device reports one level. */
  readonly peakAboveRms: number
  /** In percent, as one of five bars, as one of four levels, or not at all. */
  readonly battery: 'percent' | 'bars' | 'four-levels' | null
  /** True if the remaining battery time is reported. */
  readonly reportsMinutes: boolean
  /** Link quality in percent while a transmitter is on; null if not reported. */
  readonly quality: number | null
  /** True if the transmitter is part of the device and therefore always on. */
  readonly hasFixedTransmitter: boolean
}

export const commonScale: ReportedScale = {
  rf: [-120, 0],
  audio: [-120, 0],
  peakAboveRms: 0,
  battery: 'percent',
  reportsMinutes: false,
  quality: null,
  hasFixedTransmitter: false,
}

/** A simulated device that can be monitored. */
export interface PlayedDevice {
  readonly manufacturer: string
  /** The ids under which it may be reported. */
  readonly reportedIds: readonly string[]
  readonly setup: DeviceSetup
  readonly scale: ReportedScale
  /** Channels that are muted all the time. */
  readonly mutedChannels: readonly number[]
}

/** A simulated channel with the id of its record. Contains only data, so that it can be passed to a thread. */
export interface PlayedChannel {
  readonly id: number
  readonly setup: ChannelSetup
  readonly day: ChannelDay
  readonly offline: readonly Period[]
  readonly scale: ReportedScale
  /** True if it is muted all day. */
  readonly isMuted: boolean
}

/** A stretch of weak RF. Times are epoch milliseconds. */
export interface WeakSpan {
  readonly channelId: number
  readonly fromMs: number
  readonly toMs: number
  readonly lowestDbm: number
}

/**
 * Returns `count` seconds of these channels, starting at epoch second `from`. The show starts at `startedAt` (epoch
 * milliseconds).
 */
export function playSeconds(
  channels: readonly PlayedChannel[],
  startedAt: number,
  { from, count }: { readonly from: number; readonly count: number },
): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(channels.length * count).fill(noValue)]),
  ) as Record<ColumnName, Int16Array>
  for (const [index, channel] of channels.entries()) {
    for (let second = 0; second < count; second++) {
      const values = playSecond(channel, (from + second) * 1000 - startedAt)
      const position = index * count + second
      for (const name of columnNames) columns[name][position] = values[name]
    }
  }
  return { from, count, channelIds: channels.map(({ id }) => id), columns }
}

type SecondValues = Record<ColumnName, number>

const sampleMs = 200
/** The resolution for short events. */
const fineSampleMs = 100
const weakDbm = -85
const interferenceDbm = -68

/** Returns one second that begins at this time of the show, with the state at its end. */
function playSecond(channel: PlayedChannel, fromMs: number): SecondValues {
  const { setup, day, offline, scale } = channel
  const lastMs = fromMs + 999
  const values = emptySecond()
  if (findPeriod(offline, lastMs) !== undefined) return { ...values, state: toState('x'), rows: rowMasks.offline }
  const battery = levelAt(channel, lastMs)
  if (battery === null) {
    const { rf_level } = noiseAt(setup.seed, fromMs)
    const hasInterference = findPeriod(day.interference, lastMs) !== undefined
    setRf(values, scale, hasInterference ? interferenceDbm + (rf_level % 3) : rf_level)
    const rows = rowMasks.off | (hasInterference ? rowMasks.interference : 0)
    return { ...values, state: toState('0'), rows, weak_ms: 0 }
  }
  const stepMs = hasDropout(setup.seed, fromMs) ? fineSampleMs : sampleMs
  // A fixed transmitter is on even if nothing is sent to it.
  const hasSignal = setup.pack !== null && (lastMs >= 0 || findPeriod(day.on, lastMs) !== undefined)
  let weakMs = 0
  for (let timeMs = fromMs; timeMs <= lastMs; timeMs += stepMs) {
    const { rf_level, audio_level } = hasSignal ? signalAt(setup.seed, setup.part, timeMs) : noiseAt(setup.seed, timeMs)
    setRf(values, scale, rf_level)
    setAudio(values, scale, audio_level)
    if (rf_level < weakDbm) weakMs += stepMs
  }
  const isMuted = channel.isMuted || findPeriod(day.muted, lastMs) !== undefined
  values.state = toState(isMuted ? 'm' : '1')
  values.battery = reportedBattery(scale, battery.percent) ?? noValue
  values.minutes = scale.reportsMinutes ? battery.minutes : noValue
  values.quality_min = scale.quality ?? noValue
  values.weak_ms = scale.rf === null ? 0 : weakMs
  values.rows = rowsOf(values, isMuted)
  return values
}

function emptySecond(): SecondValues {
  return {
    state: 0,
    rows: 0,
    rf_min: noValue,
    rf_max: noValue,
    audio_max: noValue,
    audio_last: noValue,
    quality_min: noValue,
    battery: noValue,
    minutes: noValue,
    weak_ms: noValue,
  }
}

/** Returns the battery level in percent, and its minutes; null if the transmitter is off. */
function levelAt({ setup, day, scale }: PlayedChannel, timeMs: number): { percent: number; minutes: number } | null {
  if (scale.hasFixedTransmitter) return { percent: 100, minutes: noValue }
  const { pack } = setup
  if (pack === null) return null
  if (timeMs >= 0) {
    const battery = batteryAt(pack, timeMs)
    return battery && { percent: battery.percent, minutes: reportedMinutes(pack, battery) }
  }
  const period = findPeriod(day.on, timeMs)
  if (period === undefined) return null
  const percent = batteryIn(period, timeMs)
  return { percent, minutes: Math.round((60 * percent) / pack.firstPerHour) }
}

function hasDropout(seed: number, fromMs: number): boolean {
  const dropout = findDropout(seed, Math.floor(fromMs / 60_000))
  return dropout !== null && dropout.fromMs < fromMs + 1000 && fromMs <= dropout.toMs
}

function setRf(values: SecondValues, { rf }: ReportedScale, level: number): void {
  if (rf === null) return
  const reported = clamp(level, rf)
  if (values.rf_min === noValue || reported < values.rf_min) values.rf_min = reported
  if (values.rf_max === noValue || reported > values.rf_max) values.rf_max = reported
}

function setAudio(values: SecondValues, { audio, peakAboveRms }: ReportedScale, level: number): void {
  if (audio === null) return
  const peak = clamp(level + peakAboveRms, audio)
  if (values.audio_max === noValue || peak > values.audio_max) values.audio_max = peak
  values.audio_last = clamp(level, audio)
}

export function reportedBattery({ battery }: ReportedScale, percent: number): number | null {
  switch (battery) {
    case 'percent':
      return percent
    case 'bars':
      return 20 * Math.max(1, Math.ceil(percent / 20))
    case 'four-levels':
      return percent > 85 ? 100 : percent > 50 ? 70 : percent > 15 ? 30 : 0
    case null:
      return null
    default:
      return battery satisfies never
  }
}

// --- Rows of the table of conditions ----------------------------------------------------------------------------------

const rowMasks = {
  offline: toRowMask(['receiver_offline']),
  off: toRowMask(['tx_off']),
  interference: toRowMask(['interference']),
  muted: toRowMask(['muted']),
  weak: toRowMask(['rf_weak']),
  fair: toRowMask(['rf_fair']),
  clipping: toRowMask(['clipping']),
  noBattery: toRowMask(['no_battery_data']),
}

/** Battery levels in percent at or below which a row is true. */
export const batteryRows = [
  { row: 'battery_critical', percent: 10 },
  { row: 'battery_low', percent: 20 },
  { row: 'battery_replace_soon', percent: 50 },
] as const
const batteryMasks = batteryRows.map(({ row, percent }) => ({ mask: toRowMask([row]), percent }))

function rowsOf(values: SecondValues, isMuted: boolean): number {
  let rows = isMuted ? rowMasks.muted : 0
  if (values.battery === noValue) rows |= rowMasks.noBattery
  else for (const { mask, percent } of batteryMasks) if (values.battery <= percent) rows |= mask
  if (values.weak_ms >= 1000) rows |= rowMasks.weak
  else if (values.rf_max !== noValue && values.rf_max < -70) rows |= rowMasks.fair
  if (values.audio_max > -1) rows |= rowMasks.clipping
  return rows
}

/** The state of a channel, starting at a time. */
export interface PlayedState {
  readonly channelId: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly isOn: boolean
  readonly isMuted: boolean
  readonly battery: number | null
  readonly condition: (typeof conditionTable)[number]
}

const conditions = conditionTable.map((condition) => ({ condition, mask: toRowMask([condition.state]) }))
/** These last for seconds. */
const briefRows = rowMasks.weak | rowMasks.fair | rowMasks.clipping
const okCondition = { state: 'ok', severity: 'ok', attention: false, needs: 'memory' } as const

/** Lists the states of a channel on the day, starting at `fromMs`, a time of the show. */
export function listStates(channel: PlayedChannel, startedAt: number, fromMs: number): PlayedState[] {
  const { id, day, offline } = channel
  const bounds = [...day.on, ...day.muted, ...day.interference, ...offline].flatMap((period) => [
    period.fromMs,
    period.toMs,
  ])
  const batteryTimes = day.on.flatMap((period) => batteryRows.map(({ percent }) => timeAtBattery(period, percent)))
  const times = [...bounds, ...batteryTimes].filter((timeMs) => timeMs !== null && fromMs < timeMs && timeMs < 0)
  const states = [fromMs, ...(times as number[]).sort((a, b) => a - b)].map((timeMs): PlayedState => {
    const { state, rows, battery } = playSecond(channel, timeMs)
    const isOn = state === toState('1') || state === toState('m')
    const lasting = rows & ~briefRows
    const condition = conditions.find(({ mask }) => (mask & lasting) !== 0)?.condition ?? okCondition
    return {
      ...{ channelId: id, time: startedAt + timeMs, isOn, isMuted: state === toState('m') },
      ...{ battery: battery === noValue ? null : battery, condition },
    }
  })
  return states.filter(({ isOn, isMuted, condition }, index) => {
    const before = states[index - 1]
    return before?.isOn !== isOn || before.isMuted !== isMuted || before.condition.state !== condition.state
  })
}

/** Returns when a battery first reaches a level, or null. */
export function timeAtBattery(period: OnPeriod, percent: number): number | null {
  const { fromMs, toMs, batteryFrom, batteryTo } = period
  if (batteryFrom <= percent || batteryIn(period, toMs - 1) > percent) return null
  return Math.ceil(fromMs + ((batteryFrom - percent - 0.5) / (batteryFrom - batteryTo)) * (toMs - fromMs))
}

// --- Dropouts ---------------------------------------------------------------------------------------------------------

export function findWeakSpans(
  channels: readonly PlayedChannel[],
  startedAt: number,
  { from, count }: { readonly from: number; readonly count: number },
): WeakSpan[] {
  const [fromMs, toMs] = [from * 1000 - startedAt, (from + count) * 1000 - startedAt]
  const spans: WeakSpan[] = []
  for (const channel of channels) {
    for (let minute = Math.floor(fromMs / 60_000); minute * 60_000 < toMs; minute++) {
      const dropout = findDropout(channel.setup.seed, minute)
      if (dropout === null || dropout.fromMs < fromMs || dropout.fromMs >= toMs) continue
      const span = weakSpanIn(channel, dropout)
      if (span !== null) spans.push({ ...span, fromMs: span.fromMs + startedAt, toMs: span.toMs + startedAt })
    }
  }
  return spans
}

function weakSpanIn(channel: PlayedChannel, dropout: Period): WeakSpan | null {
  const { id, setup, day, offline, scale } = channel
  const period = findPeriod(day.on, dropout.fromMs)
  const isLost = period === undefined || period.toMs < dropout.toMs + 2000 || findPeriod(offline, dropout.fromMs)
  if (isLost || scale.rf === null) return null
  const weak: { readonly timeMs: number; readonly level: number }[] = []
  for (let timeMs = dropout.fromMs; timeMs <= dropout.toMs; timeMs += fineSampleMs) {
    const level = signalAt(setup.seed, setup.part, timeMs).rf_level
    if (level < weakDbm) weak.push({ timeMs, level })
  }
  const [first, last] = [weak[0], weak.at(-1)]
  if (first === undefined || last === undefined) return null
  const lowest = Math.min(...weak.map(({ level }) => level))
  return {
    channelId: id,
    fromMs: Math.round(first.timeMs),
    toMs: Math.round(last.timeMs + fineSampleMs),
    lowestDbm: clamp(lowest, scale.rf),
  }
}

function toState(letter: StateLetter): number {
  return stateLetters.indexOf(letter)
}

function clamp(value: number, [lowest, highest]: readonly [number, number]): number {
  return Math.min(highest, Math.max(lowest, value))
}
