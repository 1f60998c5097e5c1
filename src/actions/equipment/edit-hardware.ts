/** Edits groups, the slots of channels, performers and their assignments. */

import type { ChannelChange as ChannelChangeRequest, SlotMove } from '../../contract/channels.ts'
import type { Group } from '../../contract/groups.ts'
import type { Performer } from '../../contract/performers.ts'
import type { Body } from '../../contract/schema.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { type Assignment, setActive } from '../../domain/equipment/hardware.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { holderOf } from '../../domain/equipment/slot-entry.ts'
import { describeHolder } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion, Unstored } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { changeSlotOf, enterUnit, settleCast } from '../../storage/cast.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import { hasProfile, setChannelProfile } from '../../storage/frequencies.ts'
import {
  deleteAssignment,
  deletePerformer,
  findActiveAssignment,
  findAssignment,
  findPerformer,
  hasUnit,
  insertAssignment,
  insertPerformer,
  listAssignments,
  saveAssignment,
  savePerformer,
} from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures } from '../../storage/pictures.ts'
import { listSlotEntries, removePerformerFromSlots } from '../../storage/slot-entries.ts'
import { deleteGroup, findGroup, insertGroup, saveGroup } from '../../storage/slots.ts'
import { recordUndo, type Undoable, UndoRecorder } from '../../storage/undo.ts'
import { editRecords } from '../edit-records.ts'
import { requireLocal } from '../require-local.ts'
import { storePicture } from './edit-pictures.ts'
import { storeMoves } from './move-slots.ts'

export type GroupChange = Partial<Unstored<Group>>

export async function addGroup(
  service: Service,
  actor: Actor,
  {
    title,
    slots = [],
    hide_charts = false,
    zone = null,
    manufacturer = null,
  }: GroupChange & { readonly title: string },
): Promise<Undoable<Group>> {
  checkManufacturer(service, manufacturer)
  return editGroup(service, actor, 'group.create', async (tx, undo) => {
    const inserted = await insertGroup(tx, { title, slots, hide_charts, zone, manufacturer })
    undo.added('groups', inserted.id)
    await audit(tx, actor, 'group.create', `group ${inserted.id}`, { title })
    return inserted
  })
}

/** Changes a group. If `manufacturer` is given, a group of another manufacturer is treated as not found. */
export async function changeGroup(
  service: Service,
  actor: Actor,
  id: number,
  change: GroupChange,
  requireVersion: RequireVersion<Group>,
  manufacturer?: string,
): Promise<Undoable<Group>> {
  checkManufacturer(service, change.manufacturer ?? null)
  return editGroup(service, actor, 'group.change', async (tx, undo) => {
    const before = await groupOf(tx.query, id, manufacturer)
    requireVersion(before, `group ${id}`)
    await undo.willChange('groups', id)
    const after = await saveGroup(tx, { ...before, ...change })
    await audit(tx, actor, 'group.change', `group ${id}`, { fields: Object.keys(change) })
    return after
  })
}

export async function removeGroup(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Group>,
  manufacturer?: string,
): Promise<Undoable<void>> {
  return editGroup(service, actor, 'group.delete', async (tx, undo) => {
    const group = await groupOf(tx.query, id, manufacturer)
    requireVersion(group, `group ${id}`)
    await undo.willChange('groups', id)
    await deleteGroup(tx, id)
    await audit(tx, actor, 'group.delete', `group ${id}`, { title: group.title })
  })
}

function editGroup<T>(
  service: Service,
  actor: Actor,
  action: AuditAction,
  edit: (tx: Tx, undo: UndoRecorder) => Promise<T>,
): Promise<Undoable<T>> {
  return editRecords(service, 'versions', (tx) => recordUndo(tx, actor, action, (undo) => edit(tx, undo)))
}

async function groupOf(reader: Reader, id: number, manufacturer: string | undefined): Promise<Group> {
  const group = await findGroup(reader, id)
  if (group === undefined || (manufacturer !== undefined && group.manufacturer !== manufacturer)) {
    throw new RequestError('not_found', { subject: `group ${id}` })
  }
  return group
}

function checkManufacturer(service: Service, code: string | null): void {
  if (code !== null && !service.hasManufacturer(code)) throw notFoundIn('manufacturer', `manufacturer ${code}`)
}

export type ChannelChange = Body<typeof ChannelChangeRequest>

/**
 * Moves a channel to another slot, and sets its frequency profile. Returns the id of its receiver, and the id to undo the
 * move with; null if it was not moved.
 */
