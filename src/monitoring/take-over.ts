import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { AcquiredLease } from './lease-manager.ts'
import type { SourceRecords } from './source-records.ts'

/**
 * Takes over the previous lease holder's use of the rate limit, and the pause that the system requested from it,
 * because the system counts the requests of all processes together.
 */
export function takeOver(
  sourceRecords: Pick<SourceRecords, 'holdMs'>,
  { id, client }: Pick<MonitoredSource, 'id' | 'client'>,
  { idleMs }: Pick<AcquiredLease, 'idleMs'>,
): void {
  if (idleMs !== null) client.takeOver({ idleMs, holdMs: sourceRecords.holdMs(id) })
}
