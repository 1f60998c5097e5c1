/** Changes what people enter about slots. */

import type { SlotChange } from '../../contract/slots.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { setActive } from '../../domain/equipment/hardware.ts'
import {
  type EntryHolder,
  emptyFields,
  fieldsOf,
  isEmptyEntry,
  nothingPlanned,
  type SlotFields,
} from '../../domain/equipment/slot-entry.ts'
import { lastSlot } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { isSameJson } from '../../domain/json.ts'
import { nameKey } from '../../domain/text.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { hasProfile } from '../../storage/frequencies.ts'
import {
  findActiveAssignment,
  findPerformer,
  insertPerformer,
  listAssignments,
  listPerformers,
  lockUnits,
  saveAssignment,
} from '../../storage/hardware.ts'
import { listSlotEntries, replaceSlotEntry } from '../../storage/slot-entries.ts'
import { deletePlaceholder, insertPlaceholder } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { requireLocal } from '../require-local.ts'
import { assignUnit, recordAssignmentEvents } from './record-assignments.ts'

/** Versions that a client has read; null if it does not say. */
export type ExpectedVersions = ReadonlySet<number> | null

/** Changes the given fields of a slot. Returns the id to undo it with; null if nothing has changed. */
export async function changeSlot(
  service: Service,
  actor: Actor,
  slot: number,
  change: SlotChange,
  expected: ExpectedVersions,
): Promise<number | null> {
  requireSlot(slot)
  if (change.performer_id !== undefined && change.performer_name !== undefined) {
    throw new RequestError('bad_request', { details: 'performer_name: expected either this or performer_id' })
  }
  const undoId = await service.ingest.change(async (tx) => {
    await lockUnits(tx)
    const time = now()
    const undo = new UndoRecorder(tx, actor)
    requireVersion(service, slot, expected)
    requireChangeable(service, slot, change)
    const known = holderIn(service, slot)
    const holder = known ?? (await addPlaceholder(tx, slot, undo))
    const before = fieldsOf((known && service.placeholderStore.entryOf(known)) ?? emptyFields)
    const after = await applyChange(tx, slot, before, change, { actor, undo })
    if (known !== null && isSameJson(before, after)) return null
    await undo.willChangeEntry(holder)
    await replaceSlotEntry(tx, holder, after)
    await assignHolder(service, tx, holder, { before, after }, { actor, time, undo })
    await audit(tx, actor, 'slot.change', slot, { before, after })
    return undo.save('slot.change', time)
  })
  await service.reload()
  return undoId
}

/** Removes what was entered about a slot and, if it holds no channel, its placeholder. */
export async function clearSlot(
  service: Service,
  actor: Actor,
  slot: number,
  expected: ExpectedVersions,
): Promise<number | null> {
  requireSlot(slot)
  const undoId = await service.ingest.change(async (tx) => {
    await lockUnits(tx)
    const time = now()
    const undo = new UndoRecorder(tx, actor)
    const holder = holderIn(service, slot)
    if (holder === null) throw notFound(slot)
    requireVersion(service, slot, expected)
    const before = fieldsOf(service.placeholderStore.entryOf(holder) ?? emptyFields)
    if (holder.kind === 'placeholder') {
      await undo.willChange('placeholders', holder.id)
      await deletePlaceholder(tx, holder.id)
    } else {
      if (isEmptyEntry(before)) return null
      await undo.willChangeEntry(holder)
      // The version must not return to 0.
      await replaceSlotEntry(tx, holder, emptyFields)
      await assignHolder(service, tx, holder, { before, after: emptyFields }, { actor, time, undo })
    }
    await audit(tx, actor, 'slot.delete', slot, { before })
    return undo.save('slot.delete', time)
  })
  await service.reload()
  return undoId
}

export interface Edit {
  readonly actor: Actor
  readonly time: number
  readonly undo: UndoRecorder
}

/** Gives the performer of a slot the unit that its channel receives, and takes it from the former one. */
export async function assignHolder(
  service: Service,
  tx: Tx,
  { kind, id }: EntryHolder,
  { before, after }: { readonly before: SlotFields; readonly after: SlotFields },
  edit: Edit,
): Promise<void> {
  const isSamePerformer = before.performer === after.performer
  if (isSamePerformer && before.role === after.role) return
  const unit = kind === 'channel' ? service.unitStore.ofChannel(id)?.id : undefined
  await recordAssignmentEvents(tx, edit, async () => {
    if (before.performer !== null && !isSamePerformer) {
      await endAssignments(service, tx, { performer: before.performer, unit }, edit)
    }
    if (unit === undefined || after.performer === null) return
    // A lower slot of another performer may keep the unit.
    const isWorn = (await findActiveAssignment(tx.query, unit))?.performer === after.performer
    if (isWorn || !isSamePerformer) await assignUnit(tx, unit, after, edit)
  })
}

/**
 * Ends the assignment of the unit that a performer's former slot receives. Also ends those of packs that no slot of the
 * performer receives any more, unless such a slot waits for its pack.
 */
