/** Reads text files of Anritsu analysers, `rtl_power`, `hackrf_sweep` and RF Explorer. */

import { maxScanPoints, type ReadScan, ScanFileError, ScanReadings, tooManyPoints } from './scan.ts'
import {
  cellsOf,
  type Delimiter,
  guessKhz,
  isUnmeasured,
  khzIn,
  type Line,
  linesOf,
  Preamble,
  parseDecimal,
  parseLocalTime,
  quote,
  requireDbmOffset,
} from './scan-text.ts'

const dataMark = /^# ?Begin TRACE \w+ Data/i
const point = /^P_\d+\s*[=,]\s*([^,\s]+)\s*,\s*([^,\s]+)\s*,?\s*([a-z]*)\s*,*$/i

export function isAnritsu(text: string): boolean {
  return /^# ?Begin TRACE/im.test(text)
}

/** Reads the first trace. Files with the ending `.spa` are text; there are CSV files too. */
export function readAnritsu(text: string): ReadScan {
  const readings = new ScanReadings()
  const preamble = new Preamble()
  let unit: string | null = null
  let isDone = false
  for (const { number: line, text: content } of linesOf(text)) {
    if (dataMark.test(content)) {
      if (isDone) readings.skip(line, 'Only the first trace is read.', 'unmeasured')
      else unit = preamble.levelUnit() ?? 'dBm'
    } else if (/^# ?Data Done/i.test(content)) isDone = true
    else if (unit === null) preamble.add(content)
    else if (!isDone && !content.startsWith('#')) addPoint(readings, line, content, requireDbmOffset(unit))
  }
  if (unit === null) throw new ScanFileError('No line begins with "# Begin TRACE" and ends with "Data".')
  return readings.toScan({ format: 'anritsu', unit, takenAt: null })
}

function addPoint(readings: ScanReadings, line: number, content: string, offset: number): void {
  const [, level = '', frequency = '', unit = ''] = point.exec(content) ?? []
  const [dbm, number] = [parseDecimal(level), parseDecimal(frequency)]
  if (dbm === null || number === null) {
    readings.skip(line, `${quote(content)} is not a level and a frequency, such as P_0=-98.5 , 470.000 MHz.`)
  } else readings.add(line, [number * (unit === '' ? guessKhz([number]) : khzIn(unit))], [dbm + offset])
}

// Reads the rows of `rtl_power` and `hackrf_sweep`: date, time, lowest and highest frequency and step in Hz, number
// of samples, levels. The levels are relative. The rows of one sweep follow one another in any order.

const powerColumns = 6
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
  const cells = cellsOf(text, ',').slice(powerColumns)
  // `rtl_power` may write one level more or less.
  const expected = Math.round((high - low) / step)
  if (cells.length < expected - 1) readings.skip(number, `Expected ${expected} levels, found ${cells.length}.`)
  else {
    const khz = cells.map((_, index) => (low + index * step) / 1000)
    addCells(readings, number, khz, cells, 0)
  }
}

function addCells(
  readings: ScanReadings,
  line: number,
  khz: readonly number[],
  cells: readonly string[],
  offset: number,
): void {
  const wrong = cells.find((cell) => !isUnmeasured(cell) && parseDecimal(cell) === null)
  if (wrong !== undefined) readings.skip(line, `${quote(wrong)} is not a level.`)
  else
    readings.add(
      line,
      khz,
      cells.map((cell) => (isUnmeasured(cell) ? null : (parseDecimal(cell) ?? 0) + offset)),
    )
}

// Reads the sweeps that the PC client of RF Explorer saves: one sweep per line, below a line of frequencies.

/** Sweep, date, time and milliseconds. */
const columnsBeforeLevels = 4
const maxHeaderLines = 50

export function isRfExplorer(text: string): boolean {
  return text.startsWith('RF Explorer CSV data file')
}

export function readRfExplorer(text: string): ReadScan {
  const readings = new ScanReadings()
  const preamble = new Preamble()
  let columns: { readonly delimiter: Delimiter; readonly khz: readonly number[] } | null = null
  let unit = 'dBm'
  let takenAt: number | null = null
  for (const { number: line, text: content } of linesOf(text)) {
    if (columns === null) {
      columns = readFrequencies(line, content)
      if (columns === null) preamble.add(content)
      else unit = preamble.levelUnit() ?? unit
      if (line > maxHeaderLines) break
      continue
    }
    const { delimiter, khz } = columns
    const cells = cellsOf(content, delimiter)
    if (cells.length === 0) continue
    const levels = cells.slice(columnsBeforeLevels)
    const offset = requireDbmOffset(unit)
    if (levels.length !== khz.length) readings.skip(line, `Expected ${khz.length} levels, found ${levels.length}.`)
    else addCells(readings, line, khz, levels, offset)
    takenAt ??= readTime(cells)
  }
  if (columns === null) throw new ScanFileError('No line begins with "Sweep" and lists the frequencies.')
  return readings.toScan({ format: 'rf_explorer', unit, takenAt })
}

/** Returns the frequencies in the line that begins with `Sweep`; null for any other line. */
function readFrequencies(line: number, content: string) {
  const [, delimiter] = /^Sweep\s*([,;\t ])/.exec(content) ?? []
  if (delimiter === undefined) return null
  const cells = cellsOf(content, delimiter as Delimiter).slice(columnsBeforeLevels)
  if (cells.length === 0) throw new ScanFileError(`Line ${line}: expected frequencies after "Milliseconds".`)
  if (cells.length > maxScanPoints) throw tooManyPoints()
  const khz = cells.map((cell) => {
    const mhz = parseDecimal(cell)
    if (mhz === null) throw new ScanFileError(`Line ${line}: ${quote(cell)} is not a frequency in MHz.`)
    return mhz * 1000
  })
  return { delimiter: delimiter as Delimiter, khz }
}

function readTime([, date = '', time = '', milliseconds = '']: readonly string[]): number | null {
  const parsed = parseLocalTime(date, time)
  const fraction = parseDecimal(milliseconds) ?? 0
  return parsed === null ? null : parsed + (fraction >= 0 && fraction < 1 ? Math.round(fraction * 1000) : 0)
}
