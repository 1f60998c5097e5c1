/**
 * Suggests carriers that conflict neither with each other nor with those to keep. The least flexible equipment is placed
 * first, from the lowest frequency up. While carriers are missing, the best plan is partly removed and filled again, a
 * fixed number of times with a fixed sequence of random numbers, so the same request always gives the same answer.
 */

import { type Carrier, createCarrier, type Equipment, formatMhz, type KhzRange, requiredSpacingKhz } from './carrier.ts'
import { isOutsideBand, touchesTv } from './check.ts'
import { findProductsOf } from './products.ts'
import { createRandom, type Random } from './random.ts'
import {
  createZoneCarriers,
  insertCarrier,
  removeCarrier,
  setExtraCarrier,
  type ZoneCarriers,
} from './zone-carriers.ts'

export interface WantedCarriers {
  /** Returned with the carriers. */
  readonly profile: string
  readonly equipment: Equipment
  readonly stepKhz: number
  readonly ranges: readonly KhzRange[]
  readonly count: number
}

export interface SuggestRequest {
  readonly wanted: readonly WantedCarriers[]
  readonly keep?: readonly Carrier[]
  /** Ranges without suggested carriers; the ends of a range are allowed. */
  readonly avoid?: readonly KhzRange[]
  readonly tvInUse?: readonly KhzRange[]
}

/** As in the interface. */
export interface Suggestion {
  /** In the order of `wanted`, then by frequency. */
  readonly carriers: readonly { readonly profile: string; readonly mhz: string }[]
  readonly unplaced: readonly { readonly profile: string; readonly count: number }[]
  readonly timed_out?: true
}

/** The search ends after this much work, which takes one to two seconds. */
const maxWork = 80_000_000
/** Limits the number of attempts where there are few frequencies to try. */
const workOfAttempt = 5000
/** How many frequencies are considered, in total. */
const maxSteps = 200_000
const seed = 20_260_101

/** Suggests carriers. `isTimeUp` is called often; when it returns true, the best plan so far is returned. */
export function suggestCarriers(request: SuggestRequest, isTimeUp: () => boolean = () => false): Suggestion {
  return new PlanSearch(request, isTimeUp).run()
}

interface Candidates {
  readonly wanted: WantedCarriers
  /** The position in the request. */
  readonly index: number
  /** The wanted carrier at every frequency that does not conflict with the carriers to keep, ascending. */
  readonly carriers: readonly Carrier[]
}

/** A suggested carrier. */
interface Placed {
  readonly carrier: Carrier
  readonly index: number
}

/** How likely a possible frequency is skipped in the first, second and third attempt to fill a plan. */
const skipShares = [0, 0.06, 0.15]

class PlanSearch {
  readonly #isTimeUp: () => boolean
  readonly #zone: ZoneCarriers
  readonly #random: Random = createRandom(seed)
  readonly #candidates: readonly Candidates[]
  readonly #total: number
  #placed: readonly Placed[] = []
  #work = 0
  #timedOut = false

