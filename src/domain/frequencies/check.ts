/** Checks carriers against each other, against TV channels in use and against the bands of their equipment. */

import { type Carrier, isInRange, type KhzRange, requiredSpacingKhz } from './carrier.ts'
import { type CheckResult, ConflictList, type Finding, kindNumbers } from './conflict.ts'
import { findProducts, findProductsOf } from './products.ts'
import { createZoneCarriers, setExtraCarrier } from './zone-carriers.ts'

export interface CheckOptions {
  /** The TV channels in use. */
  readonly tvInUse?: readonly KhzRange[]
  /** The ids of the carriers whose conflicts are found; by default all. */
  readonly victims?: readonly string[] | null
  /** How many conflicts are listed; totals count all. */
  readonly limit?: number
}

/** How many conflicts are listed by default. */
const defaultLimit = 1000

/** Finds all conflicts of at most 1,000 carriers with different ids. */
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
 * Returns the same as `checkCarriers`, faster, after one carrier was changed, added or removed: only its conflicts are
 * searched for, unless the previous result does not list all conflicts. `options` must be those of the previous check,
 * and `carriers` all carriers in the same order as then.
 */
export function recheckCarriers(
  previous: CheckResult,
  carriers: readonly Carrier[],
  changedId: string,
  options: CheckOptions = {},
): CheckResult {
  const found = Object.values(previous.totals).reduce((sum, count) => sum + count, 0)
  if (found > previous.conflicts.length) return checkCarriers(carriers, options)
  const list = new ConflictList(carriers, { limit: defaultLimit, ...options })
  const indexById = new Map(carriers.map(({ id }, index) => [id, index]))
  const toIndex = (id: string) => indexById.get(id) ?? -1
  for (const { victim, kind, offset_khz, generators } of previous.conflicts) {
    if (victim === changedId || generators.includes(changedId)) continue
    list.add({ kind, victim: toIndex(victim), offsetKhz: offset_khz, generators: generators.map(toIndex) })
  }
  const changed = carriers[toIndex(changedId)]
  if (changed !== undefined) {
    const index = toIndex(changedId)
    addOwnConflicts(list, changed, index, options.tvInUse ?? [])
    for (let other = 0; other < carriers.length; other++) {
      if (other !== index) addSpacing(list, carriers, Math.max(index, other), Math.min(index, other))
    }
    const neighbours = (groupByZone(carriers).get(changed.zone) ?? []).filter((other) => other !== index)
    const zone = createZoneCarriers(carriers, neighbours)
    setExtraCarrier(zone, changed, index)
    findProductsOf(zone, list.addProduct)
  }
  return list.toResult()
}

/** Whether a carrier at this frequency would be outside its band or touch a TV channel in use. */
export function isOutsideBand({ ranges }: Pick<Carrier, 'ranges'>, khz: number): boolean {
  return ranges.length > 0 && !ranges.some((range) => isInRange(khz, range))
}

/** Whether the occupied width touches a TV channel in use. */
export function touchesTv(
  { occupiedKhz }: Pick<Carrier, 'occupiedKhz'>,
  khz: number,
  tvInUse: readonly KhzRange[],
): boolean {
  const half = occupiedKhz / 2
  return tvInUse.some(({ fromKhz, toKhz }) => khz + half >= fromKhz && khz - half <= toKhz)
}

function addOwnConflicts(list: ConflictList, carrier: Carrier, victim: number, tvInUse: readonly KhzRange[]): void {
  const add = (kind: Finding['kind']) => list.add({ kind, victim, offsetKhz: null, generators: [] })
  if (carrier.hasForeignRf) add('foreign')
  if (isOutsideBand(carrier, carrier.khz)) add('outside_band')
  if (touchesTv(carrier, carrier.khz, tvInUse)) add('tv')
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
