/** Reads the many sweeps that the PC client of RF Explorer saves: one sweep in each line, below a line of frequencies. */

import { MaximumHold, maxScanPoints, type ReadScan, ScanFileError, tooManyPoints } from './scan.ts'
import { cellsOf, type Delimiter, linesOf, parseDecimal, parseLevel, parseLocalTime, quote } from './scan-text.ts'

/** Sweep, date, time and milliseconds. */
const columnsBeforeLevels = 4
const maxHeaderLines = 50

export function isRfExplorer(text: string): boolean {
  return text.startsWith('RF Explorer CSV data file')
}

export function readRfExplorer(text: string): ReadScan {
  const hold = new MaximumHold()
  let columns: { readonly delimiter: Delimiter; readonly khz: readonly number[] } | null = null
  let takenAt: number | null = null
  let sweeps = 0
  for (const { number: line, text: content } of linesOf(text)) {
    if (columns === null) {
      columns = readFrequencies(line, content)
      if (line > maxHeaderLines) break
      continue
    }
    const { delimiter, khz } = columns
    const cells = cellsOf(content, delimiter)
    const levels = cells.slice(columnsBeforeLevels)
    if (levels.length !== khz.length) {
      throw new ScanFileError(`Line ${line}: expected ${khz.length} levels, found ${levels.length}.`)
    }
    for (const [index, level] of levels.entries()) {
      const dbm = parseLevel(level, line)
      if (dbm !== null) hold.add(khz[index] ?? 0, dbm, 'Line', line)
    }
    if (sweeps === 0) takenAt = readTime(cells)
    sweeps += 1
  }
  if (columns === null) throw new ScanFileError('No line begins with "Sweep" and lists the frequencies.')
  if (sweeps === 0) throw new ScanFileError('No sweep follows the line of frequencies.')
  return { format: 'rf_explorer', takenAt, ...hold.levels() }
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
