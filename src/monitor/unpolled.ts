/**
 * Sources that nobody polls: no process holds their lease, and none runs that would take it. Screens may run in processes
 * that do not poll; what these show stands still when the one that did has ended, and says so.
 */

import { pollerPrefix } from '../model/node.ts'
import type { Database } from '../store/database.ts'
import { listHeldLeases } from '../store/leases.ts'

export interface UnpolledDeps {
  readonly db: Database
  sources(): Iterable<string>
  /** Of this process; it goes on in memory, whatever the store says. */
  isPolling(): boolean
}

export interface Unpolled {
  has(source: string): boolean
  /** Looks who is there; twice the same before it counts. */
  look(): Promise<void>
}

/** Somebody may be about to start, or poll now and then by a command. */
const patienceMs = 30_000

export function createUnpolled({ db, sources, isPolling }: UnpolledDeps): Unpolled {
  const startedAt = performance.now()
  const polledBefore = new Set<string>()
  let free: ReadonlySet<string> = new Set()
  let unpolled: ReadonlySet<string> = new Set()
  return {
    has: (source) => unpolled.has(source),
    async look() {
      const leases = await listHeldLeases(db.read)
      const held = new Set(leases.map(({ source }) => source))
      const isSomebodyThere = isPolling() || leases.some(({ source }) => source.startsWith(pollerPrefix))
      const freeNow = new Set<string>()
      for (const source of sources()) {
        if (held.has(source)) polledBefore.add(source)
        else if (!isSomebodyThere) freeNow.add(source)
      }
      const isLate = performance.now() - startedAt > patienceMs
      unpolled = new Set([...freeNow].filter((one) => free.has(one) && (isLate || polledBefore.has(one))))
      free = freeNow
    },
  }
}
