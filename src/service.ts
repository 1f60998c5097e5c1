/**
 * The running service without its HTTP server: creates every subsystem, loads the stored state into them, and starts
 * and stops them in order.
 */

import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Alerts } from './alerts/alerts.ts'
import type { NotificationSender } from './alerts/notification-sender.ts'
import type { BatteryForecasts } from './conditions/battery-forecasts.ts'
import type { ConditionMonitor } from './conditions/conditions.ts'
import type { Config } from './config.ts'
import { type ServiceHealth, serviceHealth, storeHealth } from './domain/equipment/health.ts'
import { canChangeSurroundings } from './domain/notifications/surroundings.ts'
import { FrequencyChecker } from './frequencies/frequency-checker.ts'
import { LiveFrequencies } from './frequencies/live-frequencies.ts'
import type { EventLog } from './history/event-log.ts'
import { History } from './history/history.ts'
import { RemoteWriter } from './history/remote-write.ts'
import { WalkTests } from './history/walk-tests.ts'
import type { Ingest } from './ingest/ingest.ts'
import { LevelAges } from './ingest/level-ages.ts'
import { LevelArrivals } from './ingest/level-arrivals.ts'
import { LevelDemand } from './ingest/level-demand.ts'
import { PlaceholderStore } from './ingest/placeholder-store.ts'
import { ReceiverStore } from './ingest/receiver-store.ts'
import { UnitStore } from './ingest/unit-store.ts'
import { createBlankPlaceholders } from './lists/blank-placeholders.ts'
import { Cast } from './lists/cast.ts'
import { EffectiveSettings, type SettingsDefaults } from './lists/effective-settings.ts'
import { Loader } from './lists/loader.ts'
import { StoredLists } from './lists/stored-lists.ts'
import { LiveLists } from './live/live-lists.ts'
import { LivePublisher } from './live/live-publisher.ts'
import { StoredAnnouncements } from './live/stored-announcements.ts'
import type { Outbound } from './manufacturers/sources.ts'
import { now } from './platform/clock.ts'
import { type Counters, createCounters } from './platform/counters.ts'
import { untilAborted } from './platform/wait.ts'
import { ConfiguredManufacturers } from './service/configured-manufacturers.ts'
import { Follower } from './service/follower.ts'
import { Monitoring } from './service/monitoring.ts'
import type { ServiceOptions } from './service/options.ts'
import { FollowedSites } from './sites/followed-sites.ts'
import { SiteHistory } from './sites/site-history.ts'
import type { Connections } from './sources/connections.ts'
import type { LeaseManager } from './sources/lease-manager.ts'
import { createNodeId, nodeLease } from './sources/lease-manager.ts'
import { ManufacturerLoader } from './sources/manufacturer-loader.ts'
import type { Monitor } from './sources/monitor.ts'
import type { ReceiverSources } from './sources/receiver-sources.ts'
import type { SourceRecords } from './sources/source-records.ts'
import { SourceRegistry } from './sources/source-registry.ts'
import type { Database } from './storage/database.ts'
import { getInstallationId } from './storage/meta.ts'
import { migrationNames } from './storage/migrations/index.ts'
import { openRedis, type Redis } from './storage/redis.ts'
import { openSecrets, type Secrets } from './storage/secrets.ts'
import { openRepairedStore } from './storage/store-maintenance.ts'
import { createDestinations } from './upstream/destinations.ts'
import { OidcProvider } from './upstream/oidc.ts'
import { createPlanningCenter } from './upstream/planning-center.ts'
import { createRequestThrottle } from './upstream/request-throttle.ts'

interface Opened {
  readonly db: Database
  readonly secrets: Secrets
  readonly configured: ConfiguredManufacturers
  /** Shared by all processes of one installation; null without Redis. */
  readonly redis: Redis | null
  /** Id of the installation. */
  readonly installation: string
}

