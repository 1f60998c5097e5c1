/** Who polls which source when there are several of us: a lease in the database, with a rising epoch. */

import { hostname } from 'node:os'
import type { Database, Tx } from '../store/database.ts'
import { acquireLease, isLeaseHeld, leaseHolder, releaseLease } from '../store/leases.ts'
import type { Log } from './log.ts'
import { childOf, type Lifetime, pause } from './wait.ts'

const leaseMs = 15_000
const renewEveryMs = 5_000
/** Standing by, so often is looked whether the lease is free: takeover within 15 + 2 s of a crash. */
const lookEveryMs = 2_000

export interface Ownership {
  /** For `ingest`: throws in the writing transaction when the lease has gone to somebody else. */
  readonly guard: (tx: Tx) => Promise<void>
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal
}

/** The lease went to somebody else while this process was asleep or cut off. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

/** Names this process in the lease table. */
export function ownerName(pid: number, random: string): string {
  return `${hostname()}:${pid}:${random}`
}

export interface LeaseDeps {
  readonly db: Database
  readonly owner: string
  readonly log: Log
}

/**
 * Runs `work` whenever the lease of `source` is ours, again after it was lost, until the signal aborts. `onStandBy` hears
 * who has it instead, once each time.
 */
export async function whileOwner(
  deps: LeaseDeps,
  source: string,
  signal: AbortSignal,
  work: (ownership: Ownership) => Promise<void>,
  onStandBy: (holder: string) => void = () => {},
): Promise<void> {
  let toldHolder: string | undefined
  while (!signal.aborted) {
    const epoch = await tryAcquire(deps, source)
    if (typeof epoch === 'string') {
      const holder = await leaseHolder(deps.db.read, source).catch(() => null)
      if (holder !== null && holder.owner !== toldHolder) onStandBy(holder.owner)
      toldHolder = holder?.owner
      await pause(lookEveryMs, signal)
      continue
    }
    toldHolder = undefined
    await owning(deps, source, epoch, signal, work)
  }
}

/** Runs `work` once, as soon as the lease is ours within `waitMs`; false when it was not. */
export async function onceOwner(
  deps: LeaseDeps,
  source: string,
  waitMs: number,
  signal: AbortSignal,
  work: (ownership: Ownership) => Promise<void>,
): Promise<boolean> {
  const until = performance.now() + waitMs
  for (;;) {
    const epoch = await tryAcquire(deps, source)
    if (typeof epoch === 'number') {
      await owning(deps, source, epoch, signal, work)
      return true
    }
    if (performance.now() >= until || !(await pause(Math.min(250, waitMs), signal))) return false
  }
}

async function owning(
  deps: LeaseDeps,
  source: string,
  epoch: number,
  signal: AbortSignal,
  work: (ownership: Ownership) => Promise<void>,
): Promise<void> {
  const { db, owner, log } = deps
  const lifetime = childOf(signal)
  const guard = async (tx: Tx): Promise<void> => {
    if (!(await isLeaseHeld(tx, source, owner, epoch)))
      throw new LeaseLostError(`${source} is polled by somebody else now`)
  }
  const renewing = renew(deps, source, epoch, lifetime)
  try {
    await work({ guard, signal: lifetime.signal })
  } finally {
    lifetime.end()
    await renewing
    await db
      .transaction((tx) => releaseLease(tx, source, owner))
      .catch((error) => {
        log.warn({ source, error: String(error) }, 'the lease could not be given back; it ends by itself')
      })
  }
}

async function renew(deps: LeaseDeps, source: string, epoch: number, lifetime: Lifetime): Promise<void> {
  let renewedAt = performance.now()
  while (await pause(renewEveryMs, lifetime.signal)) {
    const renewed = await tryAcquire(deps, source)
    if (renewed === epoch) renewedAt = performance.now()
    else if (renewed !== 'failed' || performance.now() - renewedAt >= leaseMs) {
      deps.log.warn({ source }, 'the lease is lost; standing by')
      lifetime.end()
    }
  }
}

async function tryAcquire({ db, owner, log }: LeaseDeps, source: string): Promise<number | 'held' | 'failed'> {
  try {
    const lease = await db.transaction((tx) => acquireLease(tx, source, owner, leaseMs))
    return lease?.epoch ?? 'held'
  } catch (error) {
    log.warn({ source, error: String(error) }, 'the lease could not be asked for')
    return 'failed'
  }
}
