/**
 * Decides which process polls which source. A lease is a row in the database with an increasing epoch. Each process has one
 * lease manager, which acquires its leases, renews them together, and divides the sources among the polling processes.
 */

import { hostname } from 'node:os'
import { type HeldLease, nodePrefix, pollerPrefix } from '../domain/scheduling/node.ts'
import { assignSources } from '../domain/scheduling/source-assignment.ts'
import type { Database, Tx } from '../storage/database.ts'
import { StaleWriteError } from '../storage/errors.ts'
import {
  acquireLease,
  isLeaseHeld,
  listHeldLeases,
  releaseLease,
  renewLeases,
  type TakenLease,
  takeLease,
  takeLeases,
} from '../storage/leases.ts'
import type { Log } from './log.ts'
import { childLifetime, type Lifetime, pause } from './wait.ts'

const leaseMs = 15_000
const renewEveryMs = 5_000
/**
 * How often the leases are read. Another process takes over within `leaseMs` + `checkEveryMs` of a crash, and within
 * `checkEveryMs` of an orderly stop.
 */
const checkEveryMs = 1_000
/** Requests within this time are handled together, since all sources of a service start at once. */
const debounceMs = 20
/** How long a free source is reserved for the process it is assigned to. After that, any process may acquire it. */
const reservedMs = 6_000

export interface LeaseHandle {
  /** Called in a transaction of `ingest`. Throws if this process no longer holds the lease. */
  readonly guard: (tx: Tx) => Promise<void>
  /** Aborts when the lease is lost or released. */
  readonly signal: AbortSignal
}

export interface AcquiredLease extends LeaseHandle {
  /** The minimum time that has passed since the previous holder's lease ended; null if there was no previous holder. */
  readonly idleMs: number | null
}

export interface SharedLease extends AcquiredLease {
  /** Whether this lease should move to a process that has fewer. */
  isExcess(): boolean
  /** Releases the lease. This process may acquire it again later. */
  release(): void
}

/** Thrown when another process acquired the lease while this one was suspended or disconnected. */
class LeaseLostError extends StaleWriteError {
  override readonly name = 'LeaseLostError'
}

/** Identifies this process in the lease table. */
export function createNodeId(pid: number, random: string): string {
  return `${hostname()}:${pid}:${random}`
}

/** Returns the name of the lease that a process holds while it runs, so that other processes know of it. */
export function nodeLease(nodeId: string): string {
  return `${nodePrefix}${nodeId}`
}

/** Returns the name of the lease that a process holds while it polls and shares sources with other processes. */
export function pollerLease(nodeId: string): string {
  return `${pollerPrefix}${nodeId}`
}

export interface LeaseDeps {
  readonly db: Database
  readonly nodeId: string
  readonly log: Log
}

export interface LeaseOptions {
  /** Whether this source is included when sources are divided among the polling processes. */
  readonly isShared?: boolean
  /** Called once each time another process is found to have acquired the lease. */
  onStandBy?(holder: string): void
}

export interface LeaseManager {
  /** Runs `work` whenever this process holds the lease of `source`, until the signal aborts. */
  runWhileHeld(
    source: string,
    signal: AbortSignal,
    work: (lease: SharedLease) => Promise<void>,
    options?: LeaseOptions,
  ): Promise<void>
  /** Whether other processes used this database at the last check. */
  hasOtherNodes(): boolean
}

interface LeaseRequest extends LeaseOptions {
  readonly source: string
  /** Whether the request is waiting to be granted. */
  isWaiting: boolean
  /** The lease while it is held. */
  held: (TakenLease & { readonly lifetime: Lifetime }) | null
  grant(lease: TakenLease): void
  freeSince: number | null
  /** The holder last passed to `onStandBy`. */
  reportedHolder: string | undefined
}

