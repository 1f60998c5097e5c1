/**
 * Folds level samples into the current second of every channel. Runs ten times a second for thousands of channels, so
 * it uses numbers in typed arrays, and folding allocates nothing. Keeps closed seconds until they are stored. All times
 * are monotonic milliseconds (`performance.now()`).
 */

import type { GapReason } from '../../contract/values.ts'
import { hasRow } from '../conditions/condition.ts'
import { bestInUse, createWatchedValues, type WatchedValues } from '../conditions/level-watch.ts'
import { type Channel, isChannelMuted, type Receiver } from '../equipment/receiver.ts'
import {
  type ColumnName,
  columnNames,
  noValue,
  type RecordedSeconds,
  type StateLetter,
  stateLetters,
  toRowMask,
} from './columns.ts'

/** The levels of a sample. A caller reuses one object for all channels. */
export interface RecordedValues extends WatchedValues {
  /** The RMS audio level in dBFS, else the only audio level that the equipment reports. */
  rms: number
}

export function createRecordedValues(): RecordedValues {
  return { ...createWatchedValues(), rms: Number.NaN }
}

/** The recorded values of a channel other than its levels. */
export interface RecordedFacts {
  readonly letter: StateLetter
  /** The rows of the condition, as a bit mask in the order of `recordedRows`. */
  readonly rows: number
  readonly battery: number | null
  readonly minutes: number | null
}

export const removedFacts: RecordedFacts = { letter: 'x', rows: 0, battery: null, minutes: null }

/** `isReceived` is false until the first report of the receiver. */
export function toRecordedFacts({ is_active }: Receiver, channel: Channel, isReceived: boolean): RecordedFacts {
  const { condition, transmitter } = channel
  const letter = toLetter(is_active, isReceived, channel)
  const isOn = letter === '1' || letter === 'm'
  return {
    letter,
    rows: toRowMask([condition.state, ...condition.flags]),
    battery: isOn ? (transmitter?.battery ?? null) : null,
    minutes: isOn ? (transmitter?.details?.battery_minutes ?? null) : null,
  }
}

function toLetter(isActive: boolean, isReceived: boolean, channel: Channel): StateLetter {
  if (!isActive) return 'x'
  if (!isReceived || hasRow(channel.condition, 'stale')) return '-'
  if (channel.transmitter === null) return '0'
  return isChannelMuted(channel) ? 'm' : '1'
}

/** A sample counts until the next one, up to this time. */
const sampleMs = 1000

/** The values of a closed second, in the order of `columnNames`. */
export const columnCount = columnNames.length

const columnIndex = Object.fromEntries(columnNames.map((name, index) => [name, index])) as Record<ColumnName, number>
const { state, rows, rf_min, rf_max, audio_max, audio_last, quality_min, battery, minutes, weak_ms } = columnIndex

/** The current levels, which a second without a sample holds. */
const held = { rf: 0, peak: 1, rms: 2, quality: 3 } as const
const heldCount = 4

/** The end of the counted weak time, the time until which the last sample counts, and the sum. */
const weak = { countedUntil: 0, lastsUntil: 1, ms: 2 } as const
const weakCount = 3

const notRecorded = stateLetters.indexOf('-')
const offline = stateLetters.indexOf('x')

/** The current second of many channels, each of which has an index. */
export class CurrentSecond {
  #channelCount = 0
  #columns = new Int16Array(64 * columnCount)
  #held = new Int16Array(64 * heldCount)
  #weak = new Float64Array(64 * weakCount)
  #isSampled = new Uint8Array(64)

