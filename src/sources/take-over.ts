import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { AcquiredLease } from './lease-manager.ts'
import type { SourceRecords } from './source-records.ts'

/**
 * Starts the client with the request budget that the previous lease holder is sure to have left, and with the
 * remaining Retry-After pause, because the system counts the requests of all processes together.
 */
export function takeOver(
  sourceRecords: Pick<SourceRecords, 'holdMs'>,
  { id, client }: Pick<MonitoredSource, 'id' | 'client'>,
  { idleMs }: Pick<AcquiredLease, 'idleMs'>,
): void {
  if (idleMs !== null) client.takeOver({ idleMs, holdMs: sourceRecords.holdMs(id) })
}
