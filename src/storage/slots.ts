/** The slots of channels and placeholders on the wall, and the groups of slots. */

import { sql } from 'kysely'
import type { Group } from '../contract/groups.ts'
import { emptyFields } from '../domain/equipment/slot-entry.ts'
import type { Placeholder } from '../domain/equipment/slots.ts'
import { describeHolder, type PlannedMove, type SlotHolder } from '../domain/equipment/slots.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import { executeForRows, inChunks } from './rows.ts'
import { countPlaceholderChange, findSlotEntry, renewVersions, replaceSlotEntry } from './slot-entries.ts'
import { nextVersion, saveEdit } from './versions.ts'

/** Moves channels to other slots, all at once, and marks their receivers as changed. The channels may swap slots. */
export async function placeChannels(tx: Tx, revision: number, moves: readonly SlotOf[]): Promise<void> {
  await setSlots(tx, 'channels', moves)
  await inChunks(moves, async (chunk) => {
    const ids = chunk.map(({ id }) => id)
    await tx.query
      .updateTable('receivers')
      .set({ revision })
      .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('id', 'in', ids))
      .execute()
  })
}

interface SlotOf {
  readonly id: number
  readonly slot: number
}

export async function placeHolders(tx: Tx, revision: number, moves: readonly PlannedMove[]): Promise<void> {
  const movesOf = (kind: SlotHolder['kind']) =>
    moves.filter(({ holder }) => holder.kind === kind).map(({ holder, slot }) => ({ id: holder.id, slot }))
  await placeChannels(tx, revision, movesOf('channel'))
  await countPlaceholderChange(tx)
  await setSlots(tx, 'placeholders', movesOf('placeholder'))
}

/** Finds a target slot whose holder is not moved; null if there is none. */
export async function findOccupiedSlot(reader: Reader, moves: readonly PlannedMove[]): Promise<number | null> {
  const slots = new Set(moves.map(({ slot }) => slot))
  const moved = new Set(moves.map(({ holder }) => describeHolder(holder)))
  for (const [kind, table] of [
    ['channel', 'channels'],
    ['placeholder', 'placeholders'],
  ] as const) {
    const rows = await reader.selectFrom(table).select(['id', 'slot']).execute()
    const found = rows.find(({ id, slot }) => slots.has(slot) && !moved.has(describeHolder({ kind, id })))
    if (found !== undefined) return found.slot
  }
  return null
}

/**
 * Gives every row a temporary negative slot first, so that no two rows ever have the same slot. Moved entries get a new
 * version, because a slot must never have the same version with different contents.
 */
async function setSlots(tx: Tx, table: 'channels' | 'placeholders', moves: readonly SlotOf[]): Promise<void> {
  const parked = moves.map(({ id }) => ({ id, slot: -id }))
  for (const rows of [parked, moves]) {
    await inChunks(rows, async (chunk) => {
      await executeForRows<unknown, 'id' | 'slot'>(
        tx,
        { id: 'bigint', slot: 'bigint' },
        chunk.map(({ id, slot }) => ({ id, slot })),
        (input) =>
          sql`update ${sql.table(table)} set slot = input.slot from ${input} where ${sql.table(table)}.id = input.id`,
      )
    })
  }
  const ids = moves.map(({ id }) => id)
  await renewVersions(tx, table === 'channels' ? 'channel' : 'placeholder', ids)
}

/** Returns the lowest slots that have neither a channel nor a placeholder, starting with 1. */
export async function nextSlots(tx: Tx, count: number): Promise<number[]> {
  const placeholders = await tx.query.selectFrom('placeholders').select('slot').execute()
  const skipped = new Set(placeholders.map(({ slot }) => slot))
  const free: number[] = []
  const { taken: usedCount, highest } = await tx.query
    .selectFrom('channels')
    .select((eb) => [eb.fn.countAll<number>().as('taken'), eb.fn.max('slot').as('highest')])
    .executeTakeFirstOrThrow()
  let next = 1
  const takeNext = () => {
    if (!skipped.has(next)) free.push(next)
    next += 1
  }
  if (usedCount === (highest ?? 0)) next += usedCount
  else {
    for await (const slot of usedSlots(tx.query)) {
      while (next < slot && free.length < count) takeNext()
      if (free.length === count) break
      next = slot + 1
    }
  }
  while (free.length < count) takeNext()
  return free
}

async function* usedSlots(reader: Reader): AsyncGenerator<number> {
  for (let after = 0, size = 2_000; ; ) {
    const page = await reader
      .selectFrom('channels')
      .select('slot')
      .where('slot', '>', after)
      .orderBy('slot')
      .limit(size)
      .execute()
    for (const { slot } of page) yield slot
    if (page.length < size) return
    after = page.at(-1)?.slot ?? after
  }
}

