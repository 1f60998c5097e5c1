/** How far remote write has sent the history. */

import type { Reader, Tx } from './database.ts'

const key = 'remote_write'

/** Returns the end of the last acknowledged interval in epoch seconds; null if nothing was sent yet. */
export async function findAcknowledged(reader: Reader): Promise<number | null> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}

export async function saveAcknowledged(tx: Tx, time: number): Promise<void> {
  await tx.query
    .insertInto('meta')
    .values({ key, value: time })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: time }))
    .execute()
}
