/** A plan during the search for a suggestion: carriers to keep, and those placed so far. */

import { type Candidates, minDistanceKhz, type Surroundings, type Tunable } from './candidates.ts'
import type { Carrier } from './carrier.ts'
import { generatingPeaks, peakGuardKhz } from './measured.ts'
import { PlanZone } from './plan-zone.ts'

/** Carriers of one request that are equal, or their spares. */
export interface Entry extends Tunable {
  /** The position in the request. */
  readonly index: number
  readonly count: number
  /** Spares are free against all carriers, whatever their zone and groups. */
  readonly isSpare: boolean
  readonly priority: number
  readonly zones: readonly PlanZone[]
  /** A carrier of the entry, whose frequency does not count. */
  readonly carrier: Carrier
  /** Frequencies without a conflict of their own. */
  readonly candidates: Candidates
  /** These, and those with soft conflicts of their own. */
  readonly softCandidates: Candidates
}

export interface Placed {
  readonly entry: Entry
  readonly carrier: Carrier
  /** Unique in the plan; follows those of the carriers to keep. */
  readonly index: number
  readonly isMeasured: boolean
}

export class Plan {
  readonly surroundings: Surroundings
  placed: readonly Placed[] = []
  readonly #zones = new Map<string | null, PlanZone>()
  #nextIndex: number

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings
    this.#nextIndex = surroundings.keep.length
  }

  zone(name: string | null): PlanZone {
    const { keep, exclusions, measured, peaks } = this.surroundings
    const known = this.#zones.get(name)
    if (known !== undefined) return known
    const generating = measured === null ? [] : generatingPeaks(peaks, measured).map(({ khz }) => khz)
    const guardKhz = measured === null ? 0 : peakGuardKhz(measured)
    const created = new PlanZone(keep, name, exclusions, { khz: generating, guardKhz })
    this.#zones.set(name, created)
    return created
  }

  add(entry: Entry, carrier: Carrier, isMeasured: boolean): void {
    this.#insert({ entry, carrier, index: this.#nextIndex++, isMeasured })
  }

  #insert(placed: Placed): void {
    for (const zone of placed.entry.zones) zone.insert(placed.carrier, placed.index)
    this.placed = [...this.placed, placed]
  }

  keepOnly(isKept: (placed: Placed) => boolean): void {
    const kept: Placed[] = []
    for (const placed of this.placed) {
      if (isKept(placed)) kept.push(placed)
      else for (const zone of placed.entry.zones) zone.remove(placed.carrier, placed.index)
    }
    this.placed = kept
  }

  replaceAll(placed: readonly Placed[]): void {
    this.keepOnly(() => false)
    for (const one of placed) this.#insert(one)
  }

  /** Calls `work` while a carrier is not in the plan. */
  without(placed: Placed, work: () => void): void {
    const { placed: all } = this
    this.keepOnly((one) => one !== placed)
    work()
    this.#insert(placed)
    this.placed = all
  }

  isSpaced({ equipment, groups }: Entry, khz: number, ignoresSpacing: boolean): boolean {
    const { exclusions } = this.surroundings
    return this.placed.every(({ carrier }) => {
      if (exclusions.areExclusive(carrier, { groups })) return true
      return Math.abs(carrier.khz - khz) >= (ignoresSpacing ? 1 : minDistanceKhz(carrier, equipment))
    })
  }
}
