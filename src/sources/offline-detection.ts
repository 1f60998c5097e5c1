/** Marks receivers as offline if no report of them has arrived for `offlineAfterMs`. */

import type { MonitoredManufacturer } from '../domain/equipment/health.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../storage/database.ts'
import { leaseHolder } from '../storage/leases.ts'
import type { LeaseHandle } from './lease-manager.ts'

/** The minimum time without a report before a receiver is marked as offline. */
const minOfflineAfterMs = 60_000

/** Returns how long a receiver may go without a report before it is marked as offline. */
export function offlineAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, minOfflineAfterMs)
}

/** A manufacturer of which this process polls at least one source. */
export interface PolledManufacturer {
  readonly intervalMs: number
  /** The lease guard of one of the polled sources. */
  readonly guard: LeaseHandle['guard']
}

export interface SilenceCheckDeps {
  readonly receiverStore: ReceiverStore
  readonly ingest: Pick<Ingest, 'ingest'>
  readonly log: Log
  /** Returns the manufacturers that this process polls, by code. */
  polled(): ReadonlyMap<string, PolledManufacturer>
}

const checkEveryMs = 1000
/** If a check is this late, the process was suspended, and the sources could not report in the meantime. */
const maxDelayMs = 5000
/** How long the sources have to report after the process was suspended. */
const graceMs = 15_000

/**
 * Marks the silent receivers of polled manufacturers as offline. One timer for all sources, independent of their cycles,
 * which are up to 30 s apart after failures.
 */
export class SilenceCheck {
  readonly #deps: SilenceCheckDeps
  #timer: NodeJS.Timeout | undefined
  #checkedAt = 0
  #graceEndsAt = 0
  #isWriting = false

  constructor(deps: SilenceCheckDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#checkedAt = performance.now()
    this.#timer = setInterval(() => void this.#check(), checkEveryMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    const now = performance.now()
    if (now - this.#checkedAt > checkEveryMs + maxDelayMs) this.#graceEndsAt = now + graceMs
    this.#checkedAt = now
    if (this.#isWriting || now < this.#graceEndsAt) return
    this.#isWriting = true
    for (const [manufacturer, polled] of this.#deps.polled()) await this.#markSilent(manufacturer, polled)
    this.#isWriting = false
  }

  async #markSilent(manufacturer: string, { intervalMs, guard }: PolledManufacturer): Promise<void> {
    const { receiverStore, ingest, log } = this.#deps
    const offline = findSilent(receiverStore, manufacturer, intervalMs)
    if (offline.length === 0) return
    await ingest.ingest({ manufacturer, reports: [], offline, guard }).catch((error) => {
      log.debug({ manufacturer, error: String(error) }, 'silent receivers could not be marked as offline')
    })
  }
}

function findSilent(receiverStore: ReceiverStore, manufacturer: string, intervalMs: number): number[] {
  const offlineBefore = performance.now() - offlineAfterMs(intervalMs)
  const receivers = receiverStore.listFacts(manufacturer)
  return receivers
    .filter(({ id, is_active }) => is_active && receiverStore.lastReceivedAt(id) < offlineBefore)
    .map(({ id }) => id)
}

export interface OfflineDetectionDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly ingest: Ingest
  manufacturers(): readonly MonitoredManufacturer[]
  intervalMs(manufacturer: string): number
}

/**
 * Marks the silent receivers of manufacturers that no process polls as offline, because the manufacturer is disabled or
 * no polling process is running.
 */
export async function markOrphanedOffline(deps: OfflineDetectionDeps): Promise<void> {
  const { db, receiverStore, ingest } = deps
  for (const { code, sources } of deps.manufacturers()) {
    const offline = findSilent(receiverStore, code, deps.intervalMs(code))
    if (offline.length === 0 || (await isPolled(db, sources))) continue
    await ingest.ingest({ manufacturer: code, reports: [], offline })
  }
}

async function isPolled(db: Database, sources: readonly string[]): Promise<boolean> {
  for (const source of sources) if ((await leaseHolder(db.read, source)) !== null) return true
  return false
}
