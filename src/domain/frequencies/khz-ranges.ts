/** Sets of whole kHz, as sorted ranges that do not touch. */

import type { KhzRange } from './carrier.ts'

/** Returns the same frequencies as sorted ranges that do not touch. */
export function mergeRanges(ranges: readonly KhzRange[]): readonly KhzRange[] {
  const merged: KhzRange[] = []
  for (const { fromKhz, toKhz } of ranges.toSorted((a, b) => a.fromKhz - b.fromKhz)) {
    const last = merged.at(-1)
    if (toKhz < fromKhz) continue
    if (last === undefined || fromKhz > last.toKhz + 1) merged.push({ fromKhz, toKhz })
    else merged[merged.length - 1] = { fromKhz: last.fromKhz, toKhz: Math.max(last.toKhz, toKhz) }
  }
  return merged
}

export function intersectRanges(a: readonly KhzRange[], b: readonly KhzRange[]): readonly KhzRange[] {
  const found: KhzRange[] = []
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const [one, other] = [a[i] as KhzRange, b[j] as KhzRange]
    const common = { fromKhz: Math.max(one.fromKhz, other.fromKhz), toKhz: Math.min(one.toKhz, other.toKhz) }
    if (common.fromKhz <= common.toKhz) found.push(common)
    if (one.toKhz < other.toKhz) i++
    else j++
  }
  return found
}

export function subtractRanges(ranges: readonly KhzRange[], removed: readonly KhzRange[]): readonly KhzRange[] {
  const gaps: KhzRange[] = []
  let fromKhz = -Number.MAX_SAFE_INTEGER
  for (const range of removed) {
    gaps.push({ fromKhz, toKhz: range.fromKhz - 1 })
    fromKhz = range.toKhz + 1
  }
  gaps.push({ fromKhz, toKhz: Number.MAX_SAFE_INTEGER })
  return intersectRanges(ranges, gaps)
}

/**
 * Returns the multiples of a step in the ranges, in ascending order. Skips multiples evenly if there are more than
 * `limit`.
 */
export function listSteps(ranges: readonly KhzRange[], stepKhz: number, limit: number): Int32Array {
  const countOf = (step: number) =>
    ranges.reduce((sum, { fromKhz, toKhz }) => sum + Math.floor(toKhz / step) - Math.ceil(fromKhz / step) + 1, 0)
  let step = stepKhz * Math.max(1, Math.ceil(countOf(stepKhz) / limit))
  while (countOf(step) > limit + ranges.length) step += stepKhz
  const steps = new Int32Array(countOf(step))
  let length = 0
  for (const { fromKhz, toKhz } of ranges) {
    for (let khz = Math.ceil(fromKhz / step) * step; khz <= toKhz; khz += step) steps[length++] = khz
  }
  return steps
}
