/** Stores, changes, copies, uses and deletes frequency plans. */

import {
  type FrequencyPlanChange,
  maxPlans,
  type NewFrequencyPlan,
  type planFields,
} from '../../contract/frequency-plans.ts'
import type { Body } from '../../contract/schema.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { parseCarriers } from '../../domain/frequencies/frequency-bodies.ts'
import { completeMeasured } from '../../domain/frequencies/measured-options.ts'
import { genericProfileId } from '../../domain/frequencies/profiles.ts'
import { type FrequencyPlan, type NewPlan, toPlanCarriers, toSpares } from '../../domain/frequencies/stored-plan.ts'
import { parseTvInUse } from '../../domain/frequencies/tv-raster.ts'
import { globalScope } from '../../domain/settings.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import {
  countPlans,
  deletePlan,
  findActivePlan,
  findPlan,
  insertPlan,
  listUsedPlans,
  savePlan,
  savePlanInForce,
} from '../../storage/frequency-plans.ts'
import { nextRevision } from '../../storage/revision.ts'
import { findShow } from '../../storage/shows.ts'
import { recordUndo, type Undoable, type UndoRecorder } from '../../storage/undo.ts'

interface Author {
  readonly actor: Actor
  readonly client: ClientKey
}

/** Checks and products are listed up to this number; all are counted. */
const listedConflicts = 100
/** As JSON. */
const maxSettingsLength = 64 * 1024

export async function addPlan(
  service: Service,
  { actor, client }: Author,
  { title, show_id = null, ...fields }: Body<typeof NewFrequencyPlan>,
): Promise<Undoable<FrequencyPlan>> {
  const region = service.settings.inScope(globalScope).REGION
  const empty = { region, carriers: [], spares: [], settings: {} }
  const entered = { ...empty, ...readFields(service, fields) }
  const plan = {
    ...{ title, show_id, ...entered, ...(await findPlanConflicts(service, entered, client)) },
    ...{ created_by: actor.name, created_at: now(), used_at: null },
  }
  return editPlan(service, actor, 'frequency_plan.create', (tx, undo) => storePlan(tx, undo, plan))
}

export async function duplicatePlan(
  service: Service,
  actor: Actor,
  id: number,
  title?: string,
): Promise<Undoable<FrequencyPlan>> {
  return editPlan(service, actor, 'frequency_plan.create', async (tx, undo) => {
    const { id: _, version: __, isActive: ___, ...original } = await planOf(tx.query, id)
    const copy = { title: title ?? `${original.title} (copy)`.slice(-maxTitleLength), created_by: actor.name }
    return storePlan(tx, undo, { ...original, ...copy, created_at: now(), used_at: null })
  })
}

const maxTitleLength = 255

export async function storePlan(tx: Tx, undo: UndoRecorder, plan: NewPlan): Promise<FrequencyPlan> {
  if ((await countPlans(tx.query)) >= maxPlans) {
    const subject = `${maxPlans} frequency plans are stored, which is the limit. Delete a plan and try again.`
    throw new RequestError('wrong_state', { subject })
  }
  await requireShow(tx.query, plan.show_id)
  const stored = await insertPlan(tx, plan)
  undo.added('frequency_plans', stored.id)
  return stored
}

/** Conflicts are found before the transaction, and again if another edit was faster. */
export async function changePlan(
  service: Service,
  { actor, client }: Author,
  id: number,
  { title, show_id, ...fields }: Body<typeof FrequencyPlanChange>,
  requireVersion: RequireVersion<FrequencyPlan>,
): Promise<Undoable<FrequencyPlan>> {
  const entered = readFields(service, fields)
  for (;;) {
    const before = await planOf(service.db.read, id)
    requireVersion(before, nameOf(id))
    const changed = {
      ...before,
      ...entered,
      ...(title !== undefined && { title }),
      ...(show_id !== undefined && { show_id }),
    }
    const after = isCoordination(entered)
      ? { ...changed, ...(await findPlanConflicts(service, changed, client)) }
      : changed
    const edited = await editPlan(service, actor, 'frequency_plan.change', async (tx, undo) => {
      const stored = await planOf(tx.query, id)
      requireVersion(stored, nameOf(id))
      if (stored.version !== before.version) return null
      if (show_id !== undefined) await requireShow(tx.query, show_id)
      await undo.willChange('frequency_plans', id)
      return savePlan(tx, after)
    })
    if (edited.result !== null) return { ...edited, result: edited.result }
  }
}

export function removePlan(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<FrequencyPlan>,
): Promise<Undoable<FrequencyPlan>> {
  return editPlan(service, actor, 'frequency_plan.delete', async (tx, undo) => {
    const plan = await planOf(tx.query, id)
    requireVersion(plan, nameOf(id))
    await undo.willChange('frequency_plans', id)
    await deletePlan(tx, id)
    return plan
  })
}

