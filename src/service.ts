/**
 * The running service without its HTTP server: creates every subsystem, loads the stored state into them, and starts
 * and stops them in order.
 */

import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { AlertContext } from './alerts/alert-context.ts'
import { Alerts } from './alerts/alerts.ts'
import { AudioFaults } from './alerts/audio-faults.ts'
import { FrequencyConflicts } from './alerts/frequency-conflicts.ts'
import { Heartbeat } from './alerts/heartbeat.ts'
import { NotificationQueue } from './alerts/notification-queue.ts'
import { NotificationSender } from './alerts/notification-sender.ts'
import { UnknownCarriers } from './alerts/unknown-carriers.ts'
import { UnstoredNotifications } from './alerts/unstored-notifications.ts'
import { AudioStreams } from './audio/audio-streams.ts'
import { AudioEvidence } from './audio/clips/audio-evidence.ts'
import { ClipStore } from './audio/clips/clip-store.ts'
import { FaultMonitor } from './audio/fault-monitor.ts'
import { Listening } from './audio/listening.ts'
import { NotNowExpiry } from './audio/not-now-expiry.ts'
import { BatteryForecasts } from './conditions/battery-forecasts.ts'
import { ConditionMonitor } from './conditions/conditions.ts'
import { OwnReceivers } from './conditions/own-receivers.ts'
import { StateWriter } from './conditions/state-writer.ts'
import type { Config } from './config.ts'
import { type ServiceHealth, serviceHealth, storeHealth } from './domain/equipment/health.ts'
import type { Picture } from './domain/equipment/picture.ts'
import type { EventChange } from './domain/events/event.ts'
import { type LocalAddress, selectLocalAddresses } from './domain/identity/network.ts'
import { canChangeSurroundings } from './domain/notifications/surroundings.ts'
import { FrequencyChecker } from './frequencies/frequency-checker.ts'
import { LiveFrequencies } from './frequencies/live-frequencies.ts'
import { LiveSweeps } from './frequencies/live-sweeps.ts'
import { MeasuredScans } from './frequencies/measured-scans.ts'
import { ReceiverScans } from './frequencies/receiver-scans.ts'
import { EventLog } from './history/event-log.ts'
import { History } from './history/history.ts'
import { RemoteWriter } from './history/remote-write.ts'
import { WalkTests } from './history/walk-tests.ts'
import { Ingest } from './ingest/ingest.ts'
import { LevelAges } from './ingest/level-ages.ts'
import { LevelArrivals } from './ingest/level-arrivals.ts'
import { LevelDemand } from './ingest/level-demand.ts'
import { LevelSubscriptions } from './ingest/level-subscriptions.ts'
import { PlaceholderStore } from './ingest/placeholder-store.ts'
import { ReceiverStore } from './ingest/receiver-store.ts'
import { ReportPublisher } from './ingest/report-publisher.ts'
import { UnitStore } from './ingest/unit-store.ts'
import { createBlankPlaceholders } from './lists/blank-placeholders.ts'
import { Cast } from './lists/cast.ts'
import { CastFollower } from './lists/cast-follower.ts'
import { EffectiveSettings, type SettingsDefaults } from './lists/effective-settings.ts'
import { Loader } from './lists/loader.ts'
import { SlotRecords } from './lists/slot-records.ts'
import { StoredLists } from './lists/stored-lists.ts'
import { FrequencyAnnouncements } from './live/frequency-announcements.ts'
import { LiveLists } from './live/live-lists.ts'
import { LivePublisher } from './live/live-publisher.ts'
import { StoredAnnouncements } from './live/stored-announcements.ts'
import type { Outbound } from './manufacturers/sources.ts'
import type { CachedResponses } from './platform/cache.ts'
import { now } from './platform/clock.ts'
import {
  type Counters,
  createCounters,
  createNotificationCounters,
  type NotificationCounters,
} from './platform/counters.ts'
import { untilAborted } from './platform/wait.ts'
import { BackupSchedule } from './service/backup-schedule.ts'
import type { ConfiguredManufacturers } from './service/configured-manufacturers.ts'
import { Follower } from './service/follower.ts'
import { LogLevel } from './service/log-level.ts'
import type { ServiceOptions } from './service/options.ts'
import { openResources, type Resources } from './service/resources.ts'
import { type StoredFiles, storedFiles } from './service/stored-files.ts'
import { UpdateNotice } from './service/update-notice.ts'
import { FollowedSites } from './sites/followed-sites.ts'
import { SiteHistory } from './sites/site-history.ts'
import { SiteLevels } from './sites/site-levels.ts'
import { OrphanedSites } from './sites/stale-receivers.ts'
import { Captures } from './sources/captures.ts'
import { Connections } from './sources/connections.ts'
import { createNodeId, LeaseManager, nodeLease } from './sources/lease-manager.ts'
import { ManufacturerLoader } from './sources/manufacturer-loader.ts'
import { Monitor } from './sources/monitor.ts'
import { OrphanedSources } from './sources/orphaned-sources.ts'
import { ReceiverSources } from './sources/receiver-sources.ts'
import { SourceRecords } from './sources/source-records.ts'
import { SourceRegistry } from './sources/source-registry.ts'
import type { Database } from './storage/database.ts'
import type { Redis } from './storage/redis.ts'
import type { Secrets } from './storage/secrets.ts'
import { createStoreMaintenance, type StoreMaintenance } from './storage/store-maintenance.ts'
import { createDestinations } from './upstream/destinations.ts'
import { OidcProvider } from './upstream/oidc.ts'
import { loadPictures } from './upstream/pictures.ts'
import { createPlanningCenter } from './upstream/planning-center.ts'
import { createRequestThrottle } from './upstream/request-throttle.ts'

