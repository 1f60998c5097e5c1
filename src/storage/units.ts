/** Transmitters and in-ear packs. Those that are reported as devices of their own are stored with their last report. */

import { type RawBuilder, sql } from 'kysely'
import type { UnitType } from '../contract/values.ts'
import type { Unit, UnitDraft } from '../domain/equipment/hardware.ts'
import type { TransmitterDetails } from '../domain/equipment/receiver.ts'
import type { Reader, Tx } from './database.ts'
import { chunkSize, executeForRows, inChangedChunks, inChunks } from './rows.ts'
import type { UnitRow } from './schema/equipment.ts'

export async function listUnits(reader: Reader, sinceRevision = -1): Promise<Unit[]> {
  return inChangedChunks(reader, 'units', sql`revision > ${sinceRevision}`, async (ids) => {
    const rows = await reader.selectFrom('units').selectAll().where('id', 'in', ids).orderBy('id').execute()
    return rows.map(toUnit)
  })
}

export async function insertUnits(tx: Tx, revision: number, drafts: readonly UnitDraft[]): Promise<Unit[]> {
  const inserted: Unit[] = []
  await inChunks(drafts, async (chunk) => {
    const rows = chunk.map((draft) => toRow(draft, revision))
    const stored = await executeForRows(
      tx,
      columns,
      rows,
      (input) => sql<{ id: number }>`
        insert into units (${names(columns)}) select ${names(columns)} from ${input} where true returning id`,
    )
    // Ids increase in the order of the rows, but the order of the returned rows is not guaranteed.
    const ids = stored.map(({ id }) => id).sort((a, b) => a - b)
    for (const [index, draft] of chunk.entries()) inserted.push({ id: ids[index] ?? 0, ...draft })
  })
  return inserted
}

export async function saveUnits(tx: Tx, revision: number, units: readonly Unit[]): Promise<void> {
  const assignments = Object.keys(columns).map((name) => sql`${sql.ref(name)} = ${sql.ref(`input.${name}`)}`)
  await inChunks(units, async (chunk) => {
    const rows = chunk.map(({ id, ...unit }) => ({ id, ...toRow(unit, revision) }))
    await executeForRows(
      tx,
      { id: 'bigint', ...columns },
      rows,
      (input) => sql`update units set ${sql.join(assignments)} from ${input} where units.id = input.id`,
    )
  })
}

/** Call it before units are put on channels that other units may still have. */
export async function releaseUnits(tx: Tx, ids: readonly number[]): Promise<void> {
  await inChunks(ids, async (chunk) => {
    await tx.query.updateTable('units').set({ channel_id: null }).where('id', 'in', chunk).execute()
  })
}

/** For each manufacturer, so that equipment that keeps renaming its packs cannot fill the table. */
const keptPacks = 1000

/**
 * Removes the packs that have been without a channel for longest and were never assigned. Returns their ids. The removal is
 * recorded for the other processes.
 */
export async function trimPacks(tx: Tx, revision: number, manufacturer: string): Promise<readonly number[]> {
  const rows = await tx.query
    .selectFrom('units')
    .select('id')
    .where('manufacturer', '=', manufacturer)
    .where('channel_id', 'is', null)
    .where('api_device_id', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('assignments').select('id').whereRef('wireless_unit', '=', 'units.id'))),
    )
    .orderBy('revision', 'desc')
    .orderBy('id', 'desc')
    .offset(keptPacks)
    .limit(chunkSize)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return ids
  await tx.query.deleteFrom('units').where('id', 'in', ids).execute()
  const removals = ids.map((unit_id) => ({ unit_id, revision }))
  await tx.query.insertInto('unit_removals').values(removals).execute()
  return ids
}

export async function listUnitRemovals(reader: Reader, sinceRevision: number): Promise<number[]> {
  const rows = await reader
    .selectFrom('unit_removals')
    .select('unit_id')
    .where('revision', '>', sinceRevision)
    .execute()
  return rows.map(({ unit_id }) => unit_id)
}

type StoredUnit = Omit<UnitRow, 'id'> & { readonly id: number }

const columns = {
  manufacturer: 'text',
  channel_id: 'bigint',
  receiver_id: 'bigint',
  api_device_id: 'text',
  name: 'text',
  model: 'text',
  serial_number: 'text',
  upstream_slot: 'bigint',
  device_type: 'text',
  battery: 'bigint',
  details: 'text',
  is_online: 'bigint',
  revision: 'bigint',
} as const satisfies Record<keyof Omit<UnitRow, 'id'>, 'bigint' | 'text'>

function names(record: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  return sql.join(Object.keys(record).map((name) => sql.ref(name)))
}

function toRow(unit: UnitDraft, revision: number): Omit<UnitRow, 'id'> {
  const details = unit.details && JSON.stringify(unit.details)
  return { revision, ...unit, details, is_online: unit.is_online ? 1 : 0 }
}

function toUnit({ revision: _, ...row }: StoredUnit): Unit {
  const details = row.details === null ? null : (JSON.parse(row.details) as TransmitterDetails)
  return { ...row, device_type: row.device_type as UnitType, details, is_online: row.is_online === 1 }
}
