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
import type { AnnouncedSiteBody, SiteBody } from './contract/resources/sites.ts'
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
import { nothingAnnounced, toAnnouncedSites } from './domain/sites/announced-sites.ts'
import { listSites, type SiteRecord } from './domain/sites/list-sites.ts'
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
import { SiteHistory } from './monitoring/sites/site-history.ts'
import type { SourceRecords } from './monitoring/source-records.ts'
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
import { Monitoring } from './runtime/monitoring.ts'
import { NotificationAnnouncements } from './runtime/notification-announcements.ts'
import { createRemoteWrite, type RemoteWrite } from './runtime/remote-write.ts'
import { createShowAnnouncements } from './runtime/show-announcements.ts'
import { createState, toDefaults } from './runtime/state.ts'
import type { Cache } from './state/cache.ts'
import { type Counters, createCounters } from './state/counters.ts'
import type { Feed } from './state/feed.ts'
import { FrequencyChecker } from './state/frequency-checker.ts'
import type { LevelDemand } from './state/level-demand.ts'
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
  /** The levels that clients of this process need. */
  /** Of which manufacturers, and of which sites, clients need levels. */
  readonly levelDemand: LevelDemand
  readonly siteLevelDemand: LevelDemand
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
  /** Returns the active assignments of this installation, each with its channel. */
  assignments(): readonly ChannelAssignment[]
  /** Returns the active assignments, and those of followed sites. */
  assignmentsWithSites(): readonly ChannelAssignment[]
  shows(): readonly Show[]
  runningShows(): readonly Show[]
  /** Returns the status of every source. */
  sourceBodies(): readonly SourceBody[]
  announcedSites(): readonly AnnouncedSiteBody[]
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
  // A database that is only read may not have an id yet.
  const installation = options.isReadOnly ? '' : String(await getInstallationId(store.db))
  const redis = options.isReadOnly ? null : await connectRedis(config, installation, options.log)
  const parts = createParts(config, options, { ...store, redis, installation })
  await loadParts(parts, options)
  return toRuntime(parts, config, options)
}

interface Connected extends OpenedStore {
  readonly redis: Redis | null
  readonly installation: string
}

type Parts = ReturnType<typeof createParts>

/** Creates the parts and connects them. They refer to each other, so each is found through `parts` when it is called. */
function createParts(config: Config, options: RuntimeOptions, connected: Connected) {
  const { db, secrets, configured, redis, installation } = connected
  const { log, isReadOnly = false, cache = { drop: () => {} }, intervalSeconds, onAlert } = options
  const nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
  const counters = createCounters(options.droppedLines)
  const state = createState({
    config,
    defaultIntervalSeconds: options.defaultIntervalSeconds,
    sourceBodies,
    announcedSites,
    followedAssignments: () => monitoring.monitor.sites.flatMap((site) => site.assignments()),
    onReceiverChanged(id, before, after) {
      monitoring.events.receiverChanged(id)
      monitoring.frequencyConflicts.receiverChanged(id)
      if (canChangeSurroundings(before, after)) monitoring.notificationSender.planSoon()
    },
    onPlaceholdersChanged() {
      monitoring.frequencyConflicts.listsChanged()
      monitoring.frequencyAnnouncements.listsChanged()
    },
  })
  const { live } = state
  const checker = new FrequencyChecker()
  const frequencies = new LiveFrequencies({ state, checker, now })
  const reload = () => loader.reload()
  const monitoring = new Monitoring({
    state,
    frequencies,
    db,
    paths: config,
    redis,
    cache,
    counters,
    nodeId,
    installation,
    secrets,
    publicUrl: config.server.public_url,
    reload,
    log,
    intervalSeconds,
    onAlert,
    onSourcesFailingChanged: () => siteHistory.retry(),
  })
  const { events } = monitoring
  const history = new RunningHistory({
    db,
    databaseUrl: config.database_url,
    state,
    monitoring,
    onGap: ({ from, until, reason }) => events.recordGap({ from: from * 1000, until: until * 1000, reason }),
    log,
  })
  const siteHistory = new SiteHistory({
    db,
    receiverStore: state.receiverStore,
    sources: () => state.sourceRegistry.sources(),
    isFailing: (source) => monitoring.sourceRecords.isFailing(source),
    log,
    now,
  })
  const remoteWriteConfig = isReadOnly ? null : config.history_remote_write
  const remoteWrite =
    remoteWriteConfig &&
    createRemoteWrite({ config: remoteWriteConfig, db, history: history.levels, state, monitoring, counters, log })
  const announceShows = createShowAnnouncements(state)
  const manufacturers = new ManufacturerLoader({ state, monitoring, secrets, log, onChanged: listsChanged })
  const loader: Loader = new Loader({
    db,
    state,
    conditions: monitoring.conditions,
    configured,
    manufacturers,
    onListsChanged() {
      listsChanged()
      announceShows()
    },
  })
  const checks = new CheckAnnouncements({ db, live })
  const notifications = new NotificationAnnouncements({ db, live })
  const maintenance = isReadOnly ? null : monitoring.maintenance
  const follower = new Follower({ monitoring, db, checks, notifications, log, configured, reload, maintenance })
  const parts = {
    db,
    secrets,
    configured,
    redis,
    installation,
    nodeId,
    counters,
    state,
    checker,
    frequencies,
    monitoring,
    history,
    siteHistory,
  }
  return {
    ...parts,
    remoteWrite,
    loader,
    checks,
    notifications,
    follower,
    reload,
    sourceBodies,
    announcedSites,
    listsChanged,
  }

  function sourceBodies(): readonly SourceBody[] {
    return toSourceBodies(monitoring.sourceRecords.health(state.sourceRegistry.manufacturers()))
  }

  function announcedSites(): readonly AnnouncedSiteBody[] {
    return followedRecords({ state, monitoring }).flatMap((record) => toAnnouncedSites(record, record.announcements))
  }

  /** The lists, the settings or the manufacturers have changed. */
  function listsChanged(): void {
    state.settings.clear()
    monitoring.conditions.settingsChanged()
    history.listsChanged()
    monitoring.alerts.settingsChanged()
    monitoring.frequencyConflicts.listsChanged()
    monitoring.frequencyAnnouncements.listsChanged()
    cache.drop(null)
    live.listsChanged()
    events.loadSoon()
    monitoring.notificationSender.planSoon()
  }
}

