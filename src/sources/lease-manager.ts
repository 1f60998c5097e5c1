/**
 * Decides which process polls which source. A lease is a row in the database with an increasing epoch. Each process has one
 * lease manager, which acquires its leases, renews them together, and divides the sources among the polling processes.
 */

import { hostname } from 'node:os'
import { assignSources, type HeldLease, nodePrefix, pollerPrefix } from '../domain/nodes.ts'
import type { Log } from '../platform/log.ts'
import { childLifetime, type Lifetime, pause } from '../platform/wait.ts'
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

const leaseMs = 15_000
const renewEveryMs = 5_000
/**
 * How often the leases are read. Another process takes over within `leaseMs` + `checkEveryMs` of a crash, and within
 * `checkEveryMs` of an orderly stop.
 */
const checkEveryMs = 1_000
/** Requests within this time are handled together, since all sources of a service start at once. */
const debounceMs = 5
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
  /** True if this lease should move to a process that has fewer. */
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

export interface LeaseOptions {
  /** If true, the source is divided among the polling processes with the others. */
  readonly isShared?: boolean
  /** Called once each time another process is found to have acquired the lease. */
  onStandBy?(holder: string): void
}

interface LeaseRequest extends LeaseOptions {
  readonly source: string
  /** True until the request is granted. */
  isWaiting: boolean
  /** The lease while it is held. */
  held: (TakenLease & { readonly lifetime: Lifetime }) | null
  grant(lease: TakenLease): void
  freeSince: number | null
  /** The holder last passed to `onStandBy`. */
  reportedHolder: string | undefined
}

export class LeaseManager {
  readonly #db: Database
  readonly #nodeId: string
  readonly #log: Log
  readonly #requests = new Map<string, LeaseRequest>()
  /** Sources whose lease should move to a process that has fewer. */
  #excess: ReadonlySet<string> = new Set()
  #hasOtherNodes = false
  /** Ends the pause before the next check. */
  #wake = new AbortController()
  #isChecking = false
  #renewAt = 0
  #hasFailed = false

  constructor(db: Database, nodeId: string, log: Log) {
    this.#db = db
    this.#nodeId = nodeId
    this.#log = log
  }

  /** True if other processes used this database at the last check. */
  get hasOtherNodes(): boolean {
    return this.#hasOtherNodes
  }

