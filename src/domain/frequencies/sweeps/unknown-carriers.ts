/** Signals in sweeps that nobody has planned or tuned. */

import { type Sweep, unmeasured } from './sweep.ts'

/** A signal closer than this to a known carrier is that carrier. */
const ownKhz = 150
/** A signal is a skirt of a stronger known carrier unless the level between them is lower by this much. */
const notchTenths = 100
/** Signals farther than this from a channel in use do not disturb it. */
const nearKhz = 500
/** A signal in two sweeps is the same one if it has moved less than this, or less than two steps. */
const sameKhz = 50
const minSweeps = 2
const minMs = 2000

export interface UnknownCarrier {
  readonly khz: number
  readonly dbm: number
}

/** A signal, and since when all sweeps of its source show it. */
export interface SeenCarrier extends UnknownCarrier {
  readonly since: number
  readonly sweeps: number
}

interface Known {
  /** The tuned and planned frequencies, in ascending order. */
  readonly knownKhz: readonly number[]
  readonly aboveDbm: number
}

/** Returns the unknown signals of a sweep near a channel in use, each the strongest within the same skirt. */
export function findUnknownCarriers(
  sweep: Sweep,
  inUseKhz: readonly number[],
  { knownKhz, aboveDbm }: Known,
): readonly UnknownCarrier[] {
  const { tenthsDbm } = sweep
  const found: UnknownCarrier[] = []
  for (const index of peaksOf(tenthsDbm, Math.round(aboveDbm * 10))) {
    const khz = khzAt(sweep, index)
    const isNear = inUseKhz.some((used) => Math.abs(used - khz) <= nearKhz)
    if (!isNear || knownKhz.some((known) => Math.abs(known - khz) < ownKhz)) continue
    if (knownKhz.some((known) => isSkirt(sweep, index, known))) continue
    found.push({ khz: Math.round(khz), dbm: (tenthsDbm[index] ?? 0) / 10 })
  }
  return found
}

/** Continues the signals of the sweep before. Those that the new sweep does not show are gone. */
export function followCarriers(
  seen: readonly SeenCarrier[],
  found: readonly UnknownCarrier[],
  { now, stepMhz }: { readonly now: number; readonly stepMhz: number },
): readonly SeenCarrier[] {
  const toleranceKhz = Math.max(sameKhz, 2000 * stepMhz)
  return found.map((carrier) => {
    const before = seen
      .filter(({ khz }) => Math.abs(khz - carrier.khz) <= toleranceKhz)
      .sort((a, b) => Math.abs(a.khz - carrier.khz) - Math.abs(b.khz - carrier.khz))[0]
    return { ...carrier, since: before?.since ?? now, sweeps: (before?.sweeps ?? 0) + 1 }
  })
}

export function isLasting({ since, sweeps }: SeenCarrier, now: number): boolean {
  return sweeps >= minSweeps && now - since >= minMs
}

/** The positions of local maxima. On a plateau, the middle one. */
function peaksOf(levels: Int16Array, above: number): readonly number[] {
  const peaks: number[] = []
  let start = 0
  while (start < levels.length) {
    const level = levels[start] ?? unmeasured
    let end = start
    while (levels[end + 1] === level) end += 1
    const isHigher = level > (levels[start - 1] ?? unmeasured) && level > (levels[end + 1] ?? unmeasured)
    if (level >= above && isHigher) peaks.push((start + end) >> 1)
    start = end + 1
  }
  return peaks
}

/** True if the levels rise from the peak to the known carrier without a notch between them. */
function isSkirt(sweep: Sweep, index: number, knownKhz: number): boolean {
  const { tenthsDbm } = sweep
  const target = Math.round((knownKhz - sweep.fromMhz * 1000) / (sweep.stepMhz * 1000))
  if (target < 0 || target >= tenthsDbm.length) return false
  const peak = tenthsDbm[index] ?? unmeasured
  const direction = Math.sign(target - index)
  for (let at = index; at !== target; at += direction) {
    const level = tenthsDbm[at] ?? unmeasured
    if (level !== unmeasured && level < peak - notchTenths) return false
    if (level > peak) return true
  }
  return (tenthsDbm[target] ?? unmeasured) > peak
}

function khzAt({ fromMhz, stepMhz }: Sweep, index: number): number {
  return (fromMhz + index * stepMhz) * 1000
}
