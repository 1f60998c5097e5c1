/**
 * Creates the database connection, the in-memory state and the monitoring loops, and connects them. Has no HTTP server.
 */

import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, ConfigError, type ManufacturerEntry } from './config.ts'
import type { Location } from './contract/admin.ts'
import type { ChannelAssignment, Group, Settings } from './contract/live.ts'
import type { SourceBody } from './contract/live-messages.ts'
import type { AuditRecord } from './domain/access/access.ts'
import { toAlertBody } from './domain/alerts/alert.ts'
import { toChannelBody, toTimestamp } from './domain/api.ts'
import { toDiscoveredDevices } from './domain/discovery-api.ts'
import { type DiscoveredRecord, discoveredRetentionMs } from './domain/equipment/discovery.ts'
import type { Assignment } from './domain/equipment/hardware.ts'
import {
  type MonitoredManufacturer,
  type ServiceHealth,
  type StoreIncident,
  serviceHealth,
  storeHealth,
} from './domain/equipment/health.ts'
import { clampLastSeen } from './domain/equipment/receiver.ts'
import { toChannelAssignments, toSourceBodies } from './domain/live/lists.ts'
import { type ExplainedSettings, explainSettings, getEffectiveSettings, type SettingRecord } from './domain/settings.ts'
import { listSources, type MonitoredSource, type SourceDeps } from './manufacturers/sources.ts'
import { type Alerts, createAlerts } from './monitoring/alerts.ts'
import { type Connections, createConnections } from './monitoring/connections.ts'
import { createIngest, type Ingest } from './monitoring/ingest.ts'
import { createLeaseManager, createNodeId, type LeaseManager, nodeLease } from './monitoring/lease-manager.ts'
import { createLevelPublisher } from './monitoring/levels.ts'
import { Monitor } from './monitoring/monitor.ts'
import { markOrphanedOffline, offlineAfterMs } from './monitoring/offline-detection.ts'
import { createOrphanedSources } from './monitoring/orphaned-sources.ts'
import { createSourceRecords, type SourceRecords } from './monitoring/source-records.ts'
import { createSourceRegistry } from './monitoring/source-registry.ts'
import { createStoreMaintenance, openRepairedStore } from './monitoring/store-maintenance.ts'
import { pause, untilAborted } from './monitoring/wait.ts'
import { now } from './platform/clock.ts'
import { Semaphore } from './platform/semaphore.ts'
import type { Cache } from './state/cache.ts'
import { type Counters, createCounters } from './state/counters.ts'
import { createFeed, type Feed } from './state/feed.ts'
import { LiveJournal } from './state/live-journal.ts'
import { LivePublisher } from './state/live-publisher.ts'
import { createReceiverStore, type ReceiverStore } from './state/receiver-store.ts'
import { openRedis, type Redis } from './state/redis.ts'
import { createUnitStore, type UnitStore } from './state/unit-store.ts'
import type { Database } from './storage/database.ts'
import { listEntries } from './storage/discovery.ts'
import { StoreDownError } from './storage/errors.ts'
import { listGroups } from './storage/groups.ts'
import { listAssignments, listPerformersWithTags, type PerformerWithTag } from './storage/hardware.ts'
import { getInstallationId } from './storage/installation-id.ts'
import { listDiscovered, listLocations } from './storage/locations.ts'
import { listReceivers } from './storage/receivers.ts'
import { findIncident } from './storage/repair.ts'
import { currentRevision } from './storage/revision.ts'
import { openSecrets, type Secrets } from './storage/secrets.ts'
import {
  listManufacturers,
  listSealedManufacturers,
  listSettings,
  openManufacturer,
  type StoredManufacturer,
  saveManufacturer,
} from './storage/settings.ts'
import { listUnits } from './storage/units.ts'
import { createRequestThrottle } from './upstream/client.ts'
import { createDestinations } from './upstream/destinations.ts'

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
  /** Called for every audit record. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
  /** If true, a damaged database is an error; otherwise a snapshot is restored. */
  readonly failsOnDamage?: boolean
  /** The response cache; the runtime drops entries from it when data changes. */
  readonly cache?: Pick<Cache<unknown>, 'drop'>
}

