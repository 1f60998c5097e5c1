import Type from 'typebox'
import { maxPlans, FrequencyPlan as PlanSchema, planFields } from '../../contract/frequency-plans.ts'
import type { Group } from '../../contract/groups.ts'
import { type Body, boundedWhole, choiceOf, name, trueOrFalse } from '../../contract/schema.ts'
import { regions } from '../../contract/values.ts'
import { RequestError } from '../../domain/errors.ts'
import { type FrequencyPlan, toPlanCarriers, toSpares } from '../../domain/frequencies/stored-plan.ts'
import { countPlans, insertPlan, savePlan, savePlanInForce } from '../../storage/frequency-plans.ts'
import { nextRevision } from '../../storage/revision.ts'
import { listShows } from '../../storage/shows.ts'
import { listGroups } from '../../storage/slots.ts'
import { defineSection, list, record, sortByContent, toIsoTime } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTimeOrNull } from './import-context.ts'
import { findShow, ShowReference, timeOrNull, toShowReference } from './shows.ts'

/** A plan is identified by its title. Scans are not exported, so the file does not name any. */
const PlanEntry = record(
  {
    title: name,
    ...planFields,
    region: choiceOf(regions),
    show: Type.Optional(ShowReference),
    conflicts: list(PlanSchema.properties.conflicts.items, 'a list of conflicts'),
    conflict_count: Type.Optional(boundedWhole(0, Number.MAX_SAFE_INTEGER)),
    by: Type.Optional(name),
    since: timeOrNull,
    active: Type.Optional(trueOrFalse),
  },
  'a frequency plan with at least a title and its region',
)
type PlanEntry = Body<typeof PlanEntry>

export const frequencyPlanSection = defineSection(
  list(PlanEntry, 'a list of frequency plans'),
  exportFrequencyPlans,
  importFrequencyPlans,
)

function exportFrequencyPlans({ frequency_plans, shows, groups }: Installation): PlanEntry[] {
  const titleOfGroup = (group: number | string) =>
    typeof group === 'string' ? group : (groups.find(({ id }) => id === group)?.title ?? [])
  const entries = frequency_plans.map(({ title, region, spares, settings, isActive, ...plan }): PlanEntry => {
    const show = shows.find(({ id }) => id === plan.show_id)
    return {
      ...{ title, region, spares, by: plan.created_by, since: toIsoTime(plan.created_at) },
      ...(show !== undefined && { show: toShowReference(show) }),
      carriers: plan.carriers.map(({ id: _, groups: named, ...carrier }) => ({
        ...carrier,
        groups: named.flatMap(titleOfGroup),
      })),
      settings: withoutScans(settings),
      conflicts: plan.conflicts.map(({ scan_id: _, ...conflict }) => conflict),
      conflict_count: plan.conflict_count,
      ...(isActive && { active: true }),
    }
  })
  return sortByContent(entries)
}

function withoutScans({ measured, ...settings }: NonNullable<PlanEntry['settings']>) {
  return measured ? { ...settings, measured: { ...measured, scan_ids: [] } } : settings
}

/** Absent fields keep their values. */
async function importFrequencyPlans(work: ImportContext, entries: readonly PlanEntry[] = []): Promise<void> {
  const { tx, now, before } = work
  if (entries.length === 0) return
  await nextRevision(tx, 'plans')
  const [shows, groups] = [await listShows(tx.query), await listGroups(tx.query)]
  const pick = createPicker(before.frequency_plans)
  for (const [index, entry] of entries.entries()) {
    const path = `frequency_plans.${index}`
    const stored = pick(({ title }) => title === entry.title)
    const empty = { show_id: null, carriers: [], spares: [], settings: {}, conflicts: [], conflict_count: 0 }
    const times = { created_by: entry.by ?? 'import', created_at: readTimeOrNull(entry.since, `${path}.since`) ?? now }
    const plan = {
      ...(stored ?? { ...empty, ...times, used_at: null, isActive: false }),
      ...{ title: entry.title, region: entry.region },
      ...(entry.show && { show_id: findShow(shows, entry.show, `${path}.show`).id }),
      ...(entry.carriers && { carriers: readCarriers(entry.carriers, groups, path) }),
      ...(entry.spares && { spares: toSpares(entry.spares) }),
      ...(entry.settings && { settings: entry.settings }),
      ...(entry.conflicts && { conflicts: entry.conflicts }),
      ...(entry.conflict_count !== undefined && { conflict_count: entry.conflict_count }),
      ...(entry.active === true && { isActive: true }),
    }
    if (!work.count('frequency_plans', stored && exported(stored), exported(plan))) continue
    const saved = stored === undefined ? await insertPlan(tx, plan) : await savePlan(tx, { ...stored, ...plan })
    if (plan.isActive && stored?.isActive !== true) await savePlanInForce(tx, saved.id, now)
  }
  if ((await countPlans(tx.query)) > maxPlans) {
    throw new ImportError('frequency_plans', `expected at most ${maxPlans} plans, including the stored ones`)
  }
}

/** Returns the plan as it is after an export and an import. */
function exported<Plan extends Pick<FrequencyPlan, 'settings' | 'conflicts'>>(plan: Plan): Plan {
  const conflicts = plan.conflicts.map(({ scan_id: _, ...conflict }) => conflict)
  return { ...plan, settings: withoutScans(plan.settings), conflicts }
}

/** A group that exists is stored by its id. */
function readCarriers(carriers: NonNullable<PlanEntry['carriers']>, groups: readonly Group[], path: string) {
  const toGroup = (group: number | string) => groups.find(({ title }) => title === group)?.id ?? group
  try {
    return toPlanCarriers(carriers.map((carrier) => ({ ...carrier, groups: carrier.groups?.map(toGroup) ?? [] })))
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    throw new ImportError(path, error.details ?? error.message)
  }
}
