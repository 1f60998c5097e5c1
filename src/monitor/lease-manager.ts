/**
 * Who polls which source when there are several of us: a lease in the database, with a rising epoch. One keeper a
 * process asks for its leases, prolongs them together, and shares the sources out with the keepers of others.
 */

import { hostname } from 'node:os'
import { type HeldLease, nodePrefix, pollerPrefix } from '../model/node.ts'
import { assignSources } from '../model/source-assignment.ts'
import type { Database, Tx } from '../store/database.ts'
import { StaleWriteError } from '../store/errors.ts'
import { acquireLease, isLeaseHeld, listHeldLeases, releaseLease, renewLeases, takeLease } from '../store/leases.ts'
import type { Log } from './log.ts'
import { childLifetime, type Lifetime, pause } from './wait.ts'

const leaseMs = 15_000
const renewEveryMs = 5_000
/** How often is looked who has what: takeover within 15 + 1 s of a crash, within 1 s of a clean stop. */
const lookEveryMs = 1_000
/** Those who ask at the same time are answered together: a house of hundreds of devices starts all at once. */
const gatherMs = 20
/** So long a free source is left to those whose turn it is; then anybody may take it. */
const courtesyMs = 6_000

export interface LeaseHandle {
  /** For `ingest`: throws in the writing transaction when the lease has gone to somebody else. */
  readonly guard: (tx: Tx) => Promise<void>
  /** Aborts when the lease is lost or left. */
  readonly signal: AbortSignal
}

export interface AcquiredLease extends LeaseHandle {
  /** How long nobody had it before, at least; null where nobody ever did. */
  readonly idleMs: number | null
}

export interface SharedLease extends AcquiredLease {
  /** Others have too few, and this one is to be theirs. */
  isExcess(): boolean
  /** Gives it up; it may come back. */
  release(): void
}

/** The lease went to somebody else while this process was asleep or cut off. */
class LeaseLostError extends StaleWriteError {
  override readonly name = 'LeaseLostError'
}

/** Names this process in the lease table. */
export function createNodeId(pid: number, random: string): string {
  return `${hostname()}:${pid}:${random}`
}

/** What a process holds for as long as it runs on, so that others know of it: a lease on itself. */
export function nodeLease(owner: string): string {
  return `${nodePrefix}${owner}`
}

/** The same for as long as it polls and shares the work with others. */
export function pollerLease(owner: string): string {
  return `${pollerPrefix}${owner}`
}

export interface LeaseDeps {
  readonly db: Database
  readonly nodeId: string
  readonly log: Log
}

export interface LeaseOptions {
  /** Only as many of these as is this process's share. */
  readonly isShared?: boolean
  /** Hears who has it instead, once each time. */
  onStandBy?(holder: string): void
}

export interface LeaseManager {
  /** Runs `work` whenever the lease of `source` is ours, again after it was lost, until the signal aborts. */
  runWhileHeld(
    source: string,
    signal: AbortSignal,
    work: (ownership: SharedLease) => Promise<void>,
    options?: LeaseOptions,
  ): Promise<void>
  /** Processes on this database other than this one, as last looked. */
  hasOtherNodes(): boolean
}

type Lease = NonNullable<Awaited<ReturnType<typeof takeLease>>>

interface LeaseRequest extends LeaseOptions {
  readonly source: string
  /** Somebody waits for it. */
  isWanted: boolean
  /** What is held at the moment. */
  held: (Lease & { readonly lifetime: Lifetime }) | null
  granted(lease: Lease): void
  freeSince: number | null
  toldHolder: string | undefined
}

