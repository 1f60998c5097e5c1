/**
 * Third-order products with measured peaks. The level and the equipment of a peak are unknown, so every carrier is
 * judged by the same guard. A carrier is no victim of a product that it generates.
 */

import { type AddProduct, kindNumbers } from './conflict.ts'
import type { ZoneCarriers } from './zone-carriers.ts'

/** Peaks in ascending order, with their indices in the list of conflicts. */
export interface PeakEmitters {
  readonly khz: readonly number[]
  readonly index: readonly number[]
  readonly guardKhz: number
}

interface Emitters {
  readonly count: number
  readonly khz: Int32Array
  readonly index: Int32Array
  readonly groups: Int16Array
  readonly isPeak: Uint8Array
}

/** Finds the products with at least one peak on the carriers of a zone. */
export function findPeakProducts(zone: ZoneCarriers, peaks: PeakEmitters, add: AddProduct): void {
  const emitters = mergeEmitters(zone, peaks)
  const { count, khz, isPeak } = emitters
  const visit = createVisitor(zone, emitters, peaks.guardKhz, add)
  const all = emitters.khz.map((_, position) => position)
  const onlyPeaks = all.filter((position) => isPeak[position] === 1)
  for (let a = 0; a < count; a++) {
    for (let b = a; b < count; b++) {
      if (b > a && khz[a] === khz[b]) continue
      visit(a, b, isPeak[a] === 1 || isPeak[b] === 1 ? all : onlyPeaks)
    }
  }
}

/** Returns a function that finds the victims of A + B - C, or of 2A - C if A is B, for all C in ascending order. */
function createVisitor(zone: ZoneCarriers, emitters: Emitters, guardKhz: number, add: AddProduct) {
  const { khz, index, groups } = emitters
  const { khz: victims, lowKhz, highKhz, exclusions } = zone
  const isExcluded = (numberOfGroups: number, by: readonly number[]) =>
    !exclusions.isEmpty && by.some((emitter) => exclusions.exclude(numberOfGroups, groups[emitter] as number))
  return (a: number, b: number, others: Int32Array): void => {
    const [khzA, khzB] = [khz[a] as number, khz[b] as number]
    const kind = kindNumbers[a === b ? '2t3o' : '3t3o']
    const [first, second] = [
      Math.min(index[a] as number, index[b] as number),
      Math.max(index[a] as number, index[b] as number),
    ]
    if (isExcluded(groups[a] as number, [b])) return
    let end = zone.count - 1
    for (const c of others) {
      const khzC = khz[c] as number
      const product = khzA + khzB - khzC
      while (end >= 0 && (victims[end] as number) >= product + guardKhz) end--
      if (end < 0) return
      if (khzC === khzA || khzC === khzB || isExcluded(groups[c] as number, [a, b])) continue
      for (let victim = end; victim >= 0; victim--) {
        const khzV = victims[victim] as number
        if (khzV <= product - guardKhz) break
        if (khzV === khzA || khzV === khzB || khzV === khzC) continue
        if (Math.min(khzA, khzB, khzC) < (lowKhz[victim] as number)) continue
        if (Math.max(khzA, khzB, khzC) > (highKhz[victim] as number)) continue
        if (isExcluded(zone.groups[victim] as number, [a, b, c])) continue
        const indexV = zone.index[victim] as number
        if (a === b) add(kind, product - khzV, indexV, first, index[c] as number, -1)
        else add(kind, product - khzV, indexV, first, second, index[c] as number)
      }
    }
  }
}

/** Returns the peaks and the generators of a zone by frequency. */
function mergeEmitters({ count, khz, index, groups, isGenerator }: ZoneCarriers, peaks: PeakEmitters): Emitters {
  const carriers = Array.from({ length: count }, (_, position) => position).filter((at) => isGenerator[at] === 1)
  const merged = [
    ...carriers.map((at) => ({
      khz: khz[at] as number,
      index: index[at] as number,
      groups: groups[at] as number,
      isPeak: 0,
    })),
    ...peaks.khz.map((value, at) => ({ khz: value, index: peaks.index[at] as number, groups: 0, isPeak: 1 })),
  ].sort((a, b) => a.khz - b.khz || a.index - b.index)
  return {
    count: merged.length,
    khz: Int32Array.from(merged, (emitter) => emitter.khz),
    index: Int32Array.from(merged, (emitter) => emitter.index),
    groups: Int16Array.from(merged, (emitter) => emitter.groups),
    isPeak: Uint8Array.from(merged, (emitter) => emitter.isPeak),
  }
}
