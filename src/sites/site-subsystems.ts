import type { Alerts } from '../alerts/alerts.ts'
import type { EventLog } from '../history/event-log.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Log } from '../platform/log.ts'
import type { Connections } from '../sources/connections.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Database } from '../storage/database.ts'

/** The subsystems of `Service` that followed sites use. */
export interface SiteSubsystems {
  /** Id of this installation. */
  readonly installation: string
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly sourceRegistry: SourceRegistry
  readonly ingest: Ingest
  readonly alerts: Alerts
  readonly events: EventLog
  readonly sourceRecords: SourceRecords
  readonly connections: Connections
  readonly log: Log
}
