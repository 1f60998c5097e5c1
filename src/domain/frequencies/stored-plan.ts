/** Frequency plans: coordinated carriers, which are stored as clients receive them. */

import type {
  FrequencyPlanBody,
  NewFrequencyPlan,
  NewPlanCarriers,
  PlanCarrierBody,
} from '../../contract/frequency-plans.ts'
import type { Body } from '../../contract/schema.ts'
import { RequestError } from '../errors.ts'
import { toTimestamp } from '../timestamp.ts'
import type { Unstored } from '../versions.ts'
import { formatMhz, parseMhz } from './carrier.ts'
import type { ExportedCarrier } from './export-carriers.ts'
import { genericProfileId } from './profiles.ts'

export interface FrequencyPlan extends Omit<FrequencyPlanBody, 'created_at' | 'active'> {
  /** Epoch milliseconds. */
  readonly created_at: number
  /** Epoch milliseconds; null unless it is the plan in force, or was until it was restored by an undo. */
  readonly used_at: number | null
  readonly isActive: boolean
}

export type NewPlan = Omit<Unstored<FrequencyPlan>, 'isActive'>

export function toPlanBody({ created_at, used_at: _, isActive, ...plan }: FrequencyPlan): FrequencyPlanBody {
  return { ...plan, created_at: toTimestamp(created_at), active: isActive }
}

/** Throws a RequestError if two carriers have the same slot. */
export function toPlanCarriers(carriers: NewPlanCarriers): readonly PlanCarrierBody[] {
  const slots = new Set<number>()
  return carriers.map(({ slot = null, name = null, mhz, ...carrier }, index) => {
    if (slot !== null && slots.has(slot)) {
      const details = `carriers.${index}.slot: expected every slot once; ${slot} is repeated`
      throw new RequestError('bad_request', { details })
    }
    if (slot !== null) slots.add(slot)
    const { profile = genericProfileId, band, locked = false, zone = null, groups = [], note = null } = carrier
    return {
      id: String(index + 1),
      slot,
      name: name === '' ? null : name,
      profile,
      ...(band !== undefined && { band }),
      mhz: formatMhz(parseMhz(mhz) ?? 0),
      locked,
      zone,
      groups,
      note: note === '' ? null : note,
    }
  })
}

export function toSpares(spares: NonNullable<Body<typeof NewFrequencyPlan>['spares']>): FrequencyPlan['spares'] {
  return spares.map(({ profile, mhz }) => ({ profile, mhz: formatMhz(parseMhz(mhz) ?? 0) }))
}

/** Returns the planned frequency of a slot in MHz; null if the plan does not have the slot. */
export function plannedIn(plan: Pick<FrequencyPlan, 'carriers'> | null, slot: number): string | null {
  return plan?.carriers.find((carrier) => carrier.slot === slot)?.mhz ?? null
}

/** `titleOf` returns the titles of slots and groups, for carriers without a name and groups that are given by id. */
export function toExported(
  { carriers }: Pick<FrequencyPlan, 'carriers'>,
  titleOf: { slot(slot: number): string | null; group(id: number): string | null },
): readonly ExportedCarrier[] {
  return carriers.map(({ slot, name, mhz, profile, zone, groups }) => ({
    name: name ?? (slot === null ? null : titleOf.slot(slot)) ?? '',
    khz: parseMhz(mhz) ?? 0,
    profile,
    zone,
    slot,
    groups: groups.flatMap((group) => (typeof group === 'string' ? group : (titleOf.group(group) ?? []))),
  }))
}
