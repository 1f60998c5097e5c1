/** Tells one house from another where several share a Redis, however its database is addressed. */

import { randomInt } from 'node:crypto'
import type { Database, Reader, Tx } from './database.ts'

/** Made at the first call, and the same ever after. */
export async function getInstallationId(db: Database): Promise<number> {
  // A disk without room lets nothing be written, not even what is stored already.
  return (await findHouseId(db.read)) ?? db.transaction(createHouseId)
}

async function findHouseId(reader: Reader): Promise<number | undefined> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', 'house').executeTakeFirst()
  return row?.value
}

async function createHouseId(tx: Tx): Promise<number> {
  // Another process may have created it meanwhile.
  await tx.query
    .insertInto('meta')
    .values({ key: 'house', value: randomInt(2 ** 47) })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const { value } = await tx.query
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'house')
    .executeTakeFirstOrThrow()
  return value
}
