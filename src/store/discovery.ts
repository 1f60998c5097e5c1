/** The review queue and the log of movements. */

import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import type { Movement, QueueEntry } from '../model/discovery.ts'
import type { Reader, Tx } from './database.ts'
import { chunkSize, inPages } from './rows.ts'
import type { MovementRow, QueueRow } from './schema.ts'

/** By id; only those changed after `sinceRevision`. */
export async function listEntries(reader: Reader, sinceRevision = -1): Promise<QueueEntry[]> {
  return inPages(async (after) => {
    const rows = await reader
      .selectFrom('discovery_queue')
      .selectAll()
      .where('revision', '>', sinceRevision)
      .where('id', '>', after)
      .orderBy('id')
      .limit(chunkSize)
      .execute()
    return rows.map(toEntry)
  })
}

/**
 * Puts a device up for review, or brings its entry up to date while that is pending. `discovered_at` stays the time it
 * was first put there; an entry that has been reviewed stays as it is. Returns the entry as it now stands.
 */
export async function savePending(
  tx: Tx,
  revision: number,
  entry: Omit<QueueEntry, 'id' | 'status'>,
): Promise<QueueEntry> {
  const row = {
    ...entry,
    is_duplicate: entry.is_duplicate ? 1 : 0,
    is_ip_conflict: entry.is_ip_conflict ? 1 : 0,
    metadata: JSON.stringify(entry.metadata ?? null),
    revision,
  } as const
  const known = await tx.query
    .selectFrom('discovery_queue')
    .selectAll()
    .where('manufacturer', '=', entry.manufacturer)
    .where('identity_key', '=', entry.identity_key)
    .executeTakeFirst()
  if (known === undefined) {
    const inserted = await tx.query
      .insertInto('discovery_queue')
      .values({ ...row, status: 'pending' })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toEntry(inserted)
  }
  const refreshed = { ...known, ...row, discovered_at: known.discovered_at }
  const isUnchanged = isDeepStrictEqual({ ...refreshed, revision: known.revision }, { ...known })
  if (known.status !== 'pending' || isUnchanged) return toEntry(known)
  await tx.query.updateTable('discovery_queue').set(refreshed).where('id', '=', known.id).execute()
  return toEntry(refreshed)
}

/** A repeat of a movement that nobody has acknowledged yet is counted with it. */
export async function logMovement(
  tx: Tx,
  movement: Omit<Movement, 'id' | 'times_seen' | 'acknowledged'>,
): Promise<Movement> {
  const repeated = await tx.query
    .updateTable('movements')
    .set((eb) => ({ times_seen: eb('times_seen', '+', 1) }))
    .where('device', '=', movement.device)
    .where('old_ip', 'is not distinct from', movement.old_ip)
    .where('new_ip', 'is not distinct from', movement.new_ip)
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

/** By id. */
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

function toEntry(row: Selectable<QueueRow>): QueueEntry {
  const { reviewed_by: _, reviewed_at: __, revision: ___, ...fields } = row
  return {
    ...fields,
    is_duplicate: row.is_duplicate === 1,
    is_ip_conflict: row.is_ip_conflict === 1,
    metadata: JSON.parse(row.metadata),
  }
}

function toMovement(row: Selectable<MovementRow>): Movement {
  const { old_location: _, new_location: __, acknowledged_by: ___, ...fields } = row
  return { ...fields, acknowledged: row.acknowledged === 1 }
}
