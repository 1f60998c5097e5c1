/** Pure, so that it can be tested without a canvas. */

import type { Span } from './span.ts'

/** Heights in CSS pixels, from the top: TV channels, levels, products, frequencies. */
export const lanes = { tv: 22, names: 34, products: 16, axis: 24 } as const

export const [topDbm, bottomDbm] = [-20, -120]
/** A carrier with an unknown level is drawn to this level. */
export const unknownDbm = -60

export interface Plot {
  readonly top: number
  readonly bottom: number
}

export function plotOf(height: number): Plot {
  return { top: lanes.tv + lanes.names, bottom: Math.max(lanes.tv + lanes.names, height - lanes.products - lanes.axis) }
}

export function dbmToY(dbm: number, { top, bottom }: Plot): number {
  const share = Math.min(1, Math.max(0, (topDbm - dbm) / (topDbm - bottomDbm)))
  return top + share * (bottom - top)
}

export interface Scale extends Span {
  /** In CSS pixels */
  readonly width: number
}

export function khzToX(khz: number, { fromKhz, widthKhz, width }: Scale): number {
  return ((khz - fromKhz) / widthKhz) * width
}

export function xToKhz(x: number, { fromKhz, widthKhz, width }: Scale): number {
  return fromKhz + (x / Math.max(1, width)) * widthKhz
}

const steps = [5, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000]
/** Labels do not touch at this distance. */
const tickPx = 72

export function ticksOf(scale: Scale): readonly number[] {
  const least = (scale.widthKhz / Math.max(1, scale.width)) * tickPx
  const step = steps.find((candidate) => candidate >= least) ?? 500_000
  const first = Math.ceil(scale.fromKhz / step) * step
  const count = Math.max(0, Math.floor((scale.fromKhz + scale.widthKhz - first) / step) + 1)
  return Array.from({ length: count }, (_, index) => first + index * step)
}

export function tickText(khz: number): string {
  return String(khz / 1000)
}

/** Index of the first frequency that is not below `khz`. */
export function lowerBound(sorted: ArrayLike<number>, khz: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < khz) low = middle + 1
    else high = middle
  }
  return low
}

/** Index; null if none is within `reachKhz`. */
export function nearest(sorted: ArrayLike<number>, khz: number, reachKhz: number): number | null {
  const after = lowerBound(sorted, khz)
  const below = after > 0 ? khz - (sorted[after - 1] as number) : Number.POSITIVE_INFINITY
  const above = after < sorted.length ? (sorted[after] as number) - khz : Number.POSITIVE_INFINITY
  if (Math.min(below, above) > reachKhz) return null
  return below <= above ? after - 1 : after
}

export interface Label {
  readonly khz: number
  readonly widthPx: number
  readonly rank: number
}

export const labelRows = 2
const labelGapPx = 6

/**
 * Null for labels without room. Depends only on the scale, so that names do not change rows while the spectrum moves.
 */
export function placeLabels(labels: readonly Label[], khzPerPx: number): readonly (number | null)[] {
  const rows = Array.from({ length: labelRows }, (): { from: number; to: number }[] => [])
  const placed: (number | null)[] = labels.map(() => null)
  const order = labels.map((_, index) => index).sort((a, b) => (labels[a]?.rank ?? 0) - (labels[b]?.rank ?? 0))
  for (const index of order) {
    const { khz, widthPx } = labels[index] as Label
    const from = khz / khzPerPx - widthPx / 2 - labelGapPx
    const to = khz / khzPerPx + widthPx / 2 + labelGapPx
    const row = rows.findIndex((others) => others.every((other) => other.to <= from || other.from >= to))
    if (row < 0) continue
    rows[row]?.push({ from, to })
    placed[index] = row
  }
  return placed
}

const nearKhz = 1_000

/** Products 2A − B of one zone near any carrier, sorted, each once. */
export function productsNear(
  generators: readonly { readonly khz: number; readonly zone: string | null }[],
  carriers: ArrayLike<number>,
): Int32Array {
  const found = new Set<number>()
  for (const a of generators) {
    for (const b of generators) {
      if (a.khz === b.khz || a.zone !== b.zone) continue
      const khz = 2 * a.khz - b.khz
      if (!found.has(khz) && nearest(carriers, khz, nearKhz) !== null) found.add(khz)
    }
  }
  return Int32Array.from(found).sort()
}

/** Each level has half the points of the previous one, each the maximum of two. */
export interface Trace {
  readonly levels: readonly { readonly khz: Float64Array; readonly dbm: Float32Array }[]
}

/** A scan with this many points has no coarser level. */
const coarsest = 300

export function buildTrace(mhz: readonly number[], dbm: readonly number[]): Trace {
  const order = mhz.map((_, index) => index).sort((a, b) => (mhz[a] ?? 0) - (mhz[b] ?? 0))
  const levels = [
    {
      khz: Float64Array.from(order, (index) => (mhz[index] ?? 0) * 1000),
      dbm: Float32Array.from(order, (index) => dbm[index] ?? bottomDbm),
    },
  ]
  for (let last = levels[0]; last !== undefined && last.khz.length > coarsest; last = levels.at(-1)) {
    const finer = last
    const length = Math.ceil(finer.khz.length / 2)
    levels.push({
      khz: Float64Array.from({ length }, (_, index) => finer.khz[2 * index] ?? 0),
      dbm: Float32Array.from({ length }, (_, index) =>
        Math.max(finer.dbm[2 * index] ?? bottomDbm, finer.dbm[2 * index + 1] ?? bottomDbm),
      ),
    })
  }
  return { levels }
}

/** The visible points, and one on each side, at most one for each pixel. */
export function visiblePoints({ levels }: Trace, scale: Scale) {
  const end = scale.fromKhz + scale.widthKhz
  for (const [index, { khz, dbm }] of levels.entries()) {
    const first = Math.max(0, lowerBound(khz, scale.fromKhz) - 1)
    const last = Math.min(khz.length, lowerBound(khz, end) + 1)
    if (last - first > scale.width && index < levels.length - 1) continue
    return { khz: khz.subarray(first, last), dbm: dbm.subarray(first, last) }
  }
  return { khz: new Float64Array(), dbm: new Float32Array() }
}
