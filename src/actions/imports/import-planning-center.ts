/** Imports the people in a plan of Planning Center. The last plan is stored, for when Planning Center is not available. */

import { isDeepStrictEqual } from 'node:util'
import type {
  PlanningCenterImport,
  PlanningCenterPlans,
  PlanningCenterPositions,
  PlanningCenterServiceTypes,
  PlanningCenterState,
} from '../../contract/imports.ts'
import type { Actor } from '../../domain/access/access.ts'
import { refuseMovedSecrets } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  findNextTime,
  hasEnded,
  isPlanningCenterToken,
  listPositions,
  mergeSlots,
  type NamedSlot,
  type PlannedCast,
  PlanningCenterError,
  type PositionSlots,
  type ServicePlan,
  suggestSlots,
  toCast,
} from '../../domain/imports/planning-center.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { lockPictures, removeUnusedPictures, savePicture } from '../../storage/pictures.ts'
import {
  deleteToken,
  findStoredServiceType,
  findToken,
  listStoredServiceTypes,
  type StoredPlan,
  type StoredServiceType,
  saveServiceType,
  saveToken,
} from '../../storage/planning-center.ts'
import { listChannelSlots, listPlaceholders } from '../../storage/slots.ts'
import { applyCast } from '../shows/apply-cast.ts'
import { withSecretErrors } from '../sources/secret-errors.ts'

/** Ids may be numbers, because they look like them. */
type Id = string | number

interface Access {
  /** Default: the stored token. */
  readonly token?: string
}

interface PlanRequest extends Access {
  readonly service_type: Id
  /** Default: the next plan. */
  readonly plan?: Id | null
  /** Id of the service. Default: the next one of the plan. */
  readonly time?: Id | null
}

interface ImportRequest extends PlanRequest {
  readonly positions: PositionSlots
  readonly remember?: boolean
  readonly preview?: boolean
}

export async function describePlanningCenter({ db, secrets, planningCenter }: Service): Promise<PlanningCenterState> {
  const services = await listStoredServiceTypes(db.read)
  return {
    is_token_stored: (await findToken(db.read, secrets))?.origin === planningCenter.origin,
    service_types: services.map(({ service_type, name, plan, loaded_at }) => ({
      id: service_type,
      name,
      plan_id: plan?.id ?? null,
      loaded_at: toTime(loaded_at),
    })),
  }
}

export async function forgetPlanningCenter({ db }: Service, actor: Actor): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await deleteToken(tx))) throw new RequestError('not_found', { subject: 'stored token' })
    await writeAudit(tx, { actor, action: 'planning_center.forget', target: 'token', result: 'ok' })
  })
}

export async function listServiceTypes(service: Service, access: Access): Promise<PlanningCenterServiceTypes> {
  const token = await findAccess(service, access)
  const { value, problem } = await loadOrStored(service, {
    load: () => service.planningCenter.listServiceTypes(token, service.signal),
    async readStored() {
      const stored = (await listStoredServiceTypes(service.db.read)).filter(({ plan }) => plan !== null)
      return stored.length === 0 ? null : stored.map(({ service_type, name }) => ({ id: service_type, name }))
    },
  })
  return { service_types: value, problem }
}

export async function listPlans(service: Service, request: PlanRequest): Promise<PlanningCenterPlans> {
  const token = await findAccess(service, request)
  const serviceType = String(request.service_type)
  const { value, problem } = await loadOrStored(service, {
    load: () => service.planningCenter.listPlans(token, serviceType, service.signal),
    async readStored() {
      const plan = (await findStoredServiceType(service.db.read, serviceType))?.plan
      return plan == null ? null : [{ id: plan.id, title: plan.title, dates: plan.dates }]
    },
  })
  return { plans: value, problem }
}

export async function readPositions(service: Service, request: PlanRequest): Promise<PlanningCenterPositions> {
  const loaded = await loadPlan(service, request)
  const { plan, time, positions } = loaded
  const filled = listPositions(plan, time)
  const suggestions = suggestSlots(filled, positions, listNamedSlots(service))
  return {
    plan: toPlanBody(loaded),
    times: plan.times.map(({ id, name, starts_at }) => ({ id, name, starts_at: new Date(starts_at).toISOString() })),
    positions: filled.map(({ position, people }) => ({
      position,
      people: people.map(({ name }) => name),
      slot: suggestions.get(position) ?? null,
    })),
  }
}

