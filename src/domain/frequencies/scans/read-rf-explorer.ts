/** Reads the sweeps that the PC client of RF Explorer saves as CSV: one sweep per line, below a line of frequencies. */

import { maxScanPoints, type ReadScan, ScanFileError, ScanReadings, tooManyPoints } from './scan.ts'
import {
  cellsOf,
  type Delimiter,
  isUnmeasured,
  linesOf,
  Preamble,
  parseDecimal,
  parseLocalTime,
  quote,
  requireDbmOffset,
} from './scan-text.ts'

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
    const wrong = levels.find((cell) => !isUnmeasured(cell) && parseDecimal(cell) === null)
    const dbm = () => levels.map((cell) => (isUnmeasured(cell) ? null : (parseDecimal(cell) ?? 0) + offset))
    if (levels.length !== khz.length) readings.skip(line, `Expected ${khz.length} levels, found ${levels.length}.`)
    else if (wrong !== undefined) readings.skip(line, `${quote(wrong)} is not a level.`)
    else readings.add(line, khz, dbm())
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