export function usePlan(service: Service, actor: Actor, id: number): Promise<Undoable<FrequencyPlan>> {
  return editPlan(service, actor, 'frequency_plan.use', async (tx, undo) => {
    const plan = await planOf(tx.query, id)
    if (plan.isActive) return plan
    const last = (await findActivePlan(tx.query))?.used_at ?? 0
    for (const used of await listUsedPlans(tx.query)) await undo.willChange('frequency_plans', used)
    await undo.willChange('frequency_plans', id)
    // The system clock may have been set back.
    const used_at = Math.max(now(), last + 1)
    await savePlanInForce(tx, id, used_at)
    return { ...plan, used_at, isActive: true }
  })
}

/** `edit` returns null if it has changed nothing and must be repeated. */
async function editPlan<Edited extends FrequencyPlan | null>(
  service: Service,
  actor: Actor,
  action: AuditAction,
  edit: (tx: Tx, undo: UndoRecorder) => Promise<Edited>,
): Promise<Undoable<Edited>> {
  const edited = await service.db.transaction(async (tx) => {
    await nextRevision(tx, 'plans')
    return recordUndo(tx, actor, action, async (undo) => {
      const plan = await edit(tx, undo)
      if (plan === null) return plan
      const { id, title, carriers } = plan
      const details = { title, carriers: carriers.length }
      await writeAudit(tx, { actor, action, target: nameOf(id), result: 'ok', details })
      return plan
    })
  })
  await service.reload()
  return edited
}

export async function planOf(reader: Reader, id: number): Promise<FrequencyPlan> {
  const plan = await findPlan(reader, id)
  if (plan === undefined) throw new RequestError('not_found', { subject: nameOf(id) })
  return plan
}

function nameOf(id: number): string {
  return `frequency plan ${id}`
}

async function requireShow(reader: Reader, id: number | null): Promise<void> {
  if (id === null || (await findShow(reader, id)) !== undefined) return
  throw new RequestError('bad_request', { details: `show_id: there is no show ${id}` })
}

type Coordination = Pick<FrequencyPlan, 'region' | 'carriers' | 'spares' | 'settings'>
type EnteredFields = { readonly [Field in keyof typeof planFields]?: Body<(typeof planFields)[Field]> | undefined }

function readFields(service: Service, fields: EnteredFields): Partial<Coordination> {
  const { region, carriers, spares, settings } = fields
  const profiles = new Set(service.frequencies.profiles().map(({ id }) => id))
  for (const [field, entries] of Object.entries({ carriers, spares })) {
    const unknown = (entries ?? []).findIndex(({ profile = genericProfileId }) => !profiles.has(profile))
    if (unknown === -1) continue
    const details = `${field}.${unknown}.profile: there is no profile ${entries?.[unknown]?.profile}`
    throw new RequestError('bad_request', { details })
  }
  if (settings?.measured) service.measuredScans.requireScans(settings.measured.scan_ids, 'settings.measured.scan_ids')
  if (settings !== undefined && JSON.stringify(settings).length > maxSettingsLength) {
    throw new RequestError('bad_request', { details: 'settings: expected at most 64 KiB' })
  }
  return {
    ...(region !== undefined && { region }),
    ...(carriers !== undefined && { carriers: toPlanCarriers(carriers) }),
    ...(spares !== undefined && { spares: toSpares(spares) }),
    ...(settings !== undefined && { settings }),
  }
}

/** True if the change can cause or remove conflicts. */
function isCoordination({ region, carriers, settings }: Partial<Coordination>): boolean {
  return region !== undefined || carriers !== undefined || settings !== undefined
}

/** Ignores scans that were deleted since; of deleted profiles, carriers get the generic one. */
export async function findPlanConflicts(
  { checker, frequencies, measuredScans, settings }: Service,
  plan: Coordination,
  client: ClientKey,
): Promise<Pick<FrequencyPlan, 'conflicts' | 'conflict_count'>> {
  const { level = 'standard', measured: options } = plan.settings as NonNullable<EnteredFields['settings']>
  const profiles = frequencies.profiles()
  const requested = plan.carriers.map(({ id, mhz, profile: wanted, zone, band }) => {
    const profile = profiles.some((known) => known.id === wanted) ? wanted : genericProfileId
    return { id, mhz, profile, zone, ...(band !== undefined && { band }) }
  })
  const { REGION, TV_IN_USE } = settings.inScope(globalScope)
  const tvInUse = plan.region === REGION ? parseTvInUse(REGION, TV_IN_USE).inUse : []
  const measured = options ? await measuredScans.read(completeMeasured(options)) : null
  const carriers = parseCarriers(requested, 'carriers', { profiles, level })
  const { conflicts, totals } = await checker.check(carriers, { tvInUse, measured }, client)
  return {
    conflicts: conflicts.slice(0, listedConflicts),
    conflict_count: Object.values(totals).reduce((sum, count) => sum + count, 0),
  }
}
