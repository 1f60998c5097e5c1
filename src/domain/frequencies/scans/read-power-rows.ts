/** Reads files of `rtl_power` and `hackrf_sweep`. The rows of one sweep follow one another in any order. */

import { hasFractions, isPowerRow, parsePowerRow } from './power-row.ts'
import { type ReadScan, ScanReadings } from './scan.ts'
import { linesOf } from './scan-text.ts'

/** Rows are recognised in this part of a file, even if the first ones are damaged. */
const startLength = 20_000

export function isPowerRows(text: string): boolean {
  return text
    .slice(0, startLength)
    .split(/[\r\n]+/)
    .some(isPowerRow)
}

export function readPowerRows(text: string): ReadScan {
  const readings = new ScanReadings()
  let takenAt: number | null = null
  let isHackrf = false
  for (const line of linesOf(text)) {
    if (line.text.startsWith('#') || /^[,\s]*$/.test(line.text)) continue
    const row = parsePowerRow(line.text)
    if ('why' in row) {
      readings.skip(line.number, row.why)
      continue
    }
    isHackrf ||= hasFractions(row)
    takenAt ??= row.at
    const khz = row.levels.map((_, index) => (row.lowHz + index * row.stepHz) / 1000)
    readings.add(line.number, khz, row.levels)
  }
  const format = isHackrf ? 'hackrf_sweep' : 'rtl_power'
  return readings.toScan({ format, unit: 'dB', takenAt, isCalibrated: false })
}
