/** The review queue and the log of movements. */

import { isDeepStrictEqual } from 'node:util'
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import type {
  Movement,
  MovementDetails,
  QueueEntry,
  QueueStatus,
  ReviewedEntry,
} from '../domain/equipment/discovery.ts'
import { type DeviceReport, mergeReports } from '../domain/equipment/receiver.ts'
import type { Reader, Tx } from './database.ts'
import { chunkSize, inChangedChunks, inPages } from './rows.ts'
import type { MovementRow, QueueRow } from './schema/equipment.ts'
import type { Schema } from './schema.ts'

const maxQueueRows = 50_000
const maxMovementRows = 100_000

export interface Slice {
  readonly limit: number
  readonly offset: number
}

export interface QueueFilter {
  readonly status?: QueueStatus | undefined
  readonly manufacturer?: string | undefined
  readonly device_type?: QueueEntry['device_type'] | undefined
  readonly is_duplicate?: boolean | undefined
  readonly is_ip_conflict?: boolean | undefined
  /** Only entries discovered at this time or later (epoch ms). */
  readonly discovered_after?: number | undefined
  readonly discovered_before?: number | undefined
}

export interface MovementFilter {
  readonly acknowledged?: boolean | undefined
  readonly manufacturer?: string | undefined
}

export async function listEntries(reader: Reader, sinceRevision = -1): Promise<QueueEntry[]> {
  return inChangedChunks(reader, 'discovery_queue', sql`revision > ${sinceRevision}`, async (ids) => {
    const rows = await reader.selectFrom('discovery_queue').selectAll().where('id', 'in', ids).orderBy('id').execute()
    return rows.map(toEntry)
  })
}

/**
 * A pending entry is updated and keeps its `discovered_at`; a reviewed one is unchanged. Earlier reports are merged,
 * so that approval can create the complete receiver. Returns the stored entry.
 */
export async function savePending(
  tx: Tx,
  revision: number,
  entry: Omit<QueueEntry, 'id' | 'status'>,
  report: DeviceReport | null = null,
): Promise<QueueEntry> {
  const existing = await tx.query
    .selectFrom('discovery_queue')
    .selectAll()
    .where('manufacturer', '=', entry.manufacturer)
    .where('identity_key', '=', entry.identity_key)
    .executeTakeFirst()
  const previous = parseReport(existing?.seen ?? null)
  const merged = previous === null || report === null ? (report ?? previous) : mergeReports(previous, report)
  const row = {
    ...entry,
    is_duplicate: entry.is_duplicate ? 1 : 0,
    is_ip_conflict: entry.is_ip_conflict ? 1 : 0,
    metadata: JSON.stringify(entry.metadata ?? null),
    seen: merged === null ? null : JSON.stringify({ ...merged, metadata: undefined }),
    revision,
  } as const
  if (existing === undefined) {
    const inserted = await tx.query
      .insertInto('discovery_queue')
      .values({ ...row, status: 'pending' })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toEntry(inserted)
  }
  const refreshed = { ...existing, ...row, discovered_at: existing.discovered_at }
  const isUnchanged = isDeepStrictEqual({ ...refreshed, revision: existing.revision }, { ...existing })
  if (existing.status !== 'pending' || isUnchanged) return toEntry(existing)
  await tx.query.updateTable('discovery_queue').set(refreshed).where('id', '=', existing.id).execute()
  return toEntry(refreshed)
}

export async function countEntries(reader: Reader, filter: QueueFilter): Promise<number> {
  const { count } = await reader
    .selectFrom('discovery_queue')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(matchingEntries(filter))
    .executeTakeFirstOrThrow()
  return count
}

export async function listReviewed(reader: Reader, filter: QueueFilter, slice: Slice): Promise<ReviewedEntry[]> {
  const rows = await reader
    .selectFrom('discovery_queue')
    .selectAll()
    .where(matchingEntries(filter))
    .orderBy('id')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
  return rows.map((row) => {
    const { name = null, model_name: model = null } = parseReport(row.seen) ?? {}
    return { ...toEntry(row), name, model, reviewed_by: row.reviewer, reviewed_at: row.reviewed_at }
  })
}

/** Returns the entries with these ids, each with the merged reports of its device if they were stored. */
export async function findEntries(
  reader: Reader,
  ids: readonly number[],
): Promise<Map<number, { entry: QueueEntry; report: DeviceReport | null }>> {
  const rows = await reader
    .selectFrom('discovery_queue')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, { entry: toEntry(row), report: parseReport(row.seen) }]))
}

