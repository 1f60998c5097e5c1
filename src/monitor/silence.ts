/** Receivers that nobody polls any more, because their manufacturer is disabled or no process is left, go inactive too. */

import type { Latest } from '../live/latest.ts'
import type { MonitoredManufacturer } from '../model/health.ts'
import type { Database } from '../store/database.ts'
import { leaseHolder } from '../store/leases.ts'
import type { Ingest } from './ingest.ts'
import { silentAfterMs } from './poller.ts'

export interface SilenceDeps {
  readonly db: Database
  readonly latest: Latest
  readonly ingest: Ingest
  manufacturers(): readonly MonitoredManufacturer[]
  intervalMs(manufacturer: string): number
}

export async function silenceUnpolled(deps: SilenceDeps): Promise<void> {
  const { db, latest, ingest } = deps
  for (const { code, sources } of deps.manufacturers()) {
    const silentSince = performance.now() - silentAfterMs(deps.intervalMs(code))
    const silent = latest.list(code).filter(({ id, is_active }) => is_active && latest.heardAt(id) < silentSince)
    if (silent.length === 0 || (await isPolled(db, sources))) continue
    await ingest.take({ manufacturer: code, observations: [], gone: silent.map(({ id }) => id) })
  }
}

async function isPolled(db: Database, sources: readonly string[]): Promise<boolean> {
  for (const source of sources) if ((await leaseHolder(db.read, source)) !== null) return true
  return false
}
