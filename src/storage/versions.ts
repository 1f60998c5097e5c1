/**
 * The versions of records that people edit. One counter numbers all edits of an installation, so a version never
 * returns, even if a record is removed and added again.
 */

import { sql } from 'kysely'
import type { Tx } from './database.ts'
import type { Schema } from './schema.ts'

/**
 * Returns the version for an edit. Locks the counter until the commit, so call it after all counters of revisions but
 * `events` and `notification_deliveries` have been incremented.
 */
export async function nextVersion({ query }: Tx): Promise<number> {
  const { value } = await query
    .updateTable('meta')
    .set({ value: sql<number>`value + 1` })
    .where('key', '=', 'versions')
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}

/** The tables with a column `version`. */
export type VersionedTable = {
  [Table in keyof Schema]: 'version' extends keyof Schema[Table] ? Table : never
}[keyof Schema]

/** Stores these columns of a row with a new version, which it returns. An edit that changes nothing keeps the version. */
export async function saveEdit(
  tx: Tx,
  table: VersionedTable,
  id: number,
  row: Readonly<Record<string, string | number | null>>,
): Promise<number> {
  const { version: _, ...values } = row
  const names = sql.join(['version', ...Object.keys(values)].map((name) => sql.ref(name)))
  const { rows } = await sql<typeof row>`select ${names} from ${sql.table(table)} where id = ${id}`.execute(tx.query)
  const [stored] = rows
  if (stored !== undefined && Object.entries(values).every(([name, value]) => stored[name] === value)) {
    return Number(stored.version)
  }
  const version = await nextVersion(tx)
  const changes = Object.entries({ ...values, version }).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  await sql`update ${sql.table(table)} set ${sql.join(changes)} where id = ${id}`.execute(tx.query)
  return version
}
