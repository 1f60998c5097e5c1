import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { AcquiredLease } from './lease-manager.ts'
import type { SourceRecords } from './source-records.ts'

/** A system counts calls whoever makes them: its rate limit and its pauses outlive the process that met them. */
export function takeOver(
  reports: Pick<SourceRecords, 'holdMs'>,
  { id, client }: Pick<MonitoredSource, 'id' | 'client'>,
  { idleMs }: Pick<AcquiredLease, 'idleMs'>,
): void {
  if (idleMs !== null) client.takeOver({ idleMs, holdMs: reports.holdMs(id) })
}
