/** Selects the carriers of channels, and checks them against each other, against TV channels in use and against the bands of their equipment. */

import { type Carrier, createCarrier, type Equipment, isInRange, type KhzRange, requiredSpacingKhz } from './carrier.ts'
import { type CheckResult, type Conflict, ConflictList, type Finding, kindNumbers } from './conflict.ts'
import { findProducts, findProductsOf } from './products.ts'
import { createZoneCarriers, findSharedKhz, setExtraCarrier } from './zone-carriers.ts'

export interface CheckOptions {
  readonly tvInUse?: readonly KhzRange[]
  /** Only conflicts of these carriers are found; by default those of all. */
  readonly victims?: readonly string[] | null
  /** The maximum number of listed conflicts; totals count all. */
  readonly limit?: number
}

const defaultLimit = 1000

/** Accepts at most 1,000 carriers with different ids. */
export function checkCarriers(carriers: readonly Carrier[], options: CheckOptions = {}): CheckResult {
  const list = new ConflictList(carriers, { limit: defaultLimit, ...options })
  for (const [index, carrier] of carriers.entries()) {
    addOwnConflicts(list, carrier, index, options.tvInUse ?? [])
    for (let other = 0; other < index; other++) addSpacing(list, carriers, index, other)
  }
  for (const indices of groupByZone(carriers).values()) {
    findProducts(createZoneCarriers(carriers, indices), list.addProduct)
  }
  return list.toResult()
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
  if (!isComplete(previous)) return checkCarriers(carriers, options)
  const list = new ConflictList(carriers, { limit: defaultLimit, ...options })
  const changed = new Set([...changedIds, ...findNewPairs(previous, carriers)])
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
    for (const other of compared) addSpacing(list, carriers, Math.max(index, other), Math.min(index, other))
    const neighbours = [...compared].filter((other) => carriers[other]?.zone === carrier.zone)
    const zone = createZoneCarriers(carriers, neighbours)
    setExtraCarrier(zone, carrier, index)
    findProductsOf(zone, list.addProduct)
    compared.add(index)
  }
  return list.toResult()
}

/** Returns the ids of carriers that either started or stopped sharing a frequency with another one. */
function findNewPairs({ conflicts }: CheckResult, carriers: readonly Carrier[]): readonly string[] {
  const pairs = conflicts.filter(({ kind }) => kind === 'duplicate')
  const before = new Set(pairs.flatMap(({ victim, generators }) => [victim, ...generators]))
  const sharedKhz = findSharedKhz(carriers)
  return carriers.flatMap(({ id, khz }) => (before.has(id) === sharedKhz.has(khz) ? [] : id))
}

export function isComplete({ conflicts, totals }: CheckResult): boolean {
  return Object.values(totals).reduce((sum, count) => sum + count, 0) === conflicts.length
}

function isOutsideBand({ ranges, khz }: Carrier): boolean {
  return ranges.length > 0 && !ranges.some((range) => isInRange(khz, range))
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
  if (isOutsideBand(carrier)) add('outside_band')
  if (tvRangesOf(carrier, tvInUse).some((range) => isInRange(carrier.khz, range))) add('tv')
}

function addSpacing(list: ConflictList, carriers: readonly Carrier[], victim: number, other: number): void {
  const [a, b] = [carriers[victim] as Carrier, carriers[other] as Carrier]
  const offset = b.khz - a.khz
  if (offset === 0) list.addProduct(kindNumbers.duplicate, 0, victim, other, -1, -1)
  else if (Math.abs(offset) < requiredSpacingKhz(a, b)) {
    list.addProduct(kindNumbers.spacing, offset, victim, other, -1, -1)
  }
}

function groupByZone(carriers: readonly Carrier[]): Map<string | null, number[]> {
  const zones = new Map<string | null, number[]>()
  for (const [index, { zone }] of carriers.entries()) {
    const indices = zones.get(zone)
    if (indices === undefined) zones.set(zone, [index])
    else indices.push(index)
  }
  return zones
}

export interface CheckedChannel {
  readonly id: string
  readonly khz: number
  /** The second carrier of frequency diversity. */
  readonly secondKhz: number | null
  readonly zone: string | null
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
  const shared = new Set<string>()
  return channels.flatMap(({ id, khz, secondKhz, zone, hasForeignRf, equipment, sharedBy }) => {
    const key = `${sharedBy} ${khz}`
    if (sharedBy !== null && shared.has(key)) return []
    if (sharedBy !== null) shared.add(key)
    const [firstId = id, secondId = id] = carrierIdsOf(id)
    const first = createCarrier({ id: firstId, khz, zone, hasForeignRf }, equipment)
    return secondKhz === null ? [first] : [first, createCarrier({ id: secondId, khz: secondKhz, zone }, equipment)]
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
