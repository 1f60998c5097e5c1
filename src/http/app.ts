/** Combines the runtime and the HTTP server. Starts their parts in order and closes them in reverse order. */

import type { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { Server as HttpsServer } from 'node:https'
import { createServer as createNetServer } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Credentials } from '../actions/credentials.ts'
import type { NotificationChannelDeps } from '../actions/edit-notification-channels.ts'
import type { NotificationRuleDeps } from '../actions/edit-notification-rules.ts'
import { createHasher, type Hasher } from '../actions/hasher.ts'
import { Identifications } from '../actions/identify-receivers.ts'
import { createSetupCode, isSetupNeeded, type SetupCode } from '../actions/sign-in.ts'
import type { SingleSignOn } from '../actions/sign-in-oidc.ts'
import { type Config, ConfigError } from '../config.ts'
import * as operations from '../contract/operations/index.ts'
import { isLoopback } from '../domain/identity/address.ts'
import { globalScope } from '../domain/settings.ts'
import { Integrations } from '../integrations/integrations.ts'
import { keepSavingLevels, saveLevels } from '../monitoring/levels.ts'
import { childLifetime, pause } from '../monitoring/wait.ts'
import { WalkTests } from '../monitoring/walk-tests.ts'
import { now } from '../platform/clock.ts'
import { type ConfigChanges, ConfigReloader } from '../runtime/config-reload.ts'
import { openRuntime } from '../runtime/open-runtime.ts'
import type { Runtime, RuntimeOptions } from '../runtime.ts'
import { type Cache, createCache } from '../state/cache.ts'
import { writeAudit } from '../storage/audit.ts'
import { isDueForRenewal, openCertificate, readMissingNames } from '../storage/certificate.ts'
import { type CertificatePair, readCertificatePair } from '../storage/certificate-pair.ts'
import { listChannelStatesAt } from '../storage/channel-states.ts'
import { removeSetupCode, writeSetupCode } from '../storage/setup-code.ts'
import { CertificateReloader } from './server/certificate-reloader.ts'
import type { CachedResponse } from './server/response.ts'
import { type AccessSettings, createServer, type ServerDeps } from './server/server.ts'

export interface App {
  readonly runtime: Runtime
  readonly server: FastifyInstance
  /** The URL on which the service listens, with the mount prefix. */
  readonly address: string
  /**
   * Gives back the leases of the sources, so that other processes take them over, and makes `/readyz` return 503.
   * Everything else continues until `close` is called.
   */
  drain(): void
  /**
   * Applies the keys of a changed configuration that a running service can apply. Throws a ConfigError if it is invalid,
   * or the database error if the manufacturers cannot be read; nothing has changed then.
   */
  reload(changed: Config): Promise<ConfigChanges>
  close(): Promise<void>
}

export interface AppOptions extends Omit<RuntimeOptions, 'cache' | 'onAlert' | 'listProblems'> {
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
  /** Whether to serve only pages and the API, while other processes poll and subscribe. */
  readonly servesOnly?: boolean
  /** The shell command that creates an administrator of this installation. */
  readonly createAdmin?: string
  /** Prints to the terminal only, because the set-up code must not be logged. */
  print?(line: string): void
}

/** How often the certificate is read again. */
const certificateCheckMs = 5000

