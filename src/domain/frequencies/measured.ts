/** Scans as evidence: whether the spectrum around a carrier is free, and peaks, which are emitters outside the plan. */

import type { MeasuredState } from '../../contract/values.ts'
import type { Carrier, Equipment } from './carrier.ts'
import type { Levels } from './scans/scan.ts'

export interface MeasuredLimits {
  /** A reading at or above this level occupies its frequency. */
  readonly excludeAboveDbm: number
  /** Adjacent readings at or above this level are one peak. */
  readonly peakAboveDbm: number
  /** A peak closer than this is a conflict. */
  readonly peakSpacingKhz: number
  /** True if the strongest peaks generate third-order products, with half the spacing as their guard. */
  readonly hasPeakProducts: boolean
}

export interface MeasuredScan extends Levels {
  readonly id: number
  readonly stepKhz: number
}

export interface Measured extends MeasuredLimits {
  readonly scans: readonly MeasuredScan[]
}

export interface Reading {
  readonly scanId: number
  readonly khz: number
  readonly dbm: number
}

export interface Peak extends Reading {
  readonly stepKhz: number
}

/** Readings this close to a carrier count as its own, even if the carrier is narrow. */
const minWindowKhz = 100
/** Peaks of two scans that are closer than this are one. */
const samePeakKhz = 100
/** In a scan with more peaks, the threshold is within the noise. Only the strongest ones count. */
const maxPeaks = 4000
/** Only the strongest peaks generate products. */
export const maxGeneratingPeaks = 40

/** Returns the largest distance from a carrier at which a reading of a scan belongs to it. */
export function windowKhzOf({ occupiedKhz }: Pick<Equipment, 'occupiedKhz'>, stepKhz: number): number {
  return Math.max(minWindowKhz, occupiedKhz / 2, stepKhz / 2)
}

/** Returns the strongest reading in the window of a carrier; null if no scan covers it. Of equal ones, the first. */
export function findReading(
  { scans }: Pick<Measured, 'scans'>,
  carrier: Pick<Carrier, 'khz' | 'occupiedKhz'>,
): Reading | null {
  let strongest: Reading | null = null
  for (const { id, khz, tenthsDbm, stepKhz } of scans) {
    const window = windowKhzOf(carrier, stepKhz)
    for (let index = firstAtLeast(khz, carrier.khz - window); index < khz.length; index++) {
      const found = khz[index] as number
      if (found > carrier.khz + window) break
      const dbm = (tenthsDbm[index] as number) / 10
      if (strongest === null || dbm > strongest.dbm) strongest = { scanId: id, khz: found, dbm }
    }
  }
  return strongest
}

export function stateOf(reading: Reading | null, { excludeAboveDbm }: MeasuredLimits): MeasuredState {
  if (reading === null) return 'unmeasured'
  return reading.dbm >= excludeAboveDbm ? 'occupied' : 'free'
}

/** Returns the state of every carrier by id; without scans, all are unmeasured. */
export function measureCarriers(
  measured: Measured | null,
  carriers: readonly Carrier[],
): ReadonlyMap<string, MeasuredState> {
  return new Map(
    carriers.map((carrier) => {
      const state = measured === null ? 'unmeasured' : stateOf(findReading(measured, carrier), measured)
      return [carrier.id, state]
    }),
  )
}

/** Returns the less favourable state, for a channel with two carriers. */
export function worseState(a: MeasuredState, b: MeasuredState): MeasuredState {
  if (a === 'occupied' || b === 'occupied') return 'occupied'
  return a === 'unmeasured' ? a : b
}

/** Returns the index of the first value that is not below `minimum`, in ascending values. */
export function firstAtLeast(values: Uint32Array, minimum: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) < minimum) low = middle + 1
    else high = middle
  }
  return low
}

/** Adjacent readings of a scan at or above the threshold. */
interface Run {
  readonly fromKhz: number
  readonly toKhz: number
  readonly peak: Peak
}