async function endAssignments(
  { unitStore }: Service,
  tx: Tx,
  { performer, unit }: { readonly performer: number; readonly unit: number | undefined },
  { time, undo }: Edit,
): Promise<void> {
  const assignments = await listAssignments(tx.query, { performer, is_active: true })
  const entries = (await listSlotEntries(tx.query)).filter((entry) => entry.performer === performer)
  const channels = new Set(entries.map(({ channel_id }) => channel_id))
  const channelOf = (id: number) => unitStore.get(id)?.channel_id ?? null
  const received = new Set(assignments.map(({ wireless_unit }) => channelOf(wireless_unit)))
  const isWaiting = [...channels].some((channel) => channel !== null && !received.has(channel))
  for (const assignment of assignments) {
    const { wireless_unit } = assignment
    const channel = channelOf(wireless_unit)
    const isDeviceUnit = unitStore.get(wireless_unit)?.api_device_id != null
    const isAway = !isDeviceUnit && (channel === null || !channels.has(channel))
    if (wireless_unit !== unit && (isWaiting || !isAway)) continue
    await undo.willChange('assignments', assignment.id)
    await saveAssignment(tx, setActive(assignment, false, time))
  }
}

export function holderIn({ slotRecords }: Service, slot: number): EntryHolder | null {
  const { channel_id = null, placeholder_id = null } = slotRecords.find(slot) ?? {}
  if (channel_id !== null) return { kind: 'channel', id: channel_id }
  return placeholder_id === null ? null : { kind: 'placeholder', id: placeholder_id }
}

async function addPlaceholder(tx: Tx, slot: number, undo: UndoRecorder): Promise<EntryHolder> {
  const { id } = await insertPlaceholder(tx, { slot, kind: 'wireless', created_at: now() })
  undo.added('placeholders', id)
  return { kind: 'placeholder', id }
}

async function applyChange(
  tx: Tx,
  slot: number,
  before: SlotFields,
  change: SlotChange,
  { actor, undo }: Omit<Edit, 'time'>,
): Promise<SlotFields> {
  const { label, color, role, note, planned, spares } = change
  if (spares?.includes(slot)) throw new RequestError('bad_request', { details: 'spares: expected other slots' })
  const profile = planned?.profile ?? null
  if (profile !== null && !(await hasProfile(tx.query, profile))) {
    throw new RequestError('bad_request', { details: `planned.profile: there is no profile ${profile}` })
  }
  const performer = await findOrAddPerformer(tx, change, { actor, undo })
  return {
    ...before,
    ...(label !== undefined && { label }),
    ...(color !== undefined && { color }),
    ...(performer !== undefined && { performer }),
    ...(role !== undefined && { role }),
    ...(note !== undefined && { note: note || null }),
    ...(planned !== undefined && { planned: { ...nothingPlanned, ...planned } }),
    ...(spares !== undefined && { spares: spares ?? [] }),
  }
}

/** Undefined if the performer does not change. */
async function findOrAddPerformer(
  tx: Tx,
  { performer_id: id, performer_name: name }: SlotChange,
  { actor, undo }: Omit<Edit, 'time'>,
): Promise<number | null | undefined> {
  if (id === null || name === null) return null
  if (id !== undefined && (await findPerformer(tx.query, id)) === undefined) {
    throw new RequestError('bad_request', { details: `performer_id: there is no performer ${id}` })
  }
  if (id !== undefined || name === undefined) return id
  const performers = await listPerformers(tx.query)
  const known =
    performers.find((performer) => performer.name === name) ??
    performers.find((performer) => nameKey(performer.name) === nameKey(name))
  if (known !== undefined) return known.id
  const added = await insertPerformer(tx, { name, notes: '', picture: null })
  undo.added('performers', added.id)
  const details = { name }
  await writeAudit(tx, { actor, action: 'performer.create', target: `performer ${added.id}`, result: 'ok', details })
  return added.id
}

/** Only the label and the color of a slot whose channel belongs to a site can be changed here. */
function requireChangeable({ slotRecords }: Service, slot: number, change: SlotChange): void {
  const receiver = slotRecords.receiverIn(slot)
  const field = Object.keys(change).find((name) => name !== 'label' && name !== 'color')
  if (receiver !== undefined && field !== undefined) requireLocal(receiver, field)
}

export function requireVersion({ slotRecords }: Service, slot: number, expected: ExpectedVersions): void {
  const record = slotRecords.find(slot)
  if (expected === null || expected.has(record?.version ?? 0)) return
  throw new RequestError('stale', { subject: `slot ${slot}`, current: record ?? null })
}

function requireSlot(slot: number): void {
  if (slot > lastSlot) throw notFound(slot)
}

export function notFound(slot: number): RequestError {
  return new RequestError('not_found', {
    subject: `channel or placeholder in slot ${slot}`,
    details: `slot: PUT /api/slots/${slot}/ adds a placeholder`,
  })
}

function audit(tx: Tx, actor: Actor, action: AuditAction, slot: number, details: object): Promise<void> {
  return writeAudit(tx, { actor, action, target: `slot ${slot}`, result: 'ok', details: { ...details } })
}
