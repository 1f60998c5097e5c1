/** Parses the rows that `rtl_power` and `hackrf_sweep` write, into a file or as they come. */

import { cellsOf, isUnmeasured, parseDecimal, parseLocalTime, quote } from './scan-text.ts'

/** Date, time, lowest and highest frequency and step in Hz, number of samples. The levels follow. */
const columnsBeforeLevels = 6
/** With `-E`, rows of `rtl_power` begin with the seconds since 1970 and the name of the device. */
const start =
  /^((\d{4}-\d\d-\d\d),\s*(\d\d:\d\d:\d\d(?:\.\d+)?)|(\d{9,11}(?:\.\d+)?),[^,]*),\s*(\d+),\s*(\d+),\s*(\d+(?:\.\d+)?),\s*\d+,/

export interface PowerRow {
  /** The time as written. All rows of one sweep of `rtl_power` have the same. */
  readonly timeText: string
  /** Epoch milliseconds; null if the date does not exist. */
  readonly at: number | null
  readonly lowHz: number
  readonly highHz: number
  readonly stepHz: number
  /** Relative levels in dB, from `lowHz` upwards; null if nothing was measured. May have one more or less than fit. */
  readonly levels: readonly (number | null)[]
}

export function isPowerRow(text: string): boolean {
  return start.test(text)
}

/** Only `hackrf_sweep` writes fractions of a second with the date. */
export function hasFractions({ timeText }: PowerRow): boolean {
  return timeText.includes('-') && timeText.includes('.')
}

interface UnreadRow {
  readonly why: string
  readonly isBackwards?: boolean
}

/** Returns the row, or why it cannot be read. */
export function parsePowerRow(text: string): PowerRow | UnreadRow {
  const [, timeText = '', date, time = '', seconds, ...numbers] = start.exec(text) ?? []
  const [lowHz = 0, highHz = 0, stepHz = 0] = numbers.map(Number)
  if (timeText === '') return { why: 'Expected date, time, two frequencies, step, samples and levels.' }
  if (highHz <= lowHz) return { why: `The row goes backwards, from ${lowHz} to ${highHz} Hz.`, isBackwards: true }
  if (stepHz <= 0) return { why: 'Expected a step above 0 Hz.' }
  const cells = cellsOf(text, ',').slice(columnsBeforeLevels)
  const wrong = cells.find((cell) => !isUnmeasured(cell) && parseDecimal(cell) === null)
  if (wrong !== undefined) return { why: `${quote(wrong)} is not a level.` }
  const expected = Math.round((highHz - lowHz) / stepHz)
  if (cells.length < expected - 1) return { why: `Expected ${expected} levels, found ${cells.length}.` }
  const at = date === undefined ? Number(seconds) * 1000 : parseLocalTime(date, time)
  return { timeText, at, lowHz, highHz, stepHz, levels: cells.map((cell) => parseDecimal(cell)) }
}
