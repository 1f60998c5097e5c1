/**
 * Suggests carriers that conflict neither with each other nor with those to keep, and names the reason for each that
 * cannot be placed.
 */

import type { ConflictKind, MeasuredState } from '../../contract/values.ts'
import { listCandidates, type Surroundings } from './candidates.ts'
import { type Carrier, createCarrier, type Equipment, formatMhz, type KhzRange } from './carrier.ts'
import { Exclusions, type NeverOnTogether } from './exclusions.ts'
import { findForeignPeaks, type Measured, measureCarriers } from './measured.ts'
import { type Entry, type Placed, Plan } from './plan.ts'
import { explainUnplaced, type Reason, softKindsOf } from './plan-blockers.ts'
import { PlanSearch } from './plan-search.ts'

export interface WantedCarriers {
  /** Returned with the carriers, like band, zone and groups. */
  readonly profile: string
  readonly band?: string
  readonly zone?: string
  readonly groups?: Carrier['groups']
  readonly equipment: Equipment
  readonly stepKhz: number
  readonly ranges: readonly KhzRange[]
  readonly count: number
  /** Greater ones are placed first; 0 by default. */
  readonly priority?: number
  /** Additional frequencies that are free against all carriers, whatever their zone and groups. */
  readonly spares?: number
}

export interface SuggestRequest {
  readonly wanted: readonly WantedCarriers[]
  readonly keep?: readonly Carrier[]
  /** No carriers are suggested inside these ranges; their ends are allowed. */
  readonly avoid?: readonly KhzRange[]
  readonly tvInUse?: readonly KhzRange[]
  /** Frequencies that the scans show as free are preferred to unmeasured ones. Null: no scan is considered. */
  readonly measured?: Measured | null
  readonly neverOnTogether?: NeverOnTogether
  /** Conflicts of these kinds are accepted for carriers that cannot be placed without. */
  readonly soft?: readonly ConflictKind[]
}

type Labels = Pick<WantedCarriers, 'profile' | 'band' | 'zone' | 'groups'>

export interface SuggestedCarrier extends Labels {
  readonly mhz: string
  /** The kinds of the soft conflicts that it has, or causes on a carrier to keep. */
  readonly soft: readonly ConflictKind[]
  readonly measured: MeasuredState
}

export interface Suggestion {
  /** In the order of `wanted`, then by frequency. */
  readonly carriers: readonly SuggestedCarrier[]
  readonly spares: readonly { readonly profile: string; readonly band?: string; readonly mhz: string }[]
  readonly unplaced: readonly (Labels & { readonly count: number; readonly reason: Reason })[]
  readonly timed_out?: true
}

/**
 * The maximum number of frequencies for an entry of the request. With a finer step, only every second or third one is
 * considered.
 */
const maxSteps = 250_000
/** Limits the memory for a request with many entries. */
const maxStepsOfAll = 2_500_000

const noKinds: ReadonlySet<ConflictKind> = new Set()

/** `isTimeUp` is called often; when it returns true, the best plan so far is returned. */
export function suggestCarriers(request: SuggestRequest, isTimeUp: () => boolean = () => false): Suggestion {
  const soft = new Set(request.soft)
  const plan = new Plan(surroundingsOf(request))
  const entries = createEntries(request, plan, soft)
  const search = new PlanSearch(plan, soft, isTimeUp)
  search.run(entries)
  return toSuggestion(request, plan, { entries, soft, search })
}

function surroundingsOf({
  wanted,
  keep = [],
  avoid = [],
  tvInUse = [],
  measured = null,
  neverOnTogether = [],
}: SuggestRequest): Surroundings {
  const groupsOfWanted = wanted.map(({ groups = [] }) => ({ groups }))
  return {
    ...{ keep, avoid, tvInUse, measured },
    peaks: measured === null ? [] : findForeignPeaks(measured, keep),
    exclusions: new Exclusions(neverOnTogether, [...keep, ...groupsOfWanted]),
  }
}

