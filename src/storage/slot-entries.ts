/**
 * Users' entries about slots. They are loaded with the placeholders, so every transaction that changes one increments the
 * revision first, and the counter of placeholders with every change.
 */

import { type NotNull, sql } from 'kysely'
import type { CastSlot } from '../domain/equipment/cast-following.ts'
import {
  type EntryHolder,
  emptyFields,
  fieldsOf,
  holderOf,
  isEmptyEntry,
  type SlotEntry,
  type SlotFields,
} from '../domain/equipment/slot-entry.ts'
import { type TitleOf, titleOfChannel } from '../domain/equipment/slot-record.ts'
import { slotKindOf } from '../domain/equipment/unit-type.ts'
import { isSameJson } from '../domain/json.ts'
import { now } from '../platform/clock.ts'
import type { Reader, Tx } from './database.ts'
import { listPerformers } from './hardware.ts'
import { nextRevision } from './revision.ts'
import { executeForRows, inChunks } from './rows.ts'
import type { SlotEntryRow } from './schema/equipment.ts'
import { nextVersion } from './versions.ts'

export async function listSlotEntries(reader: Reader): Promise<SlotEntry[]> {
  const rows = await reader.selectFrom('slot_entries').selectAll().orderBy('id').execute()
  return rows.map(toEntry)
}

export async function findSlotEntry(reader: Reader, { kind, id }: EntryHolder): Promise<SlotEntry | undefined> {
  const row = await reader.selectFrom('slot_entries').selectAll().where(`${kind}_id`, '=', id).executeTakeFirst()
  return row && toEntry(row)
}

/** Stores what was entered, with a new version. Stores nothing if nothing differs. */
export async function saveSlotEntry(tx: Tx, holder: EntryHolder, fields: SlotFields): Promise<void> {
  const stored = await findSlotEntry(tx.query, holder)
  if (isSameJson(fieldsOf(stored ?? emptyFields), fieldsOf(fields))) return
  await replaceSlotEntry(tx, holder, fields)
}

/** Stores what was entered with a new version, even if nothing differs. Returns the version. */
export async function replaceSlotEntry(tx: Tx, holder: EntryHolder, fields: SlotFields): Promise<number> {
  await countPlaceholderChange(tx)
  const version = await nextVersion(tx)
  await putEntry(tx, holder, { ...toRow(fields), version })
  return version
}

/** Stores the performer of a pack in the slot that receives it. Keeps the version, which counts edits by people. */
export async function enterFollowed(
  tx: Tx,
  { channel, performer, role }: { readonly channel: number; readonly performer: number; readonly role: string | null },
): Promise<void> {
  const holder = { kind: 'channel', id: channel } as const
  const stored = await findSlotEntry(tx.query, holder)
  await countPlaceholderChange(tx)
  await putEntry(tx, holder, {
    ...toRow({ ...(stored ?? emptyFields), performer, role }),
    version: stored?.version ?? 0,
  })
}

async function putEntry(
  tx: Tx,
  { kind, id }: EntryHolder,
  row: ReturnType<typeof toRow> & { readonly version: number },
) {
  const holder =
    kind === 'channel' ? { channel_id: id, placeholder_id: null } : { channel_id: null, placeholder_id: id }
  await tx.query
    .insertInto('slot_entries')
    .values({ ...row, ...holder })
    .onConflict((conflict) => conflict.column(`${kind}_id`).doUpdateSet(row))
    .execute()
}

/** Gives the entries of these channels or placeholders a new version, including empty entries. */
export async function renewVersions(tx: Tx, kind: EntryHolder['kind'], ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await countPlaceholderChange(tx)
  const holder = sql.ref(`${kind}_id`)
  const version = await nextVersion(tx)
  await inChunks(ids, async (chunk) => {
    await executeForRows(
      tx,
      { id: 'bigint', version: 'bigint' },
      chunk.map((id) => ({ id, version })),
      (input) => sql`insert into slot_entries (${holder}, version) select id, version from ${input} where true
        on conflict (${holder}) do update set version = excluded.version`,
    )
  })
}

const highestSlotKey = 'highest_slot'

/**
 * Gives new channels a version if another channel may have had their slot, because both would otherwise have version 0.
 * Call it for all new channels, because it remembers the highest of their slots.
 */
export async function renewReusedSlots(
  tx: Tx,
  channels: readonly { readonly id: number; readonly slot: number }[],
): Promise<void> {
  const ofKey = tx.query.selectFrom('meta').select('value').where('key', '=', highestSlotKey)
  const { value: highest } = await ofKey.executeTakeFirstOrThrow()
  const reused = channels.filter(({ slot }) => slot <= highest)
  await renewVersions(
    tx,
    'channel',
    reused.map(({ id }) => id),
  )
  if (reused.length === channels.length) return
  const value = Math.max(...channels.map(({ slot }) => slot))
  await tx.query.updateTable('meta').set({ value }).where('key', '=', highestSlotKey).execute()
}

