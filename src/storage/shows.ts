/** Shows. Every transaction that changes them increments their counter first (see `revision.ts`). */

import type { Show } from '../domain/shows.ts'
import type { Reader, Tx } from './database.ts'

/** Returns all shows, ordered by id. */
export async function listShows(reader: Reader): Promise<Show[]> {
  const rows = await reader.selectFrom('shows').selectAll().orderBy('id').execute()
  return rows.map(toShow)
}

export async function findShow(reader: Reader, id: number): Promise<Show | undefined> {
  const row = await reader.selectFrom('shows').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toShow(row)
}

export async function insertShow(tx: Tx, show: Omit<Show, 'id'>): Promise<Show> {
  return toShow(await tx.query.insertInto('shows').values(toRow(show)).returningAll().executeTakeFirstOrThrow())
}

export async function saveShow(tx: Tx, { id, ...show }: Show): Promise<void> {
  await tx.query.updateTable('shows').set(toRow(show)).where('id', '=', id).execute()
}

export async function deleteShow(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('shows').where('id', '=', id).execute()
}

interface StoredShow extends Omit<Show, 'group_ids' | 'channel_ids'> {
  readonly group_ids: string
  readonly channel_ids: string | null
}

function toShow({ group_ids, channel_ids, ...row }: StoredShow): Show {
  return {
    ...row,
    group_ids: JSON.parse(group_ids),
    channel_ids: channel_ids === null ? null : JSON.parse(channel_ids),
  }
}

function toRow({ group_ids, channel_ids, ...show }: Omit<Show, 'id'>) {
  return {
    ...show,
    group_ids: JSON.stringify(group_ids),
    channel_ids: channel_ids === null ? null : JSON.stringify(channel_ids),
  }
}
