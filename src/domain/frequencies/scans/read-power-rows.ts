/**
 * Reads the rows of `rtl_power` and `hackrf_sweep`: date, time, lowest and highest frequency and step in Hz, number of
 * samples, levels. The levels are relative. The rows of one sweep follow one another in any order.
 */

import { type ReadScan, ScanReadings } from './scan.ts'
import { cellsOf, isUnmeasured, type Line, linesOf, parseDecimal, parseLocalTime, quote } from './scan-text.ts'

const columnsBeforeLevels = 6
/** With `-E`, rows of `rtl_power` begin with the seconds since 1970 and the name of the device. */
const row =
  /^(?:(\d{4}-\d\d-\d\d),\s*(\d\d:\d\d:\d\d(?:\.\d+)?)|(\d{9,11}(?:\.\d+)?),[^,]*),\s*(\d+),\s*(\d+),\s*(\d+(?:\.\d+)?),\s*\d+,/
/** Rows are recognised in this part of a file, even if the first ones are damaged. */
const startLength = 20_000

export function isPowerRows(text: string): boolean {
  return text
    .slice(0, startLength)
    .split(/[\r\n]+/)
    .some((line) => row.test(line))
}

export function readPowerRows(text: string): ReadScan {
  const readings = new ScanReadings()
  let takenAt: number | null = null
  let hasFractions = false
  for (const line of linesOf(text)) {
    if (line.text.startsWith('#') || /^[,\s]*$/.test(line.text)) continue
    const [, date, time = '', seconds, ...numbers] = row.exec(line.text) ?? []
    const [low = 0, high = 0, step = 0] = numbers.map(Number)
    if (!(high > low && step > 0)) {
      readings.skip(line.number, 'Expected date, time, two frequencies, step, samples and levels.')
      continue
    }
    if (time.includes('.')) hasFractions = true
    takenAt ??= date === undefined ? Number(seconds) * 1000 : parseLocalTime(date, time)
    addLevels(readings, line, low, high, step)
  }
  const format = hasFractions ? 'hackrf_sweep' : 'rtl_power'
  return readings.toScan({ format, unit: 'dB', takenAt, isCalibrated: false })
}

function addLevels(readings: ScanReadings, { number, text }: Line, low: number, high: number, step: number): void {
  const cells = cellsOf(text, ',').slice(columnsBeforeLevels)
  const wrong = cells.find((cell) => !isUnmeasured(cell) && parseDecimal(cell) === null)
  // `rtl_power` may write one level more or less.
  const expected = Math.round((high - low) / step)
  if (cells.length < expected - 1) readings.skip(number, `Expected ${expected} levels, found ${cells.length}.`)
  else if (wrong !== undefined) readings.skip(number, `${quote(wrong)} is not a level.`)
  else {
    const khz = cells.map((_, index) => (low + index * step) / 1000)
    readings.add(
      number,
      khz,
      cells.map((cell) => (isUnmeasured(cell) ? null : parseDecimal(cell))),
    )
  }
}
