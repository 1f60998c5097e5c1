/**
 * Selects the carriers of channels, and checks them against each other, against TV channels in use, against scans and
 * against the bands of their equipment.
 */

import { groupBy } from '../group-by.ts'
import {
  type Carrier,
  createCarrier,
  type Equipment,
  isInBand,
  isInRange,
  type KhzRange,
  requiredSpacingKhz,
} from './carrier.ts'
import { type CheckResult, type Conflict, ConflictList, type Evidence, type Finding, kindNumbers } from './conflict.ts'
import { Exclusions, type NeverOnTogether } from './exclusions.ts'
import {
  findForeignPeaks,
  findReading,
  generatingPeaks,
  type Measured,
  peakGuardKhz,
  type Reading,
  stateOf,
} from './measured.ts'
import { findPeakProducts, type PeakEmitters } from './peak-products.ts'
import { findProducts, findProductsOf } from './products.ts'
import { createZoneCarriers, findPaired, setExtraCarrier } from './zone-carriers.ts'

export interface CheckOptions {
  readonly tvInUse?: readonly KhzRange[]
  /** Null: no scan is considered. */
  readonly measured?: Measured | null
  /** Carriers of these groups exclude each other; neither their spacing nor products of both count. */
  readonly neverOnTogether?: NeverOnTogether
  /** Only conflicts of these carriers are found; by default those of all. */
  readonly victims?: readonly string[] | null
  /** The maximum number of listed conflicts; totals count all. */
  readonly limit?: number
}

const defaultLimit = 1000

/** Accepts at most 1,000 carriers with different ids. */
export function checkCarriers(carriers: readonly Carrier[], options: CheckOptions = {}): CheckResult {
  const evidence = findEvidence(carriers, options.measured ?? null)
  const list = new ConflictList(carriers, { limit: defaultLimit, ...options }, evidence)
  const exclusions = exclusionsOf(carriers, options)
  for (const [index, carrier] of carriers.entries()) {
    addOwnConflicts(list, carrier, index, options.tvInUse ?? [])
    if (evidence !== null) addMeasuredConflicts(list, carrier, index, carriers.length, evidence)
    for (let other = 0; other < index; other++) addSpacing(list, carriers, exclusions, index, other)
  }
  const peaks = evidence === null ? null : toEmitters(evidence, carriers.length)
  for (const indices of groupBy(carriers.keys(), (index) => carriers[index]?.zone).values()) {
    const zone = createZoneCarriers(carriers, indices, exclusions)
    findProducts(zone, list.addProduct)
    if (peaks !== null) findPeakProducts(zone, peaks, list.addProduct)
  }
  return list.toResult()
}

function exclusionsOf(carriers: readonly Carrier[], { neverOnTogether = [] }: CheckOptions): Exclusions {
  return new Exclusions(neverOnTogether, carriers)
}

function findEvidence(carriers: readonly Carrier[], measured: Measured | null): Evidence | null {
  if (measured === null) return null
  const readings = carriers.flatMap((carrier, index): [number, Reading][] => {
    const reading = findReading(measured, carrier)
    return reading !== null && stateOf(reading, measured) === 'occupied' ? [[index, reading]] : []
  })
  return { measured, peaks: findForeignPeaks(measured, carriers), occupied: new Map(readings) }
}

function addMeasuredConflicts(
  list: ConflictList,
  carrier: Carrier,
  victim: number,
  carrierCount: number,
  { measured, peaks, occupied }: Evidence,
): void {
  if (occupied.has(victim)) list.add({ kind: 'occupied', victim, offsetKhz: null, generators: [] })
  for (const [index, { khz }] of peaks.entries()) {
    const offsetKhz = khz - carrier.khz
    if (Math.abs(offsetKhz) >= measured.peakSpacingKhz) continue
    list.add({ kind: 'peak', victim, offsetKhz, generators: [carrierCount + index] })
  }
}

function toEmitters({ measured, peaks }: Evidence, carrierCount: number): PeakEmitters {
  const sorted = generatingPeaks(peaks, measured)
    .map(({ khz }, index) => ({ khz, index: carrierCount + index }))
    .sort((a, b) => a.khz - b.khz)
  return {
    khz: sorted.map(({ khz }) => khz),
    index: sorted.map(({ index }) => index),
    guardKhz: peakGuardKhz(measured),
  }
}

/**
 * Returns the same result as `checkCarriers` after a few carriers were changed, added or removed, but faster. Searches
 * only for their conflicts, unless the previous result does not list all conflicts. `options` must equal those of the
 * previous check, and unchanged carriers must keep their order.
 */
export function recheckCarriers(
  previous: CheckResult,
  carriers: readonly Carrier[],
  changedIds: readonly string[],
  options: CheckOptions = {},
): CheckResult {
  // With scans, a changed carrier can also make a peak its own or a foreign one.
  if (!isComplete(previous) || (options.measured ?? null) !== null) return checkCarriers(carriers, options)
  const list = new ConflictList(carriers, { limit: defaultLimit, ...options })
  const exclusions = exclusionsOf(carriers, options)
  const changed = new Set([...changedIds, ...findNewPairs(previous, carriers, exclusions)])
  const indexById = new Map(carriers.map(({ id }, index) => [id, index]))
  const toIndex = (id: string) => indexById.get(id) ?? -1
  for (const { victim, kind, offset_khz, generators } of previous.conflicts) {
    if (changed.has(victim) || generators.some((id) => changed.has(id))) continue
    list.add({ kind, victim: toIndex(victim), offsetKhz: offset_khz, generators: generators.map(toIndex) })
  }
  // Each changed carrier is compared with the others, and with the changed ones before it.
  const compared = new Set(carriers.flatMap(({ id }, index) => (changed.has(id) ? [] : [index])))
  for (const [index, carrier] of carriers.entries()) {
    if (!changed.has(carrier.id)) continue
    addOwnConflicts(list, carrier, index, options.tvInUse ?? [])
    for (const other of compared) {
      addSpacing(list, carriers, exclusions, Math.max(index, other), Math.min(index, other))
    }
    const neighbours = [...compared].filter((other) => carriers[other]?.zone === carrier.zone)
    const zone = createZoneCarriers(carriers, neighbours, exclusions)
    setExtraCarrier(zone, carrier, index)
    findProductsOf(zone, list.addProduct)
    compared.add(index)
  }
  return list.toResult()
}

