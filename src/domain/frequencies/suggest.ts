/**
 * Suggests carriers that conflict neither with each other nor with those to keep. The least flexible equipment is
 * placed first, from the lowest frequency up. While carriers remain unplaced, part of the best plan is removed and
 * placed again. The number of attempts and the sequence of random numbers are fixed, so the same request always gives
 * the same result.
 */

import { type Carrier, createCarrier, type Equipment, formatMhz, type KhzRange, requiredSpacingKhz } from './carrier.ts'
import { tvRangesOf } from './check.ts'
import { findProductsOf } from './products.ts'
import {
  createZoneCarriers,
  insertCarrier,
  removeCarrier,
  setExtraCarrier,
  type ZoneCarriers,
} from './zone-carriers.ts'

export interface WantedCarriers {
  /** Returned with the carriers, like the band. */
  readonly profile: string
  readonly band?: string
  readonly equipment: Equipment
  readonly stepKhz: number
  readonly ranges: readonly KhzRange[]
  readonly count: number
}

export interface SuggestRequest {
  readonly wanted: readonly WantedCarriers[]
  readonly keep?: readonly Carrier[]
  /** No carriers are suggested inside these ranges; their ends are allowed. */
  readonly avoid?: readonly KhzRange[]
  readonly tvInUse?: readonly KhzRange[]
}

export interface Suggestion {
  /** In the order of `wanted`, then by frequency. */
  readonly carriers: readonly { readonly profile: string; readonly band?: string; readonly mhz: string }[]
  readonly unplaced: readonly { readonly profile: string; readonly count: number }[]
  readonly timed_out?: true
}

/**
 * The search for a better plan than the first one ends after this much work, which takes one to two seconds. The first
 * plan considers every frequency for every carrier.
 */
const maxWork = 80_000_000
/** Limits the number of attempts if there are few frequencies to try. */
const workOfAttempt = 5000
/**
 * The maximum number of frequencies for an entry of the request. With a finer step, only every second or third one is
 * considered.
 */
const maxSteps = 250_000
/** Limits the memory for a request with many entries. */
const maxStepsOfAll = 2_500_000
const seed = 20_260_101

/** `isTimeUp` is called often; when it returns true, the best plan so far is returned. */
export function suggestCarriers(request: SuggestRequest, isTimeUp: () => boolean = () => false): Suggestion {
  return new PlanSearch(request, isTimeUp).run()
}

interface Candidates {
  readonly wanted: WantedCarriers
  /** The position in the request. */
  readonly index: number
  /** The frequencies in the ranges that are far enough from the carriers to keep, in ascending order. */
  readonly khz: Int32Array
  /** 0, or the cached result for a carrier at the frequency: whether it has products with the carriers to keep. */
  readonly isBlocked: Uint8Array
}

const [free, blocked] = [1, 2]

interface Placed {
  readonly carrier: Carrier
  readonly index: number
}

/** The probability of skipping a possible frequency in the first, second and third attempt to fill a plan. */
const skipShares = [0, 0.06, 0.15]

