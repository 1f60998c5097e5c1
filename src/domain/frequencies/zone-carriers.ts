/** The carriers of one zone as arrays sorted by frequency, for the search for products. */

import type { ProductKind } from '../../contract/values.ts'
import type { Carrier, KhzRange } from './carrier.ts'

/**
 * Positions 0 to `count` - 1 are sorted. Position `count` is for one additional carrier, the *extra* carrier, for which
 * `findProductsOf` finds the conflicts with the others.
 */
export interface ZoneCarriers {
  count: number
  readonly khz: Int32Array
  /** The index of the carrier in the input. */
  readonly index: Int32Array
  readonly guards: Readonly<Record<ProductKind, Int32Array>>
  /** Generators within these limits can reach this carrier as the victim. The carrier itself is within them. */
  readonly lowKhz: Int32Array
  readonly highKhz: Int32Array
  readonly isGenerator: Uint8Array
  /** The frequencies of several carriers, including those in other zones. */
  readonly sharedKhz: ReadonlySet<number>
  /** True if all carriers are generators, which saves comparing this. */
  areAllGenerators: boolean
  /** The width of the widest window. */
  widestKhz: number
}

/** The window of a carrier without limits; the difference of its ends is an exact 32-bit number. */
const [lowest, highest] = [-0x3fff_ffff, 0x3fff_ffff]

/** `spare` is the number of carriers that can be inserted later. */
export function createZoneCarriers(carriers: readonly Carrier[], indices: readonly number[], spare = 0): ZoneCarriers {
  const sorted = [...indices].sort((a, b) => khzOf(carriers, a) - khzOf(carriers, b) || a - b)
  const size = sorted.length + spare + 1
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
    sharedKhz: findSharedKhz(carriers),
    areAllGenerators: true,
    widestKhz: 0,
  }
  for (const [position, index] of sorted.entries()) setCarrier(zone, position, carriers[index] as Carrier, index)
  return zone
}

/** Returns the frequencies that several carriers have. */
export function findSharedKhz(carriers: readonly Pick<Carrier, 'khz'>[]): ReadonlySet<number> {
  const seen = new Set<number>()
  return new Set(
    carriers.flatMap(({ khz }) => {
      if (seen.has(khz)) return khz
      seen.add(khz)
      return []
    }),
  )
}

export function setExtraCarrier(zone: ZoneCarriers, carrier: Carrier, index: number): void {
  setCarrier(zone, zone.count, carrier, index)
}

/** Inserts a carrier among the sorted ones, if there is space for it. */
export function insertCarrier(zone: ZoneCarriers, carrier: Carrier, index: number): void {
  const position = findPosition(zone, carrier.khz)
  for (const array of listArrays(zone)) array.copyWithin(position + 1, position, zone.count)
  zone.count++
  setCarrier(zone, position, carrier, index)
}

/** Removes the first carrier with this frequency. */
export function removeCarrier(zone: ZoneCarriers, khz: number): void {
  const position = findPosition(zone, khz)
  for (const array of listArrays(zone)) array.copyWithin(position, position + 1, zone.count)
  zone.count--
}

function listArrays(zone: ZoneCarriers): readonly (Int32Array | Uint8Array)[] {
  return [zone.khz, zone.index, ...Object.values(zone.guards), zone.lowKhz, zone.highKhz, zone.isGenerator]
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

function setCarrier(zone: ZoneCarriers, position: number, carrier: Carrier, index: number): void {
  const { guards, isGenerator } = carrier
  const { fromKhz, toKhz } = windowOf(carrier)
  zone.khz[position] = carrier.khz
  zone.index[position] = index
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

function windowOf({ khz, windowKhz, filterCentresKhz }: Carrier): KhzRange {
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
