/** The conflicts that a carrier would have in a plan or cause in it, and the reason why one cannot be placed. */

import { type ConflictKind, conflictKinds, type ReasonKind, reasonKinds } from '../../contract/values.ts'
import { listRequested, minDistanceKhz } from './candidates.ts'
import { formatMhz, isInBand, isInRange } from './carrier.ts'
import { tvRangesOf } from './check.ts'
import { kindNumbers } from './conflict.ts'
import { findReading, maxGeneratingPeaks, stateOf, windowKhzOf } from './measured.ts'
import type { Entry, Placed, Plan } from './plan.ts'
import { judgedIndex } from './plan-zone.ts'

export interface Reason {
  /** The kind of conflict that blocks most frequencies. */
  readonly kind: ReasonKind
  /** Those who block them, the most frequent first. */
  readonly by: readonly string[]
}

/** Scans have indices from here on, by their position. */
const firstScanIndex = 0x4000_0000

/** With more work, only every second or third frequency is considered. */
const maxWork = 60_000_000
const minConsidered = 50
const maxConsidered = 20_000

/** Receives a conflict. `victim` is `judgedIndex` if the carrier itself is the victim; unused others are -1. */
type AddBlocker = (kind: number, victim: number, a: number, b: number, c: number) => void

function forEachBlocker(plan: Plan, entry: Entry, khz: number, add: AddBlocker): void {
  const { keep, measured, peaks, tvInUse, exclusions } = plan.surroundings
  const { equipment, zones } = entry
  const addOwn = (kind: ConflictKind, by = -1) => add(kindNumbers[kind], judgedIndex, by, -1, -1)
  const carrier = { ...entry.carrier, khz }
  if (!isInBand(equipment, khz)) addOwn('outside_band')
  if (tvRangesOf(equipment, tvInUse).some((range) => isInRange(khz, range))) addOwn('tv')
  if (measured !== null) {
    const reading = findReading(measured, carrier)
    if (reading !== null && stateOf(reading, measured) === 'occupied') {
      addOwn('occupied', firstScanIndex + measured.scans.findIndex(({ id }) => id === reading.scanId))
    }
    for (const peak of peaks) {
      const distanceKhz = Math.abs(peak.khz - khz)
      const isNear = distanceKhz < measured.peakSpacingKhz || distanceKhz <= windowKhzOf(equipment, peak.stepKhz)
      if (isNear) addOwn('peak', -peak.khz)
    }
  }
  let isPaired = false
  const addSpacing = (other: typeof carrier, index: number) => {
    if (exclusions.areExclusive(other, carrier)) return
    if (Math.abs(other.khz - khz) < minDistanceKhz(other, equipment)) addOwn('spacing', index)
    if (other.khz === khz) isPaired = true
  }
  for (const [index, kept] of keep.entries()) addSpacing(kept, index)
  for (const placed of plan.placed) addSpacing(placed.carrier, placed.index)
  for (const zone of zones) {
    zone.findProducts(
      'all',
      carrier,
      khz,
      (kind, _, victim, a, b, c) => {
        // The only conflict of a pair on one frequency is that it is one.
        const isOwn = victim === judgedIndex && (a === judgedIndex || b === judgedIndex || c === judgedIndex)
        if (!(isPaired && isOwn)) add(kind, victim, a, b, c)
      },
      () => false,
    )
  }
}

/** Returns why no frequency is left for a carrier. Soft conflicts are no reason. */
export function explainUnplaced(
  plan: Plan,
  entry: Entry,
  { soft, isTimedOut, share }: { soft: ReadonlySet<ConflictKind>; isTimedOut: boolean; share: number },
): Reason {
  const frequencies = new Int32Array(conflictKinds.length)
  const hits = conflictKinds.map(() => new Map<number, number>())
  const isHit = new Uint8Array(conflictKinds.length)
  const count = (kind: number, index: number) => {
    if (index === -1 || index === judgedIndex) return
    const byIndex = hits[kind] as Map<number, number>
    byIndex.set(index, (byIndex.get(index) ?? 0) + 1)
  }
  const add: AddBlocker = (kind, victim, a, b, c) => {
    isHit[kind] = 1
    count(kind, victim)
    count(kind, a)
    count(kind, b)
    count(kind, c)
  }
  const { keep, peaks } = plan.surroundings
  const emitters = keep.length + plan.placed.length + Math.min(maxGeneratingPeaks, peaks.length)
  const limit = Math.ceil(maxWork / share / (100 + emitters ** 2))
  const considered = Math.min(maxConsidered, Math.max(minConsidered, limit))
  for (const khz of listRequested(entry, plan.surroundings, considered)) {
    isHit.fill(0)
    forEachBlocker(plan, entry, khz, add)
    for (const [kind, value] of isHit.entries()) frequencies[kind] = (frequencies[kind] as number) + value
  }
  const counted = reasonKinds.filter((kind) => kind !== 'time').filter((kind) => !soft.has(kind))
  const countOf = (kind: (typeof counted)[number]) => frequencies[kindNumbers[kind]] as number
  const most = Math.max(...counted.map(countOf))
  const kind = counted.find((one) => countOf(one) === most) ?? 'outside_band'
  if (most === 0) return { kind: isTimedOut ? 'time' : 'outside_band', by: [] }
  return { kind, by: sortIds(plan, hits[kindNumbers[kind]] as Map<number, number>) }
}

function sortIds(plan: Plan, hits: ReadonlyMap<number, number>): readonly string[] {
  const toId = createIds(plan)
  return [...hits].sort(([a, hitsOfA], [b, hitsOfB]) => hitsOfB - hitsOfA || a - b).map(([index]) => toId(index))
}

function createIds({ surroundings: { keep, measured }, placed }: Plan) {
  const byIndex = new Map(placed.map(({ index, carrier }) => [index, `new:${formatMhz(carrier.khz)}`]))
  return (index: number): string => {
    if (index < 0) return `peak:${formatMhz(-index)}`
    if (index >= firstScanIndex) return `scan:${measured?.scans[index - firstScanIndex]?.id}`
    return byIndex.get(index) ?? (keep[index]?.id as string)
  }
}

/** Returns the soft kinds of the conflicts that a carrier has, or causes on a carrier to keep. */
export function softKindsOf(plan: Plan, placed: Placed, soft: ReadonlySet<ConflictKind>): readonly ConflictKind[] {
  const kept = plan.surroundings.keep.length
  const isFound = new Uint8Array(conflictKinds.length)
  plan.without(placed, () => {
    forEachBlocker(plan, placed.entry, placed.carrier.khz, (kind, victim) => {
      if (victim === judgedIndex || victim < kept) isFound[kind] = 1
    })
  })
  return conflictKinds.filter((kind, number) => isFound[number] === 1 && soft.has(kind))
}
