/**
 * Sources that nobody polls: no process holds their lease, and none runs that would take it. Screens may run in processes
 * that do not poll; what these show stands still when the one that did has ended, and says so.
 */

import type { MonitoredManufacturer } from '../model/health.ts'
import { pollerPrefix } from '../model/node.ts'
import type { Database } from '../store/database.ts'
import { listHeldLeases } from '../store/leases.ts'

export interface OrphanedSourcesDeps {
  readonly db: Database
  manufacturers(): readonly MonitoredManufacturer[]
  /** Of this process; it goes on in memory, whatever the store says. */
  isPolling(): boolean
  /** Something was heard of its receivers of late. */
  isReceiving(manufacturer: string): boolean
}

export interface OrphanedSources {
  has(source: string): boolean
  /** Looks who is there; twice the same before it counts. */
  update(): Promise<void>
}

/** Somebody may be about to start. */
const patienceMs = 30_000

export function createOrphanedSources({
  db,
  manufacturers,
  isPolling,
  isReceiving,
}: OrphanedSourcesDeps): OrphanedSources {
  const startedAt = performance.now()
  /** Somebody polled them all the time; who polls now and then, by a command, holds a lease for a moment. */
  const keptBefore = new Set<string>()
  let held: ReadonlySet<string> = new Set()
  let free: ReadonlySet<string> = new Set()
  let unpolled: ReadonlySet<string> = new Set()
  return {
    has: (source) => unpolled.has(source),
    async update() {
      const leases = await listHeldLeases(db.read)
      const heldNow = new Set(leases.map(({ source }) => source))
      const isSomebodyThere = isPolling() || leases.some(({ source }) => source.startsWith(pollerPrefix))
      const isLate = performance.now() - startedAt > patienceMs
      const freeNow = new Set<string>()
      const unpolledNow = new Set<string>()
      for (const { code, isEnabled, sources } of manufacturers()) {
        if (!isEnabled) continue
        for (const source of sources) if (heldNow.has(source) && held.has(source)) keptBefore.add(source)
        const own = isSomebodyThere ? [] : sources.filter((source) => !heldNow.has(source))
        const isMissed = own.length > 0 && isLate && !isReceiving(code)
        for (const source of own) {
          freeNow.add(source)
          if (free.has(source) && (isMissed || keptBefore.has(source))) unpolledNow.add(source)
        }
      }
      held = heldNow
      free = freeNow
      unpolled = unpolledNow
    },
  }
}
