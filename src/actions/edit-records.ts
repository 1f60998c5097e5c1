/** Changes records that every process keeps in memory. */

import type { Service } from '../service.ts'
import type { Tx } from '../storage/database.ts'
import { nextRevision } from '../storage/revision.ts'

/** Runs a change in a transaction that increases a counter, so that all processes load it, and loads it here at once. */
export async function editRecords<T>(
  service: Service,
  counter: Parameters<typeof nextRevision>[1],
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { db } = service
  const result = await db.transaction(async (tx) => {
    await nextRevision(tx, counter)
    return work(tx)
  })
  await service.reload()
  return result
}