/** Moves the entry of a channel to the channel that replaces it in its slot. */
export async function passSlotEntry(tx: Tx, fromChannel: number, toChannel: number): Promise<void> {
  const entry = await findSlotEntry(tx.query, { kind: 'channel', id: fromChannel })
  if (entry === undefined || isEmptyEntry(entry)) return
  await replaceSlotEntry(tx, { kind: 'channel', id: toChannel }, entry)
  await replaceSlotEntry(tx, { kind: 'channel', id: fromChannel }, emptyFields)
}

/** Returns the slots of channels that have a performer, or only those of `ofPerformer`, in ascending order. */
export function listCastSlots(reader: Reader, ofPerformer?: number): Promise<CastSlot[]> {
  return reader
    .selectFrom('slot_entries')
    .innerJoin('channels', 'channels.id', 'slot_entries.channel_id')
    .leftJoin('units', 'units.channel_id', 'channels.id')
    .select(['channels.slot', 'channels.id as channel', 'units.id as unit', 'performer', 'role'])
    .where('performer', 'is not', null)
    .$narrowType<{ performer: NotNull }>()
    .$if(ofPerformer !== undefined, (query) => query.where('performer', '=', ofPerformer ?? 0))
    .orderBy('channels.slot')
    .execute()
}

/** Removes a performer from all slots. Call it before the performer is deleted. */
export async function removePerformerFromSlots(tx: Tx, performer: number): Promise<void> {
  const entries = (await listSlotEntries(tx.query)).filter((entry) => entry.performer === performer)
  for (const entry of entries) await saveSlotEntry(tx, holderOf(entry), { ...entry, performer: null, role: null })
}

/** Call it before a frequency profile is deleted. */
export async function removeProfileFromSlots(tx: Tx, profile: string): Promise<void> {
  const entries = (await listSlotEntries(tx.query)).filter(({ planned }) => planned.profile === profile)
  for (const entry of entries) {
    await saveSlotEntry(tx, holderOf(entry), { ...entry, planned: { ...entry.planned, profile: null } })
  }
}

/** Leaves placeholders with what was entered about channels. Call it before the channels are deleted. */
export async function keepSlotEntries(tx: Tx, channelIds: readonly number[]): Promise<void> {
  await inChunks(channelIds, async (chunk) => {
    const rows = await tx.query
      .selectFrom('slot_entries')
      .innerJoin('channels', 'channels.id', 'slot_entries.channel_id')
      .innerJoin('receivers', 'receivers.id', 'channels.receiver_id')
      .selectAll('slot_entries')
      .select(['channels.slot', 'receivers.device_type'])
      .where('slot_entries.channel_id', 'in', chunk)
      .orderBy('channels.slot')
      .execute()
    for (const { slot, device_type, ...row } of rows) {
      if (isEmptyEntry(toEntry(row))) continue
      await countPlaceholderChange(tx)
      const { id } = await tx.query
        .insertInto('placeholders')
        .values({ slot, kind: slotKindOf(device_type), created_at: now() })
        .returning('id')
        .executeTakeFirstOrThrow()
      await tx.query
        .updateTable('slot_entries')
        .set({ channel_id: null, placeholder_id: id })
        .where('id', '=', row.id)
        .execute()
    }
  })
}

/** Must be called by every transaction that changes placeholders or entries, so that other processes read them again. */
export async function countPlaceholderChange(tx: Tx): Promise<void> {
  await nextRevision(tx, 'placeholders')
}

type StoredEntry = Omit<SlotEntryRow, 'id'> & { readonly id: number }

function toEntry(row: StoredEntry): SlotEntry {
  const { planned_frequency, planned_profile, planned_transmitter, spares, ...fields } = row
  const planned = { frequency: planned_frequency, profile: planned_profile, transmitter: planned_transmitter }
  return { ...fields, planned, spares: JSON.parse(spares) }
}

function toRow(fields: SlotFields) {
  const { planned, spares, ...rest } = fieldsOf(fields)
  return {
    ...rest,
    planned_frequency: planned.frequency,
    planned_profile: planned.profile,
    planned_transmitter: planned.transmitter,
    spares: JSON.stringify(spares),
  }
}

/** Reads the titles of channels as they are in the database. */
export async function readTitles(reader: Reader): Promise<TitleOf> {
  const entries = await listSlotEntries(reader)
  const ofChannel = new Map(entries.map((entry) => [entry.channel_id, entry]))
  const performers = new Map((await listPerformers(reader)).map(({ id, name }) => [id, name]))
  return (receiver, channel) => {
    const { label = null, performer = null } = ofChannel.get(channel.id) ?? {}
    return titleOfChannel(receiver, channel, { performer: performers.get(performer ?? 0) ?? null, label })
  }
}
