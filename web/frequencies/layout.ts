/** Where the spectrum draws what: axes, labels, products and traces. Pure, so that it can be tested without a canvas. */

import type { Span } from './span.ts'

/** Heights in CSS pixels, from the top: TV channels, levels with carriers, products, frequencies. */
export const lanes = { tv: 22, names: 34, products: 16, axis: 24 } as const

/** The levels at the top and the bottom, in dBm. */
export const [topDbm, bottomDbm] = [-20, -120]
/** The level to which carriers are drawn whose level is not known. */
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

/** Distances between ticks, in kHz. */
const steps = [5, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000]
/** The distance at which labels do not touch. */
const tickPx = 72

/** Returns the frequencies at which the axis has a tick, in kHz. */
export function ticksOf(scale: Scale): readonly number[] {
  const least = (scale.widthKhz / Math.max(1, scale.width)) * tickPx
  const step = steps.find((candidate) => candidate >= least) ?? 500_000
  const first = Math.ceil(scale.fromKhz / step) * step
  const count = Math.max(0, Math.floor((scale.fromKhz + scale.widthKhz - first) / step) + 1)
  return Array.from({ length: count }, (_, index) => first + index * step)
}

/** Formats the frequency of a tick in MHz, with as many decimals as it needs. */
export function tickText(khz: number): string {
  return String(khz / 1000)
}

/** Returns the index of the first of the sorted frequencies that is not below `khz`. */
export function lowerBound(sorted: ArrayLike<number>, khz: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < khz) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the index of the nearest of the sorted frequencies; null if none is within `reachKhz`. */
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
  /** Labels with a lower rank are placed first. */
  readonly rank: number
}

/** How many rows of names there are. */
export const labelRows = 2
const labelGapPx = 6

/**
 * Returns the row of each label; null for those without room. The result depends on the scale and not on the visible
 * part, so that names do not change rows while the spectrum moves.
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

/** How far a product may be from a carrier to be drawn. */
const nearKhz = 1_000

/**
 * Returns the third-order products 2A − B of the given carriers of a zone that are near any carrier, sorted and without
 * repetitions.
 */
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

/** A scan, and the same scan with fewer and fewer points, each the maximum of two. */
export interface Trace {
  readonly levels: readonly { readonly khz: Float64Array; readonly dbm: Float32Array }[]
}

/** The number of points at which a scan has no coarser level. */
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

/** Returns the points to draw: the visible ones, and one on each side, at most one for each pixel. */
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
