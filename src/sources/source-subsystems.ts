import type { Ingest } from '../ingest/ingest.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { LevelArrivals } from '../ingest/level-arrivals.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { Counters } from '../platform/counters.ts'
import type { Log } from '../platform/log.ts'
import type { Connections } from './connections.ts'
import type { LeaseManager } from './lease-manager.ts'
import type { SourceRecords } from './source-records.ts'
import type { SourceRegistry } from './source-registry.ts'

/** The subsystems of `Service` that polls and subscriptions use. */
export interface SourceSubsystems {
  readonly sourceRegistry: SourceRegistry
  readonly ingest: Ingest
  readonly levelAges: LevelAges
  readonly levelArrivals: LevelArrivals
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly sourceRecords: SourceRecords
  readonly connections: Connections
  readonly leaseManager: LeaseManager
  readonly counters: Counters
  readonly log: Log
}
