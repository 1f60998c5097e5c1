/**
 * Collects the blocks of a scan by a Digital 6000 to sweeps. Source: Sennheiser's SSC developer's guide for Digital 6000
 * (TI 1109 v2.2, 8.18 and 8.19). A block is a list. It begins with the first and last frequency and the step of the
 * scan, then has the first and last frequency of the block and the number of the session. The levels of RF 1 and RF 2
 * at each frequency follow, as in `/mm`. Frequencies are in Hz.
 */

import type { ScanRange } from '../../plugin.ts'
import { digital6000 } from './fields.ts'

/** A range of indexes of points, both included. */
export interface Gap {
  readonly first: number
  readonly last: number
}

interface Block {
  readonly session: number
  readonly first: number
  /** In dBm. */
  readonly levels: readonly (number | null)[]
}

/** The device sends and returns at most this many points in one block. */
const blockPoints = 100
const headerLength = 6

export class ScanBlocks {
  readonly range: ScanRange
  /** Null until the first block, if the device has not confirmed it. */
  #session: number | null
  #levels: (number | null | undefined)[]
  #lastIndex = -1

  constructor(range: ScanRange, session: number | null) {
    this.range = range
    this.#session = session
    this.#levels = this.#createLevels()
  }

  get isEmpty(): boolean {
    return this.#lastIndex === -1
  }

  /** True if the last point was measured. */
  get isComplete(): boolean {
    return this.#lastIndex === this.#levels.length - 1
  }

  /**
   * Adds a value of `/rx1/scan/result`. Returns false if it begins the next sweep, because the end of this one was lost.
   * Ignores blocks of other sessions and those of another form.
   */
  add(value: unknown): boolean {
    const block = this.#parse(value)
    if (block === null || block.session !== (this.#session ?? block.session)) return true
    const last = block.first + block.levels.length - 1
    if (last < this.#lastIndex) return false
    this.#session = block.session
    this.#put(block)
    this.#lastIndex = last
    return true
  }

  /** Adds a block that was requested because it had been lost. */
  fill(value: unknown): void {
    const block = this.#parse(value)
    if (block !== null) this.#put(block)
  }

  /** Lists what is missing, in parts for which one request is enough. */
  gaps(): readonly Gap[] {
    const gaps: Gap[] = []
    for (const [index, level] of this.#levels.entries()) {
      if (level !== undefined) continue
      const open = gaps.at(-1)
      if (open !== undefined && open.last === index - 1 && index - open.first < blockPoints)
        gaps[gaps.length - 1] = { ...open, last: index }
      else gaps.push({ first: index, last: index })
    }
    return gaps
  }

  toHz(index: number): number {
    return (this.range.fromKhz + index * this.range.stepKhz) * 1000
  }

  /** Returns the levels in dBm, with null where nothing was measured, and begins the next sweep. */
  take(): readonly (number | null)[] {
    const levels = this.#levels.map((level) => level ?? null)
    this.#levels = this.#createLevels()
    this.#lastIndex = -1
    return levels
  }

  #createLevels() {
    const { fromKhz, toKhz, stepKhz } = this.range
    return new Array<number | null | undefined>(Math.floor((toKhz - fromKhz) / stepKhz) + 1).fill(undefined)
  }

  #put({ first, levels }: Block): void {
    for (const [index, level] of levels.entries()) this.#levels[first + index] = level
  }

  #parse(value: unknown): Block | null {
    if (!isNumbers(value) || value.length <= headerLength) return null
    const { fromKhz, stepKhz } = this.range
    const [, , stepHz = 0, fromHz = 0, toHz = 0, session = 0] = value
    const first = (fromHz / 1000 - fromKhz) / stepKhz
    const last = (toHz / 1000 - fromKhz) / stepKhz
    const isInRange = first >= 0 && last >= first && last < this.#levels.length
    if (stepHz !== stepKhz * 1000 || !Number.isInteger(first) || !Number.isInteger(last) || !isInRange) return null
    const readings = value.slice(headerLength)
    const antennas = readings.length / (last - first + 1)
    // The guide's text and example show pairs; a single level is accepted too.
    if (antennas !== 1 && antennas !== 2) return null
    const levels = Array.from({ length: last - first + 1 }, (_, index) =>
      highest(readings.slice(index * antennas, (index + 1) * antennas)),
    )
    return { session, first, levels }
  }
}

function highest(readings: readonly number[]): number | null {
  const known = readings.flatMap((reading) => digital6000.scanLevel.read(reading) ?? [])
  return known.length === 0 ? null : Math.max(...known)
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((number) => typeof number === 'number' && Number.isFinite(number))
}
