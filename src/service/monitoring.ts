/** What monitors the sources: the ingest of reports, alerts, leases and loops. */

import type { FastifyBaseLogger } from 'fastify'
import { AlertContext } from '../alerts/alert-context.ts'
import { Alerts } from '../alerts/alerts.ts'
import { FrequencyConflicts } from '../alerts/frequency-conflicts.ts'
import { NotificationQueue } from '../alerts/notification-queue.ts'
import { NotificationSender } from '../alerts/notification-sender.ts'
import { UnstoredNotifications } from '../alerts/unstored-notifications.ts'
import { BatteryForecasts } from '../conditions/battery-forecasts.ts'
import { ConditionMonitor } from '../conditions/conditions.ts'
import { OwnReceivers } from '../conditions/own-receivers.ts'
import { StateWriter } from '../conditions/state-writer.ts'
import type { EventChange } from '../domain/events/event.ts'
import type { LiveFrequencies } from '../frequencies/live-frequencies.ts'
import { EventLog } from '../history/event-log.ts'
import { Ingest } from '../ingest/ingest.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { LevelArrivals } from '../ingest/level-arrivals.ts'
import type { LevelDemand } from '../ingest/level-demand.ts'
import { LevelSubscriptions } from '../ingest/level-subscriptions.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { ReportPublisher } from '../ingest/report-publisher.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { FrequencyAnnouncements } from '../live/frequency-announcements.ts'
import type { LivePublisher } from '../live/live-publisher.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import type { CachedResponses } from '../platform/cache.ts'
import { now } from '../platform/clock.ts'
import { type Counters, createNotificationCounters } from '../platform/counters.ts'
import { SiteLevels } from '../sites/site-levels.ts'
import { OrphanedSites } from '../sites/stale-receivers.ts'
import { Connections } from '../sources/connections.ts'
import { LeaseManager } from '../sources/lease-manager.ts'
import { Monitor } from '../sources/monitor.ts'
import { OrphanedSources } from '../sources/orphaned-sources.ts'
import { ReceiverSources } from '../sources/receiver-sources.ts'
import { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Database } from '../storage/database.ts'
import type { Redis } from '../storage/redis.ts'
import type { Secrets } from '../storage/secrets.ts'
import type { StorePaths } from '../storage/snapshots.ts'
import { createStoreMaintenance, type StoreMaintenance } from '../storage/store-maintenance.ts'

interface MonitoringDeps {
  readonly state: {
    readonly outbound: Outbound
    readonly sourceRegistry: SourceRegistry
    readonly lists: StoredLists
    readonly settings: EffectiveSettings
    readonly receiverStore: ReceiverStore
    readonly placeholderStore: PlaceholderStore
    readonly unitStore: UnitStore
    readonly levelAges: LevelAges
    readonly levelArrivals: LevelArrivals
    readonly levelDemand: LevelDemand
    readonly siteLevelDemand: LevelDemand
    readonly live: LivePublisher
  }
  readonly frequencies: LiveFrequencies
  readonly db: Database
  readonly paths: StorePaths
  readonly redis: Redis | null
  readonly cache: CachedResponses
  readonly counters: Counters
  readonly nodeId: string
  /** Id of this installation. */
  readonly installation: string
  readonly secrets: Secrets
  /** `server.public_url`. */
  readonly publicUrl: string | null
  /** Loads the lists and the manufacturers. */
  reload(): Promise<void>
  readonly log: FastifyBaseLogger
}

/** Creates the subsystems that need each other. They find each other through this object. */
export class Monitoring {
  readonly connections: Connections
  /** Stores facts and conditions soon after they change. */
  readonly stateWriter: StateWriter
  readonly conditions: ConditionMonitor
  readonly alerts: Alerts
  readonly frequencyAnnouncements: FrequencyAnnouncements
  readonly frequencyConflicts: FrequencyConflicts
  readonly events: EventLog
  readonly forecasts: BatteryForecasts
  readonly sourceRecords: SourceRecords
  readonly leaseManager: LeaseManager
  /** Passes reports and levels to other processes; null without Redis. */
  readonly reportPublisher: ReportPublisher | null
  /** Receives levels from other processes; null without Redis. */
  readonly levelSubscriptions: LevelSubscriptions | null
  readonly siteLevels: SiteLevels
  readonly ingest: Ingest
  readonly monitor: Monitor
  readonly maintenance: StoreMaintenance
  readonly notificationSender: NotificationSender
  readonly unstoredNotifications: UnstoredNotifications
  readonly receiverSources: ReceiverSources
  readonly #deps: MonitoringDeps
  readonly orphanedSources: OrphanedSources
  readonly orphanedSites: OrphanedSites