/**
 * Opens the runtime and starts the server. Throws what `openRuntime` throws, a ConfigError, or the system's error if
 * the server cannot listen.
 */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port } = config.server
  validateOverrides(config)
  await requireFreePort(host, port).catch((error) => Promise.reject(toListenError(error, config.server)))
  const reloader = new ConfigReloader(config)
  const cache = createCache<CachedResponse>({ timeoutMs: () => reloader.current.settings.CACHE_TIMEOUT * 1000 })
  let integrations: Integrations | undefined
  const runtime = await openRuntime(config, {
    ...options,
    cache,
    onAlert: (alert) => integrations?.alertChanged(alert),
    listProblems: () => integrations?.problems ?? [],
  })
  integrations = new Integrations(config, runtime, { log, version: options.version })
  const stop = new AbortController()
  /** Aborts when the service stops or drains. */
  const handover = childLifetime(stop.signal)
  const loops: Promise<void>[] = []
  const signIn = createSignIn(runtime, log)
  const close = async (server?: FastifyInstance) => {
    stop.abort()
    await reloader.idle()
    await server?.close()
    await Promise.all(loops)
    await signIn.close()
    await saveLevels({ ...runtime, log })
    await runtime.close()
  }
  try {
    const tls = await openTls(config, options)
    await signIn.openSetup(config, options)
    const { app: server, applySettings } = await createServer(
      toServerDeps(config, options, {
        runtime,
        signIn,
        reloader,
        cache,
        tls,
        stop: stop.signal,
        handover: handover.signal,
      }),
    )
    try {
      await server.listen({ host, port })
    } catch (error) {
      await server.close()
      throw toListenError(error, config.server)
    }
    const bound = server.server.address()
    if (typeof bound === 'object' && bound !== null)
      runtime.sourceDeps.destinations.blockListener(bound.address, bound.port)
    loops.push(runtime.follow(stop.signal), signIn.credentials.watch(stop.signal))
    await reportMissingNames(config, log)
    if (tls !== null) loops.push(keepCertificate(server, tls, log, stop.signal))
    loops.push(runtime.notifications.run(handover.signal), integrations.run(handover.signal))
    if (runtime.remoteWrite !== null) loops.push(runtime.remoteWrite.run(handover.signal))
    if (!options.servesOnly) {
      const hasReaders = () => runtime.leaseManager.hasOtherNodes && runtime.redis?.isUp !== true
      loops.push(runtime.monitor.run(handover.signal), keepSavingLevels({ ...runtime, log }, hasReaders, stop.signal))
    }
    if (!isLoopback(host)) await reportExposure(runtime, config, log)
    return {
      runtime,
      server,
      address: addressOf(server, config),
      drain: () => handover.abort(),
      reload: (changed) =>
        reloader.reload(changed, async (next) => {
          validateOverrides(next)
          await runtime.applyConfig(next)
          applySettings(toAccessSettings(next))
          await reportMissingNames(next, log)
        }),
      close: () => close(server),
    }
  } catch (error) {
    await close()
    throw error
  }
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
function toServerDeps(config: Config, { log, version, webRoot }: AppOptions, parts: ServerParts): ServerDeps {
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
    feed: runtime.feed,
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
    discovered: runtime.discovered,
    performers: runtime.performers,
    assignments: runtime.assignmentsWithSites,
    shows: runtime.shows,
    runningShows: runtime.runningShows,
    scans: runtime.scans,
    sourceBodies: runtime.sourceBodies,
    announcedSites: runtime.announcedSites,
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
    forecastOf: (channel) => runtime.forecasts.currentForecast(channel),
    channelStatesAt: (time) => listChannelStatesAt(runtime.db.read, time),
    discoveryDeps: { ...runtime, ranges: () => reloader.current.discovery_ranges, signal: stop, now },
    editDeps: { ...runtime, now },
    importDeps: { ...runtime, signal: stop, now, mount },
    storeDeps: runtime,
    redis: runtime.redis,
    ...createEditingDeps(runtime),
    notificationDeps: createNotificationDeps(runtime, { log, publicUrl: public_url, signal: stop }),
    isBroadcasting: (manufacturer) => runtime.settings(manufacturer).enable_websocket,
  }
}

function toSingleSignOn(oidc: Config['oidc'], provider: Runtime['identityProvider']): SingleSignOn {
  return oidc && provider && { ...oidc, provider }
}

function toAccessSettings({ server, rate_limit }: Config): AccessSettings {
  return { allowedHosts: server.allowed_hosts, trustedProxies: server.trusted_proxies, rateLimit: rate_limit }
}

interface SignIn {
  readonly credentials: Credentials
  readonly hasher: Hasher
  readonly setupCode: SetupCode
  onSetUp(): void
  /** Prints how to create the first administrator, if none exists and the service is reachable from the network. */
  openSetup(config: Config, options: AppOptions): Promise<void>
  close(): Promise<void>
}

function createSignIn({ db }: Runtime, log: FastifyBaseLogger): SignIn {
  const hasher = createHasher()
  const setupCode = createSetupCode(() => performance.now())
  let removeCode = async () => {}
  const removeCodeFile = () =>
    removeCode().catch((error) => log.error({ error: String(error) }, 'the set-up code file could not be removed'))
  return {
    credentials: new Credentials({ db, log, now }),
    hasher,
    setupCode,
    onSetUp: () => void removeCodeFile(),
    async openSetup({ server: { host }, require_login, data_dir }, { print, createAdmin }) {
      if ((isLoopback(host) && !require_login) || !(await isSetupNeeded({ db }))) return
      const path = await writeSetupCode(data_dir, setupCode.current() ?? '').catch((error) => {
        log.warn({ error: String(error) }, 'the set-up code could not be written to a file')
        return null
      })
      removeCode = () => removeSetupCode(data_dir)
      const code = setupCode.current()
      print?.(`There is no administrator yet. Open the set-up page within 60 minutes and enter the code ${code}`)
      if (path !== null) print?.(`The code is also in the file ${path}`)
      if (createAdmin !== undefined) print?.(`Alternatively, run: ${createAdmin}`)
    },
    async close() {
      await hasher.close()
      await removeCodeFile()
    },
  }
}

/**
 * Records in the log and the audit log that the service does not use TLS, or that anyone can view the installation.
 * Called only if the service is reachable from the network.
 */