/** The writes to equipment that the configuration allows. */
interface ControlConfig {
  readonly allowed: Config['control']
  readonly isAllowedDuringShows: boolean
  readonly isUnconfirmedAllowed: boolean
  /** The path of the configuration file; null if there is none. */
  readonly file: string | null
}

export class Service {
  readonly log: FastifyBaseLogger
  readonly logLevel: LogLevel
  readonly db: Database
  readonly secrets: Secrets
  readonly redis: Redis | null
  readonly configuredManufacturers: ConfiguredManufacturers
  readonly installation: string
  /** Files whose sizes and dates `/metrics` reports. */
  readonly files: StoredFiles
  /** The value of the label `installation` of all metrics. */
  readonly installationName: string
  /** Identifies this process in leases. */
  readonly nodeId: string
  /** The path prefix of all routes, for the addresses of pictures. */
  readonly mount: string
  /** `server.public_url`; null if it is not configured. */
  readonly publicUrl: string | null
  readonly cache: CachedResponses
  readonly counters: Counters
  readonly notificationCounters: NotificationCounters
  readonly outbound: Outbound = { throttle: createRequestThrottle(), destinations: createDestinations() }
  readonly sourceRegistry = new SourceRegistry(this.outbound)
  readonly lists = new StoredLists()
  readonly settings: EffectiveSettings
  readonly receiverStore = new ReceiverStore()
  readonly placeholderStore = new PlaceholderStore()
  readonly unitStore = new UnitStore()
  readonly cast: Cast
  readonly slotRecords: SlotRecords
  readonly levelAges = new LevelAges(this.receiverStore.levels)
  readonly levelArrivals: LevelArrivals
  /** The manufacturers whose levels clients of this process need. */
  readonly levelDemand = new LevelDemand()
  /** The sites whose levels clients of this process need. */
  readonly siteLevelDemand = new LevelDemand()
  readonly live: LivePublisher
  readonly checker = new FrequencyChecker()
  readonly frequencies: LiveFrequencies
  readonly measuredScans: MeasuredScans
  readonly connections: Connections
  readonly orphanedSources: OrphanedSources
  readonly sourceRecords: SourceRecords
  readonly receiverSources: ReceiverSources
  readonly leaseManager: LeaseManager
  readonly ownReceivers = new OwnReceivers()
  readonly stateWriter: StateWriter
  readonly forecasts: BatteryForecasts
  readonly conditions: ConditionMonitor
  readonly frequencyConflicts: FrequencyConflicts
  readonly unknownCarriers: UnknownCarriers
  readonly audioFaults = new AudioFaults()
  readonly alertContext: AlertContext
  readonly notificationQueue: NotificationQueue
  readonly alerts: Alerts
  readonly notifications: NotificationSender
  readonly events: EventLog
  readonly ingest: Ingest
  readonly monitor: Monitor
  readonly captures: Captures
  readonly sweeps = new LiveSweeps()
  readonly receiverScans: ReceiverScans
  /** The allowed writes to equipment. */
  readonly control: ControlConfig
  readonly followedSites: FollowedSites
  readonly orphanedSites: OrphanedSites
  readonly siteHistory: SiteHistory
  readonly loader: Loader
  readonly castFollower: CastFollower
  readonly history: History
  readonly walkTests: WalkTests
  /** Null if it is not configured. */
  readonly remoteWrite: RemoteWriter | null
  readonly backups: BackupSchedule
  readonly audioStreams: AudioStreams
  readonly listening: Listening
  readonly faultMonitor: FaultMonitor
  readonly clips: ClipStore
  readonly evidence: AudioEvidence
  /** Null if it is not configured. */
  readonly heartbeat: Heartbeat | null
  /** Null if it is not configured. */
  readonly updateNotice: UpdateNotice | null
  readonly announcements: StoredAnnouncements
  /** Null if nothing may be written to the database. */
  readonly maintenance: StoreMaintenance | null
  readonly planningCenter: ReturnType<typeof createPlanningCenter>
  /** The OpenID Connect provider; null if it is not configured. */
  readonly identityProvider: OidcProvider | null
  readonly #options: ServiceOptions
  readonly #lifetime = new AbortController()
  #discovery: Pick<Config, 'discovery_ranges' | 'discovery_interfaces'>
  readonly #frequencyAnnouncements: FrequencyAnnouncements
  readonly #unstoredNotifications: UnstoredNotifications
  /** Passes reports and levels to other processes; null without Redis. */
  readonly #reportPublisher: ReportPublisher | null
  /** Receives levels from other processes; null without Redis. */
  readonly #levelSubscriptions: LevelSubscriptions | null
  readonly #siteLevels: SiteLevels
  readonly #manufacturers: ManufacturerLoader
  readonly #follower: Follower
  readonly #notNowExpiry: NotNowExpiry

