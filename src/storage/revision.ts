/**
 * A counter that every transaction on receivers, channels, placeholders or the discovery queue increments. Rows store
 * the revision of their last change, so that other processes can query changes. Incrementing locks the counter's row until the commit,
 * which serializes such transactions on PostgreSQL; SQLite always serializes writes.
 */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'

/**
 * `revision` covers receivers, placeholders and the queue. Alerts, connections, shows, checks, scans, sources of receivers,
 * notification channels with their rules, deliveries, and events have their own counters, to avoid lock contention. A
 * transaction that increments `events` too does so after all others, and `notification_deliveries` last, so that no two
 * transactions wait for each other. Changes of placeholders increment `placeholders` too, so that they are read only then.
 */
type Counter =
  | 'revision'
  | 'alerts'
  | 'connections'
  | 'shows'
  | 'checks'
  | 'scans'
  | 'placeholders'
  | 'receiver_sources'
  | 'notifications'
  | 'notification_deliveries'
  | 'events'

/**
 * Increments the counter and returns its new value. Must be the first statement of the transaction, except for `events`
 * and `notification_deliveries`.
 */
export async function nextRevision(tx: Tx, counter: Counter = 'revision'): Promise<number> {
  const { value } = await tx.query
    .updateTable('meta')
    .set({ value: sql<number>`value + 1` })
    .where('key', '=', counter)
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}

/**
 * Returns the counter's value. Call it before listing rows, so that rows committed in between are listed twice rather
 * than missed.
 */
export async function currentRevision(reader: Reader, counter: Counter = 'revision'): Promise<number> {
  const { value } = await reader.selectFrom('meta').select('value').where('key', '=', counter).executeTakeFirstOrThrow()
  return value
}