export async function changeChannel(
  service: Service,
  actor: Actor,
  id: number,
  { slot, profile }: ChannelChange,
  manufacturer?: string,
): Promise<{ readonly receiverId: number; readonly undoId: number | null }> {
  if (slot === undefined && profile === undefined) throw new RequestError('bad_request', { details: 'slot: missing' })
  return service.ingest.change(async (tx, revision) => {
    const edit = { actor, time: now(), undo: new UndoRecorder(tx, actor) }
    const receiver = findReceiverOf(service.receiverStore.listAllFacts({ manufacturer }), id)
    if (receiver === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
    const stored = slot === undefined ? [] : await storeMoves(service, tx, revision, [{ channel_id: id, slot }], edit)
    for (const { holder } of stored) {
      await audit(tx, actor, 'channel.move', `channel ${id}`, { before: holder.slot, after: slot })
    }
    const before = receiver.channels.find((channel) => channel.id === id)?.profile ?? null
    if (profile !== undefined && profile !== before) {
      requireLocal(receiver)
      if (profile !== null && !(await hasProfile(tx.query, profile))) {
        throw new RequestError('bad_request', { details: `profile: there is no profile ${profile}` })
      }
      await setChannelProfile(tx, revision, { channelId: id, receiverId: receiver.id, profile })
      await audit(tx, actor, 'channel.change', `channel ${id}`, { field: 'profile', before, after: profile })
    }
    return { receiverId: receiver.id, undoId: await edit.undo.save('channel.move', edit.time) }
  })
}

/** Moves channels and placeholders to other slots, all at once: two may swap their slots. Returns the id to undo it with. */
export async function moveToSlots(service: Service, actor: Actor, moves: readonly SlotMove[]): Promise<number | null> {
  return service.ingest.change(async (tx, revision) => {
    const edit = { actor, time: now(), undo: new UndoRecorder(tx, actor) }
    const stored = await storeMoves(service, tx, revision, moves, edit)
    if (stored.length === 0) return null
    const changes = stored.map(({ holder, slot }) => ({
      moved: describeHolder(holder),
      before: holder.slot,
      after: slot,
    }))
    await audit(tx, actor, 'slots.change', `${stored.length} slots`, { moves: changes })
    return edit.undo.save('slots.change', edit.time)
  })
}

export type PerformerChange = Partial<Unstored<Performer>>

export async function addPerformer(
  service: Service,
  actor: Actor,
  { name, notes = '', picture = null }: PerformerChange & { readonly name: string },
): Promise<Undoable<Performer>> {
  return editPerformer(service, actor, 'performer.create', async (tx, undo) => {
    const inserted = await insertPerformer(tx, await storePicture(tx, { name, notes, picture }))
    undo.added('performers', inserted.id)
    await audit(tx, actor, 'performer.create', `performer ${inserted.id}`, { name })
    return inserted
  })
}

export async function changePerformer(
  service: Service,
  actor: Actor,
  id: number,
  change: PerformerChange,
  requireVersion: RequireVersion<Performer>,
): Promise<Undoable<Performer>> {
  return editPerformer(service, actor, 'performer.change', async (tx, undo) => {
    const before = await performerOf(tx.query, id)
    requireVersion(before, `performer ${id}`)
    await undo.willChange('performers', id)
    const after = await savePerformer(tx, { ...before, ...(await storePicture(tx, change)) })
    await audit(tx, actor, 'performer.change', `performer ${id}`, { fields: Object.keys(change) })
    return after
  })
}

export async function removePerformer(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Performer>,
): Promise<Undoable<void>> {
  return editPerformer(service, actor, 'performer.delete', async (tx, undo) => {
    const performer = await performerOf(tx.query, id)
    requireVersion(performer, `performer ${id}`)
    const slots = (await listSlotEntries(tx.query)).filter((entry) => entry.performer === id)
    for (const entry of slots) await undo.willChangeEntry(holderOf(entry))
    for (const assignment of await listAssignments(tx.query, { performer: id })) {
      await undo.willChange('assignments', assignment.id)
    }
    // Rows are restored in reverse order.
    await undo.willChange('performers', id)
    await settleCast(tx, { actor, time: now() }, async () => {
      await removePerformerFromSlots(tx, id)
      await deletePerformer(tx, id)
    })
    await audit(tx, actor, 'performer.delete', `performer ${id}`, { name: performer.name })
  })
}

function editPerformer<T>(
  { ingest }: Service,
  actor: Actor,
  action: AuditAction,
  edit: (tx: Tx, undo: UndoRecorder) => Promise<T>,
): Promise<Undoable<T>> {
  return ingest.change(async (tx) => {
    await lockPictures(tx)
    const edited = await recordUndo(tx, actor, action, (undo) => edit(tx, undo))
    await removeUnusedPictures(tx)
    return edited
  })
}

async function performerOf(reader: Reader, id: number): Promise<Performer> {
  const performer = await findPerformer(reader, id)
  if (performer === undefined) throw new RequestError('not_found', { subject: `performer ${id}` })
  return performer
}

export type AssignmentChange = Partial<Pick<Assignment, 'performer' | 'wireless_unit' | 'role' | 'is_active'>>

/** With the id to undo the change with; null if nothing has changed. */
interface EditedAssignment {
  readonly assignment: Assignment
  readonly undoId: number | null
}

export async function addAssignment(
  service: Service,
  actor: Actor,
  { is_active = true, role = null, ...who }: AssignmentChange & Pick<Assignment, 'performer' | 'wireless_unit'>,
): Promise<EditedAssignment> {
  return service.ingest.change(async (tx) => {
    const undo = new UndoRecorder(tx, actor)
    const time = now()
    const draft = { ...who, role, is_active, started_at: time, ended_at: is_active ? null : time }
    await checkAssignment(tx, draft)
    const assignment = await settleCast(tx, { actor, time }, async () => {
      const isInSlot = is_active && (await enterUnit(tx, who.wireless_unit, draft, undo))
      const inserted = await insertAssignment(tx, draft)
      // The assignment of a unit in a slot is undone with the slot.
      if (!isInSlot) undo.added('assignments', inserted.id)
      return inserted
    })
    await audit(tx, actor, 'assignment.create', `assignment ${assignment.id}`, { ...who, role, is_active })
    return { assignment, undoId: await undo.save('assignment.create', time) }
  })
}

export async function changeAssignment(
  service: Service,
  actor: Actor,
  id: number,
  { is_active, ...change }: AssignmentChange,
): Promise<EditedAssignment> {
  return service.ingest.change(async (tx) => {
    const undo = new UndoRecorder(tx, actor)
    const time = now()
    const before = await assignmentOf(tx.query, id)
    const after = { ...setActive(before, is_active ?? before.is_active, time), ...change }
    const { performer, wireless_unit, role } = after
    await checkAssignment(tx, after, id)
    await settleCast(tx, { actor, time }, async () => {
      const isSame = before.performer === performer && before.wireless_unit === wireless_unit
      const wasInSlot =
        before.is_active && (await changeSlotOf(tx, before, isSame && after.is_active ? after : nobody, undo))
      if (!wasInSlot) await undo.willChange('assignments', id)
      if (after.is_active && !(before.is_active && isSame)) await enterUnit(tx, wireless_unit, after, undo)
      await saveAssignment(tx, after)
    })
    const details = { performer, wireless_unit, role, is_active: after.is_active }
    await audit(tx, actor, 'assignment.change', `assignment ${id}`, details)
    return { assignment: after, undoId: await undo.save('assignment.change', time) }
  })
}

/** Returns the id to undo the removal with. */
export async function removeAssignment(service: Service, actor: Actor, id: number): Promise<number | null> {
  return service.ingest.change(async (tx) => {
    const undo = new UndoRecorder(tx, actor)
    const time = now()
    const assignment = await assignmentOf(tx.query, id)
    await settleCast(tx, { actor, time }, async () => {
      const wasInSlot = assignment.is_active && (await changeSlotOf(tx, assignment, nobody, undo))
      if (!wasInSlot) await undo.willChange('assignments', id)
      await deleteAssignment(tx, id)
    })
    const { performer, wireless_unit } = assignment
    await audit(tx, actor, 'assignment.delete', `assignment ${id}`, { performer, wireless_unit })
    return undo.save('assignment.delete', time)
  })
}

const nobody = { performer: null, role: null }

async function assignmentOf(reader: Reader, id: number): Promise<Assignment> {
  const assignment = await findAssignment(reader, id)
  if (assignment === undefined) throw new RequestError('not_found', { subject: `assignment ${id}` })
  return assignment
}

/** Checks that the performer and the unit exist and that the unit has no active assignment other than `ownId`. */
async function checkAssignment(tx: Tx, assignment: Omit<Assignment, 'id'>, ownId?: number): Promise<void> {
  const { performer, wireless_unit, is_active } = assignment
  if ((await findPerformer(tx.query, performer)) === undefined) throw notFoundIn('performer', `performer ${performer}`)
  if (!(await hasUnit(tx.query, wireless_unit))) throw notFoundIn('wireless_unit', `unit ${wireless_unit}`)
  const current = is_active ? await findActiveAssignment(tx.query, wireless_unit) : undefined
  if (current === undefined || current.id === ownId) return
  const details = `wireless_unit: assignment ${current.id} of this unit is still active`
  throw new RequestError('taken', { subject: `unit ${wireless_unit}`, details })
}

function notFoundIn(field: string, what: string): RequestError {
  return new RequestError('bad_request', { details: `${field}: there is no ${what}` })
}

function audit(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  target: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(tx, { actor, action, target, result: 'ok', details })
}
