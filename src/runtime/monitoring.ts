/** Creates everything that monitors the sources: the ingest of reports, alerts, leases and loops. */

import type { FastifyBaseLogger } from 'fastify'
import type { AlertBody } from '../contract/resources/alerts.ts'
import { toAlertBody } from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { type EventChange, type EventRecord, toEventBody } from '../domain/events/event.ts'
import { Alerts } from '../monitoring/alerts.ts'
import { BatteryForecasts } from '../monitoring/battery-forecasts.ts'
import { ConditionMonitor } from '../monitoring/conditions.ts'
import { Connections } from '../monitoring/connections.ts'
import { EventLog } from '../monitoring/event-log.ts'
import { FrequencyAnnouncements } from '../monitoring/frequency-announcements.ts'
import { FrequencyConflicts } from '../monitoring/frequency-conflicts.ts'
import { Ingest } from '../monitoring/ingest.ts'
import { LeaseManager } from '../monitoring/lease-manager.ts'
import { createLevelPublisher } from '../monitoring/levels.ts'
import { Monitor } from '../monitoring/monitor.ts'
import { NotificationQueue } from '../monitoring/notification-queue.ts'
import { NotificationSender } from '../monitoring/notification-sender.ts'
import { markOrphanedOffline, offlineAfterMs } from '../monitoring/offline-detection.ts'
import { createOrphanedSources } from '../monitoring/orphaned-sources.ts'
import { ReportingSources } from '../monitoring/reporting-sources.ts'
import { SourceRecords } from '../monitoring/source-records.ts'
import { createStoreMaintenance } from '../monitoring/store-maintenance.ts'
import { now } from '../platform/clock.ts'
import type { Cache } from '../state/cache.ts'
import { type Counters, createEventCounters, createNotificationCounters } from '../state/counters.ts'
import type { Redis } from '../state/redis.ts'
import type { Database } from '../storage/database.ts'
import { deleteDischarge, listDischarges, pruneDischarges, saveDischarges } from '../storage/discharges.ts'
import type { Secrets } from '../storage/secrets.ts'
import type { StorePaths } from '../storage/snapshots.ts'
import type { LiveFrequencies } from './live-frequencies.ts'
import type { State } from './state.ts'

interface MonitoringDeps {
  readonly state: State
  readonly frequencies: Pick<LiveFrequencies, 'check' | 'describe'>
  readonly db: Database
  readonly paths: StorePaths
  readonly redis: Redis | null
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly counters: Counters
  readonly nodeId: string
  readonly secrets: Secrets
  /** `server.public_url`. */
  readonly publicUrl: string | null
  /** Loads the lists and the manufacturers. */
  reload(): Promise<void>
  readonly log: FastifyBaseLogger
  /** Overrides every other polling interval. */
  readonly intervalSeconds: number | undefined
  /** Called for every change of an alert. */
  readonly onAlert: ((alert: AlertBody) => void) | undefined
}

