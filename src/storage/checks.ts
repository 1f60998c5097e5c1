/**
 * Line checks. Every transaction that adds or changes one increments their counter (see `revision.ts`). They are
 * deleted with their show.
 */

import type { Selectable } from 'kysely'
import type { Check } from '../domain/checks.ts'
import type { Reader, Tx } from './database.ts'
import type { CheckRow } from './schema/shows.ts'

export async function listChecks(reader: Reader, showId?: number): Promise<Check[]> {
  let query = reader.selectFrom('checks').selectAll()
  if (showId !== undefined) query = query.where('show_id', '=', showId)
  return (await query.orderBy('id').execute()).map(toCheck)
}

export async function listChecksSince(reader: Reader, since: number): Promise<Check[]> {
  const query = reader.selectFrom('checks').selectAll().where('revision', '>', since)
  return (await query.orderBy('revision').orderBy('id').execute()).map(toCheck)
}

export async function findOpenCheck(
  reader: Reader,
  { show_id, channel_id }: Pick<Check, 'show_id' | 'channel_id'>,
): Promise<Check | undefined> {
  const query = reader.selectFrom('checks').selectAll().where('show_id', '=', show_id)
  const row = await query.where('channel_id', '=', channel_id).where('result', 'is', null).executeTakeFirst()
  return row && toCheck(row)
}

export async function insertCheck(tx: Tx, revision: number, check: Omit<Check, 'id'>): Promise<Check> {
  const row = { ...toRow(check), revision }
  return toCheck(await tx.query.insertInto('checks').values(row).returningAll().executeTakeFirstOrThrow())
}

export async function saveCheck(tx: Tx, revision: number, { id, ...check }: Check): Promise<void> {
  const row = { ...toRow(check), revision }
  await tx.query.updateTable('checks').set(row).where('id', '=', id).execute()
}

function toRow({ by, ...check }: Omit<Check, 'id'>) {
  return { ...check, actor: by }
}

function toCheck({ actor, revision: _, ...row }: Selectable<CheckRow>): Check {
  return { ...row, by: actor }
}
