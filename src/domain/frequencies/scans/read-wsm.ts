/** Reads scans of Sennheiser's Wireless Systems Manager: fields of text, then frequencies in kHz and levels. */

import { holdReadings, type Reading } from './frequency-unit.ts'
import { type ReadScan, ScanFileError } from './scan.ts'
import { cellsOf, linesOf, parseDecimal, parseLevel, parseLocalTime, quote } from './scan-text.ts'

const maxHeaderLines = 100
/** The difference between dBµV at 50 Ω and dBm. */
const microvoltOffset = 107

export function isWsm(text: string): boolean {
  return /^"?Receiver"?;/.test(text) || /^"?Frequency Range \[kHz\]"?;/m.test(text.slice(0, 10_000))
}

export function readWsm(text: string): ReadScan {
  const readings: Reading[] = []
  let offset = 0
  let takenAt: number | null = null
  let isHeader = true
  for (const { number: line, text: content } of linesOf(text)) {
    const cells = cellsOf(content, ';')
    const [first = '', second = '', third = ''] = cells
    if (isHeader) {
      if (first === 'RFUnit') offset = offsetOf(second, line)
      else if (first === 'Date/Time') takenAt = readTime(second)
      else if (first === 'Frequency') isHeader = false
      else if (line > maxHeaderLines) break
      continue
    }
    const frequency = parseDecimal(first)
    if (frequency === null) throw new ScanFileError(`Line ${line}: ${quote(first)} is not a frequency in kHz.`)
    if (cells.length > 3) {
      throw new ScanFileError(`Line ${line}: expected frequency, percentage and level, found ${cells.length} columns.`)
    }
    const level = parseLevel(third, line)
    if (level !== null) readings.push({ frequency, dbm: level + offset, line })
  }
  if (isHeader) throw new ScanFileError('No line begins with "Frequency;", which precedes the levels.')
  return { format: 'wsm', takenAt, ...holdReadings(readings).levels() }
}

/** Returns what must be added to a level in this unit for a level in dBm. */
function offsetOf(unit: string, line: number): number {
  if (unit === '' || /^dBm$/i.test(unit)) return 0
  // The sign for micro is one or two characters, depending on the encoding of the file.
  if (/^dB.{1,2}V$/i.test(unit)) return -microvoltOffset
  throw new ScanFileError(`Line ${line}: levels in ${quote(unit)} are not supported. Export the scan in dBm.`)
}

function readTime(text: string): number | null {
  const [, date = '', time = ''] = /^(\S+)[T ,]+(\d.*)$/.exec(text) ?? []
  return parseLocalTime(date, time)
}