/** Returns the peaks of all scans, the strongest first; of equal ones, the lowest. */
export function findPeaks({ scans, peakAboveDbm }: Pick<Measured, 'scans' | 'peakAboveDbm'>): readonly Peak[] {
  const runs = mergeRuns(scans.flatMap((scan) => findRuns(scan, peakAboveDbm)))
  const sorted = runs.map(({ peak }) => peak).sort((a, b) => b.dbm - a.dbm || a.khz - b.khz)
  const strongest = sorted.slice(0, maxPeaks)
  if (scans.length < 2) return strongest
  const isSame = (a: Peak, b: Peak) => a.scanId !== b.scanId && Math.abs(a.khz - b.khz) < samePeakKhz
  const peaks: Peak[] = []
  for (const peak of strongest) if (!peaks.some((other) => isSame(peak, other))) peaks.push(peak)
  return peaks
}

function findRuns({ id, khz, tenthsDbm, stepKhz }: MeasuredScan, peakAboveDbm: number): Run[] {
  const runs: Run[] = []
  let current: Run | null = null
  for (const [index, frequency] of khz.entries()) {
    const dbm = (tenthsDbm[index] as number) / 10
    if (current !== null && (dbm < peakAboveDbm || frequency - current.toKhz > 2 * stepKhz)) {
      runs.push(current)
      current = null
    }
    if (dbm < peakAboveDbm) continue
    const peak: Peak = { scanId: id, khz: frequency, dbm, stepKhz }
    if (current === null) current = { fromKhz: frequency, toKhz: frequency, peak }
    else current = { fromKhz: current.fromKhz, toKhz: frequency, peak: dbm > current.peak.dbm ? peak : current.peak }
  }
  if (current !== null) runs.push(current)
  return runs
}

/** Merges runs that overlap, or are adjacent, because the maximum of all scans counts. */
function mergeRuns(runs: readonly Run[]): readonly Run[] {
  const merged: Run[] = []
  for (const run of runs.toSorted((a, b) => a.fromKhz - b.fromKhz || a.toKhz - b.toKhz)) {
    const last = merged.at(-1)
    if (last === undefined || run.fromKhz - last.toKhz > Math.max(run.peak.stepKhz, last.peak.stepKhz)) {
      merged.push(run)
      continue
    }
    const peak = run.peak.dbm > last.peak.dbm ? run.peak : last.peak
    merged[merged.length - 1] = { fromKhz: last.fromKhz, toKhz: Math.max(last.toKhz, run.toKhz), peak }
  }
  return merged
}

/** Returns the peaks that are not one of the carriers. */
export function findForeignPeaks(measured: Measured, carriers: readonly Carrier[]): readonly Peak[] {
  const isOwn = ({ khz, stepKhz }: Peak) =>
    carriers.some((carrier) => Math.abs(carrier.khz - khz) <= windowKhzOf(carrier, stepKhz))
  return findPeaks(measured).filter((peak) => !isOwn(peak))
}

/** Returns the peaks that generate products; `peaks` are sorted by strength. */
export function generatingPeaks(peaks: readonly Peak[], { hasPeakProducts }: MeasuredLimits): readonly Peak[] {
  return hasPeakProducts ? peaks.slice(0, maxGeneratingPeaks) : []
}

export function peakGuardKhz({ peakSpacingKhz }: MeasuredLimits): number {
  return Math.ceil(peakSpacingKhz / 2)
}

/** Omits the readings in the windows of carriers, for instance of those that were on during the scan. */
export function withoutCarriers(
  { khz, tenthsDbm, ...scan }: MeasuredScan,
  carriers: readonly Pick<Carrier, 'khz' | 'occupiedKhz'>[],
): MeasuredScan {
  const kept = khz.map(() => 1)
  for (const carrier of carriers) {
    const window = windowKhzOf(carrier, scan.stepKhz)
    const end = firstAtLeast(khz, Math.floor(carrier.khz + window) + 1)
    kept.fill(0, firstAtLeast(khz, carrier.khz - window), end)
  }
  const isKept = (_: number, index: number) => kept[index] === 1
  return { ...scan, khz: khz.filter(isKept), tenthsDbm: tenthsDbm.filter(isKept) }
}
