/**
 * Reads the plain format that Wireless Workbench imports and that RF Explorer, tinySA and others write: a frequency and
 * a level in dBm in each line.
 */

import { holdReadings, type Reading } from './frequency-unit.ts'
import { type ReadScan, ScanFileError } from './scan.ts'
import { cellsOf, type Delimiter, linesOf, parseDecimal, parseLevel, quote } from './scan-text.ts'

/** The largest number of lines before the first reading. */
const maxHeaderLines = 50

export function readCsv(text: string): ReadScan {
  const readings: Reading[] = []
  let delimiter: Delimiter | null = null
  let headerLines = 0
  for (const { number: line, text: content } of linesOf(text)) {
    if (content.startsWith('#')) continue
    if (delimiter === null) {
      delimiter = delimiterOf(content)
      if (delimiter === null) {
        headerLines += 1
        if (headerLines > maxHeaderLines) break
        continue
      }
    }
    const [frequencyText = '', levelText = '', ...others] = joinDecimals(cellsOf(content, delimiter), delimiter)
    const frequency = parseDecimal(frequencyText)
    if (frequency === null) throw new ScanFileError(`Line ${line}: ${quote(frequencyText)} is not a frequency.`)
    if (others.length > 0) {
      throw new ScanFileError(`Line ${line}: expected a frequency and a level, found ${others.length + 2} columns.`)
    }
    const dbm = parseLevel(levelText, line)
    if (dbm !== null) readings.push({ frequency, dbm, line })
  }
  if (delimiter === null) {
    throw new ScanFileError('No line contains a frequency and a level, such as 470.025,-98.5.')
  }
  return { format: 'csv', takenAt: null, ...holdReadings(readings).levels() }
}

/** Returns the delimiter of a line that begins with a number and contains a level; null for any other line. */
function delimiterOf(line: string): Delimiter | null {
  if (!/^"?\+?[\d.]/.test(line)) return null
  for (const delimiter of [';', '\t', ',', ' '] as const) {
    if (!line.includes(delimiter)) continue
    const [frequency = '', level = ''] = joinDecimals(cellsOf(line, delimiter), delimiter)
    if (parseDecimal(frequency) !== null && (parseDecimal(level) !== null || /^-?(nan|inf)$/i.test(level))) {
      return delimiter
    }
  }
  return null
}

/** Joins the parts of two numbers with a decimal comma that are also separated by a comma: `470,025,-98,5`. */
function joinDecimals(cells: string[], delimiter: Delimiter): string[] {
  if (delimiter !== ',' || cells.length !== 4) return cells
  const [whole = '', fraction = '', level = '', tenths = ''] = cells
  const isDecimal = /^\d+$/.test(whole) && /^\d+$/.test(fraction) && /^-?\d+$/.test(level) && /^\d+$/.test(tenths)
  return isDecimal ? [`${whole}.${fraction}`, `${level}.${tenths}`] : cells
}