export class Service {
  readonly log: FastifyBaseLogger
  readonly db: Database
  readonly secrets: Secrets
  readonly redis: Redis | null
  readonly installation: string
  /** The value of the label `installation` of all metrics. */
  readonly installationName: string
  /** Identifies this process in leases. */
  readonly nodeId: string
  readonly counters: Counters
  /** The path prefix of all routes, for the addresses of pictures. */
  readonly mount: string
  /** `server.public_url`; null if it is not configured. */
  readonly publicUrl: string | null
  readonly outbound: Outbound = { throttle: createRequestThrottle(), destinations: createDestinations() }
  readonly sourceRegistry = new SourceRegistry(this.outbound)
  readonly lists = new StoredLists()
  readonly settings: EffectiveSettings
  readonly receiverStore = new ReceiverStore()
  readonly placeholderStore = new PlaceholderStore()
  readonly unitStore = new UnitStore()
  readonly cast: Cast
  readonly levelAges = new LevelAges(this.receiverStore.levels)
  readonly levelArrivals: LevelArrivals
  /** The manufacturers whose levels clients of this process need. */
  readonly levelDemand = new LevelDemand()
  /** The sites whose levels clients of this process need. */
  readonly siteLevelDemand = new LevelDemand()
  readonly live: LivePublisher
  readonly checker = new FrequencyChecker()
  readonly frequencies: LiveFrequencies
  readonly monitoring: Monitoring
  readonly ingest: Ingest
  readonly sourceRecords: SourceRecords
  readonly receiverSources: ReceiverSources
  readonly connections: Connections
  readonly alerts: Alerts
  readonly events: EventLog
  readonly conditions: ConditionMonitor
  readonly forecasts: BatteryForecasts
  readonly notifications: NotificationSender
  readonly leaseManager: LeaseManager
  readonly monitor: Monitor
  readonly followedSites: FollowedSites
  readonly history: History
  readonly walkTests: WalkTests
  readonly siteHistory: SiteHistory
  /** Null if it is not configured. */
  readonly remoteWrite: RemoteWriter | null
  readonly announcements: StoredAnnouncements
  readonly planningCenter: ReturnType<typeof createPlanningCenter>
  /** The OpenID Connect provider; null if it is not configured. */
  readonly identityProvider: OidcProvider | null
  readonly #options: ServiceOptions
  readonly #lifetime = new AbortController()
  #discoveryRanges: readonly string[]
  readonly #configured: ConfiguredManufacturers
  readonly #manufacturers: ManufacturerLoader
  readonly #loader: Loader
  readonly #follower: Follower

