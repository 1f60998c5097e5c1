import type { Silence } from '../domain/alerts/silences.ts'
import type { Reader, Tx } from './database.ts'

export async function listSilences(reader: Reader, now: number): Promise<Silence[]> {
  const rows = await reader.selectFrom('silences').selectAll().where('until', '>', now).orderBy('id').execute()
  return rows.map(({ channels, groups, kinds, created_by: by, ...row }) => ({
    ...row,
    channels: JSON.parse(channels),
    groups: JSON.parse(groups),
    kinds: JSON.parse(kinds),
    by,
  }))
}

/** Stores a silence, and deletes those that have ended before it was created. */
export async function insertSilence(
  tx: Tx,
  { channels, groups, kinds, by, ...silence }: Omit<Silence, 'id'>,
): Promise<Silence> {
  await tx.query.deleteFrom('silences').where('until', '<=', silence.created_at).execute()
  const lists = {
    channels: JSON.stringify(channels),
    groups: JSON.stringify(groups),
    kinds: JSON.stringify(kinds),
  }
  const { id } = await tx.query
    .insertInto('silences')
    .values({ ...silence, ...lists, created_by: by })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, channels, groups, kinds, by, ...silence }
}

/** Returns false if there is no such silence, or it has ended. */
export async function deleteSilence(tx: Tx, id: number, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx.query
    .deleteFrom('silences')
    .where('id', '=', id)
    .where('until', '>', now)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
