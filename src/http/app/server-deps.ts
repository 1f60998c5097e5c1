/** What the routes of the server use: parts of the service, and the dependencies of actions. */

import type { FastifyBaseLogger } from 'fastify'
import type { SingleSignOn } from '../../actions/access/sign-in-oidc.ts'
import type { NotificationChannelDeps } from '../../actions/alerts/edit-notification-channels.ts'
import type { NotificationRuleDeps } from '../../actions/alerts/edit-notification-rules.ts'
import { Identifications } from '../../actions/equipment/identify-receivers.ts'
import type { Config } from '../../config.ts'
import { globalScope, type SettingScope } from '../../domain/settings.ts'
import { WalkTests } from '../../history/walk-tests.ts'
import { audioFloorOf } from '../../manufacturers/index.ts'
import type { Cache } from '../../platform/cache.ts'
import { now } from '../../platform/clock.ts'
import type { ConfigReloader } from '../../service/config-reload.ts'
import type { Service } from '../../service.ts'
import { listChannelStatesAt } from '../../storage/channel-states.ts'
import type { CachedResponse } from '../server/response.ts'
import type { AccessSettings, ServerDeps } from '../server/server.ts'
import type { SignIn } from './sign-in.ts'
import type { Tls } from './tls.ts'

export interface ServerOptions {
  readonly log: FastifyBaseLogger
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
}

interface ServerParts {
  readonly service: Service
  readonly signIn: SignIn
  readonly reloader: ConfigReloader
  readonly cache: Cache<CachedResponse>
  readonly tls: Tls | null
  /** Aborts when the service stops. */
  readonly stop: AbortSignal
  /** Aborts when the service stops or drains. */
  readonly handover: AbortSignal
}

/** Returns what the server's routes use. */
export function toServerDeps(config: Config, { log, version, webRoot }: ServerOptions, parts: ServerParts): ServerDeps {
  const { service, signIn, reloader, cache, tls, stop, handover } = parts
  const { host, mount, public_url, frame_ancestors, strict_transport } = config.server
  return {
    db: service.db,
    credentials: signIn.credentials,
    hasher: signIn.hasher,
    setupCode: signIn.setupCode,
    singleSignOn: toSingleSignOn(config.oidc, service.identityProvider),
    onSetUp: signIn.onSetUp,
    log,
    mount,
    receiverStore: service.receiverStore,
    placeholderStore: service.placeholderStore,
    cache,
    connections: service.connections,
    alerts: service.alerts,
    silences: () => service.lists.current.silences,
    counters: service.counters,
    monitor: service.monitor,
    signal: stop,
    isDraining: () => handover.aborted,
    version,
    webRoot,
    tls: tls?.pair ?? null,
    guard: { host, requireLogin: config.require_login, publicRead: config.public_read },
    settings: toAccessSettings(config),
    headers: { frameAncestors: frame_ancestors, strictTransport: strict_transport },
    publicUrl: public_url === null ? null : new URL(public_url),
    now,
    settingsIn: (scope) => service.settings.inScope(scope),
    explainSettings: (scope) => service.settings.explain(scope),
    groups: (manufacturer) => service.lists.groupsOf(manufacturer),
    health: (manufacturer) => service.health(manufacturer),
    manufacturers: () => service.sourceRegistry.manufacturers(),
    locations: () => service.lists.current.locations,
    assignments: () => service.live.lists.assignments(),
    shows: () => service.lists.current.shows,
    scans: () => service.lists.current.scans,
    reportingSources: (receiverId) => service.monitoring.reportingSourcesOf(receiverId),
    identifications: new Identifications({
      db: service.db,
      receiverStore: service.receiverStore,
      sourcesOf(receiverId) {
        const reporting = service.monitoring.reportingSourcesOf(receiverId)
        return service.sourceRegistry.sources().filter(({ id }) => reporting.includes(id))
      },
      settings: () => service.settings.inScope(globalScope),
      isShowRunning: () => service.lists.runningShows().length > 0,
      signal: stop,
    }),
    batteryThreshold: (receiver, channel) => service.conditions.thresholdsOf(receiver, channel).alert_battery_threshold,
    replaceSoon: (receiver, channel) => service.conditions.thresholdsOf(receiver, channel).BATTERY_REPLACE_SOON,
    live: service.live,
    levelDemand: service.levelDemand,
    siteLevelDemand: service.siteLevelDemand,
    installation: service.installation,
    installationName: service.installationName,
    sites: () => service.followedSites.list(),
    history: service.history,
    siteHistory: service.siteHistory,
    isRecording: () => service.history.isRecording,
    historySize: () => service.history.size(),
    noiseDeps: {
      ...{ db: service.db, history: service.history, receiverStore: service.receiverStore, now },
      thresholdsOf: (receiver, channel) => service.conditions.thresholdsOf(receiver, channel),
    },
    walkTests: new WalkTests({ levels: service.history.levels, flush: () => service.history.flush() }),
    audioFloorOf,
    forecastOf: (channel) => service.forecasts.currentForecast(channel),
    channelStatesAt: (time) => listChannelStatesAt(service.db.read, time),
    discoveryDeps: {
      ...service,
      manufacturers: () => service.sourceRegistry.manufacturers(),
      ranges: () => reloader.current.discovery_ranges,
      reload: () => service.reload(),
      signal: stop,
      now,
    },
    editDeps: {
      ...service,
      manufacturers: () => service.sourceRegistry.manufacturers(),
      reload: () => service.reload(),
      now,
    },
    importDeps: { ...service, reload: () => service.reload(), signal: stop, now, mount },
    storeDeps: service,
    redis: service.redis,
    ...createEditingDeps(service),
    notificationDeps: createNotificationDeps(service, { log, publicUrl: public_url, signal: stop }),
  }
}

