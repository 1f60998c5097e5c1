/**
 * Creates the database connection, the in-memory state and the monitoring loops, and connects them. Has no HTTP server.
 */

import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Config, ManufacturerEntry } from './config.ts'
import type { SourceBody } from './contract/live-messages.ts'
import type { AlertBody } from './contract/resources/alerts.ts'
import type { Group } from './contract/resources/groups.ts'
import type { Location } from './contract/resources/locations.ts'
import type { ChannelAssignment, Performer } from './contract/resources/performers.ts'
import type { Settings } from './contract/settings.ts'
import type { AuditRecord } from './domain/access/access.ts'
import type { Silence } from './domain/alerts/silences.ts'
import type { DiscoveredRecord } from './domain/equipment/discovery.ts'
import {
  type ManufacturerHealth,
  type MonitoredManufacturer,
  type ServiceHealth,
  serviceHealth,
  storeHealth,
} from './domain/equipment/health.ts'
import type { StoredProfile } from './domain/frequencies/profile-changes.ts'
import type { Scan } from './domain/frequencies/scans/stored-scan.ts'
import { toSourceBodies } from './domain/live/lists.ts'
import { canChangeSurroundings } from './domain/notifications/surroundings.ts'
import type { ExplainedSettings, SettingScope } from './domain/settings.ts'
import type { Show } from './domain/shows.ts'
import type { MonitoredSource, SourceDeps } from './manufacturers/sources.ts'
import type { Alerts } from './monitoring/alerts.ts'
import type { BatteryForecasts } from './monitoring/battery-forecasts.ts'
import type { ConditionMonitor } from './monitoring/conditions.ts'
import type { Connections } from './monitoring/connections.ts'
import type { EventLog } from './monitoring/event-log.ts'
import type { Ingest } from './monitoring/ingest.ts'
import { createNodeId, type LeaseManager, nodeLease } from './monitoring/lease-manager.ts'
import type { Monitor } from './monitoring/monitor.ts'
import type { NotificationSender } from './monitoring/notification-sender.ts'
import type { SourceRecords } from './monitoring/source-records.ts'
import type { SourceRegistry } from './monitoring/source-registry.ts'
import { openRepairedStore } from './monitoring/store-maintenance.ts'
import { untilAborted } from './monitoring/wait.ts'
import { now } from './platform/clock.ts'
import { createBlankPlaceholders } from './runtime/blank-placeholders.ts'
import { CheckAnnouncements } from './runtime/check-announcements.ts'
import { ConfiguredManufacturers } from './runtime/configured-manufacturers.ts'
import { Follower } from './runtime/follower.ts'
import { type History, RunningHistory } from './runtime/history.ts'
import { LiveFrequencies } from './runtime/live-frequencies.ts'
import { Loader } from './runtime/loader.ts'
import { ManufacturerLoader } from './runtime/manufacturer-loader.ts'
import { createMonitoring } from './runtime/monitoring.ts'
import { NotificationAnnouncements } from './runtime/notification-announcements.ts'
import { createRemoteWrite, type RemoteWrite } from './runtime/remote-write.ts'
import { createShowAnnouncements } from './runtime/show-announcements.ts'
import { createState, toDefaults } from './runtime/state.ts'
import type { Cache } from './state/cache.ts'
import { type Counters, createCounters } from './state/counters.ts'
import type { Feed } from './state/feed.ts'
import { FrequencyChecker } from './state/frequency-checker.ts'
import type { LivePublisher } from './state/live-publisher.ts'
import type { PlaceholderStore } from './state/placeholder-store.ts'
import type { ReceiverStore } from './state/receiver-store.ts'
import { openRedis, type Redis } from './state/redis.ts'
import type { UnitStore } from './state/unit-store.ts'
import type { Database } from './storage/database.ts'
import { getInstallationId } from './storage/installation-id.ts'
import { migrations as allMigrations } from './storage/migrations/index.ts'
import { openSecrets, type Secrets } from './storage/secrets.ts'
import { OidcProvider } from './upstream/oidc.ts'
import { createPlanningCenter } from './upstream/planning-center.ts'

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
  /** Called for every change of an alert, whichever process made it. */
  readonly onAlert?: ((alert: AlertBody) => void) | undefined
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
  readonly feed: Feed
  /** Announces changes to clients of the live interface, version 2. */
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
  /** Null if it is not configured. */
  readonly remoteWrite: RemoteWrite | null
  /** Sends notifications. */
  readonly notifications: NotificationSender
  /** Checks carriers, and suggests frequencies. */
  readonly checker: FrequencyChecker
  /** The carriers of the installation and their conflicts. */
  readonly frequencies: LiveFrequencies
  readonly counters: Counters
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
  /** Returns the devices that network scans found within the last day; some may have become receivers since. */
  discovered(): readonly DiscoveredRecord[]
  health(manufacturer?: string): ServiceHealth
  /** Returns what is stored of frequency profiles. */
  storedProfiles(): readonly StoredProfile[]
  performers(): readonly Performer[]
  /** Returns the alert silences in effect. */
  silences(): readonly Silence[]
  /** Returns the spectrum scans, without their levels. */
  scans(): readonly Scan[]
  /** Returns the active assignments, each with its channel. */
  assignments(): readonly ChannelAssignment[]
  shows(): readonly Show[]
  runningShows(): readonly Show[]
  /** Returns the status of every source. */
  sourceBodies(): readonly SourceBody[]
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