class PlanSearch {
  readonly #isTimeUp: () => boolean
  /** The carriers to keep in the zone of the suggested ones. */
  readonly #kept: ZoneCarriers
  /** These, and the suggested ones. */
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
    // Suggested carriers have no zone of their own.
    const keepInZone = keep.flatMap(({ zone }, index) => (zone === null ? [index] : []))
    this.#kept = createZoneCarriers(keep, keepInZone)
    this.#zone = createZoneCarriers(keep, keepInZone, this.#total)
    const limit = Math.min(maxSteps, Math.floor(maxStepsOfAll / Math.max(1, wanted.length)))
    const candidates = wanted.map((one, index): Candidates => {
      const khz = listSteps(allowedRanges(one, { keep, avoid, tvInUse }), one.stepKhz, limit)
      return { wanted: one, index, khz, isBlocked: new Uint8Array(khz.length) }
    })
    this.#candidates = candidates.sort(
      (a, b) => flexibilityOf(a) - flexibilityOf(b) || widestGuard(b) - widestGuard(a) || a.index - b.index,
    )
  }

  run(): Suggestion {
    this.#fill(0, () => this.#isLate())
    let best = this.#placed
    this.#work = 0
    const isOver = () => this.#work > maxWork || this.#isLate()
    for (let attempt = 0; best.length < this.#total && !isOver(); attempt++) {
      this.#work += workOfAttempt
      this.#removeSome()
      this.#fill(skipShares[attempt % skipShares.length] ?? 0, isOver)
      if (this.#placed.length >= best.length) best = this.#placed
      else this.#replaceAll(best)
    }
    return this.#toSuggestion(best)
  }

  /** Places as many of the missing carriers as possible. */
  #fill(skipShare: number, isOver: () => boolean): void {
    for (const candidates of this.#candidates) {
      const { wanted, index } = candidates
      let missing = wanted.count - this.#placed.filter((one) => one.index === index).length
      for (let position = 0; position < candidates.khz.length; position++) {
        if (missing === 0 || isOver()) break
        this.#work += 2 + this.#placed.length
        if (skipShare > 0 && this.#random() < skipShare) continue
        const khz = candidates.khz[position] as number
        if (!this.#placed.every(({ carrier }) => isSpaced(carrier, wanted.equipment, khz))) continue
        const carrier = createCarrier({ id: '', khz }, wanted.equipment)
        if (this.#isBlocked(candidates, position, carrier) || this.#hasProducts(this.#zone, carrier)) continue
        this.#place({ carrier, index })
        missing--
      }
    }
  }

  /** True if a carrier has products with those to keep. The result is cached and does not count as work. */
  #isBlocked({ isBlocked }: Candidates, position: number, carrier: Carrier): boolean {
    if (isBlocked[position] === 0) {
      const work = this.#work
      isBlocked[position] = this.#hasProducts(this.#kept, carrier) ? blocked : free
      this.#work = work
    }
    return isBlocked[position] === blocked
  }

  #hasProducts(zone: ZoneCarriers, carrier: Carrier): boolean {
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
    return found > 0
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

  #isLate(): boolean {
    if (!this.#timedOut && this.#isTimeUp()) this.#timedOut = true
    return this.#timedOut
  }

  #toSuggestion(placed: readonly Placed[]): Suggestion {
    const placements = this.#candidates
      .map(({ wanted, index }) => {
        const khz = placed.filter((one) => one.index === index).map(({ carrier }) => carrier.khz)
        return { index, wanted, khz: khz.sort((a, b) => a - b) }
      })
      .sort((a, b) => a.index - b.index)
    return {
      carriers: placements.flatMap(({ wanted: { profile, band }, khz }) =>
        khz.map((value) => ({ profile, ...(band !== undefined && { band }), mhz: formatMhz(value) })),
      ),
      unplaced: placements.flatMap(({ wanted: { profile, count }, khz }) =>
        khz.length === count ? [] : [{ profile, count: count - khz.length }],
      ),
      ...(this.#timedOut && { timed_out: true }),
    }
  }
}

/** True if equipment at `khz` keeps its spacing to another carrier. */
function isSpaced(carrier: Carrier, equipment: Equipment, khz: number): boolean {
  return Math.abs(carrier.khz - khz) >= Math.max(1, requiredSpacingKhz(carrier, equipment))
}

/** Returns the frequencies of the equipment that do not touch a TV channel, a range to avoid, or a carrier to keep. */
function allowedRanges(
  { equipment, ranges }: WantedCarriers,
  { keep, avoid, tvInUse }: Required<Pick<SuggestRequest, 'keep' | 'avoid' | 'tvInUse'>>,
): readonly KhzRange[] {
  const inRanges = mergeRanges(ranges)
  const inBand = equipment.ranges.length === 0 ? inRanges : intersectRanges(inRanges, mergeRanges(equipment.ranges))
  const nearKept = keep.map((kept): KhzRange => {
    const reach = Math.max(1, requiredSpacingKhz(kept, equipment)) - 1
    return { fromKhz: kept.khz - reach, toKhz: kept.khz + reach }
  })
  const inside = avoid.map(({ fromKhz, toKhz }): KhzRange => ({ fromKhz: fromKhz + 1, toKhz: toKhz - 1 }))
  return subtractRanges(inBand, mergeRanges([...nearKept, ...inside, ...tvRangesOf(equipment, tvInUse)]))
}

/** The number of frequencies per wanted carrier. */
function flexibilityOf({ wanted, khz }: Candidates): number {
  return khz.length / wanted.count
}

function widestGuard({ wanted }: Candidates): number {
  return Math.max(...Object.values(wanted.equipment.guards))
}

// Sets of whole kHz, as sorted ranges that do not touch.

/** Returns the same frequencies as sorted ranges that do not touch. */
function mergeRanges(ranges: readonly KhzRange[]): readonly KhzRange[] {
  const merged: KhzRange[] = []
  for (const { fromKhz, toKhz } of ranges.toSorted((a, b) => a.fromKhz - b.fromKhz)) {
    const last = merged.at(-1)
    if (toKhz < fromKhz) continue
    if (last === undefined || fromKhz > last.toKhz + 1) merged.push({ fromKhz, toKhz })
    else merged[merged.length - 1] = { fromKhz: last.fromKhz, toKhz: Math.max(last.toKhz, toKhz) }
  }
  return merged
}

function intersectRanges(a: readonly KhzRange[], b: readonly KhzRange[]): readonly KhzRange[] {
  const found: KhzRange[] = []
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const [one, other] = [a[i] as KhzRange, b[j] as KhzRange]
    const common = { fromKhz: Math.max(one.fromKhz, other.fromKhz), toKhz: Math.min(one.toKhz, other.toKhz) }
    if (common.fromKhz <= common.toKhz) found.push(common)
    if (one.toKhz < other.toKhz) i++
    else j++
  }
  return found
}

function subtractRanges(ranges: readonly KhzRange[], removed: readonly KhzRange[]): readonly KhzRange[] {
  const gaps: KhzRange[] = []
  let fromKhz = -Number.MAX_SAFE_INTEGER
  for (const range of removed) {
    gaps.push({ fromKhz, toKhz: range.fromKhz - 1 })
    fromKhz = range.toKhz + 1
  }
  gaps.push({ fromKhz, toKhz: Number.MAX_SAFE_INTEGER })
  return intersectRanges(ranges, gaps)
}

/**
 * Returns the multiples of a step in the ranges, in ascending order. Skips multiples evenly if there are more than
 * `limit`.
 */
function listSteps(ranges: readonly KhzRange[], stepKhz: number, limit: number): Int32Array {
  const countOf = (step: number) =>
    ranges.reduce((sum, { fromKhz, toKhz }) => sum + Math.floor(toKhz / step) - Math.ceil(fromKhz / step) + 1, 0)
  let step = stepKhz * Math.max(1, Math.ceil(countOf(stepKhz) / limit))
  while (countOf(step) > limit + ranges.length) step += stepKhz
  const steps = new Int32Array(countOf(step))
  let length = 0
  for (const { fromKhz, toKhz } of ranges) {
    for (let khz = Math.ceil(fromKhz / step) * step; khz <= toKhz; khz += step) steps[length++] = khz
  }
  return steps
}

/** Returns a number in [0, 1). */
export type Random = () => number

export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}
