/**
 * Detects orphaned sources: sources whose lease no process holds while no polling process is running. A process that
 * only serves pages shows their last known state and reports that it is out of date.
 */

import type { MonitoredManufacturer } from '../domain/equipment/health.ts'
import { pollerPrefix } from '../domain/nodes.ts'
import type { Database } from '../storage/database.ts'
import { listHeldLeases } from '../storage/leases.ts'

export interface OrphanedSourcesDeps {
  readonly db: Database
  manufacturers(): readonly MonitoredManufacturer[]
  /** Whether this process polls. It continues in memory while the database is unavailable. */
  isPolling(): boolean
  /** Whether reports about the manufacturer's receivers arrived recently. */
  isReceiving(manufacturer: string): boolean
}

export interface OrphanedSources {
  has(source: string): boolean
  /** Whether a process held the lease of the source at the last check. */
  isHeld(source: string): boolean
  /** Reads the leases. A source can become orphaned only at the second consecutive check that finds it unheld. */
  update(): Promise<void>
}

/** How long to wait after the start of this process, because a polling process may still be starting. */
const graceMs = 30_000

export function createOrphanedSources({
  db,
  manufacturers,
  isPolling,
  isReceiving,
}: OrphanedSourcesDeps): OrphanedSources {
  const startedAt = performance.now()
  /**
   * Sources that were polled continuously. A source that a command polled once is not included, because the command
   * held its lease only briefly.
   */
  const polledBefore = new Set<string>()
  let held: ReadonlySet<string> = new Set()
  let free: ReadonlySet<string> = new Set()
  let orphaned: ReadonlySet<string> = new Set()
  return {
    has: (source) => orphaned.has(source),
    isHeld: (source) => held.has(source),
    async update() {
      const leases = await listHeldLeases(db.read)
      const heldNow = new Set(leases.map(({ source }) => source))
      const isPollerRunning = isPolling() || leases.some(({ source }) => source.startsWith(pollerPrefix))
      const isGraceOver = performance.now() - startedAt > graceMs
      const freeNow = new Set<string>()
      const orphanedNow = new Set<string>()
      for (const { code, isEnabled, sources } of manufacturers()) {
        if (!isEnabled) continue
        for (const source of sources) if (heldNow.has(source) && held.has(source)) polledBefore.add(source)
        const unheld = isPollerRunning ? [] : sources.filter((source) => !heldNow.has(source))
        const isStale = unheld.length > 0 && isGraceOver && !isReceiving(code)
        for (const source of unheld) {
          freeNow.add(source)
          if (free.has(source) && (isStale || polledBefore.has(source))) orphanedNow.add(source)
        }
      }
      held = heldNow
      free = freeNow
      orphaned = orphanedNow
    },
  }
}
