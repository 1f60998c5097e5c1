/** Changes records that every process keeps in memory. */

import type { Database, Tx } from '../storage/database.ts'
import { nextRevision } from '../storage/revision.ts'

interface EditDeps {
  readonly db: Database
  /** Loads the stored changes immediately. */
  reload(): Promise<void>
}

/** Runs a change in a transaction that increases a counter, so that all processes load it, and loads it here at once. */
export async function editRecords<T>(
  { db, reload }: EditDeps,
  counter: Parameters<typeof nextRevision>[1],
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const result = await db.transaction(async (tx) => {
    await nextRevision(tx, counter)
    return work(tx)
  })
  await reload()
  return result
}
