/**
 * Who may poll a source. A lease ends by itself when it is not renewed; its epoch rises with every change of hands, so
 * that somebody who was asleep meanwhile can be told apart. All times are on the database's clock, which wall clocks
 * that are set do not move where that can be had: see `openDatabase`.
 */

import { sql } from 'kysely'
import { type HeldLease, nodePrefix, pollerPrefix } from '../model/node.ts'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'

interface Lease {
  readonly owner: string
  readonly epoch: number
  readonly expires_at: number
}

const now = sql<number>`epoch_ms()`

/** None is given for longer. What seems to last longer was given before the clock was set back, or began anew. */
const longestMs = 60_000
const beyondAll = sql<number>`epoch_ms() + ${sql.lit(longestMs)}`

/** The same of a lease that was read from elsewhere; times of one clock. */
export function isRunning(expires_at: number, now: number): boolean {
  return expires_at > now && expires_at <= now + longestMs
}

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
          eb.or([
            eb('leases.owner', 'is', null),
            eb('leases.owner', '=', owner),
            eb('leases.expires_at', '<=', now),
            eb('leases.expires_at', '>', beyondAll),
          ]),
        ),
    )
    .returning('epoch')
    .executeTakeFirst()
  return lease ?? null
}

/**
 * Like `acquireLease`. `idleMs`: how long nobody has held it since its last holder, at least; null where nobody ever did.
 * What a holder did until it lost the lease, or was killed, it may have done until then.
 */
export async function takeLease(
  tx: Tx,
  source: string,
  owner: string,
  ttlMs: number,
): Promise<{ epoch: number; idleMs: number | null } | null> {
  const before = await tx.query
    .selectFrom('leases')
    .select(['epoch', sql<number>`epoch_ms() - expires_at`.as('idle_ms')])
    .where('source', '=', source)
    .executeTakeFirst()
  const lease = await acquireLease(tx, source, owner, ttlMs)
  if (lease === null) return null
  // PostgreSQL lets somebody else have it between the two statements.
  if (lease.epoch !== (before?.epoch ?? 0) + 1) return { ...lease, idleMs: 0 }
  return { ...lease, idleMs: before === undefined ? null : Math.max(0, before.idle_ms) }
}

/**
 * Prolongs one's own, those that have run out unnoticed too as long as nobody took them. Gives the epoch of each that is
 * still one's own.
 */
export async function renewLeases(
  tx: Tx,
  sources: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<ReadonlyMap<string, number>> {
  const expires_at = sql<number>`epoch_ms() + ${sql.lit(Math.round(ttlMs))}`
  const renewed = new Map<string, number>()
  await inChunks(sources, async (chunk) => {
    const rows = await tx.query
      .updateTable('leases')
      .set({ expires_at })
      .where('source', 'in', chunk)
      .where('owner', '=', owner)
      .returning(['source', 'epoch'])
      .execute()
    for (const { source, epoch } of rows) renewed.set(source, epoch)
  })
  return renewed
}

/** By source; those that are held, of processes on themselves too. */
export async function listHeldLeases(reader: Reader): Promise<HeldLease[]> {
  const rows = await reader
    .selectFrom('leases')
    .select(['source', 'owner', 'epoch', sql<number>`expires_at - epoch_ms()`.as('left_ms')])
    .where('owner', 'is not', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', beyondAll)
    .orderBy('source')
    .execute()
  return rows.map(({ source, owner, epoch, left_ms }) => {
    return { source, owner: owner ?? '', epoch, seconds_left: Math.max(0, Math.ceil(left_ms / 1000)) }
  })
}

/** Gives it back at once; nothing happens when `owner` does not hold it. */
export async function releaseLease(tx: Tx, source: string, owner: string): Promise<void> {
  const prefix = [nodePrefix, pollerPrefix].find((one) => source.startsWith(one))
  if (prefix !== undefined) {
    // Nobody ever takes it over; those of processes that were killed go too.
    await tx.query
      .deleteFrom('leases')
      .where('source', 'like', `${prefix}%`)
      .where((eb) => eb.or([eb('source', '=', source), eb('expires_at', '<=', now)]))
      .execute()
    return
  }
  await tx.query
    .updateTable('leases')
    .set({ owner: null, expires_at: now })
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
    .where('expires_at', '<=', beyondAll)
    .executeTakeFirst()
  return lease === undefined || lease.owner === null ? null : { ...lease, owner: lease.owner }
}

/**
 * Whether nobody else has had it since; nobody can take it before the transaction ends. One that has run out while the
 * store was away, and that nobody took, is as good as ever.
 */
export async function isLeaseHeld(tx: Tx, source: string, owner: string, epoch: number): Promise<boolean> {
  const query = tx.query
    .selectFrom('leases')
    .select('epoch')
    .where('source', '=', source)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
  // A SQLite transaction is alone anyway.
  const lease = await (tx.dialect === 'postgres' ? query.forShare() : query).executeTakeFirst()
  return lease !== undefined
}
