/**
 * The search for frequencies. The greatest priority and the least flexible equipment are placed first, from the lowest
 * frequency up. While carriers are missing, part of the best plan is removed and placed again. The number of attempts
 * and the sequence of random numbers are fixed, so the same request always gives the same result.
 */

import { type ConflictKind, conflictKinds } from '../../contract/values.ts'
import type { Candidates } from './candidates.ts'
import type { Carrier } from './carrier.ts'
import type { AddProduct } from './conflict.ts'
import type { Entry, Placed, Plan } from './plan.ts'
import type { PlanZone } from './plan-zone.ts'
import { createRandom, type Random } from './random.ts'

/**
 * The search for a better plan than the first one ends after this much work, which takes about a second. The first plan
 * considers every frequency for every carrier.
 */
const maxWork = 80_000_000
/** Limits the number of attempts if there are few frequencies to try. */
const workOfAttempt = 5000
const seed = 20_260_101

/** The probability of skipping a possible frequency in the first, second and third attempt to fill a plan. */
const skipShares = [0, 0.06, 0.15]

const verdict = { free: 1, soft: 2, blocked: 3 } as const
type Verdict = (typeof verdict)[keyof typeof verdict]

export class PlanSearch {
  readonly #plan: Plan
  readonly #soft: ReadonlySet<ConflictKind>
  readonly #isSoftKind: Uint8Array
  readonly #isTimeUp: () => boolean
  #random: Random = createRandom(seed)
  /** True while soft conflicts of carriers are accepted; those of spares never are. */
  #allowsSoft = false
  #work = 0
  #timedOut = false

  constructor(plan: Plan, soft: ReadonlySet<ConflictKind>, isTimeUp: () => boolean) {
    this.#plan = plan
    this.#soft = soft
    this.#isSoftKind = Uint8Array.from(conflictKinds, (kind) => (soft.has(kind) ? 1 : 0))
    this.#isTimeUp = isTimeUp
  }

  get timedOut(): boolean {
    return this.#timedOut
  }

  get allowsSoft(): boolean {
    return this.#allowsSoft
  }

  /** Places carriers without conflicts, with soft conflicts if some are missing, and then spares without conflicts. */
  run(entries: readonly Entry[]): void {
    const carriers = sortEntries(entries.filter(({ isSpare }) => !isSpare))
    const spares = sortEntries(entries.filter(({ isSpare }) => isSpare))
    this.#search(carriers)
    if (this.#soft.size > 0 && isMissing(carriers, this.#plan)) this.#searchSoft(carriers)
    if (spares.length > 0) this.#search([...carriers, ...spares])
  }

  /** Adds to the plan without conflicts, or makes another one if that has more carriers. */
  #searchSoft(carriers: readonly Entry[]): void {
    const plan = this.#plan
    this.#allowsSoft = true
    this.#fill(carriers, 0, () => this.#isLate())
    if (this.#isComplete(carriers)) return
    const added = plan.placed
    plan.keepOnly(() => false)
    this.#search(carriers)
    const isBetter = createComparison(carriers)
    if (isBetter(added, plan.placed)) plan.replaceAll(added)
  }

  #search(entries: readonly Entry[]): void {
    const plan = this.#plan
    this.#random = createRandom(seed)
    this.#fill(entries, 0, () => this.#isLate())
    let best = plan.placed
    this.#work = 0
    const isOver = () => this.#work > maxWork || this.#isLate()
    const isAsGood = createComparison(entries)
    for (let attempt = 0; !this.#isComplete(entries) && !isOver(); attempt++) {
      this.#work += workOfAttempt
      this.#removeSome()
      this.#fill(entries, skipShares[attempt % skipShares.length] ?? 0, isOver)
      if (isAsGood(plan.placed, best)) best = plan.placed
      else plan.replaceAll(best)
    }
    if (this.#isComplete(entries)) return
    // The best plan may have skipped a possible frequency.
    plan.keepOnly(({ entry }) => !entry.isSpare)
    this.#fill(entries, 0, () => this.#isLate())
  }

  /** True if all carriers are placed, or all frequencies are used. */
  #isComplete(entries: readonly Entry[]): boolean {
    const possible = (entry: Entry) => Math.min(entry.count, this.#candidatesOf(entry).khz.length)
    return this.#plan.placed.length === entries.reduce((sum, entry) => sum + possible(entry), 0)
  }

  #candidatesOf({ isSpare, candidates, softCandidates }: Entry): Candidates {
    return this.#allowsSoft && !isSpare ? softCandidates : candidates
  }

