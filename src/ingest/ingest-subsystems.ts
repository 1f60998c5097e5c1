import type { Alerts } from '../alerts/alerts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { StateWriter } from '../conditions/state-writer.ts'
import type { Cast } from '../lists/cast.ts'
import type { CachedResponses } from '../platform/cache.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'
import type { Database } from '../storage/database.ts'
import type { LevelAges } from './level-ages.ts'
import type { LevelArrivals } from './level-arrivals.ts'
import type { PlaceholderStore } from './placeholder-store.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { UnitStore } from './unit-store.ts'

/** The subsystems of `Service` that ingest uses. */
export interface IngestSubsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: PlaceholderStore
  readonly unitStore: UnitStore
  readonly cast: Cast
  readonly levelAges: LevelAges
  readonly levelArrivals: LevelArrivals
  readonly receiverSources: ReceiverSources
  readonly conditions: ConditionMonitor
  readonly stateWriter: StateWriter
  readonly alerts: Alerts
  readonly leaseManager: LeaseManager
  readonly cache: CachedResponses
}
