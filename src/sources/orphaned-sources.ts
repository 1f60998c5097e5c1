/**
 * Finds orphaned sources: sources whose lease no process holds while no polling process is running. A process that
 * only serves pages shows their last known state and reports that it is out of date.
 */

import { pollerPrefix } from '../domain/nodes.ts'
import type { Batch } from '../ingest/plan-batch.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { Database } from '../storage/database.ts'
import { leaseHolder, listHeldLeases } from '../storage/leases.ts'
import { findSilent, offlineAfterMs } from './offline-detection.ts'
import type { SourceRegistry } from './source-registry.ts'

/** No source is orphaned for this long after the start, because a polling process may still be starting. */
const graceMs = 30_000

export class OrphanedSources {
  readonly #db: Database
  readonly #receiverStore: ReceiverStore
  readonly #sourceRegistry: SourceRegistry
  readonly #settings: EffectiveSettings
  readonly #startedAt = performance.now()
  /**
   * Sources that were polled continuously. A source that a command polled once is not included, because the command
   * held its lease only briefly.
   */
  readonly #polledBefore = new Set<string>()
  #held: ReadonlySet<string> = new Set()
  #free: ReadonlySet<string> = new Set()
  #orphaned: ReadonlySet<string> = new Set()

  constructor(db: Database, receiverStore: ReceiverStore, sourceRegistry: SourceRegistry, settings: EffectiveSettings) {
    this.#db = db
    this.#receiverStore = receiverStore
    this.#sourceRegistry = sourceRegistry
    this.#settings = settings
  }

  has(source: string): boolean {
    return this.#orphaned.has(source)
  }

  /** True if a process held the lease of the source at the last check. */
  isHeld(source: string): boolean {
    return this.#held.has(source)
  }

  /**
   * Reads the leases. A source can become orphaned only at the second consecutive check that finds it unheld.
   * `isPolling` is true if this process polls, which it continues in memory while the database is unavailable.
   */
  async update(isPolling: boolean): Promise<void> {
    const leases = await listHeldLeases(this.#db.read)
    const held = new Set(leases.map(({ source }) => source))
    const isPollerRunning = isPolling || leases.some(({ source }) => source.startsWith(pollerPrefix))
    const isGraceOver = performance.now() - this.#startedAt > graceMs
    const free = new Set<string>()
    const orphaned = new Set<string>()
    for (const { code, isEnabled, sources } of this.#sourceRegistry.manufacturers()) {
      if (!isEnabled) continue
      for (const source of sources) if (held.has(source) && this.#held.has(source)) this.#polledBefore.add(source)
      const unheld = isPollerRunning ? [] : sources.filter((source) => !held.has(source))
      const isStale = unheld.length > 0 && isGraceOver && !this.#isReceiving(code)
      for (const source of unheld) {
        free.add(source)
        if (this.#free.has(source) && (isStale || this.#polledBefore.has(source))) orphaned.add(source)
      }
    }
    this.#held = held
    this.#free = free
    this.#orphaned = orphaned
  }

  /**
   * Finds the silent receivers of each manufacturer that no process polls, because the manufacturer is disabled or no
   * polling process is running. Store each batch, which marks them as offline, before the next one is looked for.
   */
  async *findSilentReceivers(): AsyncGenerator<Batch> {
    for (const { code, sources } of this.#sourceRegistry.manufacturers()) {
      const offline = findSilent(this.#receiverStore, code, this.#storedIntervalMs(code))
      if (offline.length === 0 || (await this.#isPolled(sources))) continue
      yield { manufacturer: code, reports: [], offline }
    }
  }

  /** Other processes poll at this interval, whatever the interval of this one is. */
  #storedIntervalMs(manufacturer: string): number {
    return this.#settings.get(manufacturer).polling_interval * 1000
  }

  /** True if reports about the manufacturer's receivers arrived recently. */
  #isReceiving(manufacturer: string): boolean {
    const since = performance.now() - offlineAfterMs(this.#storedIntervalMs(manufacturer))
    return this.#receiverStore.listFacts(manufacturer).some(({ id }) => this.#receiverStore.lastReceivedAt(id) >= since)
  }

  async #isPolled(sources: readonly string[]): Promise<boolean> {
    for (const source of sources) if ((await leaseHolder(this.#db.read, source)) !== null) return true
    return false
  }
}