export function createLeaseManager(deps: LeaseDeps): LeaseManager {
  const { db, nodeId, log } = deps
  const claims = new Map<string, LeaseRequest>()
  let excess: ReadonlySet<string> = new Set()
  let others = false
  let wake = new AbortController()
  let isLooking = false
  let renewAt = 0
  let isTroubled = false

  async function lookForever(): Promise<void> {
    isLooking = true
    while (claims.size > 0) {
      wake = new AbortController()
      try {
        await look()
        isTroubled = false
      } catch (error) {
        // A store that is away takes no lease from anybody: polling goes on in memory until it says who has it.
        if (!isTroubled) log.warn({ error: String(error) }, 'the leases cannot be looked at')
        isTroubled = true
      }
      const isAsked = !(await pause(lookEveryMs, wake.signal))
      if (isAsked && claims.size > 0) await pause(gatherMs, new AbortController().signal)
    }
    isLooking = false
  }

  async function look(): Promise<void> {
    if (performance.now() >= renewAt) await renew()
    const leases = await listHeldLeases(db.read)
    others = leases.some((one) => one.source.startsWith(nodePrefix) && one.owner !== nodeId)
    const takes = choose(leases)
    const granted = takes.length === 0 ? [] : await acquire(takes)
    for (const { claim, lease } of granted) {
      if (claim.isWanted) claim.granted(lease)
      else await giveBack(deps, claim.source)
    }
    const holders = holdersOf(leases)
    for (const claim of claims.values()) tellHolder(claim, holders)
  }

  async function renew(): Promise<void> {
    const held = [...claims.values()].filter((claim) => claim.held !== null)
    if (held.length > 0) {
      const sources = held.map(({ source }) => source)
      const epochs = await db.transaction((tx) => renewLeases(tx, sources, nodeId, leaseMs))
      for (const { source, held: was } of held) {
        if (was === null || epochs.get(source) === was.epoch) continue
        log.warn({ source }, 'the lease is lost; standing by')
        was.lifetime.abort()
      }
    }
    renewAt = performance.now() + renewEveryMs
  }

  /** The free ones that this process may have. */
  function choose(leases: readonly HeldLease[]): LeaseRequest[] {
    const holders = holdersOf(leases)
    const pollers = leases.filter(({ source }) => source.startsWith(pollerPrefix)).map((lease) => lease.owner)
    const shared = [...claims.values()].filter(({ isShared }) => isShared).map(({ source }) => source)
    const { acquire, release } = assignSources({
      owner: nodeId,
      pollers: [...new Set([...pollers, nodeId])].sort(),
      sources: shared.sort().map((source) => ({ source, holder: holders.get(source) ?? null })),
    })
    excess = new Set(release)
    const ours = new Set(acquire)
    const now = performance.now()
    return [...claims.values()].filter((claim) => {
      const isFree = claim.isWanted && !holders.has(claim.source)
      claim.freeSince = isFree ? (claim.freeSince ?? now) : null
      const isWaited = now - (claim.freeSince ?? now) >= courtesyMs
      return isFree && (!claim.isShared || ours.has(claim.source) || isWaited)
    })
  }

  async function acquire(wanted: readonly LeaseRequest[]): Promise<{ claim: LeaseRequest; lease: Lease }[]> {
    return db.transaction(async (tx) => {
      const granted: { claim: LeaseRequest; lease: Lease }[] = []
      for (const claim of wanted) {
        const lease = await takeLease(tx, claim.source, nodeId, leaseMs)
        if (lease !== null) granted.push({ claim, lease })
      }
      return granted
    })
  }

  function tellHolder(claim: LeaseRequest, holders: ReadonlyMap<string, string>): void {
    const holder = claim.isWanted ? holders.get(claim.source) : undefined
    if (holder !== undefined && holder !== nodeId && holder !== claim.toldHolder) claim.onStandBy?.(holder)
    claim.toldHolder = holder
  }

  async function hold(claim: LeaseRequest, signal: AbortSignal, work: (ownership: SharedLease) => Promise<void>) {
    const { source } = claim
    const lease = await new Promise<Lease | null>((resolve) => {
      const settle = (granted: Lease | null) => {
        claim.isWanted = false
        signal.removeEventListener('abort', stop)
        if (granted !== null) claim.held = { ...granted, lifetime: childLifetime(signal) }
        resolve(granted)
      }
      const stop = () => settle(null)
      claim.granted = settle
      claim.isWanted = true
      signal.addEventListener('abort', stop, { once: true })
    })
    if (lease === null || claim.held === null) return
    const { lifetime } = claim.held
    try {
      await work({
        guard: guardOf(source, nodeId, lease.epoch),
        signal: lifetime.signal,
        idleMs: lease.idleMs,
        isExcess: () => excess.has(source),
        release: () => lifetime.abort(),
      })
    } finally {
      lifetime.abort()
      claim.held = null
      await giveBack(deps, source)
    }
  }

  return {
    async runWhileHeld(source, signal, work, options = {}) {
      const blank = { isWanted: false, held: null, granted: () => {}, freeSince: null, toldHolder: undefined }
      const claim: LeaseRequest = { ...options, ...blank, source }
      claims.set(source, claim)
      try {
        while (!signal.aborted) {
          const holding = hold(claim, signal, work)
          // Whoever asks first need not wait for the next look.
          if (isLooking) wake.abort()
          else void lookForever()
          await holding
        }
      } finally {
        claims.delete(source)
        wake.abort()
      }
    },
    hasOtherNodes: () => others,
  }
}

function holdersOf(leases: readonly HeldLease[]): ReadonlyMap<string, string> {
  return new Map(leases.map((lease) => [lease.source, lease.owner]))
}

/** Runs `work` once, as soon as the lease is ours within `waitMs`; false when it was not. */
export async function withLease(
  deps: LeaseDeps,
  source: string,
  waitMs: number,
  signal: AbortSignal,
  work: (ownership: AcquiredLease) => Promise<void>,
): Promise<boolean> {
  const { db, nodeId, log } = deps
  const until = performance.now() + waitMs
  const ask = () => db.transaction((tx) => takeLease(tx, source, nodeId, leaseMs))
  const renew = () => db.transaction((tx) => acquireLease(tx, source, nodeId, leaseMs))
  const failed = (error: unknown) => {
    log.warn({ source, error: String(error) }, 'the lease could not be asked for')
    return null
  }
  for (;;) {
    const lease = await ask().catch(failed)
    if (lease !== null) {
      const lifetime = childLifetime(signal)
      const renewing = (async () => {
        while (await pause(renewEveryMs, lifetime.signal)) await renew().catch(failed)
      })()
      try {
        await work({ guard: guardOf(source, nodeId, lease.epoch), signal: lifetime.signal, idleMs: lease.idleMs })
      } finally {
        lifetime.abort()
        await renewing
        await giveBack(deps, source)
      }
      return true
    }
    if (performance.now() >= until || !(await pause(Math.min(250, waitMs), signal))) return false
  }
}

function guardOf(source: string, owner: string, epoch: number): LeaseHandle['guard'] {
  return async (tx) => {
    if (!(await isLeaseHeld(tx, source, owner, epoch)))
      throw new LeaseLostError(`${source} is polled by somebody else now`)
  }
}

async function giveBack({ db, nodeId, log }: LeaseDeps, source: string): Promise<void> {
  await db
    .transaction((tx) => releaseLease(tx, source, nodeId))
    .catch((error) => {
      log.warn({ source, error: String(error) }, 'the lease could not be given back; it ends by itself')
    })
}