  /** Each subsystem is created after those that it receives. `#subscribe` connects the others. */
  private constructor(config: Config, options: ServiceOptions, resources: Resources) {
    const { log, isReadOnly = false } = options
    const { db, secrets, configured, redis, installation } = resources
    this.#options = options
    this.log = log
    this.logLevel = new LogLevel(log)
    this.db = db
    this.secrets = secrets
    this.redis = redis
    this.configuredManufacturers = configured
    this.installation = installation
    this.files = storedFiles(config)
    this.installationName = config.server.name ?? installation
    this.nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
    this.mount = config.server.mount
    this.publicUrl = config.server.public_url
    this.#discovery = config
    this.cache = options.cache ?? { drop() {} }
    this.counters = createCounters(options.droppedLines)
    this.notificationCounters = createNotificationCounters(this.counters)
    const { outbound, sourceRegistry, lists, receiverStore, unitStore, nodeId } = this

    const defaults = toDefaults(config, options.defaultIntervalSeconds)
    this.settings = new EffectiveSettings(lists, sourceRegistry, defaults, options.intervalSeconds)
    this.cast = new Cast(unitStore, config.server.mount)
    this.slotRecords = new SlotRecords(receiverStore, this.placeholderStore, unitStore, this.cast)
    this.levelArrivals = new LevelArrivals(sourceRegistry, this.settings)
    this.live = new LivePublisher(new LiveLists(this), receiverStore)
    this.frequencies = new LiveFrequencies(
      lists,
      this.settings,
      receiverStore,
      this.placeholderStore,
      this.slotRecords,
      this.checker,
    )
    this.measuredScans = new MeasuredScans(db, lists, this.frequencies)

    this.connections = new Connections(db, receiverStore, sourceRegistry, log)
    this.orphanedSources = new OrphanedSources(db, receiverStore, sourceRegistry, this.settings)
    this.sourceRecords = new SourceRecords(db, sourceRegistry, this.orphanedSources)
    this.receiverSources = new ReceiverSources(db, sourceRegistry, this.connections, this.sourceRecords)
    this.leaseManager = new LeaseManager(db, nodeId, log)

    this.stateWriter = new StateWriter(log)
    this.forecasts = new BatteryForecasts(this)
    this.conditions = new ConditionMonitor(this)
    this.frequencyConflicts = new FrequencyConflicts(receiverStore, this.frequencies, this.settings, log)
    this.unknownCarriers = new UnknownCarriers(receiverStore, this.frequencies, this.measuredScans, this.settings)
    this.#frequencyAnnouncements = new FrequencyAnnouncements(this.frequencies, this.frequencyConflicts, this.live)
    this.alertContext = new AlertContext(receiverStore, this.settings, lists, this.receiverSources, this.slotRecords)
    this.notificationQueue = new NotificationQueue(db, lists, this.alertContext)
    this.alerts = new Alerts(this)
    this.notifications = new NotificationSender(this)
    this.#unstoredNotifications = new UnstoredNotifications(this.alerts, this)
    this.events = new EventLog(this)

    this.ingest = new Ingest(this)
    this.stateWriter.connect(this.ingest)
    this.#reportPublisher = redis && new ReportPublisher(redis, nodeId, receiverStore, this.conditions)
    this.#levelSubscriptions = redis && new LevelSubscriptions(redis, nodeId, this.levelDemand, receiverStore)
    this.monitor = new Monitor(this)
    this.captures = new Captures(this)
    this.receiverScans = new ReceiverScans(this)
    this.control = toControl(config)
    const { monitor, sourceRecords } = this
    this.followedSites = new FollowedSites(monitor, sourceRegistry, sourceRecords, receiverStore, this.alerts)
    this.orphanedSites = new OrphanedSites(receiverStore, sourceRegistry, this.orphanedSources, this.ingest)
    this.siteHistory = new SiteHistory(db, receiverStore, sourceRegistry, sourceRecords, log)
    this.#siteLevels = new SiteLevels(this.siteLevelDemand, monitor)

    this.#manufacturers = new ManufacturerLoader(sourceRegistry, unitStore, sourceRecords, monitor, secrets, log)
    this.loader = new Loader(this, this.#manufacturers)
    this.castFollower = new CastFollower(this)
    this.history = new History(config.database_url, this)
    this.walkTests = new WalkTests(this.history)
    this.remoteWrite =
      config.history_remote_write && !isReadOnly ? new RemoteWriter(config.history_remote_write, this) : null
    this.backups = new BackupSchedule(config, this)
    this.audioStreams = new AudioStreams(config, this)
    this.listening = new Listening(config, this)
    this.faultMonitor = new FaultMonitor(this)
    this.clips = new ClipStore(config.data_dir, this)
    this.evidence = new AudioEvidence(config, this)
    this.#notNowExpiry = new NotNowExpiry(this)
    this.heartbeat = config.heartbeat && new Heartbeat(config.heartbeat, this)
    this.updateNotice = config.update_notice && new UpdateNotice(config.update_notice, this)
    this.announcements = new StoredAnnouncements(db, this.live)
    this.maintenance = isReadOnly ? null : createStoreMaintenance({ db, paths: config, log, now })
    this.#follower = new Follower(this)
    const { destinations } = outbound
    this.planningCenter = createPlanningCenter({ url: config.planning_center_url, destinations })
    this.identityProvider = config.oidc && new OidcProvider({ ...config.oidc, destinations })
    this.#subscribe()
  }

  /** Opens the service. Throws a ConfigError, or the database error if the database cannot be opened. */
  static async open(config: Config, options: ServiceOptions): Promise<Service> {
    const resources = await openResources(config, options)
    try {
      const service = new Service(config, options, resources)
      await service.#load()
      return service
    } catch (error) {
      await resources.db.close()
      throw error
    }
  }

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
      this.backups.problem,
      this.heartbeat?.problem ?? null,
      ...(this.#options.listProblems?.() ?? []),
    ].filter((problem) => problem !== null)
    return serviceHealth(sourceRecords.health(), { selected: manufacturer, store, details })
  }

