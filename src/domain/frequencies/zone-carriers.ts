/** The carriers of one zone as arrays sorted by frequency, for the search for products. */

import type { ProductKind } from '../../contract/values.ts'
import { groupBy } from '../group-by.ts'
import type { Carrier, Guards, KhzRange } from './carrier.ts'
import { type Exclusions, noExclusions } from './exclusions.ts'

/**
 * Positions 0 to `count` - 1 are sorted. Position `count` is for one additional carrier, the *extra* carrier, for which
 * `findProductsOf` finds the conflicts with the others.
 */
export interface ZoneCarriers {
  count: number
  khz: Int32Array
  /** The index of the carrier in the input. */
  index: Int32Array
  guards: Readonly<Record<ProductKind, Int32Array>>
  /** Generators within these limits can reach this carrier as the victim. The carrier itself is within them. */
  lowKhz: Int32Array
  highKhz: Int32Array
  isGenerator: Uint8Array
  /** The indices of carriers that are one of a pair on one frequency. The other one may be in another zone. */
  readonly paired: ReadonlySet<number>
  /** The numbers of the groups in `exclusions`. */
  groups: Int16Array
  readonly exclusions: Exclusions
  /** True if all carriers are generators, which saves comparing this. */
  areAllGenerators: boolean
  /** The width of the widest window. */
  widestKhz: number
}

/** The window of a carrier without limits; the difference of its ends is an exact 32-bit number. */
const [lowest, highest] = [-0x3fff_ffff, 0x3fff_ffff]

export function createZoneCarriers(
  carriers: readonly Carrier[],
  indices: readonly number[],
  exclusions = noExclusions,
): ZoneCarriers {
  const sorted = [...indices].sort((a, b) => khzOf(carriers, a) - khzOf(carriers, b) || a - b)
  const size = sorted.length + 1
  const createArray = () => new Int32Array(size)
  const zone: ZoneCarriers = {
    count: sorted.length,
    khz: createArray(),
    index: createArray(),
    guards: {
      '2t3o': createArray(),
      '3t3o': createArray(),
      '2t5o': createArray(),
      '2t7o': createArray(),
      '2t9o': createArray(),
    },
    lowKhz: createArray(),
    highKhz: createArray(),
    isGenerator: new Uint8Array(size),
    paired: findPaired(carriers, exclusions),
    groups: new Int16Array(size),
    exclusions,
    areAllGenerators: true,
    widestKhz: 0,
  }
  for (const [position, index] of sorted.entries()) {
    const carrier = carriers[index] as Carrier
    setCarrier(zone, position, carrier, index, carrier.khz, carrier.guards)
  }
  return zone
}

/** Returns the indices of carriers on one frequency with others that they do not exclude. */
export function findPaired(carriers: readonly Carrier[], exclusions: Exclusions): ReadonlySet<number> {
  const byKhz = groupBy(carriers.keys(), (index) => khzOf(carriers, index))
  const isPair = (a: number, b: number) =>
    a !== b && !exclusions.areExclusive(carriers[a] as Carrier, carriers[b] as Carrier)
  return new Set(
    [...byKhz.values()].flatMap((indices) =>
      indices.length < 2 ? [] : indices.filter((index) => indices.some((other) => isPair(index, other))),
    ),
  )
}

/** `khz` and `guards` can be given apart from the carrier, so that searches need no new carrier for each frequency. */
export function setExtraCarrier(
  zone: ZoneCarriers,
  carrier: Carrier,
  index: number,
  khz = carrier.khz,
  guards = carrier.guards,
): void {
  setCarrier(zone, zone.count, carrier, index, khz, guards)
}

/** Inserts a carrier among the sorted ones. */
export function insertCarrier(zone: ZoneCarriers, carrier: Carrier, index: number, guards = carrier.guards): void {
  if (zone.count + 1 === zone.khz.length) enlarge(zone)
  const position = findPosition(zone, carrier.khz)
  for (const array of listArrays(zone)) array.copyWithin(position + 1, position, zone.count)
  zone.count++
  setCarrier(zone, position, carrier, index, carrier.khz, guards)
}

/** Removes the carrier with this frequency and index. */
export function removeCarrier(zone: ZoneCarriers, khz: number, index: number): void {
  let position = findPosition(zone, khz)
  while (zone.index[position] !== index) position++
  for (const array of listArrays(zone)) array.copyWithin(position, position + 1, zone.count)
  zone.count--
}

function enlarge(zone: ZoneCarriers): void {
  const size = 2 * zone.khz.length
  const enlarged = <Values extends Int32Array | Int16Array | Uint8Array>(values: Values): Values => {
    const copy = new (values.constructor as new (length: number) => Values)(size)
    copy.set(values)
    return copy
  }
  const { guards } = zone
  zone.khz = enlarged(zone.khz)
  zone.index = enlarged(zone.index)
  zone.groups = enlarged(zone.groups)
  zone.lowKhz = enlarged(zone.lowKhz)
  zone.highKhz = enlarged(zone.highKhz)
  zone.isGenerator = enlarged(zone.isGenerator)
  zone.guards = {
    '2t3o': enlarged(guards['2t3o']),
    '3t3o': enlarged(guards['3t3o']),
    '2t5o': enlarged(guards['2t5o']),
    '2t7o': enlarged(guards['2t7o']),
    '2t9o': enlarged(guards['2t9o']),
  }
}

function listArrays(zone: ZoneCarriers): readonly (Int32Array | Int16Array | Uint8Array)[] {
  return [zone.khz, zone.index, zone.groups, ...Object.values(zone.guards), zone.lowKhz, zone.highKhz, zone.isGenerator]
}

/** Returns the first position whose carrier is not below `khz`. */
export function findPosition({ khz: sorted, count }: ZoneCarriers, khz: number): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < khz) low = middle + 1
    else high = middle
  }
  return low
}

function setCarrier(
  zone: ZoneCarriers,
  position: number,
  carrier: Carrier,
  index: number,
  khz: number,
  guards: Guards,
): void {
  const { isGenerator } = carrier
  const { fromKhz, toKhz } = windowOf(carrier, khz)
  zone.khz[position] = khz
  zone.index[position] = index
  zone.groups[position] = zone.exclusions.numberOf(carrier)
  zone.guards['2t3o'][position] = guards['2t3o']
  zone.guards['3t3o'][position] = guards['3t3o']
  zone.guards['2t5o'][position] = guards['2t5o']
  zone.guards['2t7o'][position] = guards['2t7o']
  zone.guards['2t9o'][position] = guards['2t9o']
  zone.lowKhz[position] = fromKhz
  zone.highKhz[position] = toKhz
  zone.isGenerator[position] = isGenerator ? 1 : 0
  if (!isGenerator) zone.areAllGenerators = false
  zone.widestKhz = Math.max(zone.widestKhz, toKhz - fromKhz)
}

function windowOf({ windowKhz, filterCentresKhz }: Carrier, khz: number): KhzRange {
  if (windowKhz === null) return { fromKhz: lowest, toKhz: highest }
  const centre = nearestOf(filterCentresKhz, khz) ?? khz
  return { fromKhz: Math.min(khz, centre - windowKhz), toKhz: Math.max(khz, centre + windowKhz) }
}

/** Returns the nearest of the frequencies, the lower of two equally near ones; undefined for an empty list. */
function nearestOf(frequencies: readonly number[], khz: number): number | undefined {
  return frequencies.toSorted((a, b) => Math.abs(a - khz) - Math.abs(b - khz) || a - b)[0]
}

function khzOf(carriers: readonly Carrier[], index: number): number {
  return carriers[index]?.khz ?? 0
}
