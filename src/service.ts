/**
 * The running service without its listeners: the database connection, the state in memory and the monitoring loops.
 * `openRuntime` in `runtime/` creates it.
 */

import type { FastifyBaseLogger } from 'fastify'
import type { Alerts } from './alerts/alerts.ts'
import type { NotificationSender } from './alerts/notification-sender.ts'
import type { BatteryForecasts } from './conditions/battery-forecasts.ts'
import type { ConditionMonitor } from './conditions/conditions.ts'
import type { ManufacturerEntry } from './config/file-schema.ts'
import type { Config } from './config.ts'
import type { Group } from './contract/groups.ts'
import type { Location } from './contract/locations.ts'
import type { ChannelAssignment } from './contract/performers.ts'
import type { Settings } from './contract/settings.ts'
import type { SiteBody } from './contract/sites.ts'
import type { AuditRecord } from './domain/access/access.ts'
import type { Silence } from './domain/alerts/silences.ts'
import type { MonitoredManufacturer, ServiceHealth } from './domain/equipment/health.ts'
import type { StoredProfile } from './domain/frequencies/profile-changes.ts'
import type { Scan } from './domain/frequencies/scans/stored-scan.ts'
import type { ExplainedSettings, SettingScope } from './domain/settings.ts'
import type { Show } from './domain/shows.ts'
import type { FrequencyChecker } from './frequencies/frequency-checker.ts'
import type { LiveFrequencies } from './frequencies/live-frequencies.ts'
import type { RemoteWrite } from './history/configured-remote-write.ts'
import type { EventLog } from './history/event-log.ts'
import type { History } from './history/history.ts'
import type { Ingest } from './ingest/ingest.ts'
import type { LevelDemand } from './ingest/level-demand.ts'
import type { PlaceholderStore } from './ingest/placeholder-store.ts'
import type { ReceiverStore } from './ingest/receiver-store.ts'
import type { UnitStore } from './ingest/unit-store.ts'
import type { CheckAnnouncements } from './live/check-announcements.ts'
import type { LivePublisher } from './live/live-publisher.ts'
import type { MonitoredSource, SourceDeps } from './manufacturers/sources.ts'
import type { Cache } from './platform/cache.ts'
import type { Counters } from './platform/counters.ts'
import type { SiteHistory } from './sites/site-history.ts'
import type { Connections } from './sources/connections.ts'
import type { LeaseManager } from './sources/lease-manager.ts'
import type { Monitor } from './sources/monitor.ts'
import type { SourceRecords } from './sources/source-records.ts'
import type { Database } from './storage/database.ts'
import type { Redis } from './storage/redis.ts'
import type { Secrets } from './storage/secrets.ts'
import type { OidcProvider } from './upstream/oidc.ts'
import type { createPlanningCenter } from './upstream/planning-center.ts'

export interface RuntimeOptions {
  readonly log: FastifyBaseLogger
  readonly pid: number
  /** Overrides every other polling interval. */
  readonly intervalSeconds?: number | undefined
  /** Overrides the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds?: number
  /** Manufacturers in addition to those in the configuration. */
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Returns how many log lines were lost. */
  droppedLines?(): number
  /** If true, nothing is written to the database. */
  readonly isReadOnly?: boolean
  /** If false, levels are not recorded, whatever `HISTORY` says. */
  readonly isRecording?: boolean
  /** Called for every audit record. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
  /** Returns problems to be listed in the health, one sentence each. */
  listProblems?(): readonly string[]
  /** If true, a damaged database is an error; otherwise a snapshot is restored. */
  readonly failsOnDamage?: boolean
  /** The response cache; the runtime drops entries from it when data changes. */
  readonly cache?: Pick<Cache<unknown>, 'drop'>
}

export interface Runtime {
  readonly log: FastifyBaseLogger
  readonly db: Database
  readonly secrets: Secrets
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: PlaceholderStore
  readonly unitStore: UnitStore
  /** Of which manufacturers clients of this process need levels. */
  readonly levelDemand: LevelDemand
  /** Of which sites clients of this process need levels. */
  readonly siteLevelDemand: LevelDemand
  /** Announces changes to clients of the live interface. */
  readonly live: LivePublisher
  readonly ingest: Ingest
  readonly sourceRecords: SourceRecords
  readonly connections: Connections
  readonly alerts: Alerts
  readonly events: EventLog
  /** Announces line checks. */
  readonly checks: CheckAnnouncements
  readonly conditions: Pick<ConditionMonitor, 'thresholdsOf'>
  readonly forecasts: Pick<BatteryForecasts, 'currentForecast'>
  /** Recorded levels. */
  readonly history: History
  /** The levels that sites have recorded. */
  readonly siteHistory: SiteHistory
  /** Null if it is not configured. */
  readonly remoteWrite: RemoteWrite | null
  /** Sends notifications. */
  readonly notifications: NotificationSender
  /** Checks carriers, and suggests frequencies. */
  readonly checker: FrequencyChecker
  /** The carriers of the installation and their conflicts. */
  readonly frequencies: LiveFrequencies
  readonly counters: Counters
  /** Id of the installation. */
  readonly installation: string
  /** The value of the label `installation` of all metrics. */
  readonly installationName: string
  /** Returns the ids of all installations that this one follows, directly or through others. */
  via(): readonly string[]
  /** Returns the installations that this one follows. */
  sites(): readonly SiteBody[]
  /** Identifies this process in leases. */
  readonly nodeId: string
  readonly leaseManager: LeaseManager
  readonly monitor: Monitor
  /** Shared by all processes of one installation; null without Redis. */
  readonly redis: Redis | null
  /** Shared by all upstream clients of the process. */
  readonly sourceDeps: SourceDeps
  readonly planningCenter: ReturnType<typeof createPlanningCenter>
  /** The OpenID Connect provider; null if it is not configured. */
  readonly identityProvider: OidcProvider | null
  readonly sources: readonly MonitoredSource[]
  manufacturers(): readonly MonitoredManufacturer[]
  settings(manufacturer: string | null): Settings
  /** Returns the effective settings of a scope. */
  settingsIn(scope: SettingScope): Settings
  /** Returns the effective settings of a scope, each with its origin. */
  explainSettings(scope: SettingScope): ExplainedSettings
  groups(manufacturer?: string): readonly Group[]
  locations(): readonly Location[]
  health(manufacturer?: string): ServiceHealth
  /** Returns what is stored of frequency profiles. */
  storedProfiles(): readonly StoredProfile[]
  /** Returns the alert silences in effect. */
  silences(): readonly Silence[]
  /** Returns the spectrum scans, without their levels. */
  scans(): readonly Scan[]
  /** Returns the active assignments of this installation, each with its channel. */
  assignments(): readonly ChannelAssignment[]
  /** Returns the active assignments, and those of followed sites. */
  assignmentsWithSites(): readonly ChannelAssignment[]
  shows(): readonly Show[]
  runningShows(): readonly Show[]
  /** Returns the ids of the sources that report a receiver; empty as long as they are not known. */
  reportingSources(receiverId: number): readonly string[]
  /**
   * Loads manufacturers, settings, groups, locations, shows, performers and assignments from the database, after a user has
   * changed them.
   */
  reload(): Promise<void>
  /**
   * Applies the manufacturers and the settings of a changed configuration. Throws a ConfigError if an entry is invalid, or
   * the database error if the manufacturers cannot be read; nothing has changed then.
   */
  applyConfig(config: Config): Promise<void>
  /** Loads the changes made by other processes, until the signal aborts. */
  follow(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
