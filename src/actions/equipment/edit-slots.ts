/** Changes what people enter about slots. */

import type { SlotChange, SlotRecord } from '../../contract/slots.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
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
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { settleCast } from '../../storage/cast.ts'
import type { Tx } from '../../storage/database.ts'
import { hasProfile } from '../../storage/frequencies.ts'
import { findPerformer, insertPerformer, listPerformers } from '../../storage/hardware.ts'
import { replaceSlotEntry } from '../../storage/slot-entries.ts'
import { deletePlaceholder, insertPlaceholder } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { requireLocal } from '../require-local.ts'

/** Changes the given fields of a slot. Returns the id to undo it with; null if nothing has changed. */
export async function changeSlot(
  service: Service,
  actor: Actor,
  slot: number,
  change: SlotChange,
  requireVersion: RequireVersion<SlotRecord>,
): Promise<number | null> {
  requireSlot(slot)
  if (change.performer_id !== undefined && change.performer_name !== undefined) {
    throw new RequestError('bad_request', { details: 'performer_name: expected either this or performer_id' })
  }
  return service.ingest.change(async (tx) => {
    const edit = { actor, time: now(), undo: new UndoRecorder(tx, actor) }
    requireVersion(service.slotRecords.find(slot) ?? null, `slot ${slot}`)
    requireChangeable(service, slot, change)
    const known = holderIn(service, slot)
    const store = async () => {
      const holder = known ?? (await addPlaceholder(tx, slot, edit))
      const before = fieldsIn(service, known)
      const after = await applyChange(tx, slot, before, change, edit)
      if (known !== null && isSameJson(before, after)) return false
      await edit.undo.willChangeEntry(holder)
      await replaceSlotEntry(tx, holder, after)
      await audit(tx, actor, 'slot.change', slot, { before, after })
      return true
    }
    const isChanged = await (changesCast(change) ? settleCast(tx, edit, store) : store())
    return isChanged ? edit.undo.save('slot.change', edit.time) : null
  })
}

/** Removes what was entered about a slot and, if it holds no channel, its placeholder. */
export async function clearSlot(
  service: Service,
  actor: Actor,
  slot: number,
  requireVersion: RequireVersion<SlotRecord>,
): Promise<number | null> {
  requireSlot(slot)
  return service.ingest.change(async (tx) => {
    const edit = { actor, time: now(), undo: new UndoRecorder(tx, actor) }
    requireVersion(service.slotRecords.find(slot) ?? null, `slot ${slot}`)
    const holder = holderIn(service, slot)
    if (holder === null) throw notFound(slot)
    const before = fieldsIn(service, holder)
    if (holder.kind === 'placeholder') {
      await edit.undo.willChange('placeholders', holder.id)
      await deletePlaceholder(tx, holder.id)
    } else {
      if (isEmptyEntry(before)) return null
      await edit.undo.willChangeEntry(holder)
      // The entry stays, so that its version does not return to 0.
      await settleCast(tx, edit, () => replaceSlotEntry(tx, holder, emptyFields))
    }
    await audit(tx, actor, 'slot.delete', slot, { before })
    return edit.undo.save('slot.delete', edit.time)
  })
}

export interface Edit {
  readonly actor: Actor
  readonly time: number
  readonly undo: UndoRecorder
}

function changesCast({ performer_id, performer_name, role }: SlotChange): boolean {
  return [performer_id, performer_name, role].some((field) => field !== undefined)
}

export function holderIn({ slotRecords }: Service, slot: number): EntryHolder | null {
  const { channel_id = null, placeholder_id = null } = slotRecords.find(slot) ?? {}
  if (channel_id !== null) return { kind: 'channel', id: channel_id }
  return placeholder_id === null ? null : { kind: 'placeholder', id: placeholder_id }
}

export function fieldsIn({ placeholderStore }: Service, holder: EntryHolder | null): SlotFields {
  return fieldsOf((holder && placeholderStore.entryOf(holder)) ?? emptyFields)
}

async function addPlaceholder(tx: Tx, slot: number, { time, undo }: Edit): Promise<EntryHolder> {
  const { id } = await insertPlaceholder(tx, { slot, kind: 'wireless', created_at: time })
  undo.added('placeholders', id)
  return { kind: 'placeholder', id }
}

async function applyChange(
  tx: Tx,
  slot: number,
  before: SlotFields,
  change: SlotChange,
  edit: Edit,
): Promise<SlotFields> {
  const { label, color, role, note, planned, spares } = change
  if (spares?.includes(slot)) throw new RequestError('bad_request', { details: 'spares: expected other slots' })
  const profile = planned?.profile ?? null
  if (profile !== null && !(await hasProfile(tx.query, profile))) {
    throw new RequestError('bad_request', { details: `planned.profile: there is no profile ${profile}` })
  }
  const performer = await findOrAddPerformer(tx, change, edit)
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
  { actor, undo }: Edit,
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

function requireSlot(slot: number): void {
  if (slot > lastSlot) throw notFound(slot)
}

export function notFound(slot: number): RequestError {
  return new RequestError('not_found', {
    subject: `channel or placeholder in slot ${slot}`,
    details:
      slot > lastSlot ? `slot: the last slot is ${lastSlot}` : `slot: PUT /api/slots/${slot}/ adds a placeholder`,
  })
}

function audit(tx: Tx, actor: Actor, action: AuditAction, slot: number, details: object): Promise<void> {
  return writeAudit(tx, { actor, action, target: `slot ${slot}`, result: 'ok', details: { ...details } })
}