  constructor({ wanted, keep = [], avoid = [], tvInUse = [] }: SuggestRequest, isTimeUp: () => boolean) {
    this.#isTimeUp = isTimeUp
    this.#total = wanted.reduce((sum, { count }) => sum + count, 0)
    const keepInZone = keep.flatMap(({ zone }, index) => (zone === null ? [index] : []))
    this.#zone = createZoneCarriers(keep, keepInZone, this.#total)
    let stepsLeft = maxSteps
    const candidates = wanted.map((one, index): Candidates => {
      const isAllowed = (khz: number) =>
        !isOutsideBand(one.equipment, khz) &&
        !touchesTv(one.equipment, khz, tvInUse) &&
        !avoid.some(({ fromKhz, toKhz }) => fromKhz < khz && khz < toKhz)
      const isFree = (carrier: Carrier) =>
        !this.#isOver() && keep.every((kept) => areSpaced(kept, carrier)) && this.#hasNoProducts(carrier)
      const steps = listSteps(one, stepsLeft)
      stepsLeft -= steps.length
      // Suggested carriers have no zone of their own.
      const carriers = steps.filter(isAllowed).map((khz) => createCarrier({ id: '', khz }, one.equipment))
      return { wanted: one, index, carriers: carriers.filter(isFree) }
    })
    this.#candidates = candidates.sort(
      (a, b) => flexibilityOf(a) - flexibilityOf(b) || widestGuard(b) - widestGuard(a) || a.index - b.index,
    )
  }

  run(): Suggestion {
    this.#fill(0)
    let best = this.#placed
    for (let attempt = 0; best.length < this.#total && !this.#isOver(); attempt++) {
      this.#work += workOfAttempt
      this.#removeSome()
      this.#fill(skipShares[attempt % skipShares.length] ?? 0)
      if (this.#placed.length >= best.length) best = this.#placed
      else this.#replaceAll(best)
    }
    return this.#toSuggestion(best)
  }

  /** Places as many of the missing carriers as possible. */
  #fill(skipShare: number): void {
    for (const { wanted, index, carriers } of this.#candidates) {
      let missing = wanted.count - this.#placed.filter((one) => one.index === index).length
      for (const carrier of carriers) {
        if (missing === 0 || this.#isOver()) break
        this.#work += 2 + this.#placed.length
        if (skipShare > 0 && this.#random() < skipShare) continue
        if (!this.#placed.every((other) => areSpaced(other.carrier, carrier))) continue
        if (!this.#hasNoProducts(carrier)) continue
        this.#place({ carrier, index })
        missing--
      }
    }
  }

  #hasNoProducts(carrier: Carrier): boolean {
    const zone = this.#zone
    setExtraCarrier(zone, carrier, 0)
    let found = 0
    let steps = 0
    const add = () => {
      found++
    }
    findProductsOf(zone, add, () => {
      steps++
      return found > 0
    })
    this.#work += 20 + zone.count + steps * (carrier.guards['3t3o'] > 0 ? zone.count : 8)
    return found === 0
  }

  #place(placed: Placed): void {
    insertCarrier(this.#zone, placed.carrier, 0)
    this.#placed = [...this.#placed, placed]
  }

  /** Removes carriers at random, or all between two random frequencies. */
  #removeSome(): void {
    const share = 0.1 + 0.5 * this.#random()
    if (this.#random() < 0.5) {
      this.#keepOnly(() => this.#random() >= share)
      return
    }
    const sorted = this.#placed.map(({ carrier }) => carrier.khz).sort((a, b) => a - b)
    const first = Math.floor(this.#random() * sorted.length)
    const from = sorted[first] ?? 0
    const to = sorted[Math.min(sorted.length - 1, first + Math.ceil(share * sorted.length))] ?? 0
    this.#keepOnly(({ carrier: { khz } }) => khz < from || khz > to)
  }

  #keepOnly(isKept: (placed: Placed) => boolean): void {
    const kept: Placed[] = []
    for (const placed of this.#placed) {
      if (isKept(placed)) kept.push(placed)
      else removeCarrier(this.#zone, placed.carrier.khz)
    }
    this.#placed = kept
  }

  #replaceAll(placed: readonly Placed[]): void {
    this.#keepOnly(() => false)
    for (const one of placed) this.#place(one)
  }

  #isOver(): boolean {
    if (!this.#timedOut && this.#isTimeUp()) this.#timedOut = true
    return this.#timedOut || this.#work > maxWork
  }

  #toSuggestion(placed: readonly Placed[]): Suggestion {
    const placements = this.#candidates
      .map(({ wanted, index }) => {
        const khz = placed.filter((one) => one.index === index).map(({ carrier }) => carrier.khz)
        return { index, wanted, khz: khz.sort((a, b) => a - b) }
      })
      .sort((a, b) => a.index - b.index)
    return {
      carriers: placements.flatMap(({ wanted: { profile }, khz }) =>
        khz.map((value) => ({ profile, mhz: formatMhz(value) })),
      ),
      unplaced: placements.flatMap(({ wanted: { profile, count }, khz }) =>
        khz.length === count ? [] : [{ profile, count: count - khz.length }],
      ),
      ...(this.#timedOut && { timed_out: true }),
    }
  }
}

/** Two carriers on one frequency are too close even without a guard. */
function areSpaced(a: Carrier, b: Carrier): boolean {
  return Math.abs(a.khz - b.khz) >= Math.max(1, requiredSpacingKhz(a, b))
}

/** Returns the multiples of the step in the ranges, ascending, at most `limit`. */
function listSteps({ ranges, stepKhz }: WantedCarriers, limit: number): number[] {
  const steps = new Set<number>()
  for (const { fromKhz, toKhz } of ranges) {
    for (let khz = Math.ceil(fromKhz / stepKhz) * stepKhz; khz <= toKhz && steps.size < limit; khz += stepKhz) {
      steps.add(khz)
    }
  }
  return [...steps].sort((a, b) => a - b)
}

/** How many frequencies there are for each wanted carrier. */
function flexibilityOf({ wanted, carriers }: Candidates): number {
  return carriers.length / wanted.count
}

function widestGuard({ wanted }: Candidates): number {
  return Math.max(...Object.values(wanted.equipment.guards))
}
