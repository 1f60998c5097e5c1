/** Assembles the rows of `rtl_power` or `hackrf_sweep` to sweeps, as they come. */

import { hasFractions, type PowerRow, parsePowerRow } from '../scans/power-row.ts'
import type { SkippedRow } from '../scans/scan.ts'
import { highestDbm, lowestDbm, maxSweepPoints, type Sweep, SweepError, toSweep } from './sweep.ts'

const maxListedRows = 100
/** More damaged rows than this end a stream that has not had more good ones. */
const maxDamagedRows = 20

export class SweepRows {
  readonly #now: () => number
  /** Of the current sweep. */
  #rows: PowerRow[] = []
  #points = 0
  #line = 0
  #rowsRead = 0
  #damaged = 0
  readonly #skipped: SkippedRow[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  get rowsSkipped(): readonly SkippedRow[] {
    return this.#skipped
  }

  /** The number of the last line. */
  get line(): number {
    return this.#line
  }

  /**
   * Adds a line. Returns the sweep before it, if this line begins another one. Throws a `SweepError` about rows that go
   * backwards or overlap, and about a sweep without an end.
   */
  add(text: string): Sweep | null {
    this.#line += 1
    if (text.trim() === '' || text.startsWith('#')) return null
    const row = parsePowerRow(text.trim())
    if ('why' in row) {
      if (row.isBackwards) throw this.#error(row.why)
      this.#skip(row.why)
      return null
    }
    if (row.levels.some((level) => level !== null && !(level >= lowestDbm && level <= highestDbm))) {
      this.#skip(`Expected levels from ${lowestDbm} to ${highestDbm} dB.`)
      return null
    }
    const ended = this.#beginsAnother(row) ? this.end() : null
    this.#rows.push(row)
    this.#points += row.levels.length
    this.#rowsRead += 1
    this.#checkLength(row)
    return ended
  }

  /** Returns the current sweep and begins another; null if it has no rows. */
  end(): Sweep | null {
    if (this.#rows.length === 0) return null
    const sweep = this.#toSweep()
    this.#rows = []
    this.#points = 0
    return sweep
  }

  /** Throws a `SweepError` if most rows could not be read. */
  requireReadable(tolerated = 0): void {
    if (this.#damaged <= this.#rowsRead || this.#damaged <= tolerated) return
    const [first] = this.#skipped
    const count = `${this.#damaged} of ${this.#damaged + this.#rowsRead} rows cannot be read.`
    throw new SweepError(`${count} Line ${first?.line}: ${first?.why}`)
  }

  #beginsAnother(row: PowerRow): boolean {
    const [first] = this.#rows
    if (first === undefined) return false
    const overlapped = this.#rows.find(({ lowHz, highHz }) => row.lowHz < highHz && lowHz < row.highHz)
    if (overlapped !== undefined && row.timeText === overlapped.timeText) {
      const ranges = `${row.lowHz} to ${row.highHz} Hz, ${overlapped.lowHz} to ${overlapped.highHz} Hz`
      throw this.#error(`Two rows of one sweep overlap: ${ranges}.`)
    }
    // The rows of one sweep of `hackrf_sweep` may have different times.
    return overlapped !== undefined || (row.timeText !== first.timeText && !hasFractions(row))
  }

  #checkLength(row: PowerRow): void {
    const [first = row] = this.#rows
    if (Math.abs(row.stepHz - first.stepHz) > first.stepHz / 100) {
      throw this.#error(`The step changes within a sweep, from ${first.stepHz} to ${row.stepHz} Hz.`)
    }
    const { fromHz, points } = this.#range()
    if (this.#points > maxSweepPoints || points > maxSweepPoints) {
      throw this.#error(
        `The sweep from ${fromHz} Hz has more than ${maxSweepPoints} points. Use a larger step or a smaller range.`,
      )
    }
  }

  #range() {
    const stepHz = this.#rows[0]?.stepHz ?? 1
    const fromHz = Math.min(...this.#rows.map(({ lowHz }) => lowHz))
    const lastHz = Math.max(...this.#rows.map(({ lowHz, levels }) => lowHz + (levels.length - 1) * stepHz))
    return { fromHz, stepHz, points: Math.round((lastHz - fromHz) / stepHz) + 1 }
  }

  #toSweep(): Sweep | null {
    const { fromHz, stepHz, points } = this.#range()
    const dbm = Array.from({ length: points }, (): number | null => null)
    for (const { lowHz, levels } of this.#rows) {
      const start = Math.round((lowHz - fromHz) / stepHz)
      for (const [index, level] of levels.entries()) {
        const before = dbm[start + index] ?? Number.NEGATIVE_INFINITY
        if (level !== null && level > before) dbm[start + index] = level
      }
    }
    if (dbm.every((level) => level === null)) return null
    const startedAt = this.#rows[0]?.at ?? this.#now()
    try {
      return toSweep({ startedAt, fromMhz: fromHz / 1e6, stepMhz: stepHz / 1e6, dbm, isCalibrated: false })
    } catch (error) {
      throw error instanceof SweepError ? this.#error(error.message) : error
    }
  }

  #skip(why: string): void {
    this.#damaged += 1
    if (this.#skipped.length < maxListedRows) this.#skipped.push({ line: this.#line, why })
    this.requireReadable(maxDamagedRows)
  }

  #error(why: string): SweepError {
    return new SweepError(`Line ${this.#line}: ${why}`)
  }
}
