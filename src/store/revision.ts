/**
 * One counter, raised by every transaction that touches receivers, channels or the discovery queue. Rows carry the
 * revision of their last change, so that another process can ask what changed since. Raising it holds its row until
 * the commit: on PostgreSQL that makes such transactions follow one another, as SQLite's always do.
 */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'

/** `revision` is the receivers' and the queue's; alerts and connections have one each, which hinder nobody else. */
type Counter = 'revision' | 'alerts' | 'connections'

/** Call it before anything else in the transaction. */
export async function nextRevision(tx: Tx, counter: Counter = 'revision'): Promise<number> {
  const { value } = await tx.query
    .updateTable('meta')
    .set({ value: sql<number>`value + 1` })
    .where('key', '=', counter)
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}

/** Ask before listing: what is committed between the two is then listed twice rather than missed. */
export async function currentRevision(reader: Reader, counter: Counter = 'revision'): Promise<number> {
  const { value } = await reader.selectFrom('meta').select('value').where('key', '=', counter).executeTakeFirstOrThrow()
  return value
}
