/** A spectrum scan: the highest level that was measured at each frequency. */

import type { ScanFormat } from '../../../contract/values.ts'
import { highestDbm, highestMhz, lowestDbm } from '../sweeps/sweep.ts'

/** Of one file, and of all files of a scan together. */
export const maxScanFileBytes = 16 * 1024 * 1024
export const maxScanFiles = 64
/** Different frequencies in a scan. */
export const maxScanPoints = 200_000
/** Different frequencies in a scan. */
export const minScanPoints = 5
export const maxListedRows = 1000
export const maxScans = 50
/** The maximum correction of all levels of a scan, in dB, up or down. */
export const maxOffsetDb = 200

export interface Levels {
  /** In ascending order, without duplicates. */
  readonly khz: Uint32Array
  /** The level at each frequency, in tenths of a dBm. */
  readonly tenthsDbm: Int16Array
}

export interface ReadScan extends Levels {
  readonly format: ScanFormat
  /** The unit of the levels in the file, as written there. */
  readonly unit: string
  /** False if the levels are relative, because the program that wrote them does not know the gain of its receiver. */
  readonly isCalibrated: boolean
  /** The median distance of neighbouring frequencies, rounded to 1 Hz. */
  readonly stepKhz: number
  /** Epoch milliseconds; null if the file does not contain the time. */
  readonly takenAt: number | null
  readonly rowsRead: number
  readonly rowsSkipped: readonly SkippedRow[]
}

/** `why` is a sentence. */
export interface SkippedRow {
  /** The name of the file, if the scan consists of several. */
  readonly file?: string
  /** Line in the file; in a binary file, the number of the sweep. */
  readonly line: number
  readonly why: string
}

export type ScanFileResult = { readonly scan: ReadScan } | { readonly fault: string }

/** The message names the line or part, and the expected content. */
export class ScanFileError extends Error {
  override readonly name = 'ScanFileError'
}

/** Collects the highest level at each frequency, and the rows that were skipped. */
export class ScanReadings {
  readonly #levels = new Map<number, number>()
  /** The frequencies before rounding. */
  readonly #exactKhz = new Map<number, number>()
  readonly #skipped: SkippedRow[] = []
  #skippedCount = 0
  #damagedCount = 0
  #rowsRead = 0

  get rowsRead(): number {
    return this.#rowsRead
  }

  /**
   * Adds the readings in a row; null if nothing was measured. A row with a value out of range is skipped. The levels
   * are the highest of `rows` rows.
   */
  add(line: number, khz: ArrayLike<number>, dbm: readonly (number | null)[], rows = 1): void {
    const fault = dbm.map((level, index) => faultOf(khz[index] ?? 0, level)).find((found) => found !== null)
    if (fault !== undefined) this.skip(line, fault)
    else if (dbm.every((level) => level === null)) this.skip(line, 'No level was measured.', 'unmeasured')
    else {
      for (const [index, level] of dbm.entries()) if (level !== null) this.#hold(khz[index] ?? 0, level)
      this.#rowsRead += rows
    }
  }

  /** A row that is intact, but in which nothing was measured, is no reason to reject the file. */
  skip(line: number, why: string, kind: 'damaged' | 'unmeasured' = 'damaged'): void {
    this.#skippedCount += 1
    if (kind === 'damaged') this.#damagedCount += 1
    if (this.#skipped.length < maxListedRows) this.#skipped.push({ line, why })
  }

  /** Returns the scan if most rows are readable and the levels are plausible. */
  toScan(file: { format: ScanFormat; unit: string; takenAt: number | null; isCalibrated?: boolean }): ReadScan {
    const khz = Uint32Array.from(this.#levels.keys()).sort()
    this.#requireRows(khz.length)
    const dbm = Float64Array.from(khz, (key) => this.#levels.get(key) ?? 0)
    requirePlausible(dbm, file.unit)
    const exact = Float64Array.from(khz, (key) => this.#exactKhz.get(key) ?? key)
    const unlisted = this.#skippedCount - this.#skipped.length
    const last = this.#skipped.at(-1)
    return {
      isCalibrated: true,
      ...file,
      khz,
      tenthsDbm: Int16Array.from(dbm, (level) => Math.round(level * 10)),
      stepKhz: stepOf(exact),
      rowsRead: this.#rowsRead,
      rowsSkipped:
        last === undefined || unlisted === 0
          ? this.#skipped
          : [...this.#skipped, { line: last.line, why: `${unlisted} more rows after this one were skipped.` }],
    }
  }

  #hold(khz: number, dbm: number): void {
    const whole = Math.round(khz)
    const before = this.#levels.get(whole)
    if (before === undefined) this.#exactKhz.set(whole, khz)
    if (before === undefined || before < dbm) this.#levels.set(whole, dbm)
    if (this.#levels.size > maxScanPoints) throw tooManyPoints()
  }

  #requireRows(points: number): void {
    const [first] = this.#skipped
    const example = first === undefined ? '' : ` Line ${first.line}: ${first.why}`
    if (this.#damagedCount > this.#rowsRead) {
      const count = `${this.#damagedCount} of ${this.#damagedCount + this.#rowsRead} rows cannot be read.`
      throw new ScanFileError(count + example)
    }
    if (points >= minScanPoints) return
    const found = points === 0 ? 'no levels' : `levels at ${points} ${points === 1 ? 'frequency' : 'frequencies'}`
    throw new ScanFileError(`The file contains ${found}; a scan has at least ${minScanPoints}.${example}`)
  }
}

/** Returns why a reading cannot be stored, or null. */
function faultOf(khz: number, dbm: number | null): string | null {
  if (dbm === null) return null
  const whole = Math.round(khz)
  if (!(whole >= 1 && whole <= highestMhz * 1000)) return `Expected a frequency from 0.001 to ${highestMhz} MHz.`
  return dbm >= lowestDbm && dbm <= highestDbm ? null : `Expected a level from ${lowestDbm} to ${highestDbm} dBm.`
}

/** Rejects levels that are certainly in another unit. */
function requirePlausible(dbm: Float64Array, unit: string): void {
  const median = medianOf(dbm)
  const isPlausible = median >= -200 && median <= 20 && dbm.some((level) => level <= 0)
  if (isPlausible) return
  const found = `The levels, with a median of ${median.toFixed(1)}, are not in ${unit}.`
  throw new ScanFileError(`${found} Export them in dBm, dBµV or dBmV, with the unit in the heading.`)
}

/** Returns the median distance of neighbouring frequencies. */
export function stepOf(khz: Float64Array): number {
  return Math.round(medianOf(khz.subarray(1).map((value, index) => value - (khz[index] ?? 0))) * 1000) / 1000
}

const medianOf = (values: Float64Array): number => Float64Array.from(values).sort()[values.length >> 1] ?? 0

export function tooManyPoints(): ScanFileError {
  return new ScanFileError(
    `The file contains more than ${maxScanPoints} different frequencies. Export a smaller range or a larger step.`,
  )
}

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
