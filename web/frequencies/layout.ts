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

function roundStep(leastKhz: number): number {
  return steps.find((candidate) => candidate >= leastKhz) ?? 500_000
}

export function ticksOf(scale: Scale): readonly number[] {
  const step = roundStep((scale.widthKhz / Math.max(1, scale.width)) * tickPx)
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

export interface PlacedLabel {
  /** The middle of the label, before it is moved. */
  readonly x: number
  readonly widthPx: number
  readonly row: number
}

/**
 * The middles of labels in a view of this width. A label at an edge moves inside, because a cut name may be the name of
 * another channel. Null if another label is there, or if its carrier is outside.
 */
export function keepInside(labels: readonly PlacedLabel[], width: number): readonly (number | null)[] {
  const moved = labels.map(({ x, widthPx }) =>
    x < 0 || x > width ? null : Math.min(Math.max(x, widthPx / 2), width - widthPx / 2),
  )
  return moved.map((middle, index) => {
    const { x, widthPx, row } = labels[index] as PlacedLabel
    if (middle === null || middle === x) return middle
    const isTaken = labels.some((other, at) => {
      const otherMiddle = moved[at] ?? null
      if (at === index || other.row !== row || otherMiddle === null) return false
      return Math.abs(otherMiddle - middle) < (other.widthPx + widthPx) / 2 + labelGapPx
    })
    return isTaken ? null : middle
  })
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

export interface NearProduct {
  readonly khz: number
  /** The index of the nearest carrier. */
  readonly carrier: number
  readonly distanceKhz: number
}

/** The products in a span with their nearest carriers, the nearest products first. Both lists are sorted by frequency. */
export function nearestProducts(
  products: Int32Array,
  carriers: readonly number[],
  { fromKhz, widthKhz }: Span,
): NearProduct[] {
  return [...products.subarray(lowerBound(products, fromKhz), lowerBound(products, fromKhz + widthKhz))]
    .flatMap((khz) => {
      const carrier = nearest(carriers, khz, nearKhz)
      return carrier === null ? [] : [{ khz, carrier, distanceKhz: Math.abs(khz - (carriers[carrier] ?? 0)) }]
    })
    .sort((a, b) => a.distanceKhz - b.distanceKhz || a.khz - b.khz)
}

/** Each level has half the points of the previous one, each the maximum of two. */
export interface Trace {
  readonly levels: readonly { readonly khz: Float64Array; readonly dbm: Float32Array }[]
}

/** A scan with this many points has no coarser level. */
const coarsest = 300

export function buildTrace(mhz: readonly number[], dbm: readonly number[]): Trace {
  const order = mhz.map((_, index) => index).sort((a, b) => (mhz[a] ?? 0) - (mhz[b] ?? 0))
  return traceOf({
    khz: Float64Array.from(order, (index) => Math.round((mhz[index] ?? 0) * 1000)),
    dbm: Float32Array.from(order, (index) => dbm[index] ?? bottomDbm),
  })
}

/** `finest` is in ascending order. */
export function traceOf(finest: Trace['levels'][number]): Trace {
  const levels = [finest]
  for (let last = finest; last.khz.length > coarsest; last = levels.at(-1) ?? last) {
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

export interface TableRow {
  readonly fromKhz: number
  readonly toKhz: number
  /** The highest level of each trace; null if it has no point in this range. */
  readonly highest: readonly (number | null)[]
}

/** Returns about `count` ranges of equal, round width that cover the span. */
export function tableRanges({ fromKhz, widthKhz }: Span, count: number) {
  const step = roundStep(widthKhz / count)
  const first = Math.floor(fromKhz / step)
  const length = Math.ceil((fromKhz + widthKhz) / step) - first
  return Array.from({ length }, (_, index) => ({
    fromKhz: (first + index) * step,
    toKhz: (first + index + 1) * step,
  }))
}

/** Returns the highest levels in about `rows` ranges. Ranges without points are left out. */
export function tabulate(traces: readonly Trace[], span: Span, rows: number): readonly TableRow[] {
  return tableRanges(span, rows)
    .map(
      (range): TableRow => ({
        ...range,
        highest: traces.map((trace) => highestIn(trace, range.fromKhz, range.toKhz)),
      }),
    )
    .filter(({ highest }) => highest.some((dbm) => dbm !== null))
}

function highestIn({ levels: [finest] }: Trace, fromKhz: number, toKhz: number): number | null {
  if (finest === undefined) return null
  const points = finest.dbm.subarray(lowerBound(finest.khz, fromKhz), lowerBound(finest.khz, toKhz))
  return points.length === 0 ? null : points.reduce((highest, dbm) => Math.max(highest, dbm))
}
