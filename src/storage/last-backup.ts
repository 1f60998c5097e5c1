/** When a backup was last written with `micwatch backup`. The time is stored in the database that was backed up. */

import type { Reader, Tx } from './database.ts'

const key = 'last_backup'

export async function saveLastBackup({ query }: Tx, time: number): Promise<void> {
  await query
    .insertInto('meta')
    .values({ key, value: time })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: time }))
    .execute()
}

/** Returns null if no backup was written. */
export async function findLastBackup(reader: Reader): Promise<number | null> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}
