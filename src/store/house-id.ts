/** Tells one house from another where several share a Redis, however its database is addressed. */

import { randomInt } from 'node:crypto'
import type { Database } from './database.ts'

/** Made at the first call, and the same ever after. */
export async function getHouseId(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
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
  })
}