async function loadParts(parts: Parts, { log, isReadOnly = false }: RuntimeOptions): Promise<void> {
  const { db, monitoring, loader, checks, notifications } = parts
  if (!isReadOnly) {
    await createBlankPlaceholders(db).catch((error) =>
      log.warn({ error: String(error) }, 'blank slots of groups could not be stored as placeholders'),
    )
  }
  await monitoring.forecasts.open()
  await loader.open()
  await monitoring.reportingSources.load()
  await monitoring.alerts.open()
  if (!isReadOnly) monitoring.frequencyConflicts.open()
  if (!isReadOnly) await monitoring.events.open()
  await checks.load()
  await notifications.load()
  await monitoring.connections.open()
  await monitoring.sourceRecords.load()
}

function toRuntime(parts: Parts, config: Config, options: RuntimeOptions): Runtime {
  const { db, secrets, configured, redis, installation, nodeId, counters, state, checker } = parts
  const {
    frequencies,
    monitoring,
    history,
    siteHistory,
    remoteWrite,
    loader,
    checks,
    reload,
    sourceBodies,
    announcedSites,
    listsChanged,
  } = parts
  const { lists, settings, sourceRegistry, sourceDeps, receiverStore, placeholderStore, unitStore, feed, live } = state
  const { sourceRecords, connections, conditions, alerts, events, forecasts } = monitoring
  const { leaseManager, ingest, monitor, notificationSender, reportingSourcesOf } = monitoring
  const { destinations } = sourceDeps
  return {
    log: options.log,
    db,
    secrets,
    receiverStore,
    placeholderStore,
    unitStore,
    feed,
    levelDemand: state.levelDemand,
    siteLevelDemand: state.siteLevelDemand,
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
    siteHistory,
    remoteWrite,
    notifications: notificationSender,
    checker,
    frequencies,
    counters,
    installation,
    via: () => viaOf(monitor),
    sites: () => sitesOf(parts),
    nodeId,
    leaseManager,
    monitor,
    redis,
    sourceDeps,
    planningCenter: createPlanningCenter({ url: config.planning_center_url, destinations }),
    identityProvider: config.oidc && new OidcProvider({ ...config.oidc, destinations }),
    sourceBodies,
    announcedSites,
    reportingSources: reportingSourcesOf,
    assignments: state.assignments,
    assignmentsWithSites: state.assignmentsWithSites,
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
    health: (selected) => healthOf(parts, options, selected),
    reload,
    async applyConfig(changed) {
      await configured.update(withExtra(changed, options))
      settings.setDefaults(toDefaults(changed, options.defaultIntervalSeconds))
      listsChanged()
      await loader.applyConfigured()
    },
    follow: (signal) => followDatabase(parts, options, signal),
    close: () => closeParts(parts, options),
  }
}