export async function importPlanningCenter(
  service: Service,
  actor: Actor,
  request: ImportRequest,
): Promise<PlanningCenterImport> {
  const { positions, token, remember = false, preview = false } = request
  await requireSlots(service, positions)
  const loaded = await loadPlan(service, request, positions)
  const { plan, time } = loaded
  const filled = listPositions(plan, time)
  const cast = toCast(filled, positions, ({ photo }) => (photo === null ? null : (plan.pictures[photo] ?? null)))
  const { changes, skipped, undo_id } = await applyCast(service, actor, {
    rows: cast.rows,
    allowsRepeatedNames: true,
    preview,
    action: 'planning_center.import',
    target: `plan ${plan.id}`,
    finish: (tx) => rememberChoices(tx, service, actor, { plan, positions, token: remember ? token : undefined }),
  })
  const fromCast = skipped.map(({ row, name, reason }) => ({ position: cast.positions[row - 1] ?? '', name, reason }))
  return {
    changes,
    skipped: [...cast.skipped, ...listMissingPhotos(cast, plan), ...fromCast],
    undo_id,
    plan: toPlanBody(loaded),
  }
}

async function findAccess({ db, secrets, planningCenter }: Service, { token }: Access): Promise<string> {
  const { origin } = planningCenter
  const stored = token === undefined ? await findToken(db.read, secrets) : null
  const used = token ?? stored?.token
  if (used === undefined) throw new RequestError('bad_request', { details: 'token: missing, and no token is stored' })
  if (stored !== null) {
    const sent = { key: 'token', secret: used }
    withSecretErrors('', () =>
      refuseMovedSecrets({ before: [{ ...sent, ...stored }], after: [{ ...sent, origin }], entered: [] }),
    )
  }
  if (isPlanningCenterToken(used)) return used
  const details = 'token: expected a personal access token in the form <application id>:<secret>'
  throw new RequestError('bad_request', { details })
}

/** Throws if a position has a slot that does not exist. */
async function requireSlots({ db }: Service, positions: PositionSlots): Promise<void> {
  const holders = [...(await listChannelSlots(db.read)), ...(await listPlaceholders(db.read))]
  const slots = new Set(holders.map(({ slot }) => slot))
  for (const [position, slot] of Object.entries(positions)) {
    if (slot === null || slots.has(slot)) continue
    throw new RequestError('bad_request', { details: `positions.${position}: there is no slot ${slot}` })
  }
}

function listNamedSlots({ receiverStore, placeholderStore }: Service): NamedSlot[] {
  const channels = receiverStore.listFacts().flatMap((receiver) => receiver.channels)
  return [
    ...channels.map(({ slot, name, transmitter }) => ({ slot, names: namesOf(name, transmitter?.name ?? null) })),
    ...placeholderStore.list().map(({ slot, name }) => ({ slot, names: namesOf(name) })),
  ]
}

function namesOf(...names: readonly (string | null)[]): string[] {
  return names.filter((name) => name !== null && name !== '') as string[]
}

// --- Loading ----------------------------------------------------------------------------------------------------------

/** Loads from Planning Center. While that fails, returns the stored copy and the problem. */
async function loadOrStored<T>(
  { signal }: Service,
  { load, readStored }: { load(): Promise<T>; readStored(): Promise<T | null> },
): Promise<{ readonly value: T; readonly problem: string | null }> {
  try {
    return { value: await load(), problem: null }
  } catch (error) {
    if (signal.aborted) throw new RequestError('stopping')
    if (!(error instanceof PlanningCenterError)) throw error
    const { failure, message, retryAfter } = error
    if (failure === 'limited') {
      throw new RequestError('planning_center_limited', { subject: message, retryAfter: retryAfter ?? 1 })
    }
    const stored = failure === 'away' ? await readStored() : null
    if (stored === null) throw new RequestError('planning_center_failed', { subject: message, cause: error })
    return { value: stored, problem: message }
  }
}

interface LoadedPlan extends Pick<StoredServiceType, 'positions'> {
  readonly plan: StoredPlan
  /** Id of the service; null if the plan has none. */
  readonly time: string | null
  readonly loaded_at: number
  /** Why the plan could not be loaded now; null if it was. */
  readonly problem: string | null
}

