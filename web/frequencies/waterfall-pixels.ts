/** Pure, so that it can be tested without a canvas. */

import { maxWaterfallPoints, unmeasured } from '../../src/domain/frequencies/sweeps/sweep.ts'
import { type Scale, tableRanges, xToKhz } from './layout.ts'
import type { ShownSweeps } from './live-spectrum.ts'
import type { Span } from './span.ts'

/** In dB. */
export interface LevelRange {
  readonly low: number
  readonly high: number
}

const leastRangeDb = 40
const roundTo = (value: number, direction: 'floor' | 'ceil') => Math[direction](value / 10) * 10

const ranges = new WeakMap<Int16Array, LevelRange>()

/** From below the noise to the highest level, in tens of dB, so that it seldom changes. */
export function levelRange({ max, last }: Pick<ShownSweeps, 'max' | 'last'>): LevelRange {
  const known = ranges.get(max)
  if (known !== undefined) return known
  const levels = last.filter((level) => level !== unmeasured).sort()
  const noise = (levels[levels.length >> 2] ?? -1000) / 10
  const highest = max.reduce((before, level) => Math.max(before, level), unmeasured) / 10
  const low = roundTo(noise - 3, 'floor')
  const range = { low, high: Math.max(low + leastRangeDb, roundTo(highest, 'ceil')) }
  ranges.set(max, range)
  return range
}

type Grid = Pick<ShownSweeps, 'fromKhz' | 'stepKhz' | 'last' | 'lines'>

/** The first and last level of a line between two frequencies; the last is below the first outside of the line. */
function indexesBetween({ fromKhz, stepKhz, last: { length } }: Grid, from: number, to: number) {
  const neighbours = Math.ceil(length / maxWaterfallPoints)
  const indexOf = (khz: number) => ((khz - fromKhz) / stepKhz + 0.5) / neighbours
  const count = Math.ceil(length / neighbours)
  const [first, end] = [Math.floor(indexOf(from)), Math.ceil(indexOf(to)) - 1]
  return { first: Math.max(0, first), last: Math.min(count - 1, Math.max(first, end)) }
}

function highestBetween(levels: Int16Array, { first, last }: { readonly first: number; readonly last: number }) {
  let highest = unmeasured
  for (let index = first; index <= last; index++) highest = Math.max(highest, levels[index] ?? unmeasured)
  return highest
}

/**
 * Returns one byte for each column and line, the newest line first: 1 to 255 from the lowest to the highest level, and
 * 0 where nothing was measured.
 */
export function waterfallBytes(grid: Grid, scale: Scale, { low, high }: LevelRange): Uint8Array {
  const { lines } = grid
  const { width } = scale
  const [firsts, lasts] = [new Int32Array(width), new Int32Array(width)]
  for (let x = 0; x < width; x++) {
    const { first, last } = indexesBetween(grid, xToKhz(x, scale), xToKhz(x + 1, scale))
    firsts[x] = first
    lasts[x] = last
  }
  const bytes = new Uint8Array(width * lines.length)
  const [lowest, bytesPerTenth] = [low * 10, 254 / ((high - low) * 10)]
  // Indexed loops, because all pixels are computed again in every frame while the spectrum moves.
  for (let row = 0; row < lines.length; row++) {
    const levels = lines[lines.length - 1 - row]?.levels ?? new Int16Array()
    for (let x = 0; x < width; x++) {
      let highest = unmeasured
      const last = lasts[x] as number
      for (let index = firsts[x] as number; index <= last; index++) {
        const level = levels[index] as number
        if (level > highest) highest = level
      }
      if (highest === unmeasured) continue
      bytes[row * width + x] = 1 + Math.round(Math.min(254, Math.max(0, (highest - lowest) * bytesPerTenth)))
    }
  }
  return bytes
}

export interface WaterfallRow {
  readonly at: number
  /** The highest level in each range; null where nothing was measured. */
  readonly highest: readonly (number | null)[]
}

/** The waterfall as a table: its lines, the newest first, in about `columns` ranges of the span. */
export function tabulateWaterfall(grid: Grid, span: Span, columns: number) {
  const end = grid.fromKhz + grid.last.length * grid.stepKhz
  const from = Math.max(span.fromKhz, grid.fromKhz)
  const to = Math.min(span.fromKhz + span.widthKhz, end)
  if (to <= from) return { ranges: [], rows: [] }
  const ranges = tableRanges({ fromKhz: from, widthKhz: to - from }, columns)
  // Points at the limit of two ranges belong to the upper one.
  const [above, below] = [grid.stepKhz * 0.499, grid.stepKhz * 0.501]
  const indexes = ranges.map(({ fromKhz, toKhz }) => indexesBetween(grid, fromKhz + above, toKhz - below))
  const rows = grid.lines.toReversed().map(({ at, levels }): WaterfallRow => {
    const highest = indexes.map((column) => highestBetween(levels, column))
    return { at, highest: highest.map((level) => (level === unmeasured ? null : level / 10)) }
  })
  return { ranges, rows }
}