async function followDatabase(parts: Parts, options: RuntimeOptions, signal: AbortSignal): Promise<void> {
  const { monitoring, history, follower, nodeId } = parts
  const { isReadOnly = false, isRecording = true } = options
  if (!isReadOnly && isRecording) history.start()
  if (!isReadOnly) monitoring.forecasts.start()
  const waitForEnd = (lease: { readonly signal: AbortSignal }) => untilAborted(lease.signal)
  const registration = monitoring.leaseManager.runWhileHeld(nodeLease(nodeId), signal, waitForEnd)
  await follower.run(signal)
  await registration
}

async function closeParts(parts: Parts, { isReadOnly = false }: RuntimeOptions): Promise<void> {
  const { db, redis, state, checker, monitoring, history, siteHistory, loader, follower } = parts
  const { alerts } = monitoring
  state.feed.close()
  state.live.close()
  monitoring.ingest.levelLane.stop()
  await loader.idle()
  await checker.close()
  monitoring.frequencyAnnouncements.close()
  monitoring.frequencyConflicts.close()
  alerts.close()
  monitoring.unstoredNotifications.close()
  await alerts.flushed()
  await monitoring.forecasts.close()
  await monitoring.conditions.close()
  await siteHistory.close()
  await history.close()
  if (!isReadOnly) await monitoring.events.close()
  monitoring.reportPublisher?.close()
  monitoring.levelSubscriptions?.close()
  monitoring.siteLevels.close()
  await redis?.close()
  await follower.close()
  await Promise.all(state.sourceRegistry.sources().map(({ client }) => client.close()))
  await db.close()
}

function healthOf(parts: Parts, options: RuntimeOptions, selected: string | undefined): ServiceHealth {
  const { db, redis, state, monitoring, history, remoteWrite, follower } = parts
  const { problem } = monitoring.notificationSender
  const store = storeHealth({
    isReachable: !follower.isStoreDown,
    condition: db.condition(),
    incident: state.lists.current.incident,
    longestWriteMs: db.pending.longestMs(),
  })
  const details = [
    ...(redis?.isUp === false ? [redisDownDetails] : []),
    ...(history.fault === null ? [] : [`Levels are not recorded: ${history.fault}`]),
    ...(remoteWrite?.problem == null ? [] : [remoteWrite.problem]),
    ...(problem === null ? [] : [problem]),
    ...(options.listProblems?.() ?? []),
  ]
  return serviceHealth(manufacturerHealths(parts), { selected, store, details })
}

function viaOf({ sites }: Monitor): readonly string[] {
  return [...new Set(sites.flatMap(({ state }) => state.via))]
}

function followedRecords({ state, monitoring }: Pick<Parts, 'state' | 'monitoring'>): readonly SiteRecord[] {
  const states = new Map(monitoring.monitor.sites.map(({ source, state }) => [source.manufacturer, state]))
  return state.sourceRegistry.followed().map(({ code, name, base_url: url }) => {
    const { latencyMs = null, lastSeen = null, announcements = nothingAnnounced } = states.get(code) ?? {}
    return { code, name, url, latencyMs, lastSeen, announcements }
  })
}

function sitesOf({ state, monitoring, ...parts }: Parts): readonly SiteBody[] {
  return listSites({
    records: followedRecords({ state, monitoring }),
    health: manufacturerHealths({ ...parts, state, monitoring }),
    receivers: state.receiverStore.listAllFacts(),
    alerts: monitoring.alerts.list(),
  })
}

/** Returns the health of every manufacturer; a configuration error takes precedence over the last records. */
function manufacturerHealths({ state: { sourceRegistry }, monitoring }: Parts): ManufacturerHealth[] {
  const errors = sourceRegistry.configurationErrors()
  const records = monitoring.sourceRecords.health(sourceRegistry.manufacturers())
  return records.map((manufacturer) => errors.get(manufacturer.code) ?? manufacturer)
}

const redisDownDetails =
  'Redis does not respond; request limits apply per process, and levels reach other processes through the database.'

/** Creates the Redis connection, without waiting until it is established; null if Redis is not configured. */
function connectRedis({ redis_url }: Config, installation: string, log: FastifyBaseLogger): Promise<Redis> | null {
  if (redis_url === null) return null
  return openRedis({
    url: redis_url,
    prefix: `micwatch:${installation}`,
    onChange(isUp) {
      if (isUp) log.info('Redis is reachable')
      else
        log.warn(
          'Redis does not respond; until it does, request limits apply per process, and levels reach other processes through the database',
        )
    },
  })
}
