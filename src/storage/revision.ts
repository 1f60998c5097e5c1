/**
 * Counters that announce stored changes. Rows store the value of their last change, so that other processes can query
 * changes. Incrementing a counter locks its row until the commit, which serializes such transactions on PostgreSQL;
 * SQLite always serializes writes.
 *
 * A transaction that stores nothing but readings, times of last reports and conditions of the receivers of one
 * manufacturer increments the manufacturer's counter of readings. A transaction that changes anything else of
 * receivers, channels, placeholders or the discovery queue increments `revision` and locks all counters of readings, in
 * the order of their keys. See docs/decisions/0004-revisions.md.
 */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'

/**
 * `revision` covers receivers, placeholders and the queue. Alerts, connections, shows, checks, scans, frequency plans, sources of
 * receivers, notification channels with their rules, deliveries, listeners, and events have their own counters, to avoid lock
 * contention. A transaction that increments `events` too does so after all others, and `notification_deliveries` last,
 * so that no two transactions wait for each other. Changes to placeholders increment `placeholders` too, so that they
 * are read only then. `lists` and `cast` are incremented at the commit (`list-changes.ts`).
 */
type Counter =
  | 'revision'
  | 'alerts'
  | 'connections'
  | 'shows'
  | 'checks'
  | 'scans'
  | 'plans'
  | 'placeholders'
  | 'receiver_sources'
  | 'notifications'
  | 'notification_deliveries'
  | 'events'
  | 'listeners'
  | 'lists'
  | 'cast'
  | 'versions'

const readingsPrefix = 'readings:'

/**
 * Increments the counter and returns its new value. Must be the first statement of the transaction, except for `events`
 * and `notification_deliveries`.
 */
export async function nextRevision(tx: Tx, counter: Counter = 'revision'): Promise<number> {
  if (counter === 'revision') return (await nextRevisions(tx)).revision
  return increment(tx, counter)
}

/**
 * Increments `revision`, locks all counters of readings, and returns all values. Must be the first statement of the
 * transaction.
 */
export async function nextRevisions(tx: Tx): Promise<Revisions> {
  const revision = await increment(tx, 'revision')
  const counters = tx.query
    .selectFrom('meta')
    .select(['key', 'value'])
    .where('key', 'like', `${readingsPrefix}%`)
    .orderBy('key')
  const rows = await (tx.dialect === 'postgres' ? counters.forUpdate() : counters).execute()
  return toRevisions([...rows, { key: 'revision', value: revision }])
}

/**
 * Increments the counter of readings of a manufacturer, and returns its new value and that of `revision`. Must be the
 * first statement of the transaction. Until it commits, no other transaction can change receivers of this
 * manufacturer.
 */
export async function nextReadingRevision(
  tx: Tx,
  manufacturer: string,
): Promise<{ readonly revision: number; readonly readings: number }> {
  const readings = await increment(tx, `${readingsPrefix}${manufacturer}`)
  return { readings, revision: await currentRevision(tx.query) }
}

/** Creates the counters of readings that do not exist. The transaction must have incremented `revision`. */
export async function addReadingCounters(tx: Tx, manufacturers: readonly string[]): Promise<void> {
  const rows = [...new Set(manufacturers)].map((manufacturer) => ({
    key: `${readingsPrefix}${manufacturer}`,
    value: 0,
  }))
  if (rows.length === 0) return
  await tx.query
    .insertInto('meta')
    .values(rows)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}

async function increment(tx: Tx, key: string): Promise<number> {
  const { value } = await tx.query
    .updateTable('meta')
    .set({ value: sql<number>`value + 1` })
    .where('key', '=', key)
    .returning('value')
    .executeTakeFirstOrThrow()
  return value
}

/** Call it before listing rows, so that rows committed in between are listed twice rather than missed. */
export async function currentRevision(reader: Reader, counter: Counter = 'revision'): Promise<number> {
  const { value } = await reader.selectFrom('meta').select('value').where('key', '=', counter).executeTakeFirstOrThrow()
  return value
}

/** Returns the values of `revision` and of the counters of readings. Call it before listing rows. */
export async function currentRevisions(reader: Reader): Promise<Revisions> {
  const rows = await reader
    .selectFrom('meta')
    .select(['key', 'value'])
    .where((eb) => eb.or([eb('key', '=', 'revision'), eb('key', 'like', `${readingsPrefix}%`)]))
    .execute()
  return toRevisions(rows)
}

function toRevisions(rows: readonly { readonly key: string; readonly value: number }[]): Revisions {
  const readings = new Map<string, number>()
  let revision = 0
  for (const { key, value } of rows) {
    if (key === 'revision') revision = value
    else readings.set(key.slice(readingsPrefix.length), value)
  }
  return { revision, readings }
}

/** The database's counters that announce changes to receivers; see `storage/revision.ts`. */
export interface Revisions {
  readonly revision: number
  /** By manufacturer. */
  readonly readings: ReadonlyMap<string, number>
}
