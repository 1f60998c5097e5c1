/**
 * The only writer of the cast. People enter performers in slots, and the active assignments of packs follow from that.
 * A unit in no slot keeps its own assignment until a slot without a performer receives it.
 */

import type { Actor } from '../domain/access/access.ts'
import { type CastChanges, type CastEdit, type CastSlot, planCast } from '../domain/equipment/cast-following.ts'
import { type Assignment, setActive } from '../domain/equipment/hardware.ts'
import { emptyFields } from '../domain/equipment/slot-entry.ts'
import { compareAssignments } from '../domain/events/event-drafts.ts'
import type { Reader, Tx } from './database.ts'
import { insertEvents } from './events.ts'
import {
  findActiveAssignment,
  insertAssignment,
  listActiveAssignments,
  listActiveAssignmentsOf,
  listAssignments,
  listWornPacks,
  saveAssignment,
} from './hardware.ts'
import { inChunks } from './rows.ts'
import { enterFollowed, findSlotEntry, listCastSlots, saveSlotEntry } from './slot-entries.ts'
import type { UndoRecorder } from './undo.ts'

interface WriteOptions {
  readonly time: number
  /** The time of the action that is undone: its assignments are removed, and those that it ended continue. */
  readonly undone?: number
  readonly isFollowing?: boolean
}

/**
 * Runs `work`, which changes the performers of slots, then makes the assignments follow, and stores the events. The
 * transaction must have incremented the revision. Call it after all other counters have been incremented.
 */
export async function settleCast<T>(
  tx: Tx,
  { actor, time, undone }: Omit<WriteOptions, 'isFollowing'> & { readonly actor: Actor },
  work: () => Promise<T>,
): Promise<T> {
  const slotsBefore = await listCastSlots(tx.query)
  const before = await listActiveAssignments(tx.query)
  const result = await work()
  const slots = await listCastSlots(tx.query)
  const assignments = await listWornPacks(tx.query)
  await writeCast(tx, planCast({ slots, assignments }, [], listEdits(slotsBefore, slots)), { time, undone })
  const after = await listActiveAssignments(tx.query)
  await insertEvents(tx, compareAssignments(before, after, { time, by: actor.name }))
  return result
}

/** Moves assignments to the packs that slots receive, and stores the events. */
export async function followPacks(tx: Tx, changes: CastChanges, time: number): Promise<void> {
  const units = [...changes.ended, ...changes.started].map(({ wireless_unit }) => wireless_unit)
  const before = await listActiveAssignmentsOf(tx.query, units)
  await writeCast(tx, changes, { time, isFollowing: true })
  const after = await listActiveAssignmentsOf(tx.query, units)
  await insertEvents(tx, compareAssignments(before, after, { time, by: null }))
}

/** Enters a performer in the unit's slot. Returns false if it is in none. Call it in `settleCast`. */
export async function enterUnit(
  tx: Tx,
  unit: number,
  { performer, role }: Pick<Assignment, 'performer' | 'role'>,
  undo?: UndoRecorder,
): Promise<boolean> {
  const row = await tx.query.selectFrom('units').select('channel_id').where('id', '=', unit).executeTakeFirst()
  const channel = row?.channel_id ?? null
  if (channel !== null) await enter(tx, channel, { performer, role }, undo)
  return channel !== null
}

/**
 * Changes the performer and role of the slot to which an active assignment belongs. Returns false if it belongs to none.
 * Call it in `settleCast`.
 */
export async function changeSlotOf(
  tx: Tx,
  assignment: Assignment,
  { performer, role }: { readonly performer: number | null; readonly role: string | null },
  undo: UndoRecorder,
): Promise<boolean> {
  const channel = await findChannel(tx.query, assignment)
  if (channel !== null) await enter(tx, channel, { performer, role }, undo)
  return channel !== null
}

