/** Units of frequencies in scan files. */

import { MaximumHold, ScanFileError } from './scan.ts'
import { quote } from './scan-text.ts'

/** A reading before the unit of its frequency is known. */
export interface Reading {
  readonly frequency: number
  readonly dbm: number
  readonly line: number
}

/**
 * Adds the readings of a file that does not name the unit. The median frequency is below 30,000 if they are in MHz, and
 * below 30 million in kHz.
 */
export function holdReadings(readings: readonly Reading[]): MaximumHold {
  const frequencies = Float64Array.from(readings, ({ frequency }) => frequency).sort()
  const median = frequencies[frequencies.length >> 1] ?? 0
  const khz = median < 30_000 ? 1000 : median < 30_000_000 ? 1 : 0.001
  const hold = new MaximumHold()
  for (const { frequency, dbm, line } of readings) hold.add(frequency * khz, dbm, 'Line', line)
  return hold
}

const khzByUnit: Readonly<Record<string, number>> = { hz: 0.001, khz: 1, mhz: 1000 }

/** Returns the number of kHz in a unit that a file names. */
export function khzIn(unit: string): number {
  const khz = khzByUnit[unit.toLowerCase()]
  if (khz === undefined)
    throw new ScanFileError(`Frequencies in ${quote(unit)} are not supported, only Hz, kHz and MHz.`)
  return khz
}

/** Requires that a file names dBm as the unit of levels. */
export function requireDbm(unit: string): void {
  if (!/^dBm$/i.test(unit)) throw new ScanFileError(`Levels in ${quote(unit)} are not supported, only dBm.`)
}