export async function listChannelSlots(reader: Reader): Promise<readonly SlotOf[]> {
  return reader.selectFrom('channels').select(['id', 'slot']).orderBy('id').execute()
}

// Placeholders. They share the slots with the channels, so every transaction that changes them increments the
// revision first, as for channels. A counter of their own is incremented with every change. The name, note and
// frequency of a placeholder are what was entered about its slot.

export async function listPlaceholders(reader: Reader): Promise<Placeholder[]> {
  const rows = await reader
    .selectFrom('placeholders')
    .leftJoin('slot_entries', 'slot_entries.placeholder_id', 'placeholders.id')
    .selectAll('placeholders')
    .select(['label', 'planned_frequency', 'note', 'version'])
    .orderBy('placeholders.id')
    .execute()
  return rows.map(({ id, slot, label, kind, planned_frequency: frequency, note, version, created_at }) => ({
    ...{ id, slot, name: label ?? '', kind, frequency, note: note ?? '', version: version ?? 0, created_at },
  }))
}

type NewPlaceholder = Partial<Unstored<Placeholder>> & Pick<Placeholder, 'slot' | 'kind' | 'created_at'>

/** Missing fields are stored as empty. */
export async function insertPlaceholder(
  tx: Tx,
  { slot, kind, created_at, name = '', frequency = null, note = '' }: NewPlaceholder,
): Promise<Placeholder> {
  await countPlaceholderChange(tx)
  const entered = { name, frequency, note }
  const { id } = await tx.query
    .insertInto('placeholders')
    .values({ slot, kind, created_at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, slot, kind, created_at, ...entered, version: await saveEntered(tx, { id, ...entered }, true) }
}

/** Returns the version. */
export async function savePlaceholder(
  tx: Tx,
  { id, slot, kind, ...entered }: Omit<Placeholder, 'version'>,
): Promise<number> {
  await countPlaceholderChange(tx)
  const stored = await tx.query
    .selectFrom('placeholders')
    .select(['slot', 'kind'])
    .where('id', '=', id)
    .executeTakeFirst()
  await tx.query.updateTable('placeholders').set({ slot, kind }).where('id', '=', id).execute()
  return saveEntered(tx, { id, ...entered }, stored?.kind !== kind || stored.slot !== slot)
}

export async function deletePlaceholder(tx: Tx, id: number): Promise<void> {
  await countPlaceholderChange(tx)
  await tx.query.deleteFrom('placeholders').where('id', '=', id).execute()
}

/**
 * Stores the fields in the entry of the slot, with a new version if anything differs or the placeholder `isOther`.
 * Returns the version.
 */
async function saveEntered(
  tx: Tx,
  { id, name, note, frequency }: Pick<Placeholder, 'id' | 'name' | 'note' | 'frequency'>,
  isOther: boolean,
): Promise<number> {
  const holder = { kind: 'placeholder', id } as const
  const entry = await findSlotEntry(tx.query, holder)
  const stored = entry ?? emptyFields
  const isSame = (stored.label ?? '') === name && (stored.note ?? '') === note && stored.planned.frequency === frequency
  if (isSame && !isOther) return entry?.version ?? 0
  const planned = { ...stored.planned, frequency }
  return replaceSlotEntry(tx, holder, { ...stored, label: name || null, note: note || null, planned })
}

export async function listGroups(reader: Reader): Promise<Group[]> {
  const rows = await reader.selectFrom('groups').selectAll().orderBy('id').execute()
  return rows.map(toGroup)
}

export async function findGroup(reader: Reader, id: number): Promise<Group | undefined> {
  const row = await reader.selectFrom('groups').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toGroup(row)
}

export async function insertGroup(tx: Tx, group: Unstored<Group>): Promise<Group> {
  const row = { ...toGroupRow(group), version: await nextVersion(tx) }
  return toGroup(await tx.query.insertInto('groups').values(row).returningAll().executeTakeFirstOrThrow())
}

export async function saveGroup(tx: Tx, { id, ...group }: Omit<Group, 'version'>): Promise<Group> {
  return { ...group, id, version: await saveEdit(tx, 'groups', id, toGroupRow(group)) }
}

export async function deleteGroup(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('groups').where('id', '=', id).execute()
}

interface StoredGroup extends Omit<Group, 'slots' | 'hide_charts'> {
  readonly slots: string
  readonly hide_charts: 0 | 1
}

function toGroup({ slots, hide_charts, ...row }: StoredGroup): Group {
  return { ...row, slots: JSON.parse(slots), hide_charts: hide_charts === 1 }
}

function toGroupRow({ slots, hide_charts, ...group }: Unstored<Group>) {
  return { ...group, slots: JSON.stringify(slots), hide_charts: hide_charts ? (1 as const) : (0 as const) }
}
