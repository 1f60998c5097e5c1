import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { AcquiredLease } from './lease-manager.ts'
import type { SourceRecords } from './source-records.ts'

/** Applies the rate limit use and the pauses of the previous lease holder, because the system counts all processes together. */
export function takeOver(
  sourceRecords: Pick<SourceRecords, 'holdMs'>,
  { id, client }: Pick<MonitoredSource, 'id' | 'client'>,
  { idleMs }: Pick<AcquiredLease, 'idleMs'>,
): void {
  if (idleMs !== null) client.takeOver({ idleMs, holdMs: sourceRecords.holdMs(id) })
}
