/** One zone of a plan: its carriers, and the peaks of the scans, for the search for products. */

import { type Carrier, createCarrier, equipmentWithGuards, type Guards } from './carrier.ts'
import type { AddProduct } from './conflict.ts'
import type { Exclusions } from './exclusions.ts'
import { findProductsOf } from './products.ts'
import {
  createZoneCarriers,
  insertCarrier,
  removeCarrier,
  setExtraCarrier,
  type ZoneCarriers,
} from './zone-carriers.ts'

/** Peaks that generate products, and the guard of every carrier against these. */
export interface GeneratingPeaks {
  readonly khz: readonly number[]
  readonly guardKhz: number
}

/** The index of a carrier that is judged before it is placed. Peaks have the negative of their frequency. */
export const judgedIndex = 0x7fff_ffff

/** Products among carriers, or those with peaks, which are judged by other guards. */
interface Layer {
  /** The carriers to keep, and the peaks. */
  readonly kept: ZoneCarriers
  /** These, and the placed carriers. */
  readonly all: ZoneCarriers
  /** The guards of all carriers; null: each has its own. */
  readonly guards: Guards | null
  counts(victim: number, a: number, b: number, c: number): boolean
}

export class PlanZone {
  readonly #layers: readonly Layer[]

  constructor(
    keep: readonly Carrier[],
    zone: string | null,
    exclusions: Exclusions,
    { khz: peaksKhz, guardKhz }: GeneratingPeaks,
  ) {
    const inZone = keep.flatMap((carrier, index) => (carrier.zone === zone ? [index] : []))
    const createLayer = ({ guards, counts }: Pick<Layer, 'guards' | 'counts'>, peaks: readonly number[]): Layer => {
      const judged = guards === null ? keep : keep.map((carrier) => ({ ...carrier, guards }))
      const create = () => {
        const carriers = createZoneCarriers(judged, inZone, exclusions)
        for (const khz of peaks) insertCarrier(carriers, createCarrier({ id: '', khz }, equipmentWithGuards({})), -khz)
        return carriers
      }
      return { kept: create(), all: create(), guards, counts }
    }
    const products = createLayer({ guards: null, counts: () => true }, [])
    const { guards } = equipmentWithGuards({ '2t3o': guardKhz, '3t3o': guardKhz })
    const withPeaks = () => createLayer({ guards, counts: isProductOfPeak }, peaksKhz)
    this.#layers = peaksKhz.length === 0 ? [products] : [products, withPeaks()]
  }

  insert(carrier: Carrier, index: number): void {
    for (const { all, guards } of this.#layers) insertCarrier(all, carrier, index, guards ?? carrier.guards)
  }

  remove({ khz }: Carrier, index: number): void {
    for (const { all } of this.#layers) removeCarrier(all, khz, index)
  }

  /**
   * Finds the products that involve another carrier at a frequency, as victim or generator. Stops when `isEnough`
   * returns true. Returns how much work that was.
   */
  findProducts(
    carriers: 'kept' | 'all',
    carrier: Carrier,
    khz: number,
    add: AddProduct,
    isEnough: () => boolean,
  ): number {
    let work = 0
    for (const layer of this.#layers) {
      const zone = layer[carriers]
      const guards = layer.guards ?? carrier.guards
      let steps = 0
      setExtraCarrier(zone, carrier, judgedIndex, khz, guards)
      findProductsOf(
        zone,
        (kind, offset, victim, a, b, c) => {
          if (layer.counts(victim, a, b, c)) add(kind, offset, victim, a, b, c)
        },
        () => {
          steps++
          return isEnough()
        },
      )
      work += 20 + zone.count + steps * (guards['3t3o'] > 0 ? zone.count : 8)
      if (isEnough()) break
    }
    return work
  }
}

/** False for a product without a peak, and for one that the victim itself generates. */
function isProductOfPeak(victim: number, a: number, b: number, c: number): boolean {
  return (a < -1 || b < -1 || c < -1) && victim !== a && victim !== b && victim !== c
}