export function createMonitoring(deps: MonitoringDeps) {
  const { state, db, paths, redis, cache, counters, nodeId, log } = deps
  const { sourceRegistry, settings, receiverStore, placeholderStore, unitStore, feed, live } = state
  const { manufacturers } = sourceRegistry
  const connections = new Connections({
    db,
    receiverStore,
    feed,
    log,
    now,
    precedenceOf(id) {
      const source = sourceRegistry.find(id)
      return source === undefined ? null : (source.adapter.precedence ?? 0)
    },
    onStatusChanged: (update) => live.statusChanged(update),
  })
  const keepDays = () => settings.get(null).HISTORY_MINUTES_DAYS
  const reportingSources = new ReportingSources({ db, onAdded: () => notificationSender.planSoon() })
  const notificationQueue: NotificationQueue = new NotificationQueue({
    db,
    rules: () => state.lists.current.notificationRules,
    notificationChannels: () => state.lists.current.notificationChannels,
    surroundingsOf: (alert) => alerts.surroundingsOf(alert),
    onQueued: () => notificationSender.wake(),
    now,
  })
  const alerts: Alerts = new Alerts({
    db,
    queueNotifications: (tx, changed) => notificationQueue.queue(tx, changed),
    receiverStore,
    unitStore,
    feed,
    log,
    now,
    keepDays,
    isSource: (id) => sourceRegistry.find(id) !== undefined,
    alertSettings: (kind, scope) => settings.alertSettings(kind, scope),
    thresholds: (receiver, channel) => conditions.thresholdsOf(receiver, channel),
    ownReceivers: () => conditions.ownReceivers(),
    isOwn: (receiverId) => conditions.isOwn(receiverId),
    acknowledgeDied: (channelId) => conditions.acknowledgeDied(channelId),
    isFailing: (source) => sourceRecords.isFailing(source),
    areSourcesFailing,
    reportingSources,
    groups: () => state.lists.current.groups,
    silences: () => state.lists.current.silences,
    runningShows: state.runningShows,
    forecast: (channel) => forecasts.currentForecast(channel),
    batterySince: (channelId) => forecasts.batterySince(channelId),
    frequencyConflicts: {
      conflictOf: (channelId) => frequencyConflicts.conflictOf(channelId),
      isSettling: (channelId) => frequencyConflicts.isSettling(channelId),
    },
    isMonitored: (code) => manufacturers().some((known) => known.code === code && known.isEnabled),
    subscriptions: () => connections.subscriptions(),
    onChanged(alert) {
      const body = toAlertBody(alert, { now: now(), isSilenced: alerts.isSilenced(alert) })
      live.alertChanged(body)
      deps.onAlert?.(body)
      events.loadSoon()
      notificationSender.planSoon()
    },
  })
  const frequencyAnnouncements = new FrequencyAnnouncements({
    describe: () => deps.frequencies.describe(),
    announce: () => live.frequenciesChanged(),
  })
  const frequencyConflicts: FrequencyConflicts = new FrequencyConflicts({
    facts: receiverStore.facts,
    check: (filter) => deps.frequencies.check(filter),
    isEnabled() {
      const slots = [[], ...state.lists.current.groups.map((group) => group.slots)]
      const scopes = manufacturers().flatMap(({ code }) => slots.map((some) => ({ manufacturer: code, slots: some })))
      return scopes.some((scope) => settings.alertSettings('frequency_conflict', scope).isEnabled)
    },
    onCarriersChanged: () => frequencyAnnouncements.changed(),
    onChanged: (receiverIds) => alerts.conflictsChanged(receiverIds),
    log,
  })
  const eventCounters = createEventCounters(counters, () =>
    receiverStore.listFacts().flatMap(({ channels }) => channels.map(({ id }) => id)),
  )
  const events = new EventLog({
    db,
    receiverStore,
    isOwn: (receiverId) => conditions.isOwn(receiverId),
    thresholds: (receiver, channel) => conditions.thresholdsOf(receiver, channel),
    rowTrueUntil: (channelId, row) => conditions.rowTrueUntil(channelId, row),
    announce: announceEvent,
    keepDays,
    log,
    now,
  })
  const orphanedSources = createOrphanedSources({
    db,
    manufacturers,
    isReceiving(code) {
      const since = performance.now() - offlineAfterMs(settings.pollingIntervalMs(code))
      return receiverStore.listFacts(code).some(({ id }) => receiverStore.lastReceivedAt(id) >= since)
    },
    isPolling: () => monitor.isRunning,
  })
  const sourceRecords = new SourceRecords({
    db,
    feed,
    now,
    manufacturers,
    isOrphaned: orphanedSources.has,
    onChanged: () => live.sourcesChanged(),
    onFailingChanged: () => notificationSender.planSoon(),
    onRecorded(failures) {
      alerts.evaluateSource(failures)
      events.sourceRecorded(failures, sourceRecords.isFailing(failures.source))
    },
  })
  const leaseManager = new LeaseManager({ db, nodeId, log })
  const notificationSender = new NotificationSender({
    db,
    secrets: deps.secrets,
    leaseManager,
    queue: notificationQueue,
    counters: createNotificationCounters(counters),
    kit: { destinations: state.sourceDeps.destinations, publicUrl: deps.publicUrl },
    notificationChannels: () => state.lists.current.notificationChannels,
    isSilenced: (alert) => alerts.isSilenced(alert),
    reload: deps.reload,
    log,
    now,
    random: Math.random,
  })
  const levelPublisher =
    redis === null
      ? null
      : createLevelPublisher({
          redis,
          nodeId,
          receiver: receiverStore.get,
          onLevels: (levels) => ingest.applyRemoteLevels(levels),
        })
  const conditions = new ConditionMonitor({
    receiverStore,
    thresholds: (manufacturer, slot) => settings.thresholds(manufacturer, slot),
    showsOf: state.showsOf,
    intervalMs: (manufacturer) => intervalMs(manufacturer),
    sourceReceivedAt(receiverId) {
      const source = connections.find(receiverId)?.source ?? null
      const client = source === null ? undefined : sourceRegistry.find(source)?.client
      return client?.receivedAt ?? Number.NEGATIVE_INFINITY
    },
    publish: (receiver) => ingest.publishConditions(receiver),
    save: (stored) => ingest.saveConditions(stored),
    onSample: (channelId, receiverId, values, thresholds, at) =>
      events.sampled(channelId, receiverId, values, thresholds, at),
    onReported: (receiver) => forecasts.reported(receiver),
    forecastOf: (channel) => forecasts.forecastOf(channel),
    log,
    now,
  })
  const forecasts = new BatteryForecasts({
    receiverStore,
    isOwn: (receiverId) => conditions.isOwn(receiverId),
    hasOtherNodes: () => leaseManager.hasOtherNodes,
    onChanged: (receiverId) => conditions.forecastChanged(receiverId),
    onChecked: () => alerts.forecastsChanged(),
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
  const ingest: Ingest = new Ingest({
    db,
    receiverStore,
    placeholderStore,
    unitStore,
    feed,
    live,
    cache,
    conditions,
    alerts,
    reportingSources,
    onReceived: (receiverId) => levelPublisher?.publish(receiverId),
    hasOtherReaders: () => leaseManager.hasOtherNodes,
    now,
  })
  const monitor: Monitor = new Monitor({
    db,
    ingest,
    receiverStore,
    unitStore,
    sourceRecords,
    connections,
    counters,
    nodeId,
    leaseManager,
    log,
    now,
    random: Math.random,
    intervalMs: ({ manufacturer }) => intervalMs(manufacturer),
  })
  const maintenance = createStoreMaintenance({ db, paths, log, now })

  function intervalMs(manufacturer: string): number {
    return deps.intervalSeconds === undefined ? settings.pollingIntervalMs(manufacturer) : deps.intervalSeconds * 1000
  }

  function announceEvent(change: EventChange): void {
    const message = change.type === 'event_deleted' ? change : { type: change.type, event: toEventBody(change.event) }
    if (change.type === 'event') countEvent(change.event)
    feed.publish(message)
    live.eventChanged(message)
  }

  /** Counts an event of a receiver that this process evaluates. */
  function countEvent({ kind, channel_id, receiver_id }: EventRecord): void {
    if (channel_id === null || receiver_id === null || !conditions.isOwn(receiver_id)) return
    eventCounters.countEvent(kind, channel_id)
  }

  /** Returns the sources that have reported the receiver. Before the first report, this is the source that subscribes to it. */
  function reportingSourcesOf(receiverId: number): readonly string[] {
    const known = reportingSources.sourcesOf(receiverId).filter((source) => sourceRegistry.find(source) !== undefined)
    if (known.length > 0) return known
    const subscribed = connections.find(receiverId)?.source ?? null
    return subscribed === null ? [] : [subscribed]
  }

  /** Whether all sources of the receiver fail. If they are not known, these are all sources of its manufacturer. */
  function areSourcesFailing({ id, manufacturer }: Receiver): boolean {
    const reporting = reportingSourcesOf(id)
    if (reporting.length > 0) return reporting.every((source) => sourceRecords.isFailing(source))
    const sources = manufacturers().find(({ code }) => code === manufacturer)?.sources ?? []
    return sources.length > 0 && sources.every((source) => sourceRecords.isFailing(source))
  }

  /**
   * Closes the connections of processes that have ended, updates the list of sources that no process polls, and marks
   * the receivers of a manufacturer as offline if no process polls any of its sources. A process that polls alone also
   * watches the receivers of which it has received nothing.
   */
  async function checkOrphans(): Promise<void> {
    await connections.closeOrphaned()
    await orphanedSources.update()
    if (monitor.isRunning && !leaseManager.hasOtherNodes) conditions.watchAll()
    const pollingIntervalMs = (code: string) => settings.pollingIntervalMs(code)
    await markOrphanedOffline({ db, receiverStore, ingest, manufacturers, intervalMs: pollingIntervalMs })
  }

  return {
    connections,
    conditions,
    alerts,
    frequencyAnnouncements,
    frequencyConflicts,
    events,
    forecasts,
    sourceRecords,
    leaseManager,
    levelPublisher,
    ingest,
    monitor,
    maintenance,
    notificationSender,
    reportingSources,
    reportingSourcesOf,
    checkOrphans,
  }
}
