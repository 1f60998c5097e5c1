/** The carriers of one zone as arrays, sorted by frequency: what the search for products reads. */

import type { ProductKind } from '../../contract/values.ts'
import type { Carrier } from './carrier.ts'

/**
 * Positions 0 to `count` - 1 are sorted. Position `count` is for one more carrier, the *extra* carrier, for which
 * `findProductsOf` finds the conflicts with the others.
 */
export interface ZoneCarriers {
  count: number
  readonly khz: Int32Array
  /** The index of the carrier in the list that was given. */
  readonly index: Int32Array
  readonly guards: Readonly<Record<ProductKind, Int32Array>>
  /** How far generators may be from this carrier as the victim. */
  readonly windowKhz: Int32Array
  readonly isGenerator: Uint8Array
  /** True if all carriers are generators and none has a window, so that neither must be compared. */
  isUniform: boolean
}

const noWindow = 0x7fff_ffff

/** `spare` is how many carriers can be inserted later. */
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
    windowKhz: createArray(),
    isGenerator: new Uint8Array(size),
    isUniform: true,
  }
  for (const [position, index] of sorted.entries()) setCarrier(zone, position, carriers[index] as Carrier, index)
  return zone
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

function listArrays({
  khz,
  index,
  guards,
  windowKhz,
  isGenerator,
}: ZoneCarriers): readonly (Int32Array | Uint8Array)[] {
  return [khz, index, ...Object.values(guards), windowKhz, isGenerator]
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
  const { guards, windowKhz } = carrier
  zone.khz[position] = carrier.khz
  zone.index[position] = index
  zone.guards['2t3o'][position] = guards['2t3o']
  zone.guards['3t3o'][position] = guards['3t3o']
  zone.guards['2t5o'][position] = guards['2t5o']
  zone.guards['2t7o'][position] = guards['2t7o']
  zone.guards['2t9o'][position] = guards['2t9o']
  zone.windowKhz[position] = windowKhz ?? noWindow
  zone.isGenerator[position] = carrier.isGenerator ? 1 : 0
  if (windowKhz !== null || !carrier.isGenerator) zone.isUniform = false
}

function khzOf(carriers: readonly Carrier[], index: number): number {
  return carriers[index]?.khz ?? 0
}