/** Returns an entry for the carriers of each wanted kind, and one for their spares. */
function createEntries(
  { wanted, keep = [] }: SuggestRequest,
  plan: Plan,
  soft: ReadonlySet<ConflictKind>,
): readonly Entry[] {
  const limit = Math.min(maxSteps, Math.floor(maxStepsOfAll / Math.max(1, wanted.length)))
  const hasOwnSoftKind = (['spacing', 'occupied', 'peak', 'tv'] as const).some((kind) => soft.has(kind))
  const hasSpares = wanted.some(({ spares = 0 }) => spares > 0)
  const everywhere = new Set(hasSpares ? [...wanted, ...keep].map(({ zone = null }) => zone) : [])
  return wanted.flatMap((one, index) => {
    const { zone = null, groups = [], priority = 0, count, spares = 0 } = one
    const create = (properties: Pick<Entry, 'count' | 'isSpare' | 'groups' | 'zones'>): Entry => {
      const tunable = { ...one, groups: properties.groups }
      const candidates = listCandidates(tunable, plan.surroundings, noKinds, limit)
      const softCandidates = hasOwnSoftKind ? listCandidates(tunable, plan.surroundings, soft, limit) : candidates
      const carrier = createCarrier({ id: '', khz: 0, groups: properties.groups }, one.equipment)
      return { ...tunable, index, priority, carrier, candidates, softCandidates, ...properties }
    }
    const carriers = create({ count, isSpare: false, groups, zones: [plan.zone(zone)] })
    if (spares === 0) return [carriers]
    const zones = [...everywhere].map((name) => plan.zone(name))
    return [carriers, create({ count: spares, isSpare: true, groups: [], zones })]
  })
}

function labelsOf({ profile, band, zone, groups }: WantedCarriers): Labels {
  return {
    profile,
    ...(band !== undefined && { band }),
    ...(zone !== undefined && { zone }),
    ...(groups !== undefined && { groups }),
  }
}

function toSuggestion(
  { wanted }: SuggestRequest,
  plan: Plan,
  {
    entries,
    soft,
    search: { timedOut: isTimedOut, allowsSoft },
  }: { readonly entries: readonly Entry[]; readonly soft: ReadonlySet<ConflictKind>; readonly search: PlanSearch },
): Suggestion {
  const byEntry = (isSpare: boolean) =>
    entries
      .filter((entry) => entry.isSpare === isSpare)
      .map((entry) => {
        const placed = plan.placed.filter((one) => one.entry === entry)
        const labels = labelsOf(wanted[entry.index] as WantedCarriers)
        return { entry, labels, placed: placed.sort((a, b) => a.carrier.khz - b.carrier.khz) }
      })
  const spares = byEntry(true).flatMap(({ labels: { profile, band }, placed }) =>
    placed.map(({ carrier: { khz } }) => ({
      profile,
      ...(band !== undefined && { band }),
      mhz: formatMhz(khz),
    })),
  )
  // Spares block nobody.
  plan.keepOnly(({ entry }) => !entry.isSpare)
  const ofEntries = byEntry(false)
  const toCarrier = (labels: Labels, placed: Placed): SuggestedCarrier => ({
    ...labels,
    mhz: formatMhz(placed.carrier.khz),
    soft: allowsSoft ? softKindsOf(plan, placed, soft) : [],
    measured: measureCarriers(plan.surroundings.measured, [placed.carrier]).get('') ?? 'unmeasured',
  })
  const missing = ofEntries.filter(({ entry, placed }) => placed.length < entry.count)
  return {
    carriers: ofEntries.flatMap(({ labels, placed }) => placed.map((one) => toCarrier(labels, one))),
    spares,
    unplaced: missing.map(({ entry, labels, placed }) => ({
      ...labels,
      count: entry.count - placed.length,
      reason: explainUnplaced(plan, entry, { soft, isTimedOut, share: missing.length }),
    })),
    ...(isTimedOut && { timed_out: true }),
  }
}
