/** What the routes of the server use: parts of the runtime, and the dependencies of actions. */

import type { FastifyBaseLogger } from 'fastify'
import type { SingleSignOn } from '../../actions/access/sign-in-oidc.ts'
import type { NotificationChannelDeps } from '../../actions/alerts/edit-notification-channels.ts'
import type { NotificationRuleDeps } from '../../actions/alerts/edit-notification-rules.ts'
import { Identifications } from '../../actions/equipment/identify-receivers.ts'
import type { Config } from '../../config.ts'
import { globalScope } from '../../domain/settings.ts'
import { WalkTests } from '../../history/walk-tests.ts'
import { audioFloorOf } from '../../manufacturers/index.ts'
import type { Cache } from '../../platform/cache.ts'
import { now } from '../../platform/clock.ts'
import type { ConfigReloader } from '../../service/config-reload.ts'
import type { Runtime } from '../../service.ts'
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
  readonly runtime: Runtime
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
  const { runtime, signIn, reloader, cache, tls, stop, handover } = parts
  const { host, mount, public_url, frame_ancestors, strict_transport } = config.server
  return {
    db: runtime.db,
    credentials: signIn.credentials,
    hasher: signIn.hasher,
    setupCode: signIn.setupCode,
    singleSignOn: toSingleSignOn(config.oidc, runtime.identityProvider),
    onSetUp: signIn.onSetUp,
    log,
    mount,
    receiverStore: runtime.receiverStore,
    placeholderStore: runtime.placeholderStore,
    cache,
    connections: runtime.connections,
    alerts: runtime.alerts,
    silences: runtime.silences,
    counters: runtime.counters,
    monitor: runtime.monitor,
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
    settingsIn: runtime.settingsIn,
    explainSettings: runtime.explainSettings,
    groups: runtime.groups,
    health: runtime.health,
    manufacturers: runtime.manufacturers,
    locations: runtime.locations,
    assignments: runtime.assignmentsWithSites,
    shows: runtime.shows,
    scans: runtime.scans,
    reportingSources: runtime.reportingSources,
    identifications: new Identifications({
      db: runtime.db,
      receiverStore: runtime.receiverStore,
      sourcesOf(receiverId) {
        const reporting = runtime.reportingSources(receiverId)
        return runtime.sources.filter(({ id }) => reporting.includes(id))
      },
      settings: () => runtime.settingsIn(globalScope),
      isShowRunning: () => runtime.runningShows().length > 0,
      signal: stop,
    }),
    batteryThreshold: (receiver, channel) => runtime.conditions.thresholdsOf(receiver, channel).alert_battery_threshold,
    replaceSoon: (receiver, channel) => runtime.conditions.thresholdsOf(receiver, channel).BATTERY_REPLACE_SOON,
    live: runtime.live,
    levelDemand: runtime.levelDemand,
    siteLevelDemand: runtime.siteLevelDemand,
    installation: runtime.installation,
    installationName: runtime.installationName,
    via: runtime.via,
    sites: runtime.sites,
    history: runtime.history,
    siteHistory: runtime.siteHistory,
    isRecording: () => runtime.history.isRecording,
    historySize: () => runtime.history.size(),
    noiseDeps: {
      ...{ db: runtime.db, history: runtime.history, receiverStore: runtime.receiverStore, now },
      thresholdsOf: (receiver, channel) => runtime.conditions.thresholdsOf(receiver, channel),
    },
    walkTests: new WalkTests({ levels: runtime.history.levels, flush: () => runtime.history.flush() }),
    audioFloorOf,
    forecastOf: (channel) => runtime.forecasts.currentForecast(channel),
    channelStatesAt: (time) => listChannelStatesAt(runtime.db.read, time),
    discoveryDeps: { ...runtime, ranges: () => reloader.current.discovery_ranges, signal: stop, now },
    editDeps: { ...runtime, now },
    importDeps: { ...runtime, signal: stop, now, mount },
    storeDeps: runtime,
    redis: runtime.redis,
    ...createEditingDeps(runtime),
    notificationDeps: createNotificationDeps(runtime, { log, publicUrl: public_url, signal: stop }),
  }
}

function toSingleSignOn(oidc: Config['oidc'], provider: Runtime['identityProvider']): SingleSignOn {
  return oidc && provider && { ...oidc, provider }
}

export function toAccessSettings({ server, rate_limit }: Config): AccessSettings {
  return { allowedHosts: server.allowed_hosts, trustedProxies: server.trusted_proxies, rateLimit: rate_limit }
}

/** Creates the dependencies of the server's editing routes. */
function createEditingDeps(runtime: Runtime) {
  const { db, secrets, ingest, receiverStore, placeholderStore, unitStore, events, checks, reload } = runtime
  const settings = runtime.settingsIn
  const hasManufacturer = (code: string) => runtime.manufacturers().some((manufacturer) => manufacturer.code === code)
  const { installation, sourceDeps } = runtime
  const manufacturerDeps = { db, secrets, installation, ...sourceDeps, sources: () => runtime.sources, reload }
  return {
    unitStore,
    settingsDeps: { db, settings, reload },
    silenceDeps: {
      db,
      hasChannel: (id: number) =>
        runtime.receiverStore.listFacts().some(({ channels }) => channels.some((channel) => channel.id === id)),
      hasGroup: (id: number) => runtime.groups().some((group) => group.id === id),
      reload,
      now,
    },
    hardwareDeps: { db, ingest, receiverStore, placeholderStore, hasManufacturer, reload, now },
    showDeps: { db, receiverStore, reload, now },
    sceneDeps: { db, ingest, receiverStore, placeholderStore, reload, now },
    checkDeps: { db, receiverStore, events, checks, now },
    reportDeps: { ...runtime, now },
    scanDeps: { db, reload, now },
    markerDeps: { db, receiverStore, events, now },
    frequencyDeps: {
      ingest,
      reload,
      checker: runtime.checker,
      frequencies: runtime.frequencies,
      storedProfiles: runtime.storedProfiles,
    },
    placeholderDeps: { ingest, receiverStore, placeholderStore, now },
    manufacturerDeps,
    ingestDeps: { ingest, receiverStore, manufacturerDeps, manufacturers: runtime.manufacturers },
  }
}

function createNotificationDeps(
  runtime: Runtime,
  options: Pick<NotificationChannelDeps, 'log' | 'publicUrl' | 'signal'>,
): NotificationChannelDeps & NotificationRuleDeps {
  const { db, secrets, sourceDeps, notifications, reload } = runtime
  const hasManufacturer = (code: string) => runtime.manufacturers().some((manufacturer) => manufacturer.code === code)
  const { destinations } = sourceDeps
  return { ...options, db, secrets, destinations, notifications, hasManufacturer, reload, now }
}
