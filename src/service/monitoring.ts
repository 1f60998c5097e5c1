/** What monitors the sources: the ingest of reports, alerts, leases and loops. */

import type { FastifyBaseLogger } from 'fastify'
import { Alerts } from '../alerts/alerts.ts'
import { FrequencyConflicts } from '../alerts/frequency-conflicts.ts'
import { NotificationQueue } from '../alerts/notification-queue.ts'
import { NotificationSender } from '../alerts/notification-sender.ts'
import { UnstoredNotifications } from '../alerts/unstored-notifications.ts'
import { BatteryForecasts } from '../conditions/battery-forecasts.ts'
import { ConditionMonitor } from '../conditions/conditions.ts'
import { StateWriter } from '../conditions/state-writer.ts'
import type { Alert } from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { EventChange } from '../domain/events/event.ts'
import { polledLevels } from '../domain/levels/level-sample.ts'
import type { LiveFrequencies } from '../frequencies/live-frequencies.ts'
import { EventLog } from '../history/event-log.ts'
import { Ingest } from '../ingest/ingest.ts'
import type { LevelArrival } from '../ingest/level-ages.ts'
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
import { audioFloorOf } from '../manufacturers/index.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import type { Cache } from '../platform/cache.ts'
import { now } from '../platform/clock.ts'
import { type Counters, createNotificationCounters } from '../platform/counters.ts'
import type { FollowedSiteDeps } from '../sites/followed-site.ts'
import { SiteLevels } from '../sites/site-levels.ts'
import { OrphanedSites } from '../sites/stale-receivers.ts'
import { Connections } from '../sources/connections.ts'
import { LeaseManager } from '../sources/lease-manager.ts'
import { Monitor } from '../sources/monitor.ts'
import { markOrphanedOffline, offlineAfterMs } from '../sources/offline-detection.ts'
import { createOrphanedSources, type OrphanedSources } from '../sources/orphaned-sources.ts'
import { ReportingSources } from '../sources/reporting-sources.ts'
import { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Database } from '../storage/database.ts'
import { deleteDischarge, listDischarges, pruneDischarges, saveDischarges } from '../storage/discharges.ts'
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
    readonly levelDemand: LevelDemand
    readonly siteLevelDemand: LevelDemand
    readonly live: LivePublisher
  }
  readonly frequencies: LiveFrequencies
  readonly db: Database
  readonly paths: StorePaths
  readonly redis: Redis | null
  readonly cache: Pick<Cache<unknown>, 'drop'>
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
  /** Overrides every other polling interval. */
  readonly intervalSeconds: number | undefined
  /** Called when a source begins to fail or recovers. */
  onSourcesFailingChanged(): void
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
  readonly reportingSources: ReportingSources
  readonly #deps: MonitoringDeps
  readonly #orphanedSources: OrphanedSources
  readonly #orphanedSites: OrphanedSites

  constructor(deps: MonitoringDeps) {
    const { state, db, paths, nodeId, log } = deps
    this.#deps = deps
    this.connections = this.#createConnections()
    this.reportingSources = new ReportingSources({ db, onAdded: () => this.notificationSender.planSoon() })
    this.leaseManager = new LeaseManager({ db, nodeId, log })
    const notificationDeps = this.#createNotificationDeps()
    const notificationQueue = new NotificationQueue({
      ...notificationDeps,
      db,
      onPlanned: (nextAt) => this.notificationSender.planned(nextAt),
    })
    this.notificationSender = new NotificationSender({
      ...notificationDeps,
      db,
      leaseManager: this.leaseManager,
      queue: notificationQueue,
      reload: deps.reload,
    })
    this.unstoredNotifications = new UnstoredNotifications(notificationDeps)
    this.alerts = this.#createAlerts(notificationQueue)
    this.frequencyConflicts = new FrequencyConflicts(state.receiverStore, deps.frequencies, state.settings, log)
    this.frequencyAnnouncements = new FrequencyAnnouncements(deps.frequencies, this.frequencyConflicts, state.live)
    this.events = this.#createEventLog()
    this.#orphanedSources = this.#createOrphanedSources()
    this.sourceRecords = this.#createSourceRecords()
    this.reportPublisher = this.#createReportPublisher()
    this.levelSubscriptions = this.#createLevelSubscriptions()
    this.siteLevels = new SiteLevels({ demand: deps.state.siteLevelDemand, sites: () => this.monitor.sites })
    this.stateWriter = new StateWriter({ save: (unsaved) => this.ingest.saveState(unsaved), log })
    this.conditions = this.#createConditions()
    this.forecasts = this.#createForecasts()
    this.ingest = this.#createIngest()
    this.#orphanedSites = new OrphanedSites({
      receiverStore: deps.state.receiverStore,
      ingest: this.ingest,
      manufacturers: () => deps.state.sourceRegistry.manufacturers(),
      isHeld: this.#orphanedSources.isHeld,
    })
    this.monitor = this.#createMonitor()
    this.frequencyConflicts.changed.subscribe((receiverIds) => this.alerts.conflictsChanged(receiverIds))
    this.alerts.changed.subscribe(() => this.events.loadSoon())
    this.events.changed.subscribe((change) => this.#countEvent(change))
    this.maintenance = createStoreMaintenance({ db, paths, log, now })
  }

  /** Returns the sources that have reported the receiver. Before the first report, this is the source that subscribes to it. */
  readonly reportingSourcesOf = (receiverId: number): readonly string[] => {
    const { sourceRegistry } = this.#deps.state
    const reporting = this.reportingSources.sourcesOf(receiverId)
    const known = reporting.filter((source) => sourceRegistry.find(source) !== undefined)
    if (known.length > 0) return known
    const subscribed = this.connections.find(receiverId)?.source ?? null
    return subscribed === null ? [] : [subscribed]
  }

  /**
   * Closes the connections of processes that have ended, updates the list of sources that no process polls, and marks
   * the receivers of a manufacturer as offline if no process polls any of its sources, and the channels of a site as
   * stale if no process follows it. A process that polls alone also watches the receivers of which it has received
   * nothing.
   */
  async checkOrphans(): Promise<void> {
    const { db, state } = this.#deps
    const { receiverStore, settings, sourceRegistry } = state
    await this.connections.closeOrphaned()
    await this.#orphanedSources.update()
    if (this.monitor.isRunning && !this.leaseManager.hasOtherNodes) this.conditions.watchAll()
    await markOrphanedOffline({
      db,
      receiverStore,
      ingest: this.ingest,
      manufacturers: () => sourceRegistry.manufacturers(),
      intervalMs: (code) => settings.pollingIntervalMs(code),
    })
    await this.#orphanedSites.check()
  }

  #keepDays(): number {
    return this.#deps.state.settings.get(null).HISTORY_MINUTES_DAYS
  }

  #intervalMs(manufacturer: string): number {
    const { intervalSeconds, state } = this.#deps
    return intervalSeconds === undefined ? state.settings.pollingIntervalMs(manufacturer) : intervalSeconds * 1000
  }

  #createConnections(): Connections {
    const { db, state, log } = this.#deps
    const { receiverStore, sourceRegistry } = state
    return new Connections({
      db,
      receiverStore,
      log,
      now,
      precedenceOf(id) {
        const source = sourceRegistry.find(id)
        return source === undefined ? null : (source.adapter.precedence ?? 0)
      },
    })
  }

  /** What the queue of notifications and both senders share. */
  #createNotificationDeps() {
    const { state, secrets, counters, publicUrl, log } = this.#deps
    return {
      secrets,
      counters: createNotificationCounters(counters),
      kit: { destinations: state.outbound.destinations, publicUrl },
      rules: () => state.lists.current.notificationRules,
      notificationChannels: () => state.lists.current.notificationChannels,
      surroundingsOf: (alert: Alert) => this.alerts.context.surroundingsOf(alert),
      isSilenced: (alert: Alert) => this.alerts.context.isSilenced(alert),
      log,
      now,
      random: Math.random,
    }
  }

  #createAlerts(notificationQueue: NotificationQueue): Alerts {
    const { db, state, log } = this.#deps
    const { receiverStore, unitStore, sourceRegistry, settings, lists } = state
    return new Alerts({
      db,
      queueNotifications: (tx, changed) => notificationQueue.queue(tx, changed),
      receiverStore,
      unitStore,
      log,
      now,
      keepDays: () => this.#keepDays(),
      isSource: (id) => sourceRegistry.find(id) !== undefined,
      alertSettings: (kind, scope) => settings.alertSettings(kind, scope),
      thresholds: (receiver, channel) => this.conditions.thresholdsOf(receiver, channel),
      ownReceivers: () => this.conditions.ownReceivers(),
      isEvaluated: (receiverId) => this.conditions.isEvaluated(receiverId),
      acknowledgeDied: (channelId) => this.conditions.acknowledgeDied(channelId),
      isFailing: (source) => this.sourceRecords.isFailing(source),
      areSourcesFailing: (receiver) => this.#areSourcesFailing(receiver),
      reportingSources: this.reportingSources,
      groups: () => lists.current.groups,
      silences: () => lists.current.silences,
      runningShows: () => lists.runningShows(),
      forecast: (channel) => this.forecasts.currentForecast(channel),
      batterySince: (channelId) => this.forecasts.batterySince(channelId),
      frequencyConflicts: {
        conflictOf: (channelId) => this.frequencyConflicts.conflictOf(channelId),
        isSettling: (channelId) => this.frequencyConflicts.isSettling(channelId),
      },
      isMonitored: (code) => sourceRegistry.manufacturers().some((known) => known.code === code && known.isEnabled),
      subscriptions: () => this.connections.subscriptions(),
      onLoaded: () => this.notificationSender.planSoon(),
      onUnstored: (alert, isStored) => {
        if (isStored) this.unstoredNotifications.forget(alert.id)
        else this.unstoredNotifications.changed(alert)
      },
    })
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

  #createOrphanedSources(): OrphanedSources {
    const { db, state } = this.#deps
    const { receiverStore, sourceRegistry, settings } = state
    return createOrphanedSources({
      db,
      manufacturers: () => sourceRegistry.manufacturers(),
      isReceiving(code) {
        const since = performance.now() - offlineAfterMs(settings.pollingIntervalMs(code))
        return receiverStore.listFacts(code).some(({ id }) => receiverStore.lastReceivedAt(id) >= since)
      },
      isPolling: () => this.monitor.isRunning,
    })
  }

  #createSourceRecords(): SourceRecords {
    const { db, state } = this.#deps
    const { sourceRegistry } = state
    return new SourceRecords({
      db,
      now,
      sourceRegistry,
      isOrphaned: this.#orphanedSources.has,
      onFailingChanged: () => {
        this.notificationSender.planSoon()
        this.#deps.onSourcesFailingChanged()
      },
      onRecorded: (failures) => {
        this.alerts.evaluateSource(failures)
        this.events.sourceRecorded(failures, this.sourceRecords.isFailing(failures.source))
      },
    })
  }

  #createReportPublisher(): ReportPublisher | null {
    const { redis, nodeId, state } = this.#deps
    if (redis === null) return null
    return new ReportPublisher({
      redis,
      nodeId,
      receiverStore: state.receiverStore,
      ownReceivers: () => this.conditions.ownReceivers(),
      onReports: (reports) => this.ingest.applyRemoteReports(reports),
    })
  }

  #createLevelSubscriptions(): LevelSubscriptions | null {
    const { redis, nodeId, state } = this.#deps
    if (redis === null) return null
    return new LevelSubscriptions({
      redis,
      nodeId,
      demand: state.levelDemand,
      manufacturers: () => new Set(state.receiverStore.listFacts().map(({ manufacturer }) => manufacturer)),
      onLevels: (received) => this.ingest.applyRemoteLevels(received),
    })
  }

  readonly #levelArrival = (id: string | undefined, { manufacturer, device_type }: Receiver): LevelArrival => {
    const source = id === undefined ? undefined : this.#deps.state.sourceRegistry.find(id)
    const cycles = source === undefined ? 1 : this.monitor.cyclesPerRound(source.id)
    return {
      levels: source?.adapter.levels?.(device_type, source.settings.rateLimit) ?? polledLevels,
      intervalMs: cycles * this.#intervalMs(manufacturer),
    }
  }

  #createConditions(): ConditionMonitor {
    const { receiverStore, sourceRegistry, settings, lists } = this.#deps.state
    return new ConditionMonitor({
      receiverStore,
      thresholds: (manufacturer, slot) => settings.thresholds(manufacturer, slot),
      audioFloorOf,
      showsOf: (slot) => lists.showsOf(slot),
      intervalMs: (manufacturer) => this.#intervalMs(manufacturer),
      sourceReceivedAt: (receiverId) => {
        const source = this.connections.find(receiverId)?.source ?? null
        const client = source === null ? undefined : sourceRegistry.find(source)?.client
        return client?.receivedAt ?? Number.NEGATIVE_INFINITY
      },
      levelsStatus: (receiverId, channel) => this.ingest.levelAges.statusOf(receiverId, channel),
      publish: (receiver) => this.ingest.publishConditions(receiver),
      save: (stored) => this.ingest.saveConditions(stored),
      onSample: (channelId, receiverId, values, thresholds, at) =>
        this.events.sampled(channelId, receiverId, values, thresholds, at),
      onReported: (receiver) => this.forecasts.reported(receiver),
      forecastOf: (channel) => this.forecasts.forecastOf(channel),
      writer: this.stateWriter,
      now,
    })
  }

  #createForecasts(): BatteryForecasts {
    const { db, state, log } = this.#deps
    return new BatteryForecasts({
      receiverStore: state.receiverStore,
      isOwn: (receiverId) => this.conditions.isOwn(receiverId),
      hasOtherNodes: () => this.leaseManager.hasOtherNodes,
      minutesCritical: (manufacturer, slot) => state.settings.thresholds(manufacturer, slot).MINUTES_CRITICAL,
      onChanged: (receiverId) => this.conditions.forecastChanged(receiverId),
      onChecked: () => this.alerts.forecastsChanged(),
      load: (since) => listDischarges(db.read, since),
      save: ({ saved, removed }) =>
        db.transaction(async (tx) => {
          await saveDischarges(tx, saved, now())
          for (const discharge of removed) await deleteDischarge(tx, discharge)
          if (saved.some(({ endedAt }) => endedAt !== null)) await pruneDischarges(tx, now())
        }),
      log,
      now,
    })
  }

  #createIngest(): Ingest {
    const { db, state, cache } = this.#deps
    const { receiverStore, placeholderStore, unitStore } = state
    return new Ingest({
      db,
      receiverStore,
      placeholderStore,
      unitStore,
      cache,
      conditions: this.conditions,
      stateWriter: this.stateWriter,
      alerts: this.alerts,
      reportingSources: this.reportingSources,
      onReceived: (receiverId) => this.reportPublisher?.publish(receiverId),
      onLevelsReceived: (receiverId) => this.reportPublisher?.publishLevels(receiverId),
      levelArrival: this.#levelArrival,
      hasOtherReaders: () => this.leaseManager.hasOtherNodes,
      now,
    })
  }

  #createMonitor(): Monitor {
    const { db, state, counters, nodeId, log } = this.#deps
    return new Monitor({
      db,
      ingest: this.ingest,
      receiverStore: state.receiverStore,
      unitStore: state.unitStore,
      sourceRecords: this.sourceRecords,
      connections: this.connections,
      counters,
      nodeId,
      leaseManager: this.leaseManager,
      log,
      now,
      random: Math.random,
      intervalMs: ({ manufacturer }) => this.#intervalMs(manufacturer),
      site: this.#createSiteDeps(),
    })
  }

  #createSiteDeps(): FollowedSiteDeps {
    const { db, state, installation, log } = this.#deps
    const { receiverStore, sourceRegistry, live } = state
    return {
      installation,
      db,
      events: this.events,
      receiverStore,
      ingest: this.ingest,
      alerts: this.alerts,
      sourceRecords: this.sourceRecords,
      connections: this.connections,
      nameOf: (record) => sourceRegistry.manufacturers().find(({ code }) => code === record)?.name ?? record,
      onViaChanged: () => live.restartClients(),
      onAnnouncementsChanged: () => live.sitesChanged(),
      onAssignmentsChanged: () => live.listsChanged(),
      log,
      now,
      random: Math.random,
    }
  }

  /** Whether all sources of the receiver fail. If they are not known, these are all sources of its manufacturer. */
  #areSourcesFailing({ id, manufacturer }: Receiver): boolean {
    const isFailing = (source: string) => this.sourceRecords.isFailing(source)
    const reporting = this.reportingSourcesOf(id)
    if (reporting.length > 0) return reporting.every(isFailing)
    const manufacturers = this.#deps.state.sourceRegistry.manufacturers()
    const sources = manufacturers.find(({ code }) => code === manufacturer)?.sources ?? []
    return sources.length > 0 && sources.every(isFailing)
  }
}