async function reportExposure(
  { db }: Runtime,
  { server, tls, public_read }: Config,
  log: FastifyBaseLogger,
): Promise<void> {
  if (tls === null) log.warn({ host: server.host }, 'listening without TLS: traffic on this network is not encrypted')
  if (public_read)
    log.warn({ host: server.host }, 'public_read is on: anyone on this network can view the installation')
  if (tls !== null && !public_read) return
  const actor = { kind: 'cli', id: null, name: 'serve', role: 'admin', address: null } as const
  const details = { host: server.host, tls: tls === null ? 'off' : 'on', public_read }
  const entry = { actor, action: 'service.start', target: 'service', result: 'ok', details } as const
  await db
    .transaction((tx) => writeAudit(tx, entry))
    .catch((error) => log.warn({ error: String(error) }, 'audit record could not be written'))
}

interface Tls {
  readonly files: CertificatePair
  /** The contents of the files. */
  readonly pair: CertificatePair
  /** Creates another self-signed certificate if `current` expires soon; null for configured files. */
  readonly renew: ((current: X509Certificate) => Promise<void>) | null
}

/** Reads or creates the certificate and key to use; null without TLS. */
async function openTls({ tls, data_dir, server }: Config, { print }: AppOptions): Promise<Tls | null> {
  if (tls === null) return null
  if (tls !== 'auto') return { files: tls, pair: await readCertificatePair(tls), renew: null }
  const names = [server.host, hostname(), `${hostname()}.local`, ...server.allowed_hosts]
  const open = async () => {
    const certificate = await openCertificate(data_dir, names, now())
    return { ...certificate, line: `a self-signed certificate with the SHA-256 fingerprint ${certificate.fingerprint}` }
  }
  const { cert, key, isNew, line } = await open()
  print?.(`${isNew ? 'Created' : 'Using'} ${line}`)
  const renew = async (current: X509Certificate) => {
    if (!isDueForRenewal(current, now())) return
    const renewed = await open()
    if (renewed.isNew) print?.(`Created ${renewed.line}`)
  }
  return { files: { cert, key }, pair: await readCertificatePair({ cert, key }), renew }
}

/**
 * Logs the names in `server.allowed_hosts` for which the self-signed certificate is not valid. It is not replaced, because
 * browsers would warn again about a certificate that their users have accepted.
 */
async function reportMissingNames({ tls, data_dir, server }: Config, log: FastifyBaseLogger): Promise<void> {
  if (tls !== 'auto') return
  const names = await readMissingNames(data_dir, server.allowed_hosts).catch(() => [])
  if (names.length === 0) return
  const message =
    'the self-signed certificate is not valid for these names; to create one that is, stop the service, delete tls.crt and tls.key in the data folder, and start it'
  log.warn({ names }, message)
}

/** Reads the certificate again every `certificateCheckMs`, until the signal aborts. */
async function keepCertificate(server: FastifyInstance, tls: Tls, log: FastifyBaseLogger, signal: AbortSignal) {
  const { files, pair, renew } = tls
  const httpsServer = server.server as unknown as HttpsServer
  const reloader = new CertificateReloader({ server: httpsServer, files, current: pair, renew, log })
  while (await pause(certificateCheckMs, signal)) await reloader.check()
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

/** Checks that all rate-limit overrides name operations of the API. */
function validateOverrides({ file, rate_limit }: Config): void {
  const known = new Set(
    Object.values(operations).map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`),
  )
  const isKnown = (endpoint: string) => known.has(endpoint) || known.has(`${endpoint}/`)
  const unknown = Object.keys(rate_limit.overrides).find(
    (endpoint) => !isKnown(endpoint) || !endpoint.includes(' /api/'),
  )
  if (unknown === undefined) return
  const where = `${file ?? 'configuration'}: rate_limit.overrides`
  throw new ConfigError(`${where}: expected an endpoint such as POST /api/discover/, not ${unknown}`)
}

/**
 * Checks that the port is free before anything is opened, so that a second instance started by mistake changes nothing.
 * Throws the system's error if the service cannot listen on the port.
 */
async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return
  const probe = createNetServer().listen({ host, port })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

/** Adds the configuration key and a remedy to a listen error; returns other errors unchanged. */
function toListenError(error: unknown, { host, port }: Config['server']): unknown {
  const { code } = error as NodeJS.ErrnoException
  const withMessage = (message: string) => new Error(message, { cause: error })
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return withMessage(
        `server.host: the name ${host} cannot be resolved; use an address of this machine, such as 127.0.0.1`,
      )
    case 'EADDRNOTAVAIL':
      return withMessage(
        `server.host: ${host} is not an address of this machine; use one of its addresses, or 0.0.0.0 for all of them`,
      )
    case 'EACCES':
      return withMessage(`server.port: no permission to listen on port ${port}; use a port from 1024 to 65535`)
    default:
      return error
  }
}

function addressOf(server: FastifyInstance, { server: { host, mount }, tls }: Config): string {
  const bound = server.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : ''
  const name = host.includes(':') ? `[${host}]` : host
  return `${tls === null ? 'http' : 'https'}://${name}:${port}${mount}/`
}
