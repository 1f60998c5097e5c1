/** Creates everything that monitors the sources: the ingest of reports, alerts, leases and loops. */

import type { FastifyBaseLogger } from 'fastify'
import { toAlertBody } from '../domain/alerts/alert.ts'
import { toTimestamp } from '../domain/api.ts'
import { Alerts } from '../monitoring/alerts.ts'
import { ConditionMonitor } from '../monitoring/conditions.ts'
import { Connections } from '../monitoring/connections.ts'
import { createIngest, type Ingest } from '../monitoring/ingest.ts'
import { LeaseManager } from '../monitoring/lease-manager.ts'
import { createLevelPublisher } from '../monitoring/levels.ts'
import { Monitor } from '../monitoring/monitor.ts'
import { markOrphanedOffline, offlineAfterMs } from '../monitoring/offline-detection.ts'
import { createOrphanedSources } from '../monitoring/orphaned-sources.ts'
import { createSourceRecords, type SourceRecords } from '../monitoring/source-records.ts'
import { createStoreMaintenance } from '../monitoring/store-maintenance.ts'
import { now } from '../platform/clock.ts'
import type { Cache } from '../state/cache.ts'
import type { Counters } from '../state/counters.ts'
import type { Feed } from '../state/feed.ts'
import type { Redis } from '../state/redis.ts'
import type { Database } from '../storage/database.ts'
import type { StorePaths } from '../storage/snapshots.ts'
import type { State } from './state.ts'

interface MonitoringDeps {
  readonly state: State
  readonly db: Database
  readonly paths: StorePaths
  readonly redis: Redis | null
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly counters: Counters
  readonly nodeId: string
  readonly log: FastifyBaseLogger
  /** Overrides every other polling interval. */
  readonly intervalSeconds: number | undefined
}

export function createMonitoring(deps: MonitoringDeps) {
  const { state, db, paths, redis, cache, counters, nodeId, log } = deps
  const { sourceRegistry, settings, receiverStore, unitStore, feed, live } = state
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
  const alerts = new Alerts({
    db,
    receiverStore,
    unitStore,
    feed,
    log,
    now,
    isSource: (id) => sourceRegistry.find(id) !== undefined,
    threshold: (manufacturer) => settings.get(manufacturer).alert_battery_threshold,
    isMonitored: (code) => manufacturers().some((known) => known.code === code && known.isEnabled),
    subscriptions: () => connections.subscriptions(),
    isSubscribedElsewhere: (receiverId) => connections.isSubscribedElsewhere(receiverId),
    onChanged: (alert) => live.alertChanged(toAlertBody(alert, now())),
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
  const sourceRecords: SourceRecords = createSourceRecords({
    db,
    feed,
    now,
    manufacturers,
    isOrphaned: orphanedSources.has,
    onChanged: () => live.sourcesChanged(),
    onRecorded: (failures) => alerts.evaluateSource(failures),
  })
  const leaseManager = new LeaseManager({ db, nodeId, log })
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
    thresholds: state.thresholds,
    intervalMs: (manufacturer) => intervalMs(manufacturer),
    publish: (receiver) => ingest.publishConditions(receiver),
    save: (stored) => ingest.saveConditions(stored),
    log,
    now,
  })
  const ingest: Ingest = createIngest({
    db,
    receiverStore,
    unitStore,
    feed,
    live,
    cache,
    conditions,
    alerts,
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
  const maintenance = createStoreMaintenance({ db, paths, feed: { publish: publishFault }, log, now })

  function intervalMs(manufacturer: string): number {
    return deps.intervalSeconds === undefined ? settings.pollingIntervalMs(manufacturer) : deps.intervalSeconds * 1000
  }

  /** Publishes a fault of the store, which cannot be stored as an alert, to clients of both versions. */
  function publishFault(message: Parameters<Feed['publish']>[0]): void {
    feed.publish(message)
    if (message.type !== 'alert') return
    const { type: _, ...alert } = message
    live.alertChanged({ ...alert, receiver_id: null, raised_at: toTimestamp(now()), cleared_at: null })
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
    sourceRecords,
    leaseManager,
    levelPublisher,
    ingest,
    monitor,
    maintenance,
    checkOrphans,
  }
}