/** Opens the runtime. Throws a ConfigError, or the database error if the database cannot be opened. */
export async function openRuntime(config: Config, options: RuntimeOptions): Promise<Runtime> {
  const { log, onAudit, isReadOnly = false, failsOnDamage = false } = options
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  if (secrets.warning !== null) log.warn(secrets.warning)
  const { db, migrations } = await openRepairedStore(config, { log, now, isReadOnly, isStrict: failsOnDamage, onAudit })
  try {
    const configured = await ConfiguredManufacturers.open(withExtra(config, options), { db, secrets, log, isReadOnly })
    // Logged only after the configuration was validated, so that a configuration error is the only output.
    if (migrations.length === allMigrations.length) log.info('created the database')
    else for (const name of migrations) log.info({ migration: name }, 'applied a database migration')
    return await composeRuntime(config, options, { db, secrets, configured })
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Adds the manufacturers in the options to those in the configuration. */
function withExtra({ file, manufacturers }: Config, options: RuntimeOptions): Pick<Config, 'file' | 'manufacturers'> {
  return { file, manufacturers: [...manufacturers, ...(options.manufacturers ?? [])] }
}

interface OpenedStore {
  readonly db: Database
  readonly secrets: Secrets
  readonly configured: ConfiguredManufacturers
}

/** Creates all parts and loads the stored state into them. */
async function composeRuntime(config: Config, options: RuntimeOptions, store: OpenedStore): Promise<Runtime> {
  const { log, isReadOnly = false, isRecording = true, cache = { drop: () => {} } } = options
  const { intervalSeconds, defaultIntervalSeconds } = options
  const { db, secrets, configured } = store
  const nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
  const counters = createCounters(options.droppedLines)
  const redis = isReadOnly ? null : await connectRedis(config, db, log)
  const sourceBodies = () => toSourceBodies(sourceRecords.health(sourceRegistry.manufacturers()))
  const state = createState({
    config,
    defaultIntervalSeconds,
    sourceBodies,
    onReceiverChanged(id, before, after) {
      events.receiverChanged(id)
      frequencyConflicts.receiverChanged(id)
      if (canChangeSurroundings(before, after)) notificationSender.planSoon()
    },
    onPlaceholdersChanged() {
      frequencyConflicts.listsChanged()
      frequencyAnnouncements.changed()
    },
  })
  const checker = new FrequencyChecker()
  const frequencies = new LiveFrequencies({ state, checker, now })
  const reload = () => loader.reload()
  const publicUrl = config.server.public_url
  const parts = { db, secrets, redis, cache, counters, nodeId, publicUrl, reload, log }
  const { onAlert } = options
  const monitoring = createMonitoring({ ...parts, state, frequencies, paths: config, intervalSeconds, onAlert })
  const { lists, settings, sourceRegistry, receiverStore, placeholderStore, unitStore, feed, live } = state
  const {
    sourceRecords,
    connections,
    conditions,
    alerts,
    frequencyAnnouncements,
    frequencyConflicts,
    events,
    forecasts,
    leaseManager,
    ingest,
    monitor,
    maintenance,
    notificationSender,
  } = monitoring
  const history = new RunningHistory({
    db,
    databaseUrl: config.database_url,
    state,
    monitoring,
    onGap: ({ from, until, reason }) => events.recordGap({ from: from * 1000, until: until * 1000, reason }),
    log,
  })
  const remoteWriteConfig = isReadOnly ? null : config.history_remote_write
  const remoteWrite =
    remoteWriteConfig &&
    createRemoteWrite({ config: remoteWriteConfig, db, history: history.levels, state, monitoring, counters, log })
  const onChanged = () => {
    settings.clear()
    conditions.settingsChanged()
    history.listsChanged()
    alerts.settingsChanged()
    frequencyConflicts.listsChanged()
    frequencyAnnouncements.changed()
    cache.drop(null)
    live.listsChanged()
    events.loadSoon()
    notificationSender.planSoon()
  }
  const announceShows = createShowAnnouncements(state)
  const manufacturers = new ManufacturerLoader({ ...state, ...monitoring, secrets, log, onChanged })
  const loader: Loader = new Loader({
    db,
    receiverStore,
    placeholderStore,
    unitStore,
    conditions,
    lists,
    configured,
    manufacturers,
    onListsChanged() {
      onChanged()
      announceShows()
    },
  })
  const checks = new CheckAnnouncements({ db, live })
  const notifications = new NotificationAnnouncements({ db, live })
  const follower = new Follower({
    ...monitoring,
    db,
    checks,
    notifications,
    log,
    configured,
    reload,
    maintenance: isReadOnly ? null : maintenance,
  })
  if (!isReadOnly) {
    await createBlankPlaceholders(db).catch((error) =>
      log.warn({ error: String(error) }, 'blank slots of groups could not be stored as placeholders'),
    )
  }
  await forecasts.open()
  await loader.open()
  await monitoring.reportingSources.load()
  await alerts.open()
  if (!isReadOnly) frequencyConflicts.open()
  if (!isReadOnly) await events.open()
  await checks.load()
  await notifications.load()
  await connections.open()
  await sourceRecords.load()
  return {
    log,
    db,
    secrets,
    receiverStore,
    placeholderStore,
    unitStore,
    feed,
    live,
    ingest,
    sourceRecords,
    connections,
    alerts,
    events,
    checks,
    conditions,
    forecasts,
    history,
    remoteWrite,
    notifications: notificationSender,
    checker,
    frequencies,
    counters,
    nodeId,
    leaseManager,
    monitor,
    redis,
    sourceDeps: state.sourceDeps,
    planningCenter: createPlanningCenter({
      url: config.planning_center_url,
      destinations: state.sourceDeps.destinations,
    }),
    identityProvider: config.oidc && new OidcProvider({ ...config.oidc, destinations: state.sourceDeps.destinations }),
    sourceBodies,
    reportingSources: monitoring.reportingSourcesOf,
    assignments: state.assignments,
    shows: () => lists.current.shows,
    runningShows: state.runningShows,
    get sources() {
      return sourceRegistry.sources()
    },
    manufacturers: sourceRegistry.manufacturers,
    settings: (manufacturer) => settings.get(manufacturer),
    settingsIn: (scope) => settings.inScope(scope),
    explainSettings: (scope) => settings.explain(scope),
    groups: (manufacturer) =>
      lists.current.groups.filter((group) => manufacturer === undefined || group.manufacturer === manufacturer),
    locations: () => lists.current.locations,
    storedProfiles: () => lists.current.frequencyProfiles,
    discovered: () => lists.current.discovered,
    performers: state.performers,
    silences: () => lists.current.silences,
    scans: () => lists.current.scans,
    health(selected) {
      const store = storeHealth({
        isReachable: !follower.isStoreDown,
        condition: db.condition(),
        incident: lists.current.incident,
        longestWriteMs: db.pending.longestMs(),
      })
      const details = [
        ...(redis?.isUp === false ? [redisDownDetails] : []),
        ...(history.fault === null ? [] : [`Levels are not recorded: ${history.fault}`]),
        ...(remoteWrite?.problem == null ? [] : [remoteWrite.problem]),
        ...(notificationSender.problem === null ? [] : [notificationSender.problem]),
        ...(options.listProblems?.() ?? []),
      ]
      return serviceHealth(healthOf(sourceRegistry, sourceRecords), { selected, store, details })
    },
    reload,
    async applyConfig(changed) {
      await configured.update(withExtra(changed, options))
      settings.setDefaults(toDefaults(changed, defaultIntervalSeconds))
      onChanged()
      await loader.applyConfigured()
    },
    async follow(signal) {
      if (!isReadOnly && isRecording) history.start()
      if (!isReadOnly) forecasts.start()
      const registration = leaseManager.runWhileHeld(nodeLease(nodeId), signal, (lease) => untilAborted(lease.signal))
      await follower.run(signal)
      await registration
    },
    async close() {
      feed.close()
      live.close()
      ingest.levelLane.stop()
      await loader.idle()
      await checker.close()
      frequencyAnnouncements.close()
      frequencyConflicts.close()
      alerts.close()
      await alerts.flushed()
      await forecasts.close()
      await conditions.close()
      await history.close()
      if (!isReadOnly) await events.close()
      monitoring.levelPublisher?.close()
      await redis?.close()
      await follower.close()
      await Promise.all(sourceRegistry.sources().map(({ client }) => client.close()))
      await db.close()
    },
  }
}

/** Returns the health of every manufacturer; a configuration error takes precedence over the last records. */
function healthOf(sourceRegistry: SourceRegistry, sourceRecords: SourceRecords): ManufacturerHealth[] {
  const errors = sourceRegistry.configurationErrors()
  const records = sourceRecords.health(sourceRegistry.manufacturers())
  return records.map((manufacturer) => errors.get(manufacturer.code) ?? manufacturer)
}

const redisDownDetails =
  'Redis does not respond; request limits apply per process, and levels reach other processes through the database.'

/** Creates the Redis connection, without waiting until it is established; null if Redis is not configured. */
async function connectRedis({ redis_url }: Config, db: Database, log: FastifyBaseLogger): Promise<Redis | null> {
  if (redis_url === null) return null
  return openRedis({
    url: redis_url,
    prefix: `micwatch:${await getInstallationId(db)}`,
    onChange(isUp) {
      if (isUp) log.info('Redis is reachable')
      else
        log.warn(
          'Redis does not respond; until it does, request limits apply per process, and levels reach other processes through the database',
        )
    },
  })
}
