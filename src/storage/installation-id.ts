/** The id that distinguishes installations that share a Redis server. It does not depend on the database URL. */

import { randomInt } from 'node:crypto'
import type { Database, Reader, Tx } from './database.ts'

/** Returns the installation's id. The first call creates it; it never changes afterwards. */
export async function getInstallationId(db: Database): Promise<number> {
  // Reads first, because a full disk rejects every write.
  return (await findInstallationId(db.read)) ?? db.transaction(createInstallationId)
}

async function findInstallationId(reader: Reader): Promise<number | undefined> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', 'house').executeTakeFirst()
  return row?.value
}

async function createInstallationId(tx: Tx): Promise<number> {
  // Another process may have created the id in the meantime.
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