export interface Runtime {
  readonly db: Database
  readonly secrets: Secrets
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly feed: Feed
  /** Announces changes to clients of the live interface, version 2. */
  readonly live: LivePublisher
  readonly ingest: Ingest
  readonly sourceRecords: SourceRecords
  readonly connections: Connections
  readonly alerts: Alerts
  readonly counters: Counters
  /** Identifies this process in leases. */
  readonly nodeId: string
  readonly leaseManager: LeaseManager
  readonly monitor: Monitor
  /** Shared by all processes of one installation; null without Redis. */
  readonly redis: Redis | null
  /** Shared by all upstream clients of the process. */
  readonly sourceDeps: SourceDeps
  readonly sources: readonly MonitoredSource[]
  manufacturers(): readonly MonitoredManufacturer[]
  settings(manufacturer: string | null): Settings
  /** Returns the effective settings, each with its origin. */
  explainSettings(manufacturer: string | null): ExplainedSettings
  groups(manufacturer?: string): readonly Group[]
  locations(): readonly Location[]
  /** Returns the devices that network scans found within the last day; some may have become receivers since. */
  discovered(): readonly DiscoveredRecord[]
  health(manufacturer?: string): ServiceHealth
  performers(): readonly PerformerWithTag[]
  /** Returns the active assignments, each with its channel. */
  assignments(): readonly ChannelAssignment[]
  /** Returns the status of every source. */
  sourceBodies(): readonly SourceBody[]
  /** Loads manufacturers, settings, groups, locations, performers and assignments from the database, after a user changed them. */
  reload(): Promise<void>
  /** Loads the changes made by other processes, until the signal aborts. */
  follow(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** How often changes made by other processes are loaded. */
const loadEveryMs = 500
/** Orphaned sources and connections are checked in every nth of these loads. */
const checkOrphansEvery = 4

/** Opens the runtime. Throws a ConfigError, or the database's error if it cannot be opened. */
export async function openRuntime(config: Config, options: RuntimeOptions): Promise<Runtime> {
  const { log, isReadOnly = false, failsOnDamage = false, cache = { drop: () => {} } } = options
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  if (secrets.warning !== null) log.warn(secrets.warning)
  const { onAudit } = options
  const { db, migrations } = await openRepairedStore(config, { log, now, isReadOnly, isStrict: failsOnDamage, onAudit })
  try {
    const entries = [...config.manufacturers, ...(options.manufacturers ?? [])]
    const merged = mergeManufacturers(await listManufacturers(db.read, secrets), entries, config)
    /** False while the database is not writable: the stored manufacturers then lack those in the configuration. */
    let isMergeSaved = isReadOnly || (await saveConfigured(db, secrets, merged, { entries, log }))
    // Logged only after the configuration was validated, so that a configuration error is the only output.
    for (const name of migrations) log.info({ migration: name }, 'applied a database migration')
    const receiverStore = createReceiverStore({
      receiverChanged: (id) => live.receiverChanged(id),
      queueChanged: () => live.queueChanged(),
    })
    const unitStore = createUnitStore()
    const feed = createFeed({ channelsOf: (id) => receiverStore.get(id)?.channels.map(toChannelBody) ?? [] })
    const sourceDeps = { throttle: createRequestThrottle(), destinations: createDestinations() }
    const sourceRegistry = createSourceRegistry(sourceDeps)

    let records: readonly SettingRecord[] = []
    let groups: readonly Group[] = []
    let locations: readonly Location[] = []
    let discovered: readonly DiscoveredRecord[] = []
    let performers: readonly PerformerWithTag[] = []
    let activeAssignments: readonly Assignment[] = []
    let incident: StoreIncident | null = null
    // The rows of the last load as JSON, to detect changes.
    let loadedSettings = ''
    let loadedManufacturers = ''
    let isStoreDown = false
    let isFollowing = false
    const isSource = (id: string) => sourceRegistry.find(id) !== undefined
    const precedenceOf = (id: string) => {
      const source = sourceRegistry.find(id)
      return source === undefined ? null : (source.adapter.precedence ?? 0)
    }
    const live: LivePublisher = new LivePublisher({
      journal: new LiveJournal(),
      receiverStore,
      toChannelBody,
      groups: () => groups,
      performers: () => performers,
      assignments: () => toChannelAssignments(activeAssignments, performers, (id) => unitStore.get(id)),
      discovered: () => toDiscoveredDevices(discovered, receiverStore),
      settings: (manufacturer) => settings(manufacturer),
      manufacturers: () => sourceRegistry.manufacturers().map(({ code }) => code),
      sources: () => toSourceBodies(sourceRecords.health(sourceRegistry.manufacturers())),
      pending: receiverStore.pendingEntries,
      now,
    })
    const connections = createConnections({
      db,
      receiverStore,
      feed,
      log,
      now,
      precedenceOf,
      onStatusChanged: (update) => live.statusChanged(update),
    })
    const alerts = createAlerts({
      db,
      receiverStore,
      unitStore,
      feed,
      log,
      now,
      isSource,
      threshold: (manufacturer) => settings(manufacturer).alert_battery_threshold,
      isMonitored: (code) => sourceRegistry.manufacturers().some((known) => known.code === code && known.isEnabled),
      subscriptions: connections.subscriptions,
      isSubscribedElsewhere: connections.isSubscribedElsewhere,
      onChanged: (alert) => live.alertChanged(toAlertBody(alert, now())),
    })
    const counters = createCounters(options.droppedLines)
    const { manufacturers } = sourceRegistry
    const pollingIntervalMs = (code: string) => settings(code).polling_interval * 1000
    const isReceiving = (code: string) => {
      const since = performance.now() - offlineAfterMs(pollingIntervalMs(code))
      return receiverStore.listFacts(code).some(({ id }) => receiverStore.lastReceivedAt(id) >= since)
    }
    const orphanedSources = createOrphanedSources({
      db,
      manufacturers,
      isReceiving,
      isPolling: () => monitor.isRunning,
    })
    const sourceRecords = createSourceRecords({
      db,
      feed,
      now,
      manufacturers,
      isOrphaned: orphanedSources.has,
      onChanged: () => live.sourcesChanged(),
      onRecorded: alerts.evaluateSource,
    })
    const nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
    const redis = isReadOnly ? null : await connectRedis(config, db, log)
    const levelPublisher =
      redis === null
        ? null
        : createLevelPublisher({
            redis,
            nodeId,
            receiver: receiverStore.get,
            onLevels: (levels) => ingest.applyRemoteLevels(levels),
          })
    const onReceived = (receiverId: number) => levelPublisher?.publish(receiverId)
    const hasOtherReaders = () => leaseManager.hasOtherNodes()
    const ingest = createIngest({
      db,
      receiverStore,
      unitStore,
      feed,
      live,
      cache,
      alerts,
      onReceived,
      hasOtherReaders,
      now,
    })

    const defaultInterval = options.defaultIntervalSeconds ?? config.settings.DEFAULT_POLLING_INTERVAL
    const effectiveSettings = new Map<string | null, Settings>()
    const settingsOptions = (manufacturer: string | null) => {
      const configuredInterval = manufacturer === null ? undefined : sourceRegistry.pollIntervalSeconds(manufacturer)
      const isBroadcasting = config.settings.WEBSOCKET_BROADCASTING
      return { records, manufacturer, configuredInterval, defaultInterval, isBroadcasting }
    }
    const settings = (manufacturer: string | null): Settings => {
      const known = effectiveSettings.get(manufacturer)
      if (known !== undefined) return known
      const read = getEffectiveSettings(settingsOptions(manufacturer))
      // Unknown codes are not cached, because clients can request any code.
      if (manufacturer === null || sourceRegistry.has(manufacturer)) effectiveSettings.set(manufacturer, read)
      return read
    }
    const intervalMs = (source: MonitoredSource) =>
      (options.intervalSeconds ?? settings(source.manufacturer).polling_interval) * 1000
    const loops = { db, ingest, receiverStore, unitStore, sourceRecords, connections, counters, log, now }
    const deps = { ...loops, random: Math.random, intervalMs }
    /** Publishes a fault of the store, which cannot be stored as an alert, to clients of both versions. */
    const publishFault: Feed['publish'] = (message) => {
      feed.publish(message)
      if (message.type !== 'alert') return
      const { type: _, ...alert } = message
      live.alertChanged({ ...alert, receiver_id: null, raised_at: toTimestamp(now()), cleared_at: null })
    }
    const maintenance = createStoreMaintenance({ db, paths: config, feed: { publish: publishFault }, log, now })
    const leaseManager = createLeaseManager({ db, nodeId, log })
    const monitor = new Monitor({ ...deps, nodeId, leaseManager })

    const setManufacturers = (manufacturers: readonly StoredManufacturer[]) => {
      const before = sourceRegistry.manufacturers()
      const removed = sourceRegistry.update(manufacturers)
      for (const { code } of before) if (!sourceRegistry.has(code)) unitStore.removeManufacturer(code)
      effectiveSettings.clear()
      cache.drop(null)
      live.listsChanged()
      forgetRecords(removed)
      // Not awaited, so that a request that changes a manufacturer does not wait until a source has stopped.
      const stopped = monitor.setSources(sourceRegistry.sources())
      closeClients(stopped, removed).catch((error) =>
        log.warn({ error: String(error) }, 'upstream client could not be closed'),
      )
    }
    const forgetRecords = (sources: readonly MonitoredSource[]) => {
      for (const { id } of sources) if (!isSource(id)) sourceRecords.forget(id)
    }
    const closeClients = async (stopped: Promise<void>, sources: readonly MonitoredSource[]) => {
      await stopped
      // The last cycle may have been recorded after the source was removed.
      forgetRecords(sources)
      await Promise.all(sources.map(({ client }) => client.close()))
    }
    const loadManufacturers = async () => {
      if (!isMergeSaved) return
      const rows = await listSealedManufacturers(db.read)
      const text = JSON.stringify(rows)
      if (text === loadedManufacturers) return
      setManufacturers(rows.map((row) => openManufacturer(row, secrets)))
      loadedManufacturers = text
    }
    const loadSettings = async () => {
      const read = {
        records: await listSettings(db.read),
        groups: await listGroups(db.read),
        locations: await listLocations(db.read),
        discovered: await listDiscovered(db.read, now() - discoveredRetentionMs),
        performers: await listPerformersWithTags(db.read),
        assignments: await listAssignments(db.read, { is_active: true }),
        incident: await findIncident(db.read),
      }
      const text = JSON.stringify(read)
      if (text === loadedSettings) return
      loadedSettings = text
      records = read.records
      groups = read.groups
      locations = read.locations
      discovered = read.discovered
      performers = read.performers
      activeAssignments = read.assignments
      incident = read.incident
      effectiveSettings.clear()
      cache.drop(null)
      live.listsChanged()
    }
    /**
     * Closes the connections of processes that have ended, updates the list of sources that no process polls, and marks
     * the receivers of a manufacturer as offline if no process polls any of its sources.
     */
    const checkOrphans = async () => {
      await connections.closeOrphaned()
      await orphanedSources.update()
      await markOrphanedOffline({
        ...loops,
        manufacturers,
        intervalMs: pollingIntervalMs,
      })
    }
    const loading = new Semaphore(1)
    const reload = (): Promise<void> => {
      // Serialized, so that an earlier load does not overwrite the result of a later one.
      const reading = loading.run(async () => {
        await loadSettings()
        await loadManufacturers()
      })
      return db.pending.track(reading)
    }

    receiverStore.revision = await currentRevision(db.read)
    for (const receiver of await listReceivers(db.read)) receiverStore.put(clampLastSeen(now(), receiver))
    for (const entry of await listEntries(db.read)) receiverStore.putEntry(entry)
    for (const unit of await listUnits(db.read)) unitStore.put(unit)
    await loadSettings()
    if (isReadOnly || !isMergeSaved) setManufacturers(merged)
    else await loadManufacturers()
    await alerts.open()
    await connections.open()
    await sourceRecords.load()

    return {
      db,
      secrets,
      receiverStore,
      unitStore,
      feed,
      live,
      ingest,
      sourceRecords,
      connections,
      alerts,
      counters,
      nodeId,
      leaseManager,
      monitor,
      redis,
      sourceDeps,
      get sources() {
        return sourceRegistry.sources()
      },
      settings,
      explainSettings: (manufacturer) => explainSettings(settingsOptions(manufacturer)),
      manufacturers: sourceRegistry.manufacturers,
      groups: (manufacturer) =>
        groups.filter((group) => manufacturer === undefined || group.manufacturer === manufacturer),
      locations: () => locations,
      discovered: () => discovered,
      performers: () => performers,
      assignments: () => toChannelAssignments(activeAssignments, performers, (id) => unitStore.get(id)),
      sourceBodies: () => toSourceBodies(sourceRecords.health(sourceRegistry.manufacturers())),
      health(selected) {
        const errors = sourceRegistry.configurationErrors()
        const manufacturers = sourceRecords
          .health(sourceRegistry.manufacturers())
          .map((manufacturer) => errors.get(manufacturer.code) ?? manufacturer)
        const longestWriteMs = db.pending.longestMs()
        const store = storeHealth({ isReachable: !isStoreDown, condition: db.condition(), incident, longestWriteMs })
        const details = redis?.isUp === false ? ['Redis does not respond; each process works on its own.'] : []
        return serviceHealth(manufacturers, { selected, store, details })
      },
      reload,
      async follow(signal) {
        isFollowing = !isReadOnly
        const registration = leaseManager.runWhileHeld(nodeLease(nodeId), signal, (lease) => untilAborted(lease.signal))
        for (let loads = 1; await pause(loadEveryMs, signal); loads += 1) {
          try {
            // Alerts are loaded before the states. Other processes store a state before they clear the alert about it,
            // so a cleared alert is never evaluated with the older state, which would raise the alert again.
            await alerts.load()
            await ingest.catchUp()
            await ingest.correctTimes()
            if (!isMergeSaved && db.condition() === 'ok') {
              isMergeSaved = await saveConfigured(db, secrets, merged, { entries, log })
            }
            await reload()
            await sourceRecords.load()
            await connections.load()
            alerts.evaluateAll()
            if (isStoreDown) log.info('database is reachable again')
            isStoreDown = false
          } catch (error) {
            if (!isStoreDown) log.error({ error: String(error) }, 'database cannot be read')
            isStoreDown = true
          }
          if (isFollowing) await maintenance.run()
          if (isStoreDown || loads % checkOrphansEvery !== 0) continue
          // Probed here, because without writes a recovery would not be noticed.
          if (db.condition() === 'unwritable') await db.probe().catch(() => {})
          else
            await checkOrphans().catch((error) =>
              log.warn({ error: String(error) }, 'the check for orphaned sources and connections failed'),
            )
        }
        await registration
      },
      async close() {
        feed.close()
        live.close()
        ingest.levelLane.stop()
        // Waits for the loads that have been requested.
        await loading.run(async () => {})
        await alerts.flushed()
        levelPublisher?.close()
        await redis?.close()
        if (isFollowing) await maintenance.close()
        await Promise.all(sourceRegistry.sources().map(({ client }) => client.close()))
        await db.close()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Creates the Redis connection, without waiting until it is established; null if Redis is not configured. */
async function connectRedis({ redis_url }: Config, db: Database, log: FastifyBaseLogger): Promise<Redis | null> {
  if (redis_url === null) return null
  return openRedis({
    url: redis_url,
    prefix: `micwatch:${await getInstallationId(db)}`,
    onChange(isUp) {
      if (isUp) log.info('Redis is reachable')
      else log.warn('Redis does not respond; this process works on its own until it does')
    },
  })
}

/** Returns the stored manufacturers, overridden by those in the configuration. */
function mergeManufacturers(
  stored: readonly StoredManufacturer[],
  entries: readonly ManufacturerEntry[],
  config: Config,
): StoredManufacturer[] {
  const merged = new Map(stored.map((record) => [record.code, record]))
  for (const [index, entry] of entries.entries()) {
    const before = merged.get(entry.code)
    const plugin = entry.plugin ?? before?.plugin ?? entry.code
    const record: StoredManufacturer = {
      code: entry.code,
      name: entry.name ?? before?.name ?? entry.code,
      plugin,
      api_enabled: entry.api_enabled ?? before?.api_enabled ?? true,
      config: { ...before?.config, ...entry.config },
      secretsUnreadable: before?.secretsUnreadable ?? false,
    }
    checkEntry(record, `${config.file ?? 'configuration'}: manufacturers.${index}`)
    merged.set(record.code, record)
  }
  return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** Stores the manufacturers in the configuration; returns false if the database is not writable. */
async function saveConfigured(
  db: Database,
  secrets: Secrets,
  merged: readonly StoredManufacturer[],
  { entries, log }: { readonly entries: readonly ManufacturerEntry[]; readonly log: FastifyBaseLogger },
): Promise<boolean> {
  const codes = new Set(entries.map(({ code }) => code))
  const configured = merged.filter(({ code }) => codes.has(code))
  if (configured.length === 0) return true
  try {
    await db.transaction(async (tx) => {
      for (const record of configured) await saveManufacturer(tx, secrets, record)
    })
    return true
  } catch (error) {
    if (!(error instanceof StoreDownError)) throw error
    log.error({ error: error.message }, 'the manufacturers of the configuration are not stored yet')
    return false
  }
}

function checkEntry(record: StoredManufacturer, where: string): void {
  try {
    listSources(record)
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError(`${where}.${error instanceof RangeError ? `plugin: ${message}` : `config.${message}`}`)
  }
}