/** Loads a plan and the missing photos of the people whose positions have slots, and stores them. */
async function loadPlan(service: Service, request: PlanRequest, slots: PositionSlots = {}): Promise<LoadedPlan> {
  const { db, planningCenter, signal } = service
  const token = await findAccess(service, request)
  const serviceType = String(request.service_type)
  const planId = request.plan == null ? null : String(request.plan)
  const stored = await findStoredServiceType(db.read, serviceType)
  const isStored = stored?.plan != null && (planId === null || stored.plan.id === planId)
  const { value, problem } = await loadOrStored<StoredServiceType | null>(service, {
    async load() {
      const plan = await planningCenter.loadPlan(token, serviceType, planId, signal)
      return plan && loadPhotosAndSave(service, { plan, stored, slots, time: findTime(plan, request, now()) })
    },
    readStored: async () => (isStored ? stored : null),
  })
  if (value?.plan == null || value.loaded_at === null) {
    throw new RequestError('not_found', { subject: `upcoming plan for service type ${serviceType}` })
  }
  const { plan, positions, loaded_at } = value
  const isPast = problem !== null && planId === null && hasEnded(plan, now())
  const described = isPast ? `${problem} The stored plan is of the past; the next plan is not known.` : problem
  return { plan, positions, time: findTime(plan, request, now()), loaded_at, problem: described }
}

function findTime({ times }: ServicePlan, { time }: PlanRequest, now: number): string | null {
  if (time == null) return findNextTime(times, now)?.id ?? null
  if (times.some(({ id }) => id === String(time))) return String(time)
  throw new RequestError('bad_request', { details: `time: the plan has no service ${time}` })
}

interface LoadedFrom {
  readonly plan: ServicePlan
  readonly stored: StoredServiceType | undefined
  readonly slots: PositionSlots
  readonly time: string | null
}

async function loadPhotosAndSave(
  { db, planningCenter, signal }: Service,
  { plan, stored, slots, time }: LoadedFrom,
): Promise<StoredServiceType> {
  const known = stored?.plan?.pictures ?? {}
  const addresses = new Set(plan.people.flatMap(({ photo }) => photo ?? []))
  // The cast with the addresses instead of the pictures.
  const { rows } = toCast(listPositions(plan, time), slots, ({ photo }) => photo)
  const missing = new Set(rows.map(({ photo }) => photo).filter((photo) => photo !== '' && known[photo] === undefined))
  const photos = await planningCenter.loadPhotos([...missing], signal)
  return db.transaction(async (tx) => {
    await lockPictures(tx)
    const pictures = Object.fromEntries(Object.entries(known).filter(([address]) => addresses.has(address)))
    for (const [address, photo] of photos) pictures[address] = await savePicture(tx, photo)
    const loaded = {
      service_type: plan.service_type.id,
      name: plan.service_type.name,
      positions: (await findStoredServiceType(tx.query, plan.service_type.id))?.positions ?? {},
      plan: { ...plan, pictures },
      loaded_at: now(),
    }
    await saveServiceType(tx, loaded)
    await removeUnusedPictures(tx)
    return loaded
  })
}

interface Choices {
  readonly plan: StoredPlan
  readonly positions: PositionSlots
  /** Undefined to store none. */
  readonly token: string | undefined
}

async function rememberChoices(
  tx: Tx,
  { secrets, planningCenter: { origin } }: Service,
  actor: Actor,
  { plan, positions, token }: Choices,
): Promise<void> {
  const stored = await findStoredServiceType(tx.query, plan.service_type.id)
  if (stored !== undefined) {
    await saveServiceType(tx, { ...stored, positions: mergeSlots(stored.positions, positions) })
  }
  if (token === undefined) return
  if (isDeepStrictEqual(await findToken(tx.query, secrets), { token, origin })) return
  await saveToken(tx, secrets, { token, origin })
  await writeAudit(tx, { actor, action: 'planning_center.remember', target: 'token', result: 'ok' })
}

// --- Responses --------------------------------------------------------------------------------------------------------

function listMissingPhotos({ rows, positions }: PlannedCast, plan: StoredPlan): PlanningCenterImport['skipped'] {
  return rows.flatMap(({ name, photo }, index) => {
    const hasPhoto = plan.people.some((person) => person.name === name && person.photo !== null)
    if (photo !== '' || !hasPhoto) return []
    return [{ position: positions[index] ?? '', name, reason: 'The photo could not be loaded, so it is not imported.' }]
  })
}

function toPlanBody({ plan, time, loaded_at, problem }: LoadedPlan): PlanningCenterImport['plan'] {
  const { id, title, dates, service_type } = plan
  return {
    id,
    title,
    dates,
    service_type: service_type.id,
    time,
    loaded_at: new Date(loaded_at).toISOString(),
    problem,
  }
}

function toTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