/** Returns the ids of carriers that either started or stopped sharing a frequency with another one. */
function findNewPairs(
  { conflicts }: CheckResult,
  carriers: readonly Carrier[],
  exclusions: Exclusions,
): readonly string[] {
  const pairs = conflicts.filter(({ kind }) => kind === 'duplicate')
  const before = new Set(pairs.flatMap(({ victim, generators }) => [victim, ...generators]))
  const paired = findPaired(carriers, exclusions)
  return carriers.flatMap(({ id }, index) => (before.has(id) === paired.has(index) ? [] : id))
}

export function isComplete({ conflicts, totals }: CheckResult): boolean {
  return Object.values(totals).reduce((sum, count) => sum + count, 0) === conflicts.length
}

/** Returns where the centre of a carrier would touch a TV channel in use. */
export function tvRangesOf(
  { occupiedKhz }: Pick<Carrier, 'occupiedKhz'>,
  tvInUse: readonly KhzRange[],
): readonly KhzRange[] {
  const half = occupiedKhz / 2
  return tvInUse.map(({ fromKhz, toKhz }) => ({ fromKhz: Math.ceil(fromKhz - half), toKhz: Math.floor(toKhz + half) }))
}

function addOwnConflicts(list: ConflictList, carrier: Carrier, victim: number, tvInUse: readonly KhzRange[]): void {
  const add = (kind: Finding['kind']) => list.add({ kind, victim, offsetKhz: null, generators: [] })
  if (carrier.hasForeignRf) add('foreign')
  if (!isInBand(carrier, carrier.khz)) add('outside_band')
  if (tvRangesOf(carrier, tvInUse).some((range) => isInRange(carrier.khz, range))) add('tv')
}

function addSpacing(
  list: ConflictList,
  carriers: readonly Carrier[],
  exclusions: Exclusions,
  victim: number,
  other: number,
): void {
  const [a, b] = [carriers[victim] as Carrier, carriers[other] as Carrier]
  if (exclusions.areExclusive(a, b)) return
  const offset = b.khz - a.khz
  if (offset === 0) list.addProduct(kindNumbers.duplicate, 0, victim, other, -1, -1)
  else if (Math.abs(offset) < requiredSpacingKhz(a, b)) {
    list.addProduct(kindNumbers.spacing, offset, victim, other, -1, -1)
  }
}

export interface CheckedChannel {
  readonly id: string
  readonly khz: number
  /** The second carrier of frequency diversity. */
  readonly secondKhz: number | null
  readonly zone: string | null
  readonly groups?: Carrier['groups']
  readonly hasForeignRf: boolean
  readonly equipment: Equipment
  /** The device, if its channels on the same frequency share one carrier. */
  readonly sharedBy: number | null
}

/** Ids of channels are visible to users or begin with a letter. None ends like this. */
const secondSuffix = '\u0000second'

export function carrierIdsOf(id: string): readonly string[] {
  return [id, id + secondSuffix]
}

export function toCheckedCarriers(channels: readonly CheckedChannel[]): readonly Carrier[] {
  return mergeShared(channels).flatMap(({ id, khz, secondKhz, zone, groups = [], hasForeignRf, equipment }) => {
    const [firstId = id, secondId = id] = carrierIdsOf(id)
    const first = createCarrier({ id: firstId, khz, zone, groups, hasForeignRf }, equipment)
    if (secondKhz === null) return [first]
    return [first, createCarrier({ id: secondId, khz: secondKhz, zone, groups }, equipment)]
  })
}

/** Of channels that share a carrier, returns the first one, with the groups of all. */
function mergeShared(channels: readonly CheckedChannel[]): readonly CheckedChannel[] {
  const byKey = groupBy(channels, ({ sharedBy, id, khz }) => JSON.stringify([sharedBy ?? id, khz]))
  return [...byKey.values()].map((sharing) => {
    const [first] = sharing as [CheckedChannel, ...CheckedChannel[]]
    if (sharing.length === 1) return first
    const groups = sharing.map((channel) => channel.groups ?? [])
    // A channel without groups can always be on.
    return { ...first, groups: groups.some(({ length }) => length === 0) ? [] : [...new Set(groups.flat())] }
  })
}

/** Replaces the ids of second carriers with those of their channels. */
export function mergeSecondCarriers(result: CheckResult): CheckResult {
  if (!Object.keys(result.victims).some(isSecond) && !result.conflicts.some(hasSecond)) return result
  const victims: Record<string, number> = {}
  for (const [id, count] of Object.entries(result.victims))
    victims[channelOf(id)] = (victims[channelOf(id)] ?? 0) + count
  const conflicts = result.conflicts.map((conflict) => ({
    ...conflict,
    victim: channelOf(conflict.victim),
    generators: conflict.generators.map(channelOf),
  }))
  return { ...result, victims, conflicts }
}

function hasSecond({ victim, generators }: Conflict): boolean {
  return isSecond(victim) || generators.some(isSecond)
}

function isSecond(id: string): boolean {
  return id.endsWith(secondSuffix)
}

function channelOf(id: string): string {
  return isSecond(id) ? id.slice(0, -secondSuffix.length) : id
}
