/**
 * Marks a receiver as offline if no report of it has arrived for `offlineAfterMs` and no process polls its manufacturer.
 * The latter happens when the manufacturer is disabled or no polling process is running.
 */

import type { MonitoredManufacturer } from '../domain/equipment/health.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { Database } from '../storage/database.ts'
import { leaseHolder } from '../storage/leases.ts'
import type { Ingest } from './ingest.ts'
import { offlineAfterMs } from './poller.ts'

export interface OfflineDetectionDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly ingest: Ingest
  manufacturers(): readonly MonitoredManufacturer[]
  intervalMs(manufacturer: string): number
}

export async function markOrphanedOffline(deps: OfflineDetectionDeps): Promise<void> {
  const { db, receiverStore, ingest } = deps
  for (const { code, sources } of deps.manufacturers()) {
    const offlineBefore = performance.now() - offlineAfterMs(deps.intervalMs(code))
    const expired = receiverStore
      .listFacts(code)
      .filter(({ id, is_active }) => is_active && receiverStore.lastReceivedAt(id) < offlineBefore)
    if (expired.length === 0 || (await isPolled(db, sources))) continue
    await ingest.ingest({ manufacturer: code, reports: [], offline: expired.map(({ id }) => id) })
  }
}

async function isPolled(db: Database, sources: readonly string[]): Promise<boolean> {
  for (const source of sources) if ((await leaseHolder(db.read, source)) !== null) return true
  return false
}