  /** Returns the index of the new channel. */
  add(): number {
    const index = this.#channelCount
    this.#channelCount += 1
    if (this.#channelCount > this.#isSampled.length) this.#grow()
    this.#columns[index * columnCount + state] = notRecorded
    this.#forgetLevels(index)
    this.#begin(index)
    return index
  }

  /** Applies from now on. The levels of a channel that is offline or not recorded are unknown. */
  setFacts(index: number, facts: RecordedFacts): void {
    const start = index * columnCount
    const letter = stateLetters.indexOf(facts.letter)
    this.#columns[start + state] = letter
    this.#columns[start + rows] = facts.rows
    this.#columns[start + battery] = facts.battery ?? noValue
    this.#columns[start + minutes] = facts.minutes ?? noValue
    if (letter === notRecorded || letter === offline) this.#forgetLevels(index)
  }

  /**
   * Folds the levels of a sample that arrived at the time `at`. RF below `weakDbm` is weak while a transmitter is on.
   */
  fold(index: number, values: Readonly<RecordedValues>, weakDbm: number, at: number): void {
    this.#countWeak(index, at)
    const { hasTransmitter } = values
    const best = hasTransmitter ? bestInUse(values) : Number.NaN
    const heldStart = index * heldCount
    this.#held[heldStart + held.rf] = toRecorded(Number.isNaN(best) ? values.rf : best)
    this.#held[heldStart + held.peak] = hasTransmitter ? toRecorded(values.peak) : noValue
    this.#held[heldStart + held.rms] = hasTransmitter ? toRecorded(values.rms) : noValue
    this.#held[heldStart + held.quality] = hasTransmitter ? toRecorded(values.quality) : noValue
    this.#weak[index * weakCount + weak.lastsUntil] = best < weakDbm ? at + sampleMs : Number.NEGATIVE_INFINITY
    if (this.#isSampled[index] === 1) this.#foldHeld(index)
    else {
      this.#isSampled[index] = 1
      this.#copyHeld(index)
    }
  }

  /**
   * Ends the second of a channel at the time `at`, writes its values to `target`, and begins the next second with the
   * current levels.
   */
  close(index: number, at: number, target: Int16Array, position: number): void {
    this.#countWeak(index, at)
    const start = index * columnCount
    const weakStart = index * weakCount
    const letter = this.#columns[start + state]
    const isMeasured = letter !== notRecorded && (letter !== offline || this.#isSampled[index] === 1)
    const weakMs = Math.min(1000, Math.round(this.#weak[weakStart + weak.ms] ?? 0))
    this.#columns[start + audio_last] = this.#held[index * heldCount + held.rms] ?? noValue
    this.#columns[start + weak_ms] = isMeasured ? weakMs : noValue
    for (let column = 0; column < columnCount; column += 1) {
      target[position + column] = this.#columns[start + column] ?? noValue
    }
    if (letter === notRecorded) target.fill(noValue, position + rf_min, position + columnCount)
    this.#begin(index)
  }

  #begin(index: number): void {
    this.#isSampled[index] = 0
    this.#weak[index * weakCount + weak.ms] = 0
    this.#copyHeld(index)
  }

  #forgetLevels(index: number): void {
    this.#held.fill(noValue, index * heldCount, (index + 1) * heldCount)
    this.#weak[index * weakCount + weak.lastsUntil] = Number.NEGATIVE_INFINITY
  }

  #countWeak(index: number, until: number): void {
    const start = index * weakCount
    const from = this.#weak[start + weak.countedUntil] ?? 0
    const end = Math.min(until, this.#weak[start + weak.lastsUntil] ?? 0)
    if (end > from) this.#weak[start + weak.ms] = (this.#weak[start + weak.ms] ?? 0) + end - from
    this.#weak[start + weak.countedUntil] = until
  }

  #copyHeld(index: number): void {
    const start = index * columnCount
    const heldStart = index * heldCount
    const rf = this.#held[heldStart + held.rf] ?? noValue
    this.#columns[start + rf_min] = rf
    this.#columns[start + rf_max] = rf
    this.#columns[start + audio_max] = this.#held[heldStart + held.peak] ?? noValue
    this.#columns[start + quality_min] = this.#held[heldStart + held.quality] ?? noValue
  }

  #foldHeld(index: number): void {
    const start = index * columnCount
    const heldStart = index * heldCount
    const rf = this.#held[heldStart + held.rf] ?? noValue
    this.#lower(start + rf_min, rf)
    this.#raise(start + rf_max, rf)
    this.#raise(start + audio_max, this.#held[heldStart + held.peak] ?? noValue)
    this.#lower(start + quality_min, this.#held[heldStart + held.quality] ?? noValue)
  }

  #lower(position: number, value: number): void {
    const known = this.#columns[position] ?? noValue
    if (value !== noValue && (known === noValue || value < known)) this.#columns[position] = value
  }

  #raise(position: number, value: number): void {
    // `noValue` is lower than every level.
    if (value > (this.#columns[position] ?? noValue)) this.#columns[position] = value
  }

  #grow(): void {
    this.#columns = doubled(this.#columns, new Int16Array(2 * this.#columns.length))
    this.#held = doubled(this.#held, new Int16Array(2 * this.#held.length))
    this.#weak = doubled(this.#weak, new Float64Array(2 * this.#weak.length))
    this.#isSampled = doubled(this.#isSampled, new Uint8Array(2 * this.#isSampled.length))
  }
}

