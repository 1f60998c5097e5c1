/**
 * Leases. A lease gives one node (process) the right to poll a source, and expires unless it is renewed. Its epoch
 * increases with every change of holder, so that a node that was suspended can detect that it lost the lease. All times
 * use the database's clock, which is monotonic on SQLite: see `openDatabase`.
 */

import { sql } from 'kysely'
import { type HeldLease, nodePrefix, pollerPrefix } from '../domain/nodes.ts'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'

interface Lease {
  readonly owner: string
  readonly epoch: number
  readonly expires_at: number
}

const now = sql<number>`epoch_ms()`

/**
 * The maximum duration. A lease that appears to last longer was granted before the clock was set back, or before a
 * reboot reset it (on SQLite, leases use the machine's uptime).
 */
const longestMs = 60_000
const latestExpiry = sql<number>`epoch_ms() + ${sql.lit(longestMs)}`

/** For a lease that was read from a file. Both times must be from the same clock. */
export function isRunning(expires_at: number, now: number): boolean {
  return expires_at > now && expires_at <= now + longestMs
}

export async function acquireLease(
  tx: Tx,
  source: string,
  owner: string,
  ttlMs: number,
): Promise<{ epoch: number } | null> {
  const [lease] = await acquireLeases(tx, [source], owner, ttlMs)
  return lease === undefined ? null : { epoch: lease.epoch }
}

/** Acquires or renews leases in one statement; returns those that no other node holds. */
function acquireLeases(
  tx: Tx,
  sources: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<{ source: string; epoch: number }[]> {
  const expires_at = sql<number>`epoch_ms() + ${sql.lit(Math.round(ttlMs))}`
  return tx.query
    .insertInto('leases')
    .values(sources.map((source) => ({ source, owner, epoch: 1, expires_at })))
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
            eb('leases.expires_at', '>', latestExpiry),
          ]),
        ),
    )
    .returning(['source', 'epoch'])
    .execute()
}

export interface TakenLease {
  readonly epoch: number
  /**
   * The minimum time since the previous holder's lease ended; that holder may have polled the source until then. Null
   * if there was no previous holder.
   */
  readonly idleMs: number | null
}

export async function takeLeases(
  tx: Tx,
  sources: readonly string[],
  owner: string,
  ttlMs: number,
): Promise<ReadonlyMap<string, TakenLease>> {
  const taken = new Map<string, TakenLease>()
  // All nodes lock the rows in the same order, so that they do not deadlock.
  await inChunks([...sources].sort(), async (chunk) => {
    const rows = await tx.query
      .selectFrom('leases')
      .select(['source', 'epoch', sql<number>`epoch_ms() - expires_at`.as('idle_ms')])
      .where('source', 'in', chunk)
      .execute()
    const before = new Map(rows.map((row) => [row.source, row]))
    for (const { source, epoch } of await acquireLeases(tx, chunk, owner, ttlMs)) {
      taken.set(source, { epoch, idleMs: idleMsOf(before.get(source), epoch) })
    }
  })
  return taken
}

function idleMsOf(before: { epoch: number; idle_ms: number } | undefined, epoch: number): number | null {
  // On PostgreSQL another node may have held the lease between the two statements.
  if (epoch !== (before?.epoch ?? 0) + 1) return 0
  return before === undefined ? null : Math.max(0, before.idle_ms)
}

export async function takeLease(tx: Tx, source: string, owner: string, ttlMs: number): Promise<TakenLease | null> {
  return (await takeLeases(tx, [source], owner, ttlMs)).get(source) ?? null
}

/** Includes expired leases that no other node has acquired. Returns the epochs of the renewed leases by source. */
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

export async function listHeldLeases(reader: Reader): Promise<HeldLease[]> {
  const rows = await reader
    .selectFrom('leases')
    .select(['source', 'owner', 'epoch', sql<number>`expires_at - epoch_ms()`.as('left_ms')])
    .where('owner', 'is not', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', latestExpiry)
    .orderBy('source')
    .execute()
  return rows.map(({ source, owner, epoch, left_ms }) => {
    return { source, owner: owner ?? '', epoch, seconds_left: Math.max(0, Math.ceil(left_ms / 1000)) }
  })
}

/** Releases the lease immediately; does nothing if `owner` does not hold it. */
export async function releaseLease(tx: Tx, source: string, owner: string): Promise<void> {
  const prefix = [nodePrefix, pollerPrefix].find((candidate) => source.startsWith(candidate))
  if (prefix !== undefined) {
    // No other process takes over these leases, so they are deleted, as are the expired ones of killed processes.
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
    .where('expires_at', '<=', latestExpiry)
    .executeTakeFirst()
  return lease === undefined || lease.owner === null ? null : { ...lease, owner: lease.owner }
}

/** If true, no node can acquire one of these leases before the transaction ends, unless it was never held before. */
export async function lockFreeLeases(tx: Tx, sources: readonly string[]): Promise<boolean> {
  for (const source of [...sources].sort()) {
    await tx.query
      .updateTable('leases')
      .set((eb) => ({ epoch: eb.ref('epoch') }))
      .where('source', '=', source)
      .execute()
    if ((await leaseHolder(tx.query, source)) !== null) return false
  }
  return true
}

/**
 * If true, no other node can acquire the lease before the transaction ends. An expired lease counts as held as long as
 * no other node has acquired it.
 */
export async function isLeaseHeld(tx: Tx, source: string, owner: string, epoch: number): Promise<boolean> {
  const query = tx.query
    .selectFrom('leases')
    .select('epoch')
    .where('source', '=', source)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
  // SQLite needs no row lock, because it runs one write transaction at a time.
  const lease = await (tx.dialect === 'postgres' ? query.forShare() : query).executeTakeFirst()
  return lease !== undefined
}