  private constructor(config: Config, options: ServiceOptions, opened: Opened) {
    const { log, isReadOnly = false } = options
    const { db, secrets, configured, redis, installation } = opened
    this.#options = options
    this.#configured = configured
    this.log = log
    this.db = db
    this.secrets = secrets
    this.redis = redis
    this.installation = installation
    this.mount = config.server.mount
    this.publicUrl = config.server.public_url
    this.#discoveryRanges = config.discovery_ranges
    this.installationName = config.server.name ?? installation
    this.nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
    this.counters = createCounters(options.droppedLines)
    const { outbound, sourceRegistry, lists, receiverStore, placeholderStore, unitStore } = this
    const defaults = toDefaults(config, options.defaultIntervalSeconds)
    this.settings = new EffectiveSettings(lists, sourceRegistry, defaults, options.intervalSeconds)
    this.levelArrivals = new LevelArrivals(sourceRegistry, this.settings)
    this.cast = new Cast(lists, unitStore, config.server.mount)
    const { settings, cast } = this
    const liveLists = new LiveLists({ receiverStore, placeholderStore, lists, cast, settings, sourceRegistry })
    this.live = new LivePublisher(liveLists, receiverStore)
    this.frequencies = new LiveFrequencies(lists, this.settings, receiverStore, placeholderStore, this.checker)
    this.monitoring = new Monitoring({
      state: this,
      frequencies: this.frequencies,
      db,
      paths: config,
      redis,
      cache: options.cache ?? { drop: () => {} },
      counters: this.counters,
      nodeId: this.nodeId,
      installation,
      secrets,
      publicUrl: config.server.public_url,
      reload: () => this.reload(),
      log,
    })
    this.ingest = this.monitoring.ingest
    this.sourceRecords = this.monitoring.sourceRecords
    this.receiverSources = this.monitoring.receiverSources
    this.connections = this.monitoring.connections
    this.alerts = this.monitoring.alerts
    this.events = this.monitoring.events
    this.conditions = this.monitoring.conditions
    this.forecasts = this.monitoring.forecasts
    this.notifications = this.monitoring.notificationSender
    this.leaseManager = this.monitoring.leaseManager
    this.monitor = this.monitoring.monitor
    const { monitor, sourceRecords, alerts, events, conditions, leaseManager } = this
    this.followedSites = new FollowedSites(monitor, sourceRegistry, sourceRecords, receiverStore, alerts)
    this.siteHistory = new SiteHistory(db, receiverStore, sourceRegistry, sourceRecords, log)
    this.#manufacturers = new ManufacturerLoader(sourceRegistry, unitStore, sourceRecords, monitor, secrets, log)
    this.#loader = new Loader({ db, state: this, conditions, configured, manufacturers: this.#manufacturers })
    this.history = new History(config.database_url, {
      db,
      receiverStore,
      settings: this.settings,
      lists,
      cast: this.cast,
      loader: this.#loader,
      conditions,
      alerts,
      events,
      leaseManager,
      log,
    })
    this.walkTests = new WalkTests(this.history)
    this.remoteWrite =
      config.history_remote_write && !isReadOnly ? new RemoteWriter(config.history_remote_write, this) : null
    this.announcements = new StoredAnnouncements(db, this.live)
    this.#follower = new Follower({
      monitoring: this.monitoring,
      db,
      announcements: this.announcements,
      log,
      configured,
      reload: () => this.reload(),
      maintenance: isReadOnly ? null : this.monitoring.maintenance,
    })
    const { destinations } = outbound
    this.planningCenter = createPlanningCenter({ url: config.planning_center_url, destinations })
    this.identityProvider = config.oidc && new OidcProvider({ ...config.oidc, destinations })
    this.#subscribe()
  }

  /** Opens the service. Throws a ConfigError, or the database error if the database cannot be opened. */
  static async open(config: Config, options: ServiceOptions): Promise<Service> {
    const { log, onAudit, isReadOnly = false, failsOnDamage = false } = options
    const secrets = await openSecrets(config.data_dir, config.secret_key)
    if (secrets.warning !== null) log.warn(secrets.warning)
    const { db, migrations } = await openRepairedStore(config, {
      log,
      now,
      isReadOnly,
      isStrict: failsOnDamage,
      onAudit,
    })
    try {
      const configured = await ConfiguredManufacturers.open(withExtra(config, options), {
        db,
        secrets,
        log,
        isReadOnly,
      })
      // Logged only after the configuration was validated, so that a configuration error is the only output.
      if (migrations.length === migrationNames.length) log.info('created the database')
      else for (const name of migrations) log.info({ migration: name }, 'applied a database migration')
      // A database that is only read may not have an id yet.
      const installation = isReadOnly ? '' : String(await getInstallationId(db))
      const redis = isReadOnly ? null : await connectRedis(config, installation, log)
      const service = new Service(config, options, { db, secrets, configured, redis, installation })
      await service.#load()
      return service
    } catch (error) {
      await db.close()
      throw error
    }
  }

  /** Returns the health of the service and of one manufacturer or all. */
  health(manufacturer?: string): ServiceHealth {
    const { db, redis, lists, history, remoteWrite, notifications, sourceRecords } = this
    const store = storeHealth({
      isReachable: !this.#follower.isStoreDown,
      condition: db.condition(),
      incident: lists.current.incident,
      longestWriteMs: db.pending.longestMs(),
    })
    const details = [
      redis?.isUp === false ? redisDownDetails : null,
      history.fault === null ? null : `Levels are not recorded: ${history.fault}`,
      remoteWrite?.problem ?? null,
      notifications.problem,
      ...(this.#options.listProblems?.() ?? []),
    ].filter((problem) => problem !== null)
    return serviceHealth(sourceRecords.health(), { selected: manufacturer, store, details })
  }

  /** Aborts when the service stops. */
  get signal(): AbortSignal {
    return this.#lifetime.signal
  }

  /** Networks that may be scanned in addition to the private ones. */
  get discoveryRanges(): readonly string[] {
    return this.#discoveryRanges
  }

  hasManufacturer(code: string): boolean {
    return this.sourceRegistry.has(code)
  }

  /**
   * Loads manufacturers, settings, groups, locations, shows, performers and assignments from the database, after a user has
   * changed them.
   */
  reload(): Promise<void> {
    return this.#loader.reload()
  }

  /**
   * Applies the manufacturers and the settings of a changed configuration. Throws a ConfigError if an entry is invalid, or
   * the database error if the manufacturers cannot be read; nothing has changed then.
   */
  async applyConfig(changed: Config): Promise<void> {
    await this.#configured.update(withExtra(changed, this.#options))
    this.settings.setDefaults(toDefaults(changed, this.#options.defaultIntervalSeconds))
    this.#listsChanged()
    await this.#loader.applyConfigured()
    this.#discoveryRanges = changed.discovery_ranges
  }

  /** Loads the changes made by other processes, until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { isReadOnly = false, isRecording = true } = this.#options
    if (!isReadOnly && isRecording) this.history.start()
    if (!isReadOnly) this.forecasts.start()
    const waitForEnd = (lease: { readonly signal: AbortSignal }) => untilAborted(lease.signal)
    const registration = this.leaseManager.runWhileHeld(nodeLease(this.nodeId), signal, waitForEnd)
    await this.#follower.run(signal)
    await registration
  }

  /** Ends what users have requested; must be called before `close`. */
  stop(): void {
    this.#lifetime.abort()
  }

  async close(): Promise<void> {
    this.stop()
    const { monitoring, alerts } = this
    this.live.close()
    this.levelAges.close()
    monitoring.ingest.levelLane.stop()
    await this.#loader.idle()
    await this.checker.close()
    monitoring.frequencyAnnouncements.close()
    monitoring.frequencyConflicts.close()
    alerts.close()
    monitoring.unstoredNotifications.close()
    await alerts.flushed()
    await monitoring.forecasts.close()
    monitoring.conditions.close()
    await monitoring.stateWriter.close()
    await this.siteHistory.close()
    await this.history.close()
    if (!this.#options.isReadOnly) await monitoring.events.close()
    monitoring.reportPublisher?.close()
    monitoring.levelSubscriptions?.close()
    monitoring.siteLevels.close()
    await this.redis?.close()
    await this.#follower.close()
    await Promise.all(this.sourceRegistry.sources().map(({ client }) => client.close()))
    await this.db.close()
  }

  #subscribe(): void {
    const { live, receiverStore, placeholderStore, monitoring } = this
    live.connect(this)
    receiverStore.changed.subscribe(({ id, before, after }) => {
      if ((after ?? before)?.origin !== undefined) return
      monitoring.events.receiverChanged(id)
      monitoring.frequencyConflicts.receiverChanged(id)
      if (canChangeSurroundings(before, after)) monitoring.notificationSender.planSoon()
    })
    this.sourceRecords.failingChanged.subscribe(() => this.siteHistory.retry())
    this.monitor.siteChanged.subscribe((change) => {
      if (change === 'via') live.restartClients()
      else if (change === 'announcements') live.sitesChanged()
      else live.listsChanged()
    })
    this.#manufacturers.changed.subscribe(() => this.#listsChanged())
    this.#loader.listsChanged.subscribe(() => this.#listsChanged())
    placeholderStore.changed.subscribe(() => {
      live.listsChanged()
      monitoring.frequencyConflicts.listsChanged()
      monitoring.frequencyAnnouncements.listsChanged()
    })
  }

  async #load(): Promise<void> {
    const { db, monitoring, log } = this
    const { isReadOnly = false } = this.#options
    if (!isReadOnly) {
      await createBlankPlaceholders(db).catch((error) =>
        log.warn({ error: String(error) }, 'blank slots of groups could not be stored as placeholders'),
      )
    }
    await monitoring.forecasts.open()
    await this.#loader.open()
    await monitoring.receiverSources.load()
    await monitoring.alerts.open()
    if (!isReadOnly) monitoring.frequencyConflicts.open()
    if (!isReadOnly) await monitoring.events.open()
    await this.announcements.load()
    await monitoring.connections.open()
    await monitoring.sourceRecords.load()
  }

  /** The lists, the settings or the manufacturers have changed. */
  #listsChanged(): void {
    const { monitoring } = this
    this.settings.clear()
    monitoring.conditions.settingsChanged()
    this.history.listsChanged()
    monitoring.alerts.settingsChanged()
    monitoring.frequencyConflicts.listsChanged()
    monitoring.frequencyAnnouncements.listsChanged()
    this.#options.cache?.drop(null)
    this.live.listsChanged()
    monitoring.events.loadSoon()
    monitoring.notificationSender.planSoon()
  }
}

const redisDownDetails =
  'Redis does not respond; request limits apply per process, and levels reach other processes through the database.'

/** Adds the manufacturers in the options to those in the configuration. */
function withExtra({ file, manufacturers }: Config, options: ServiceOptions): Pick<Config, 'file' | 'manufacturers'> {
  return { file, manufacturers: [...manufacturers, ...(options.manufacturers ?? [])] }
}

/** Returns the defaults in the configuration. `intervalSeconds` overrides its DEFAULT_POLLING_INTERVAL. */
function toDefaults({ settings }: Config, intervalSeconds?: number): SettingsDefaults {
  return {
    defaultInterval: intervalSeconds ?? settings.DEFAULT_POLLING_INTERVAL,
    isBroadcasting: settings.WEBSOCKET_BROADCASTING,
  }
}

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
