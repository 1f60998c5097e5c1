/** The frequencies that a suggested carrier can have, before it is compared with other suggested ones. */

import type { ConflictKind, MeasuredState } from '../../contract/values.ts'
import { type Carrier, type Equipment, type KhzRange, requiredSpacingKhz } from './carrier.ts'
import { tvRangesOf } from './check.ts'
import type { Exclusions } from './exclusions.ts'
import { intersectRanges, listSteps, mergeRanges, subtractRanges } from './khz-ranges.ts'
import { findReading, type Measured, type Peak, stateOf, windowKhzOf } from './measured.ts'

export interface Surroundings {
  readonly keep: readonly Carrier[]
  readonly avoid: readonly KhzRange[]
  readonly tvInUse: readonly KhzRange[]
  readonly measured: Measured | null
  /** Those outside the plan. */
  readonly peaks: readonly Peak[]
  readonly exclusions: Exclusions
}

export interface Tunable {
  readonly equipment: Equipment
  readonly groups: Carrier['groups']
  readonly stepKhz: number
  readonly ranges: readonly KhzRange[]
}

export interface Candidates {
  /** In order of preference. */
  readonly khz: Int32Array
  /** The first `freeCount` frequencies are measured and free. */
  readonly freeCount: number
  /** The cached verdict about products with the carriers to keep; 0 if there is none yet. */
  readonly verdicts: Uint8Array
}

/** Lists the frequencies without a conflict of their own, except for those of the kinds to ignore. */
export function listCandidates(
  { equipment, groups, stepKhz, ranges }: Tunable,
  { keep, avoid, tvInUse, measured, peaks, exclusions }: Surroundings,
  ignored: ReadonlySet<ConflictKind>,
  limit: number,
): Candidates {
  const inRanges = mergeRanges(ranges)
  const inBand = equipment.ranges.length === 0 ? inRanges : intersectRanges(inRanges, mergeRanges(equipment.ranges))
  const nearKept = keep
    .filter((kept) => !exclusions.areExclusive(kept, { groups }))
    .map((kept) => rangeAround(kept.khz, ignored.has('spacing') ? 1 : minDistanceKhz(kept, equipment)))
  const nearPeaks = peaks.map(({ khz, stepKhz: scanStepKhz }) => {
    const spacingKhz = ignored.has('peak') ? 0 : (measured?.peakSpacingKhz ?? 0)
    // In its window, the peak would be taken for the carrier itself.
    return rangeAround(khz, Math.max(spacingKhz, Math.floor(windowKhzOf(equipment, scanStepKhz)) + 1))
  })
  const onTv = ignored.has('tv') ? [] : tvRangesOf(equipment, tvInUse)
  const left = subtractRanges(inBand, mergeRanges([...nearKept, ...nearPeaks, ...insideOf(avoid), ...onTv]))
  const steps = listSteps(left, stepKhz, limit)
  return preferFree(steps, equipment, measured, ignored.has('occupied'))
}

/** Lists the requested frequencies, with or without conflicts. */
export function listRequested({ stepKhz, ranges }: Tunable, { avoid }: Surroundings, limit: number): Int32Array {
  return listSteps(subtractRanges(mergeRanges(ranges), mergeRanges(insideOf(avoid))), stepKhz, limit)
}

/** Two carriers are never on the same frequency, even without a guard. */
export function minDistanceKhz(a: Equipment, b: Equipment): number {
  return Math.max(1, requiredSpacingKhz(a, b))
}

/** Returns the frequencies that are closer than a distance. */
function rangeAround(khz: number, distanceKhz: number): KhzRange {
  return { fromKhz: khz - distanceKhz + 1, toKhz: khz + distanceKhz - 1 }
}

/** Returns the ranges without their ends, which are allowed. */
function insideOf(avoid: readonly KhzRange[]): readonly KhzRange[] {
  return avoid.map(({ fromKhz, toKhz }) => ({ fromKhz: fromKhz + 1, toKhz: toKhz - 1 }))
}

/** Puts unmeasured frequencies after free ones, and occupied ones last, or leaves them out. */
function preferFree(
  steps: Int32Array,
  equipment: Equipment,
  measured: Measured | null,
  isOccupiedAllowed: boolean,
): Candidates {
  const create = (khz: Int32Array, freeCount: number) => ({ khz, freeCount, verdicts: new Uint8Array(khz.length) })
  if (measured === null) return create(steps, 0)
  const states = Array.from(steps, (khz) => stateOf(findReading(measured, { ...equipment, khz }), measured))
  const ofState = (state: MeasuredState) => steps.filter((_, index) => states[index] === state)
  const free = ofState('free')
  const occupied = isOccupiedAllowed ? ofState('occupied') : []
  return create(Int32Array.from([...free, ...ofState('unmeasured'), ...occupied]), free.length)
}