/** Devices that are not receivers yet, so that a scan may find them again. */
export async function listUnimported(
  reader: Reader,
  manufacturers: readonly string[],
): Promise<{ entry: Omit<QueueEntry, 'metadata'>; report: DeviceReport | null }[]> {
  if (manufacturers.length === 0) return []
  const rows = await inPages((after) =>
    reader
      .selectFrom('discovery_queue')
      .selectAll()
      .where('status', '!=', 'imported')
      .where('manufacturer', 'in', [...manufacturers])
      .where('id', '>', after)
      .orderBy('id')
      .limit(chunkSize)
      .execute(),
  )
  return rows.map((row) => ({ entry: toEntry(row), report: parseReport(row.seen) }))
}

export interface Reviewer {
  readonly id: number | null
  readonly name: string
  readonly at: number
}

export async function saveReview(
  tx: Tx,
  revision: number,
  id: number,
  review: { status: QueueStatus; is_duplicate: boolean; existing_device: number | null; reviewer: Reviewer | null },
): Promise<void> {
  const { status, is_duplicate, existing_device, reviewer } = review
  const reviewed = {
    reviewed_by: reviewer?.id ?? null,
    reviewer: reviewer?.name ?? null,
    reviewed_at: reviewer?.at ?? null,
  }
  await tx.query
    .updateTable('discovery_queue')
    .set({ status, is_duplicate: is_duplicate ? 1 : 0, existing_device, ...reviewed, revision })
    .where('id', '=', id)
    .execute()
}

/**
 * Deletes imported entries first, oldest first, then pending entries, newest first. Rejected entries stay, because
 * their devices would otherwise be queued again. Returns the deleted ids.
 */
export async function trimQueue(tx: Tx, limit = maxQueueRows): Promise<number[]> {
  const excess = (await countEntries(tx.query, {})) - limit
  if (excess <= 0) return []
  const { rows } = await sql<{ id: number }>`
    delete from discovery_queue where id in (
      select id from discovery_queue where status in ('imported', 'pending')
      order by case when status = 'imported' then 0 else 1 end, case when status = 'imported' then id else -id end
      limit ${excess}
    ) returning id`.execute(tx.query)
  return rows.map(({ id }) => id)
}

/** A repetition of a movement that is not acknowledged increments only its counter. */
export async function logMovement(
  tx: Tx,
  movement: Omit<Movement, 'id' | 'times_seen' | 'acknowledged'> & {
    readonly old_location?: number | null
    readonly new_location?: number | null
  },
): Promise<Movement> {
  const repeated = await tx.query
    .updateTable('movements')
    .set((eb) => ({ times_seen: eb('times_seen', '+', 1) }))
    .where('device', '=', movement.device)
    .where('old_ip', 'is not distinct from', movement.old_ip)
    .where('new_ip', 'is not distinct from', movement.new_ip)
    .where('old_location', 'is not distinct from', movement.old_location ?? null)
    .where('new_location', 'is not distinct from', movement.new_location ?? null)
    .where('movement_type', '=', movement.movement_type)
    .where('acknowledged', '=', 0)
    .returningAll()
    .executeTakeFirst()
  if (repeated !== undefined) return toMovement(repeated)
  const inserted = await tx.query
    .insertInto('movements')
    .values({ ...movement, times_seen: 1, acknowledged: 0 })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toMovement(inserted)
}

export async function listMovements(
  reader: Reader,
  { acknowledged }: { readonly acknowledged?: boolean } = {},
): Promise<Movement[]> {
  return inPages(async (after) => {
    let query = reader.selectFrom('movements').selectAll().where('id', '>', after).orderBy('id').limit(chunkSize)
    if (acknowledged !== undefined) query = query.where('acknowledged', '=', acknowledged ? 1 : 0)
    return (await query.execute()).map(toMovement)
  })
}

export async function countMovements(reader: Reader, filter: MovementFilter): Promise<number> {
  const { count } = await reader
    .selectFrom('movements')
    .innerJoin('receivers', 'receivers.id', 'movements.device')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(matchingMovements(filter))
    .executeTakeFirstOrThrow()
  return count
}