  /** The latest lines of the log, the oldest first. */
  get recentLog(): readonly string[] {
    return this.#options.recentLog?.() ?? []
  }

  /** Aborts when the service stops. */
  get signal(): AbortSignal {
    return this.#lifetime.signal
  }

  loadPictures(addresses: readonly string[]): Promise<ReadonlyMap<string, Picture | string>> {
    return loadPictures(addresses, { destinations: this.outbound.destinations, signal: this.signal })
  }

  /** Networks that may be scanned in addition to the private ones. */
  get discoveryRanges(): readonly string[] {
    return this.#discovery.discovery_ranges
  }

  /** The addresses of the interfaces on which devices are sought. */
  get localAddresses(): readonly LocalAddress[] {
    return selectLocalAddresses(networkInterfaces(), this.#discovery.discovery_interfaces)
  }

  hasManufacturer(code: string): boolean {
    return this.sourceRegistry.has(code)
  }

  /** Loads the manufacturers and the lists from the database if they have changed since the last load. */
  reload(): Promise<void> {
    return this.loader.reload()
  }

  /**
   * Applies the manufacturers and the settings of a changed configuration. Throws a ConfigError if an entry is invalid, or
   * the database error if the manufacturers cannot be read; nothing has changed then.
   */
  async applyConfig(changed: Config): Promise<void> {
    await this.configuredManufacturers.update(changed)
    this.settings.setDefaults(toDefaults(changed, this.#options.defaultIntervalSeconds))
    this.#listsChanged()
    await this.loader.applyConfigured()
    this.#discovery = changed
  }

  /** Loads the changes made by other processes, until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { isReadOnly = false, isRecording = true } = this.#options
    if (!isReadOnly && isRecording) this.history.start()
    if (!isReadOnly) {
      this.forecasts.start()
      this.castFollower.start()
      this.clips.start()
      this.evidence.start()
      this.#notNowExpiry.start()
      this.receiverScans.open()
    }
    const waitForEnd = (lease: { readonly signal: AbortSignal }) => untilAborted(lease.signal)
    const registration = this.leaseManager.runWhileHeld(nodeLease(this.nodeId), signal, waitForEnd)
    await this.#follower.run(signal)
    await registration
  }

  /** Ends requested scans and trials. Must be called before `close`. */
  stop(): void {
    this.#lifetime.abort()
  }

  async close(): Promise<void> {
    this.stop()
    const { alerts } = this
    await this.listening.close()
    await this.evidence.close()
    this.clips.close()
    this.#notNowExpiry.close()
    await this.receiverScans.close()
    this.live.close()
    this.levelAges.close()
    this.ingest.levelLane.stop()
    await this.castFollower.close()
    await this.loader.idle()
    await this.checker.close()
    this.#frequencyAnnouncements.close()
    this.frequencyConflicts.close()
    this.unknownCarriers.close()
    this.audioFaults.close()
    alerts.close()
    this.#unstoredNotifications.close()
    await alerts.flushed()
    await this.forecasts.close()
    this.conditions.close()
    await this.stateWriter.close()
    await this.siteHistory.close()
    await this.history.close()
    if (!this.#options.isReadOnly) await this.events.close()
    this.#reportPublisher?.close()
    this.#levelSubscriptions?.close()
    this.#siteLevels.close()
    await this.redis?.close()
    await this.#follower.close()
    await Promise.all(this.sourceRegistry.sources().map(({ client }) => client.close()))
    await this.db.close()
  }

  /** Connects subsystems to those that were created after them. */
  #subscribe(): void {
    this.live.connect(this)
    this.#subscribeToReports()
    this.#subscribeToAlerts()
    this.#subscribeToLists()
  }

  #subscribeToReports(): void {
    const { receiverStore, ingest, conditions, events, sourceRecords } = this
    receiverStore.changed.subscribe(({ id, before, after }) => {
      if ((after ?? before)?.origin !== undefined) return
      events.receiverChanged(id)
      this.frequencyConflicts.receiverChanged(id)
      if (canChangeSurroundings(before, after)) this.notifications.planSoon()
    })
    ingest.reported.subscribe((receiverId) => this.#reportPublisher?.publish(receiverId))
    ingest.levelsReceived.subscribe((receiverId) => this.#reportPublisher?.publishLevels(receiverId))
    this.#reportPublisher?.reports.subscribe((reports) => ingest.applyRemoteReports(reports))
    this.#levelSubscriptions?.received.subscribe((received) => ingest.applyRemoteLevels(received))
    conditions.changed.subscribe((receiver) => ingest.publishConditions(receiver))
    conditions.sampled.subscribe((sample) => events.sampled(sample))
    sourceRecords.recorded.subscribe((failures) => {
      this.alerts.evaluateSource(failures)
      events.sourceRecorded(failures, sourceRecords.isFailing(failures.source))
    })
  }

  #subscribeToAlerts(): void {
    const { alerts, events, notifications, unknownCarriers } = this
    this.frequencyConflicts.carriersChanged.subscribe(() => unknownCarriers.carriersChanged())
    this.sweeps.received.subscribe((spectrum) => {
      this.live.sweepReceived(spectrum)
      unknownCarriers.sweepReceived(spectrum)
    })
    alerts.changed.subscribe(() => events.loadSoon())
    alerts.loaded.subscribe(() => notifications.planSoon())
    events.changed.subscribe((change) => {
      this.#countEvent(change)
      this.audioFaults.eventChanged(change)
    })
    notifications.channelDisabled.subscribe(() => {
      this.reload().catch((error) => this.log.warn({ error: String(error) }, 'notification channels could not be read'))
    })
    this.receiverSources.added.subscribe(() => notifications.planSoon())
    this.sourceRecords.failingChanged.subscribe(() => {
      notifications.planSoon()
      this.siteHistory.retry()
    })
  }

  #subscribeToLists(): void {
    const { live } = this
    this.monitor.siteChanged.subscribe((change) => {
      if (change === 'via') live.restartClients()
      else if (change === 'announcements') live.sitesChanged()
      else live.listsChanged()
    })
    this.#manufacturers.changed.subscribe(() => this.#listsChanged())
    this.loader.listsChanged.subscribe(() => this.#listsChanged())
    // Assignments and slot records in the lists depend on it.
    this.unitStore.channelsChanged.subscribe(() => live.listsChanged())
    for (const topic of [this.placeholderStore.changed, this.cast.performersChanged]) {
      topic.subscribe(() => {
        live.listsChanged()
        this.alerts.titlesChanged()
        this.frequencyConflicts.listsChanged()
        this.unknownCarriers.carriersChanged()
        this.#frequencyAnnouncements.listsChanged()
      })
    }
    this.listening.changed.subscribe(() => live.listenersChanged())
    this.audioStreams.changed.subscribe((change) => {
      if (change !== 'list') return
      this.listening.listsChanged()
      this.evidence.listsChanged()
    })
    this.cast.performersChanged.subscribe(() => this.history.castChanged())
    this.cast.assignmentsChanged.subscribe((receiverIds) => {
      live.listsChanged()
      this.history.castChanged(receiverIds)
      this.events.loadSoon()
    })
  }

  async #load(): Promise<void> {
    const { db, log } = this
    const { isReadOnly = false } = this.#options
    if (!isReadOnly) {
      await createBlankPlaceholders(db).catch((error) =>
        log.warn({ error: String(error) }, 'blank slots of groups could not be stored as placeholders'),
      )
    }
    await this.forecasts.open()
    await this.loader.open()
    this.#audioListsChanged()
    await this.receiverSources.load()
    await this.alerts.open()
    if (!isReadOnly) this.frequencyConflicts.open()
    if (!isReadOnly) this.unknownCarriers.open()
    if (!isReadOnly) await this.events.open()
    await this.announcements.load()
    await this.listening.load()
    await this.connections.open()
    await this.sourceRecords.load()
  }

  /** The lists, the settings or the manufacturers have changed. */
  #listsChanged(): void {
    this.settings.clear()
    this.conditions.settingsChanged()
    this.history.settingsChanged()
    this.alerts.settingsChanged()
    this.frequencyConflicts.listsChanged()
    this.unknownCarriers.carriersChanged()
    this.#frequencyAnnouncements.listsChanged()
    this.cache.drop(null)
    this.#audioListsChanged()
    this.live.listsChanged()
    this.events.loadSoon()
    this.notifications.planSoon()
    if (this.lists.runningShows().length > 0 && !this.control.isAllowedDuringShows) this.receiverScans.endAll()
  }

  #audioListsChanged(): void {
    this.audioStreams.mapped = new Set(this.lists.current.audioMappings.map(({ stream_id }) => stream_id))
    this.listening.listsChanged()
    this.evidence.listsChanged()
  }

  /** Counts the events of channels that this process evaluates. */
  #countEvent(change: EventChange): void {
    if (change.type !== 'event') return
    const { kind, channel_id, receiver_id } = change.event
    if (channel_id === null || receiver_id === null || !this.ownReceivers.has(receiver_id)) return
    this.counters.countEvent(kind, channel_id)
  }
}

const redisDownDetails =
  'Redis does not respond; request limits apply per process, and levels reach other processes through the database.'

function toControl({ file, control, control_during_shows, control_unconfirmed }: Config): ControlConfig {
  return {
    allowed: control,
    isAllowedDuringShows: control_during_shows,
    isUnconfirmedAllowed: control_unconfirmed,
    file,
  }
}

/** Returns the defaults in the configuration. `intervalSeconds` overrides its DEFAULT_POLLING_INTERVAL. */
function toDefaults({ settings }: Config, intervalSeconds?: number): SettingsDefaults {
  return {
    defaultInterval: intervalSeconds ?? settings.DEFAULT_POLLING_INTERVAL,
    isBroadcasting: settings.WEBSOCKET_BROADCASTING,
  }
}