export function createLeaseManager(deps: LeaseDeps): LeaseManager {
  const { db, nodeId, log } = deps
  const requests = new Map<string, LeaseRequest>()
  let excess: ReadonlySet<string> = new Set()
  let others = false
  let wake = new AbortController()
  let isChecking = false
  let renewAt = 0
  let hasFailed = false

  async function checkForever(): Promise<void> {
    isChecking = true
    while (requests.size > 0) {
      wake = new AbortController()
      try {
        await check()
        hasFailed = false
      } catch (error) {
        // While the database is unavailable, no lease is lost, and polling continues in memory.
        if (!hasFailed) log.warn({ error: String(error) }, 'leases could not be read')
        hasFailed = true
      }
      const isRequested = !(await pause(checkEveryMs, wake.signal))
      if (isRequested && requests.size > 0) await pause(debounceMs, new AbortController().signal)
    }
    isChecking = false
  }

  async function check(): Promise<void> {
    if (performance.now() >= renewAt) await renew()
    const leases = await listHeldLeases(db.read)
    others = leases.some(({ source, owner }) => source.startsWith(nodePrefix) && owner !== nodeId)
    const available = selectAvailable(leases)
    const granted = available.length === 0 ? [] : await acquire(available)
    for (const { request, lease } of granted) {
      if (request.isWaiting) request.grant(lease)
      else await releaseOwn(deps, request.source)
    }
    const holders = holdersOf(leases)
    for (const request of requests.values()) reportHolder(request, holders)
  }

  async function renew(): Promise<void> {
    const held = [...requests.values()].filter((request) => request.held !== null)
    if (held.length > 0) {
      const sources = held.map(({ source }) => source)
      const epochs = await db.transaction((tx) => renewLeases(tx, sources, nodeId, leaseMs))
      for (const { source, held: lease } of held) {
        if (lease === null || epochs.get(source) === lease.epoch) continue
        log.warn({ source }, 'lease lost; standing by')
        lease.lifetime.abort()
      }
    }
    renewAt = performance.now() + renewEveryMs
  }

  /** Selects the requests whose lease is free and may be acquired by this process. */
  function selectAvailable(leases: readonly HeldLease[]): LeaseRequest[] {
    const holders = holdersOf(leases)
    const pollers = leases.filter(({ source }) => source.startsWith(pollerPrefix)).map((lease) => lease.owner)
    const shared = [...requests.values()].filter(({ isShared }) => isShared).map(({ source }) => source)
    const { acquire, release } = assignSources({
      owner: nodeId,
      pollers: [...new Set([...pollers, nodeId])].sort(),
      sources: shared.sort().map((source) => ({ source, holder: holders.get(source) ?? null })),
    })
    excess = new Set(release)
    const assigned = new Set(acquire)
    const now = performance.now()
    return [...requests.values()].filter((request) => {
      const isFree = request.isWaiting && !holders.has(request.source)
      request.freeSince = isFree ? (request.freeSince ?? now) : null
      const isReservationOver = now - (request.freeSince ?? now) >= reservedMs
      return isFree && (!request.isShared || assigned.has(request.source) || isReservationOver)
    })
  }

  async function acquire(available: readonly LeaseRequest[]): Promise<{ request: LeaseRequest; lease: TakenLease }[]> {
    const sources = available.map(({ source }) => source)
    const taken = await db.transaction((tx) => takeLeases(tx, sources, nodeId, leaseMs))
    return available.flatMap((request) => {
      const lease = taken.get(request.source)
      return lease === undefined ? [] : [{ request, lease }]
    })
  }

  function reportHolder(request: LeaseRequest, holders: ReadonlyMap<string, string>): void {
    const holder = request.isWaiting ? holders.get(request.source) : undefined
    if (holder !== undefined && holder !== nodeId && holder !== request.reportedHolder) request.onStandBy?.(holder)
    request.reportedHolder = holder
  }

  async function runOnce(request: LeaseRequest, signal: AbortSignal, work: (lease: SharedLease) => Promise<void>) {
    const { source } = request
    const lease = await new Promise<TakenLease | null>((resolve) => {
      const settle = (granted: TakenLease | null) => {
        request.isWaiting = false
        signal.removeEventListener('abort', stop)
        if (granted !== null) request.held = { ...granted, lifetime: childLifetime(signal) }
        resolve(granted)
      }
      const stop = () => settle(null)
      request.grant = settle
      request.isWaiting = true
      signal.addEventListener('abort', stop, { once: true })
    })
    if (lease === null || request.held === null) return
    const { lifetime } = request.held
    try {
      await work({
        guard: createGuard(source, nodeId, lease.epoch),
        signal: lifetime.signal,
        idleMs: lease.idleMs,
        isExcess: () => excess.has(source),
        release: () => lifetime.abort(),
      })
    } finally {
      lifetime.abort()
      request.held = null
      await releaseOwn(deps, source)
    }
  }

  return {
    async runWhileHeld(source, signal, work, options = {}) {
      const initial = { isWaiting: false, held: null, grant: () => {}, freeSince: null, reportedHolder: undefined }
      const request: LeaseRequest = { ...options, ...initial, source }
      requests.set(source, request)
      try {
        while (!signal.aborted) {
          const running = runOnce(request, signal, work)
          // A new request is handled without waiting for the next check.
          if (isChecking && !wake.signal.aborted) wake.abort()
          else if (!isChecking) void checkForever()
          await running
        }
      } finally {
        requests.delete(source)
        wake.abort()
      }
    },
    hasOtherNodes: () => others,
  }
}

function holdersOf(leases: readonly HeldLease[]): ReadonlyMap<string, string> {
  return new Map(leases.map((lease) => [lease.source, lease.owner]))
}

/**
 * Runs `work` once the lease is acquired, then releases it. Returns false if the lease did not become free within
 * `waitMs`.
 */
export async function withLease(
  deps: LeaseDeps,
  source: string,
  waitMs: number,
  signal: AbortSignal,
  work: (lease: AcquiredLease) => Promise<void>,
): Promise<boolean> {
  const { db, nodeId, log } = deps
  const until = performance.now() + waitMs
  const acquire = () => db.transaction((tx) => takeLease(tx, source, nodeId, leaseMs))
  const renew = () => db.transaction((tx) => acquireLease(tx, source, nodeId, leaseMs))
  const logFailure = (error: unknown) => {
    log.warn({ source, error: String(error) }, 'lease could not be requested')
    return null
  }
  for (;;) {
    const lease = await acquire().catch(logFailure)
    if (lease !== null) {
      const lifetime = childLifetime(signal)
      const renewing = (async () => {
        while (await pause(renewEveryMs, lifetime.signal)) await renew().catch(logFailure)
      })()
      try {
        await work({ guard: createGuard(source, nodeId, lease.epoch), signal: lifetime.signal, idleMs: lease.idleMs })
      } finally {
        lifetime.abort()
        await renewing
        await releaseOwn(deps, source)
      }
      return true
    }
    if (performance.now() >= until || !(await pause(Math.min(250, waitMs), signal))) return false
  }
}

function createGuard(source: string, nodeId: string, epoch: number): LeaseHandle['guard'] {
  return async (tx) => {
    if (!(await isLeaseHeld(tx, source, nodeId, epoch)))
      throw new LeaseLostError(`${source} is now polled by another process`)
  }
}

async function releaseOwn({ db, nodeId, log }: LeaseDeps, source: string): Promise<void> {
  await db
    .transaction((tx) => releaseLease(tx, source, nodeId))
    .catch((error) => {
      log.warn({ source, error: String(error) }, 'lease could not be released; it expires automatically')
    })
}