export async function listMovementDetails(
  reader: Reader,
  filter: MovementFilter,
  slice: Slice,
): Promise<MovementDetails[]> {
  const rows = await reader
    .selectFrom('movements')
    .innerJoin('receivers', 'receivers.id', 'movements.device')
    .leftJoin('locations as old_place', 'old_place.id', 'movements.old_location')
    .leftJoin('locations as new_place', 'new_place.id', 'movements.new_location')
    .selectAll('movements')
    .select([
      'receivers.name',
      'receivers.serial_number',
      'receivers.manufacturer',
      'old_place.name as old_place',
      'new_place.name as new_place',
    ])
    .where(matchingMovements(filter))
    .orderBy('movements.id')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
  return rows.map(({ name, serial_number, manufacturer, old_place, new_place, ...row }) => ({
    ...toMovement(row),
    receiver: { id: row.device, name, serial_number },
    manufacturer,
    old_location: toLocation(row.old_location, old_place),
    new_location: toLocation(row.new_location, new_place),
    acknowledged_by: row.acknowledger,
  }))
}

export async function findMovements(reader: Reader, ids: readonly number[]): Promise<Map<number, boolean>> {
  const rows = await reader
    .selectFrom('movements')
    .select(['id', 'acknowledged'])
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map(({ id, acknowledged }) => [id, acknowledged === 1]))
}

export async function acknowledgeMovements(
  tx: Tx,
  ids: readonly number[],
  by: Pick<Reviewer, 'id' | 'name'>,
): Promise<number[]> {
  const rows = await tx.query
    .updateTable('movements')
    .set({ acknowledged: 1, acknowledged_by: by.id, acknowledger: by.name })
    .where('id', 'in', [...ids])
    .where('acknowledged', '=', 0)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Limits the size of the log. Deletes acknowledged movements first, oldest first. */
export async function trimMovements(tx: Tx, limit = maxMovementRows): Promise<void> {
  const { count } = await tx.query
    .selectFrom('movements')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count <= limit) return
  await sql`
    delete from movements where id in (
      select id from movements order by acknowledged desc, id limit ${count - limit}
    )`.execute(tx.query)
}

function matchingEntries(filter: QueueFilter) {
  return (eb: ExpressionBuilder<Schema, 'discovery_queue'>) => {
    const { status, manufacturer, device_type, is_duplicate, is_ip_conflict } = filter
    const { discovered_after: after, discovered_before: before } = filter
    return eb.and([
      ...(status === undefined ? [] : [eb('status', '=', status)]),
      ...(manufacturer === undefined ? [] : [eb('manufacturer', '=', manufacturer)]),
      ...(device_type === undefined ? [] : [eb('device_type', '=', device_type)]),
      ...(is_duplicate === undefined ? [] : [eb('is_duplicate', '=', is_duplicate ? 1 : 0)]),
      ...(is_ip_conflict === undefined ? [] : [eb('is_ip_conflict', '=', is_ip_conflict ? 1 : 0)]),
      ...(after === undefined ? [] : [eb('discovered_at', '>=', after)]),
      ...(before === undefined ? [] : [eb('discovered_at', '<', before)]),
    ])
  }
}

function matchingMovements({ acknowledged, manufacturer }: MovementFilter) {
  return (eb: ExpressionBuilder<Schema, 'movements' | 'receivers'>) =>
    eb.and([
      ...(acknowledged === undefined ? [] : [eb('movements.acknowledged', '=', acknowledged ? 1 : 0)]),
      ...(manufacturer === undefined ? [] : [eb('receivers.manufacturer', '=', manufacturer)]),
    ])
}

/** Returns a location for display. The name of a deleted location is unknown. */
function toLocation(id: number | null, name: string | null): MovementDetails['old_location'] {
  return id === null ? null : { id, name: name ?? 'deleted location' }
}

function parseReport(json: string | null): DeviceReport | null {
  return json === null ? null : (JSON.parse(json) as DeviceReport)
}

function toEntry(row: Selectable<QueueRow>): QueueEntry {
  const { reviewed_by: _, reviewed_at: __, revision: ___, seen: ____, reviewer: _____, ...fields } = row
  return {
    ...fields,
    is_duplicate: row.is_duplicate === 1,
    is_ip_conflict: row.is_ip_conflict === 1,
    metadata: JSON.parse(row.metadata),
  }
}

function toMovement(row: Selectable<MovementRow>): Movement {
  const { old_location: _, new_location: __, acknowledged_by: ___, acknowledger: ____, ...fields } = row
  return { ...fields, acknowledged: row.acknowledged === 1 }
}
