/** The recorded values of every step of a channel. */

import { conditionFlags } from '../../contract/values.ts'

/**
 * - `state`: index in `stateLetters`.
 * - `rows`: the true rows of the condition table, as a bit mask in the order of `recordedRows`.
 * - `rf_min`, `rf_max`: dBm at the best antenna in use; without a transmitter, the channel's own RF level.
 * - `audio_max`: the highest peak in dBFS; `audio_last`: the last RMS level in dBFS.
 * - `quality_min`: percent. `battery`: percent. `minutes`: remaining battery time.
 * - `weak_ms`: milliseconds of weak RF while a transmitter was on.
 */
export const columnNames = [
  'state',
  'rows',
  'rf_min',
  'rf_max',
  'audio_max',
  'audio_last',
  'quality_min',
  'battery',
  'minutes',
  'weak_ms',
] as const
export type ColumnName = (typeof columnNames)[number]

/** Stands for an unknown value. */
export const noValue = -32_768

/**
 * The states of a channel: not recorded, receiver offline, transmitter off, muted, on. If several states of a step have
 * equally many seconds, the first one in this list wins. `-` applies only if nothing was recorded.
 */
export const stateLetters = ['-', 'x', '0', 'm', '1'] as const
export type StateLetter = (typeof stateLetters)[number]

/**
 * The recorded rows, which fill the 15 usable bits of a column. `rf_concealed` is missing because `rf_weak` is
 * recorded, `no_levels` because lost levels are recorded as unknown, and `charging` because `tx_off` is recorded.
 */
const unrecorded: readonly string[] = ['rf_concealed', 'no_levels', 'charging']
export const recordedRows = conditionFlags.filter((flag) => !unrecorded.includes(flag))

export function toRowMask(rows: Iterable<string>): number {
  let mask = 0
  for (const row of rows) {
    const bit = (recordedRows as readonly string[]).indexOf(row)
    if (bit >= 0) mask |= 1 << bit
  }
  return mask
}

/** The columns of consecutive steps of several channels. */
export interface Steps<Values extends Int16Array | Int32Array = Int16Array | Int32Array> {
  /** Start of the first step, in epoch seconds. */
  readonly from: number
  /** Steps per channel. */
  readonly count: number
  readonly channelIds: readonly number[]
  /** The steps of one channel are consecutive: step `n` of channel `c` is at `c * count + n`. */
  readonly columns: Readonly<Record<ColumnName, Values>>
}

/** Consecutive seconds, as the recorder passes them on. */
export type RecordedSeconds = Steps<Int16Array>
