/** Changes slots and stores events together with the assignments of performers, whichever way a user changes them. */

import type { Actor } from '../../domain/access/access.ts'
import { setActive } from '../../domain/equipment/hardware.ts'
import { emptyFields } from '../../domain/equipment/slot-entry.ts'
import { compareAssignments } from '../../domain/events/event-drafts.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import {
  findActiveAssignment,
  insertAssignment,
  type ListedAssignment,
  listActiveAssignments,
  saveAssignment,
} from '../../storage/hardware.ts'
import { findSlotEntry, listSlotEntries, saveSlotEntry } from '../../storage/slot-entries.ts'
import type { UndoRecorder } from '../../storage/undo.ts'

interface Edit {
  readonly actor: Actor
  readonly time: number
}

/**
 * Runs `work`. Then changes the performers of the slots whose units it has assigned or unassigned, and stores the events,
 * in the same transaction. The transaction must have incremented the revision. If the assignments are undone, so are the
 * changes of the slots.
 */
export async function recordAssignments<T>(tx: Tx, edit: Edit, work: () => Promise<T>): Promise<T> {
  return recordAssignmentEvents(tx, edit, async (before) => {
    const result = await work()
    await followAssignments(tx, before, await listActiveAssignments(tx.query))
    return result
  })
}

/** Runs `work`, which changes slots itself, and stores the events of the assignments that it changes. */
export async function recordAssignmentEvents<T>(
  tx: Tx,
  { actor, time }: Edit,
  work: (before: readonly ListedAssignment[]) => Promise<T>,
): Promise<T> {
  const before = await listActiveAssignments(tx.query)
  const result = await work(before)
  await insertEvents(tx, compareAssignments(before, await listActiveAssignments(tx.query), { time, by: actor.name }))
  return result
}

async function followAssignments(
  tx: Tx,
  before: readonly ListedAssignment[],
  after: readonly ListedAssignment[],
): Promise<void> {
  const previous = new Map(before.map((assignment) => [assignment.wireless_unit, assignment]))
  const current = new Map(after.map((assignment) => [assignment.wireless_unit, assignment]))
  for (const unit of new Set([...previous.keys(), ...current.keys()])) {
    const [was, is] = [previous.get(unit), current.get(unit)]
    const isSamePerformer = was?.performer.id === is?.performer.id
    if (isSamePerformer && was?.role === is?.role) continue
    const kept = is === undefined || isSamePerformer ? was : undefined
    const channel = kept === undefined ? (is?.channel_id ?? null) : await findChannel(tx, kept, after)
    if (channel === null) continue
    const holder = { kind: 'channel', id: channel } as const
    const entry = (await findSlotEntry(tx.query, holder)) ?? emptyFields
    // A slot may have a role without a performer.
    if (is === undefined && entry.performer === null) continue
    await saveSlotEntry(tx, holder, { ...entry, performer: is?.performer.id ?? null, role: is?.role ?? null })
  }
}

/**
 * Finds the channel whose slot the assignment belongs to. While that slot receives nothing, its pack may be received in
 * another one, or in none.
 */
async function findChannel(
  tx: Tx,
  { performer, channel_id }: ListedAssignment,
  active: readonly ListedAssignment[],
): Promise<number | null> {
  const entries = (await listSlotEntries(tx.query)).filter((entry) => entry.performer === performer.id)
  const hasAnother = (channel: number | null) =>
    active.some((other) => other.performer.id === performer.id && other.channel_id === channel)
  if (channel_id !== null && entries.some((entry) => entry.channel_id === channel_id)) return channel_id
  const lacking = entries.find((entry) => entry.channel_id !== null && !hasAnother(entry.channel_id))
  return lacking?.channel_id ?? null
}

/** Makes the active assignment of a unit that of the slot in which it is received. Call it in `recordAssignments`. */
export async function assignUnit(
  tx: Tx,
  unit: number,
  { performer, role }: { readonly performer: number | null; readonly role: string | null },
  { time, undo }: Pick<Edit, 'time'> & { readonly undo?: UndoRecorder },
): Promise<void> {
  const current = await findActiveAssignment(tx.query, unit)
  if (current !== undefined) {
    const isSame = current.performer === performer
    if (isSame && current.role === role) return
    await undo?.willChange('assignments', current.id)
    await saveAssignment(tx, isSame ? { ...current, role } : setActive(current, false, time))
    if (isSame) return
  }
  if (performer === null) return
  const assignment = { performer, wireless_unit: unit, role, is_active: true, started_at: time, ended_at: null }
  const { id } = await insertAssignment(tx, assignment)
  undo?.added('assignments', id)
}