/** Assigns a unit to this performer. Call it in `settleCast`. */
export async function assignUnit(
  tx: Tx,
  unit: number,
  { performer, role }: Pick<Assignment, 'performer' | 'role'>,
  { time, undo }: { readonly time: number; readonly undo: UndoRecorder },
): Promise<void> {
  const current = await findActiveAssignment(tx.query, unit)
  if (current?.performer === performer) {
    if (await changeSlotOf(tx, current, { performer, role }, undo)) return
    await undo.willChange('assignments', current.id)
    await saveAssignment(tx, { ...current, role })
    return
  }
  if (await enterUnit(tx, unit, { performer, role }, undo)) return
  if (current !== undefined) await unassign(tx, current, { time, undo })
  const assignment = { performer, wireless_unit: unit, role, is_active: true, started_at: time, ended_at: null }
  undo.added('assignments', (await insertAssignment(tx, assignment)).id)
}

/** Removes the performer of an active assignment from its slot, or ends it if it has none. Call it in `settleCast`. */
export async function unassign(
  tx: Tx,
  assignment: Assignment,
  { time, undo }: { readonly time: number; readonly undo: UndoRecorder },
): Promise<void> {
  if (await changeSlotOf(tx, assignment, { performer: null, role: null }, undo)) return
  await undo.willChange('assignments', assignment.id)
  await saveAssignment(tx, setActive(assignment, false, time))
}

async function enter(
  tx: Tx,
  channel: number,
  cast: { readonly performer: number | null; readonly role: string | null },
  undo: UndoRecorder | undefined,
): Promise<void> {
  const holder = { kind: 'channel', id: channel } as const
  await undo?.willChangeEntry(holder)
  await saveSlotEntry(tx, holder, { ...((await findSlotEntry(tx.query, holder)) ?? emptyFields), ...cast })
}

/**
 * Finds the channel of the slot that an active assignment belongs to. While that slot receives nothing, its pack may be
 * received in another one, or in none.
 */
async function findChannel(reader: Reader, { performer, wireless_unit }: Assignment): Promise<number | null> {
  const worn = new Set((await listWornPacks(reader, performer)).map((pack) => pack.wireless_unit))
  if (!worn.has(wireless_unit)) return null
  const slots = await listCastSlots(reader, performer)
  const own = slots.find((slot) => slot.unit === wireless_unit)
  return (own ?? slots.find((slot) => slot.unit === null || !worn.has(slot.unit)))?.channel ?? null
}

function listEdits(before: readonly CastSlot[], after: readonly CastSlot[]): readonly CastEdit[] {
  const previous = new Map(before.map((slot) => [slot.channel, slot]))
  const edits = after.flatMap(({ channel, unit, performer, role }): CastEdit[] => {
    const was = previous.get(channel)
    previous.delete(channel)
    const isSame = was?.performer === performer && was.role === role
    return isSame ? [] : [{ channel, unit, former: was?.performer ?? null }]
  })
  const cleared = [...previous.values()].map(({ channel, unit, performer }) => ({ channel, unit, former: performer }))
  return [...edits, ...cleared]
}

async function writeCast(
  tx: Tx,
  { ended, started, changed, entered }: CastChanges,
  { time, undone, isFollowing = false }: WriteOptions,
): Promise<void> {
  await inChunks(ended, async (chunk) => {
    const ids = chunk.map(({ id }) => id)
    if (undone !== undefined) {
      // Assignments that started later followed a pack and took place, so they are kept.
      await tx.query.deleteFrom('assignments').where('id', 'in', ids).where('started_at', '=', undone).execute()
    }
    await tx.query.updateTable('assignments').set({ is_active: 0, ended_at: time }).where('id', 'in', ids).execute()
  })
  for (const { id, role } of changed) {
    await tx.query.updateTable('assignments').set({ role }).where('id', '=', id).execute()
  }
  for (const assignment of started) {
    const { performer, wireless_unit, role } = assignment
    const earlier = (await listAssignments(tx.query, { performer, wireless_unit })).at(-1)
    // Otherwise, alternating packs would fill the table.
    if (earlier !== undefined && isFollowing) await saveAssignment(tx, { ...setActive(earlier, true, time), role })
    else if (earlier !== undefined && undone !== undefined && earlier.ended_at === undone) {
      await saveAssignment(tx, { ...earlier, is_active: true, ended_at: null, role })
    } else await insertAssignment(tx, { ...assignment, is_active: true, started_at: time, ended_at: null })
  }
  for (const slot of entered) await enterFollowed(tx, slot)
}