function toSingleSignOn(oidc: Config['oidc'], provider: Service['identityProvider']): SingleSignOn {
  return oidc && provider && { ...oidc, provider }
}

export function toAccessSettings({ server, rate_limit }: Config): AccessSettings {
  return { allowedHosts: server.allowed_hosts, trustedProxies: server.trusted_proxies, rateLimit: rate_limit }
}

/** Creates the dependencies of the server's editing routes. */
function createEditingDeps(service: Service) {
  const { db, secrets, ingest, receiverStore, placeholderStore, unitStore, events, checks } = service
  const reload = () => service.reload()
  const settings = (scope: SettingScope) => service.settings.inScope(scope)
  const hasManufacturer = (code: string) => service.hasManufacturer(code)
  const { installation, outbound } = service
  const sources = () => service.sourceRegistry.sources()
  const manufacturerDeps = { db, secrets, installation, ...outbound, sources, reload }
  return {
    unitStore,
    settingsDeps: { db, settings, reload },
    silenceDeps: {
      db,
      hasChannel: (id: number) =>
        service.receiverStore.listFacts().some(({ channels }) => channels.some((channel) => channel.id === id)),
      hasGroup: (id: number) => service.lists.current.groups.some((group) => group.id === id),
      reload,
      now,
    },
    hardwareDeps: { db, ingest, receiverStore, placeholderStore, hasManufacturer, reload, now },
    showDeps: { db, receiverStore, reload, now },
    sceneDeps: { db, ingest, receiverStore, placeholderStore, reload, now },
    checkDeps: { db, receiverStore, events, checks, now },
    reportDeps: {
      ...service,
      groups: () => service.lists.current.groups,
      assignments: () => service.cast.assignments(),
      now,
    },
    scanDeps: { db, reload, now },
    markerDeps: { db, receiverStore, events, now },
    frequencyDeps: {
      ingest,
      reload,
      checker: service.checker,
      frequencies: service.frequencies,
      storedProfiles: () => service.lists.current.frequencyProfiles,
    },
    placeholderDeps: { ingest, receiverStore, placeholderStore, now },
    manufacturerDeps,
    ingestDeps: {
      ingest,
      receiverStore,
      manufacturerDeps,
      manufacturers: () => service.sourceRegistry.manufacturers(),
    },
  }
}

function createNotificationDeps(
  service: Service,
  options: Pick<NotificationChannelDeps, 'log' | 'publicUrl' | 'signal'>,
): NotificationChannelDeps & NotificationRuleDeps {
  const { db, secrets, outbound, notifications } = service
  const reload = () => service.reload()
  const hasManufacturer = (code: string) => service.hasManufacturer(code)
  const { destinations } = outbound
  return { ...options, db, secrets, destinations, notifications, hasManufacturer, reload, now }
}
