/** A spectrum scan: the highest level that was measured at each frequency. */

import type { ScanFormat } from '../../../contract/values.ts'

/** The largest file that is read. */
export const maxScanFileBytes = 16 * 1024 * 1024
/** The largest number of different frequencies in a scan. */
export const maxScanPoints = 200_000
/** The largest number of stored scans. */
export const maxScans = 50
/** The largest correction of all levels of a scan, in dB, upward or downward. */
export const maxOffsetDb = 200

const [lowestDbm, highestDbm] = [-250, 100]
const highestKhz = 30_000_000

export interface Levels {
  /** In ascending order, without duplicates. */
  readonly khz: Uint32Array
  /** The level at each frequency, in tenths of a dBm. */
  readonly tenthsDbm: Int16Array
}

export interface ReadScan extends Levels {
  readonly format: ScanFormat
  /** When the scan was made, in milliseconds since 1970; null if the file does not say so. */
  readonly takenAt: number | null
}

/** The result of reading a file, or why it cannot be read. */
export type ScanFileResult = { readonly scan: ReadScan } | { readonly fault: string }

/** A file that cannot be read. The message names the line or part, and what was expected. */
export class ScanFileError extends Error {
  override readonly name = 'ScanFileError'
}

/** Collects the highest level at each frequency. */
export class MaximumHold {
  readonly #tenthsDbm = new Map<number, number>()

  /** Adds a reading. `part` and `number` name its place in the file for an error message, such as `Line` and 7. */
  add(khz: number, dbm: number, part: string, number: number): void {
    const whole = Math.round(khz)
    if (!(whole >= 1 && whole <= highestKhz)) {
      throw new ScanFileError(`${part} ${number}: expected a frequency from 0.001 to ${highestKhz / 1000} MHz.`)
    }
    if (!(dbm >= lowestDbm && dbm <= highestDbm)) {
      throw new ScanFileError(`${part} ${number}: expected a level from ${lowestDbm} to ${highestDbm} dBm.`)
    }
    const tenths = Math.round(dbm * 10)
    const before = this.#tenthsDbm.get(whole)
    if (before !== undefined && before >= tenths) return
    this.#tenthsDbm.set(whole, tenths)
    if (this.#tenthsDbm.size > maxScanPoints) throw tooManyPoints()
  }

  /** Returns the collected levels; there must be at least one. */
  levels(): Levels {
    if (this.#tenthsDbm.size === 0) throw new ScanFileError('The file contains no levels.')
    const khz = Uint32Array.from(this.#tenthsDbm.keys()).sort()
    return { khz, tenthsDbm: Int16Array.from(khz, (key) => this.#tenthsDbm.get(key) ?? 0) }
  }
}

export function tooManyPoints(): ScanFileError {
  return new ScanFileError(
    `The file contains more than ${maxScanPoints} different frequencies. Export a smaller range or a larger step.`,
  )
}

/** Adds the same correction to every level. */
export function withOffset(tenthsDbm: Int16Array, offsetDb: number): Int16Array {
  const offset = Math.round(offsetDb * 10)
  return tenthsDbm.map((level) => level + offset)
}

/** Returns the last part of a path without control characters, as the name of a scan. */
export function toScanName(fileName: string): string {
  const [last = ''] = fileName.split(/[/\\]/).slice(-1)
  const name = last.replace(/[\p{Cc}\p{Cs}\uFFFD]/gu, '').trim()
  return [...name].slice(0, 255).join('') || 'scan'
}