  constructor(deps: MonitoringDeps) {
    const { state, db, paths, redis, nodeId, log } = deps
    const { receiverStore, sourceRegistry, settings } = state
    this.#deps = deps
    this.connections = new Connections(db, receiverStore, sourceRegistry, log)
    this.orphanedSources = new OrphanedSources(db, receiverStore, sourceRegistry, settings)
    this.sourceRecords = new SourceRecords(db, sourceRegistry, this.orphanedSources)
    this.receiverSources = new ReceiverSources(db, sourceRegistry, this.connections, this.sourceRecords)
    this.leaseManager = new LeaseManager(db, nodeId, log)
    const { connections, receiverSources, sourceRecords, leaseManager } = this
    const { unitStore, lists, levelAges, outbound } = state
    const ownReceivers = new OwnReceivers()
    this.stateWriter = new StateWriter(log)
    this.forecasts = new BatteryForecasts({ db, receiverStore, ownReceivers, settings, leaseManager, log })
    const { stateWriter, forecasts } = this
    this.conditions = new ConditionMonitor({
      ...{ receiverStore, ownReceivers, settings, lists, receiverSources, levelAges, forecasts, stateWriter },
    })
    const { conditions } = this
    this.frequencyConflicts = new FrequencyConflicts(receiverStore, deps.frequencies, settings, log)
    const { frequencyConflicts } = this
    this.frequencyAnnouncements = new FrequencyAnnouncements(deps.frequencies, frequencyConflicts, state.live)
    const alertContext = new AlertContext(receiverStore, settings, lists, receiverSources)
    const notificationQueue = new NotificationQueue(db, lists, alertContext)
    this.alerts = new Alerts({
      ...{ db, receiverStore, unitStore, settings, lists, log, sourceRegistry, sourceRecords, connections },
      ...{ receiverSources, conditions, forecasts, frequencyConflicts, alertContext, notificationQueue },
    })
    const { secrets, publicUrl } = deps
    const notificationCounters = createNotificationCounters(deps.counters)
    const sending = { secrets, outbound, publicUrl, lists, alertContext, notificationCounters, log }
    this.notificationSender = new NotificationSender({ ...sending, db, leaseManager, notificationQueue })
    this.unstoredNotifications = new UnstoredNotifications(this.alerts, sending)
    this.events = this.#createEventLog()
    this.ingest = this.#createIngest()
    this.stateWriter.connect(this.ingest)
    this.reportPublisher = redis && new ReportPublisher(redis, nodeId, receiverStore, this.conditions)
    this.levelSubscriptions = redis && new LevelSubscriptions(redis, nodeId, state.levelDemand, receiverStore)
    this.orphanedSites = new OrphanedSites(receiverStore, sourceRegistry, this.orphanedSources, this.ingest)
    this.monitor = this.#createMonitor()
    this.siteLevels = new SiteLevels(state.siteLevelDemand, this.monitor)
    this.#subscribe()
    this.maintenance = createStoreMaintenance({ db, paths, log, now })
  }

  #subscribe(): void {
    const { alerts, events, ingest, receiverSources, sourceRecords, notificationSender } = this
    this.conditions.changed.subscribe((receiver) => ingest.publishConditions(receiver))
    this.conditions.sampled.subscribe((sample) => events.sampled(sample))
    alerts.loaded.subscribe(() => notificationSender.planSoon())
    notificationSender.channelDisabled.subscribe(() => {
      this.#deps.reload().catch((error) => {
        this.#deps.log.warn({ error: String(error) }, 'notification channels could not be read')
      })
    })
    alerts.changed.subscribe(() => events.loadSoon())
    events.changed.subscribe((change) => this.#countEvent(change))
    receiverSources.added.subscribe(() => notificationSender.planSoon())
    sourceRecords.failingChanged.subscribe(() => notificationSender.planSoon())
    sourceRecords.recorded.subscribe((failures) => {
      alerts.evaluateSource(failures)
      events.sourceRecorded(failures, sourceRecords.isFailing(failures.source))
    })
    ingest.reported.subscribe((receiverId) => this.reportPublisher?.publish(receiverId))
    ingest.levelsReceived.subscribe((receiverId) => this.reportPublisher?.publishLevels(receiverId))
    this.reportPublisher?.reports.subscribe((reports) => ingest.applyRemoteReports(reports))
    this.levelSubscriptions?.received.subscribe((received) => ingest.applyRemoteLevels(received))
  }

  #keepDays(): number {
    return this.#deps.state.settings.get(null).HISTORY_MINUTES_DAYS
  }

  #createEventLog(): EventLog {
    const { db, state, log } = this.#deps
    return new EventLog({
      db,
      receiverStore: state.receiverStore,
      isOwn: (receiverId) => this.conditions.isOwn(receiverId),
      thresholds: (receiver, channel) => this.conditions.thresholdsOf(receiver, channel),
      rowTrueUntil: (channelId, row) => this.conditions.rowTrueUntil(channelId, row),
      keepDays: () => this.#keepDays(),
      log,
      now,
    })
  }

  /** Counts the events of channels that this process evaluates. */
  #countEvent(change: EventChange): void {
    if (change.type !== 'event') return
    const { kind, channel_id, receiver_id } = change.event
    if (channel_id === null || receiver_id === null || !this.conditions.isOwn(receiver_id)) return
    this.#deps.counters.countEvent(kind, channel_id)
  }

  #createIngest(): Ingest {
    const { db, state, cache } = this.#deps
    const { conditions, stateWriter, alerts, receiverSources, leaseManager } = this
    return new Ingest({ ...state, db, cache, conditions, stateWriter, alerts, receiverSources, leaseManager })
  }

  #createMonitor(): Monitor {
    const { db, state, counters, nodeId, installation, log } = this.#deps
    const { ingest, sourceRecords, connections, leaseManager, events, alerts } = this
    const common = { ...state, db, counters, nodeId, installation, log }
    return new Monitor({ ...common, ingest, sourceRecords, connections, leaseManager, events, alerts })
  }
}
