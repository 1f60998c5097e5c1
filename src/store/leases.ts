/**
 * Who may poll a source. A lease ends by itself when it is not renewed; its epoch rises with every change of hands, so
 * that somebody who was asleep meanwhile can be told apart. All times are on the database's clock.
 */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'

interface Lease {
  readonly owner: string
  readonly epoch: number
  readonly expires_at: number
}

const now = sql<number>`epoch_ms()`

/** Takes the lease or prolongs one's own; null while somebody else holds it. */
export async function acquireLease(
  tx: Tx,
  source: string,
  owner: string,
  ttlMs: number,
): Promise<{ epoch: number } | null> {
  const expires_at = sql<number>`epoch_ms() + ${sql.lit(Math.round(ttlMs))}`
  const lease = await tx.query
    .insertInto('leases')
    .values({ source, owner, epoch: 1, expires_at })
    .onConflict((conflict) =>
      conflict
        .column('source')
        .doUpdateSet((eb) => ({
          owner,
          expires_at,
          epoch: eb
            .case()
            .when('leases.owner', '=', owner)
            .then(eb.ref('leases.epoch'))
            .else(eb('leases.epoch', '+', 1))
            .end(),
        }))
        .where((eb) =>
          eb.or([eb('leases.owner', 'is', null), eb('leases.owner', '=', owner), eb('leases.expires_at', '<=', now)]),
        ),
    )
    .returning('epoch')
    .executeTakeFirst()
  return lease ?? null
}

/** Gives it back at once; nothing happens when `owner` does not hold it. */
export async function releaseLease(tx: Tx, source: string, owner: string): Promise<void> {
  await tx.query
    .updateTable('leases')
    .set({ owner: null, expires_at: 0 })
    .where('source', '=', source)
    .where('owner', '=', owner)
    .execute()
}

export async function leaseHolder(reader: Reader, source: string): Promise<Lease | null> {
  const lease = await reader
    .selectFrom('leases')
    .select(['owner', 'epoch', 'expires_at'])
    .where('source', '=', source)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return lease === undefined || lease.owner === null ? null : { ...lease, owner: lease.owner }
}

/** Nobody else can take it before the transaction ends. */
export async function isLeaseHeld(tx: Tx, source: string, owner: string, epoch: number): Promise<boolean> {
  const query = tx.query
    .selectFrom('leases')
    .select('epoch')
    .where('source', '=', source)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
    .where('expires_at', '>', now)
  // A SQLite transaction is alone anyway.
  const lease = await (tx.dialect === 'postgres' ? query.forShare() : query).executeTakeFirst()
  return lease !== undefined
}