  /** Runs `work` whenever this process holds the lease of `source`, until the signal aborts. */
  async runWhileHeld(
    source: string,
    signal: AbortSignal,
    work: (lease: SharedLease) => Promise<void>,
    options: LeaseOptions = {},
  ): Promise<void> {
    const initial = { isWaiting: false, held: null, grant: () => {}, freeSince: null, reportedHolder: undefined }
    const request: LeaseRequest = { ...options, ...initial, source }
    this.#requests.set(source, request)
    try {
      while (!signal.aborted) {
        const running = this.#runGranted(request, signal, work)
        // A new request is handled without waiting for the next check.
        if (this.#isChecking && !this.#wake.signal.aborted) this.#wake.abort()
        else if (!this.#isChecking) void this.#checkForever()
        await running
      }
    } finally {
      this.#requests.delete(source)
      this.#wake.abort()
    }
  }

  /**
   * Runs `work` once the lease is acquired, then releases it. Returns false if the lease did not become free within
   * `waitMs`.
   */
  async runOnce(
    source: string,
    waitMs: number,
    signal: AbortSignal,
    work: (lease: AcquiredLease) => Promise<void>,
  ): Promise<boolean> {
    const until = performance.now() + waitMs
    for (;;) {
      const lease = await this.#db
        .transaction((tx) => takeLease(tx, source, this.#nodeId, leaseMs))
        .catch((error) => this.#logFailure(source, error))
      if (lease !== null) {
        await this.#runAcquired(source, lease, signal, work)
        return true
      }
      if (performance.now() >= until || !(await pause(Math.min(250, waitMs), signal))) return false
    }
  }

  async #runAcquired(
    source: string,
    { epoch, idleMs }: TakenLease,
    signal: AbortSignal,
    work: (lease: AcquiredLease) => Promise<void>,
  ): Promise<void> {
    const lifetime = childLifetime(signal)
    const renew = () => this.#db.transaction((tx) => acquireLease(tx, source, this.#nodeId, leaseMs))
    const renewing = (async () => {
      while (await pause(renewEveryMs, lifetime.signal)) {
        await renew().catch((error) => this.#logFailure(source, error))
      }
    })()
    try {
      await work({ guard: createGuard(source, this.#nodeId, epoch), signal: lifetime.signal, idleMs })
    } finally {
      lifetime.abort()
      await renewing
      await this.#release(source)
    }
  }

  #logFailure(source: string, error: unknown): null {
    this.#log.warn({ source, error: String(error) }, 'lease could not be requested')
    return null
  }

  async #release(source: string): Promise<void> {
    await this.#db
      .transaction((tx) => releaseLease(tx, source, this.#nodeId))
      .catch((error) => {
        this.#log.warn({ source, error: String(error) }, 'lease could not be released; it expires automatically')
      })
  }

  async #runGranted(
    request: LeaseRequest,
    signal: AbortSignal,
    work: (lease: SharedLease) => Promise<void>,
  ): Promise<void> {
    const { source } = request
    const lease = await waitForGrant(request, signal)
    if (lease === null || request.held === null) return
    const { lifetime } = request.held
    try {
      await work({
        guard: createGuard(source, this.#nodeId, lease.epoch),
        signal: lifetime.signal,
        idleMs: lease.idleMs,
        isExcess: () => this.#excess.has(source),
        release: () => lifetime.abort(),
      })
    } finally {
      lifetime.abort()
      request.held = null
      await this.#release(source)
    }
  }

  async #checkForever(): Promise<void> {
    this.#isChecking = true
    while (this.#requests.size > 0) {
      this.#wake = new AbortController()
      try {
        await this.#check()
        this.#hasFailed = false
      } catch (error) {
        // While the database is unavailable, no lease is lost, and polling continues in memory.
        if (!this.#hasFailed) this.#log.warn({ error: String(error) }, 'leases could not be read')
        this.#hasFailed = true
      }
      const isRequested = !(await pause(checkEveryMs, this.#wake.signal))
      if (isRequested && this.#requests.size > 0) await pause(debounceMs)
    }
    this.#isChecking = false
  }

  async #check(): Promise<void> {
    if (performance.now() >= this.#renewAt) await this.#renew()
    const leases = await listHeldLeases(this.#db.read)
    this.#hasOtherNodes = leases.some(({ source, owner }) => source.startsWith(nodePrefix) && owner !== this.#nodeId)
    const available = this.#selectAvailable(leases)
    const granted = available.length === 0 ? [] : await this.#acquire(available)
    for (const { request, lease } of granted) {
      if (request.isWaiting) request.grant(lease)
      else await this.#release(request.source)
    }
    const holders = holdersOf(leases)
    for (const request of this.#requests.values()) this.#reportHolder(request, holders)
  }

  async #renew(): Promise<void> {
    const held = [...this.#requests.values()].filter((request) => request.held !== null)
    if (held.length > 0) {
      const sources = held.map(({ source }) => source)
      const epochs = await this.#db.transaction((tx) => renewLeases(tx, sources, this.#nodeId, leaseMs))
      for (const { source, held: lease } of held) {
        if (lease === null || epochs.get(source) === lease.epoch) continue
        this.#log.warn({ source }, 'lease lost; standing by')
        lease.lifetime.abort()
      }
    }
    this.#renewAt = performance.now() + renewEveryMs
  }

  /** Selects the requests whose lease is free and may be acquired by this process. */
  #selectAvailable(leases: readonly HeldLease[]): LeaseRequest[] {
    const requests = [...this.#requests.values()]
    const holders = holdersOf(leases)
    const pollers = leases.filter(({ source }) => source.startsWith(pollerPrefix)).map((lease) => lease.owner)
    const shared = requests.filter(({ isShared }) => isShared).map(({ source }) => source)
    const { acquire, release } = assignSources({
      owner: this.#nodeId,
      pollers: [...new Set([...pollers, this.#nodeId])].sort(),
      sources: shared.sort().map((source) => ({ source, holder: holders.get(source) ?? null })),
    })
    this.#excess = new Set(release)
    const assigned = new Set(acquire)
    const now = performance.now()
    return requests.filter((request) => {
      const isFree = request.isWaiting && !holders.has(request.source)
      request.freeSince = isFree ? (request.freeSince ?? now) : null
      const isReservationOver = now - (request.freeSince ?? now) >= reservedMs
      return isFree && (!request.isShared || assigned.has(request.source) || isReservationOver)
    })
  }

  async #acquire(available: readonly LeaseRequest[]): Promise<{ request: LeaseRequest; lease: TakenLease }[]> {
    const sources = available.map(({ source }) => source)
    const taken = await this.#db.transaction((tx) => takeLeases(tx, sources, this.#nodeId, leaseMs))
    return available.flatMap((request) => {
      const lease = taken.get(request.source)
      return lease === undefined ? [] : [{ request, lease }]
    })
  }

  #reportHolder(request: LeaseRequest, holders: ReadonlyMap<string, string>): void {
    const holder = request.isWaiting ? holders.get(request.source) : undefined
    const isOther = holder !== undefined && holder !== this.#nodeId
    if (isOther && holder !== request.reportedHolder) request.onStandBy?.(holder)
    request.reportedHolder = holder
  }
}

/** Returns the lease once it is granted, or null if the signal aborts first. */
function waitForGrant(request: LeaseRequest, signal: AbortSignal): Promise<TakenLease | null> {
  return new Promise((resolve) => {
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
}

function holdersOf(leases: readonly HeldLease[]): ReadonlyMap<string, string> {
  return new Map(leases.map((lease) => [lease.source, lease.owner]))
}

function createGuard(source: string, nodeId: string, epoch: number): LeaseHandle['guard'] {
  return async (tx) => {
    if (!(await isLeaseHeld(tx, source, nodeId, epoch)))
      throw new LeaseLostError(`${source} is now polled by another process`)
  }
}
