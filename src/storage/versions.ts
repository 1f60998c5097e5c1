/**
 * The versions of records that people edit. One counter numbers all edits of an installation, so a version never
 * returns, even if a record is removed and added again.
 */

import { sql } from 'kysely'
import type { Tx } from './database.ts'

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