function toRecorded(value: number): number {
  return Number.isNaN(value) ? noValue : value
}

function doubled<Values extends { set(values: Values): void }>(values: Values, larger: Values): Values {
  larger.set(values)
  return larger
}

/** A range without a record. Epoch seconds; `until` is exclusive. */
export interface RecordingGap {
  readonly from: number
  readonly until: number
  readonly reason: GapReason
}

/** One second of several channels. */
export interface ClosedSecond {
  /** Why this process did not record the previous seconds; null if it did. */
  readonly after: GapReason | null
  /** Epoch seconds. */
  readonly time: number
  readonly channelIds: readonly number[]
  /** `columnCount` values per channel, in the order of `columnNames`. */
  readonly values: Int16Array
}

/**
 * Converts consecutive closed seconds to parts of at most `maxChannels` channels. A second that lacks a channel of its
 * part has state `-` for it.
 */
export function* toParts(seconds: readonly ClosedSecond[], maxChannels: number): Generator<RecordedSeconds> {
  for (const run of listRuns(seconds)) {
    const channelIds = listChannels(run)
    const positions = new Map<readonly number[], Int32Array>()
    const positionsIn = (list: readonly number[]) => {
      const known = positions.get(list) ?? positionsOf(channelIds, list)
      positions.set(list, known)
      return known
    }
    for (let first = 0; first < channelIds.length; first += maxChannels) {
      const end = first + maxChannels
      yield toPart(run, channelIds.slice(first, end), (list) => positionsIn(list).subarray(first, end))
    }
  }
}

/** Lists the gaps before and between closed seconds. `last` is the end of the last second before them, if known. */
export function listGaps(seconds: readonly ClosedSecond[], last: number | null): RecordingGap[] {
  const gaps: RecordingGap[] = []
  let from = last
  for (const { time: until, after: reason } of seconds) {
    if (reason !== null && from !== null && until > from) gaps.push({ from, until, reason })
    // The clock may have been set back.
    from = Math.max(from ?? until, until + 1)
  }
  return gaps
}

/** Splits the seconds wherever one does not follow the previous one. */
function listRuns(seconds: readonly ClosedSecond[]): ClosedSecond[][] {
  const runs: ClosedSecond[][] = []
  for (const second of seconds) {
    const run = runs.at(-1)
    if (run !== undefined && run.at(-1)?.time === second.time - 1) run.push(second)
    else runs.push([second])
  }
  return runs
}

function listChannels(run: readonly ClosedSecond[]): readonly number[] {
  const [first] = run
  if (first === undefined || run.every(({ channelIds }) => channelIds === first.channelIds))
    return first?.channelIds ?? []
  return [...new Set(run.flatMap(({ channelIds }) => channelIds))]
}

/** Returns the position of each channel in a list, or -1. */
function positionsOf(channelIds: readonly number[], list: readonly number[]): Int32Array {
  if (list === channelIds) return Int32Array.from(list.keys())
  const positions = new Map(list.map((id, position) => [id, position]))
  return Int32Array.from(channelIds, (id) => positions.get(id) ?? -1)
}

/** `positionsIn` returns the positions of `channelIds` in a second. */
function toPart(
  run: readonly ClosedSecond[],
  channelIds: readonly number[],
  positionsIn: (list: readonly number[]) => Int32Array,
): RecordedSeconds {
  const count = run.length
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count * channelIds.length).fill(isMask(name) ? 0 : noValue)]),
  ) as Record<ColumnName, Int16Array>
  for (const [step, second] of run.entries()) {
    const sources = positionsIn(second.channelIds)
    for (const [column, name] of columnNames.entries()) {
      copyColumn(second.values, column, sources, columns[name], { count, step })
    }
  }
  return { from: run[0]?.time ?? 0, count, channelIds, columns }
}

/** Copies one column of a second. `sources` contains the position of each target channel in the second, or -1. */
function copyColumn(
  values: Int16Array,
  column: number,
  sources: Int32Array,
  target: Int16Array,
  { count, step }: { readonly count: number; readonly step: number },
): void {
  for (let index = 0; index < sources.length; index += 1) {
    const source = sources[index] ?? -1
    if (source >= 0) target[index * count + step] = values[source * columnCount + column] ?? noValue
  }
}

/** True if 0 stands for absence: state `-`, or no rows. */
function isMask(name: ColumnName): boolean {
  return name === 'state' || name === 'rows'
}
