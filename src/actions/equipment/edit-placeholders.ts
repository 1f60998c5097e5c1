/** Adds, changes and removes placeholders. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { lastSlot, listSlotHolders, type Placeholder, slotTaken } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion, Unstored } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { deletePlaceholder, insertPlaceholder, nextSlots, savePlaceholder } from '../../storage/slots.ts'
import { recordUndo, type Undoable, type UndoRecorder } from '../../storage/undo.ts'

type PlaceholderChange = Partial<Omit<Unstored<Placeholder>, 'created_at'>>

export function addPlaceholder(
  service: Service,
  actor: Actor,
  { slot, kind, name = '', frequency = null, note = '' }: PlaceholderChange & Pick<Placeholder, 'kind'>,
): Promise<Undoable<Placeholder>> {
  return editPlaceholder(service, actor, 'placeholder.create', async (tx, undo) => {
    if (slot !== undefined) requireFreeSlot(service, slot)
    const fields = { slot: slot ?? (await findFreeSlot(tx)), name, kind, frequency, note }
    const placeholder = await insertPlaceholder(tx, { ...fields, created_at: now() })
    undo.added('placeholders', placeholder.id)
    await audit(tx, actor, 'placeholder.create', placeholder.id, fields)
    return placeholder
  })
}

export function changePlaceholder(
  service: Service,
  actor: Actor,
  id: number,
  change: PlaceholderChange,
  requireVersion: RequireVersion<Placeholder>,
): Promise<Undoable<Placeholder>> {
  return editPlaceholder(service, actor, 'placeholder.change', async (tx, undo) => {
    const before = placeholderOf(service, id)
    requireVersion(before, `placeholder ${id}`)
    const after = { ...before, ...change }
    if (after.slot !== before.slot) requireFreeSlot(service, after.slot)
    await undo.willChange('placeholders', id)
    const placeholder = { ...after, version: await savePlaceholder(tx, after) }
    await audit(tx, actor, 'placeholder.change', id, change)
    return placeholder
  })
}

export function removePlaceholder(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Placeholder>,
): Promise<Undoable<void>> {
  return editPlaceholder(service, actor, 'placeholder.delete', async (tx, undo) => {
    const placeholder = placeholderOf(service, id)
    requireVersion(placeholder, `placeholder ${id}`)
    const { slot, name, kind } = placeholder
    await undo.willChange('placeholders', id)
    await deletePlaceholder(tx, id)
    await audit(tx, actor, 'placeholder.delete', id, { slot, name, kind })
  })
}

function editPlaceholder<T>(
  { ingest }: Service,
  actor: Actor,
  action: AuditAction,
  edit: (tx: Tx, undo: UndoRecorder) => Promise<T>,
): Promise<Undoable<T>> {
  return ingest.change((tx) => recordUndo(tx, actor, action, (undo) => edit(tx, undo)))
}

function placeholderOf({ placeholderStore }: Service, id: number): Placeholder {
  const placeholder = placeholderStore.list().find((candidate) => candidate.id === id)
  if (placeholder === undefined) throw new RequestError('not_found', { subject: `placeholder ${id}` })
  return placeholder
}

function requireFreeSlot({ receiverStore, placeholderStore }: Service, slot: number): void {
  const holders = listSlotHolders(receiverStore.listAllFacts(), placeholderStore.list())
  const holder = holders.find((candidate) => candidate.slot === slot)
  if (holder !== undefined) throw slotTaken(slot, holder)
}

async function findFreeSlot(tx: Tx): Promise<number> {
  const [slot = lastSlot + 1] = await nextSlots(tx, 1)
  if (slot > lastSlot) throw new RequestError('taken', { subject: `every slot from 1 to ${lastSlot}` })
  return slot
}

function audit(tx: Tx, actor: Actor, action: AuditAction, id: number, details: object): Promise<void> {
  return writeAudit(tx, { actor, action, target: `placeholder ${id}`, result: 'ok', details: { ...details } })
}
