/** The position of each strip, in CSS pixels. An open strip is as high as its three lanes need. */

import type { Lanes } from './raster.ts'

const openHeight = 240

interface RowOptions {
  readonly ids: readonly number[]
  readonly openIds: readonly number[]
  /** Of a closed strip. */
  readonly stripHeight: number
  /** Of the name above each strip; 0 if the names are beside the strips. */
  readonly labelHeight: number
  readonly isDetailed: boolean
}

export class RowLayout {
  readonly ids: readonly number[]
  readonly labelHeight: number
  readonly #open: ReadonlySet<number>
  readonly #closedLanes: Lanes
  /** One more than there are strips. */
  readonly #tops: readonly number[]

  constructor({ ids, openIds, stripHeight, labelHeight, isDetailed }: RowOptions) {
    this.ids = ids
    this.labelHeight = labelHeight
    this.#open = new Set(openIds)
    this.#closedLanes = isDetailed ? 2 : 1
    const tops = [0]
    for (const [index, id] of ids.entries()) {
      tops.push((tops[index] ?? 0) + labelHeight + (this.#open.has(id) ? openHeight : stripHeight))
    }
    this.#tops = tops
  }

  get height(): number {
    return this.topOf(this.ids.length)
  }

  topOf(row: number): number {
    return this.#tops[row] ?? 0
  }

  heightOf(row: number): number {
    return this.topOf(row + 1) - this.topOf(row)
  }

  isOpen(row: number): boolean {
    return this.#open.has(this.ids[row] ?? 0)
  }

  lanesOf(row: number): Lanes {
    return this.isOpen(row) ? 3 : this.#closedLanes
  }

  /** Null below the last strip. */
  rowAt(y: number): number | null {
    const row = this.#tops.findLastIndex((top) => top <= y)
    return row >= 0 && row < this.ids.length ? row : null
  }

  /** The rows that a window of this height shows; `last` is exclusive. */
  visible(scrollTop: number, height: number): { readonly first: number; readonly last: number } {
    const last = this.#tops.findIndex((top) => top >= scrollTop + height)
    return {
      first: Math.max(
        0,
        this.#tops.findLastIndex((top) => top <= scrollTop),
      ),
      last: last === -1 ? this.ids.length : Math.min(last, this.ids.length),
    }
  }
}