  /** Places as many of the missing carriers as possible. */
  #fill(entries: readonly Entry[], skipShare: number, isOver: () => boolean): void {
    for (const entry of entries) {
      this.#fillEntry(entry, skipShare, isOver)
    }
  }

  #fillEntry(entry: Entry, skipShare: number, isOver: () => boolean): void {
    const plan = this.#plan
    const isSoft = this.#allowsSoft && !entry.isSpare
    const candidates = this.#candidatesOf(entry)
    const ignoresSpacing = isSoft && this.#soft.has('spacing')
    let missing = entry.count - plan.placed.filter((one) => one.entry === entry).length
    for (let position = 0; position < candidates.khz.length; position++) {
      if (missing === 0 || isOver()) break
      this.#work += 2 + plan.placed.length
      if (skipShare > 0 && this.#random() < skipShare) continue
      const khz = candidates.khz[position] as number
      if (!plan.isSpaced(entry, khz, ignoresSpacing)) continue
      const worst = isSoft ? verdict.soft : verdict.free
      if (this.#judgeBesideKept(entry, candidates, position) > worst) continue
      if (entry.zones.some((zone) => this.#judge(zone, 'all', entry.carrier, khz, isSoft) > worst)) continue
      plan.add(entry, { ...entry.carrier, khz }, position < candidates.freeCount)
      missing--
    }
  }

  /** The verdict about products with carriers to keep. It is cached and does not count as work. */
  #judgeBesideKept({ zones, carrier }: Entry, { khz, verdicts }: Candidates, position: number): Verdict {
    const known = verdicts[position]
    if (known !== 0) return known as Verdict
    const work = this.#work
    let found: Verdict = verdict.free
    for (const zone of zones) {
      const inZone = this.#judge(zone, 'kept', carrier, khz[position] as number, true)
      if (inZone > found) found = inZone
    }
    this.#work = work
    verdicts[position] = found
    return found
  }

  /** With `isExact` false, a soft conflict is enough to end the search for others. */
  #judge(zone: PlanZone, carriers: 'kept' | 'all', carrier: Carrier, khz: number, isExact: boolean): Verdict {
    let [hard, soft] = [0, 0]
    const add: AddProduct = (kind) => {
      if (this.#isSoftKind[kind] === 1) soft++
      else hard++
    }
    this.#work += zone.findProducts(carriers, carrier, khz, add, () => hard > 0 || (soft > 0 && !isExact))
    if (hard > 0) return verdict.blocked
    return soft > 0 ? verdict.soft : verdict.free
  }

  /** Removes the spares, and carriers at random, or all between two random frequencies. */
  #removeSome(): void {
    const plan = this.#plan
    const share = 0.1 + 0.5 * this.#random()
    if (this.#random() < 0.5) {
      plan.keepOnly(({ entry }) => !entry.isSpare && this.#random() >= share)
      return
    }
    const sorted = plan.placed.map(({ carrier }) => carrier.khz).sort((a, b) => a - b)
    const first = Math.floor(this.#random() * sorted.length)
    const from = sorted[first] ?? 0
    const to = sorted[Math.min(sorted.length - 1, first + Math.ceil(share * sorted.length))] ?? 0
    plan.keepOnly(({ entry, carrier: { khz } }) => !entry.isSpare && (khz < from || khz > to))
  }

  #isLate(): boolean {
    if (!this.#timedOut && this.#isTimeUp()) this.#timedOut = true
    return this.#timedOut
  }
}

function isMissing(entries: readonly Entry[], { placed }: Plan): boolean {
  return placed.length < entries.reduce((sum, { count }) => sum + count, 0)
}

function sortEntries(entries: readonly Entry[]): readonly Entry[] {
  const flexibilityOf = ({ candidates, count }: Entry) => candidates.khz.length / count
  const widestGuard = ({ equipment }: Entry) => Math.max(...Object.values(equipment.guards))
  return entries.toSorted(
    (a, b) =>
      b.priority - a.priority ||
      flexibilityOf(a) - flexibilityOf(b) ||
      widestGuard(b) - widestGuard(a) ||
      a.index - b.index,
  )
}

/**
 * Returns a function that compares plans by the number of carriers of each priority, then that of spares, then that of
 * measured carriers.
 */
function createComparison(entries: readonly Entry[]) {
  const priorities = [...new Set(entries.filter(({ isSpare }) => !isSpare).map(({ priority }) => priority))]
  priorities.sort((a, b) => b - a)
  const scoresOf = (plan: readonly Placed[]) => {
    const count = (counts: (placed: Placed) => boolean) => plan.filter(counts).length
    return [
      ...priorities.map((priority) => count(({ entry }) => !entry.isSpare && entry.priority === priority)),
      count(({ entry }) => entry.isSpare),
      count(({ isMeasured }) => isMeasured),
    ]
  }
  return (plan: readonly Placed[], best: readonly Placed[]): boolean => {
    const scores = scoresOf(best)
    const differences = scoresOf(plan).map((score, index) => score - (scores[index] ?? 0))
    return (differences.find((difference) => difference !== 0) ?? 0) > -1
  }
}
