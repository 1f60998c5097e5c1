/** Combines the runtime and the HTTP server. Starts their parts in order and closes them in reverse order. */

import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Credentials } from '../actions/credentials.ts'
import { createHasher, type Hasher } from '../actions/hasher.ts'
import { createSetupCode, isSetupNeeded, type SetupCode } from '../actions/sign-in.ts'
import { type Config, ConfigError } from '../config.ts'
import * as operations from '../contract/operations/index.ts'
import { keepSavingLevels, saveLevels } from '../monitoring/levels.ts'
import { now } from '../platform/clock.ts'
import { openRuntime, type Runtime, type RuntimeOptions } from '../runtime.ts'
import { createCache } from '../state/cache.ts'
import { writeAudit } from '../storage/audit.ts'
import { openCertificate } from '../storage/certificate.ts'
import { listChannelStatesAt } from '../storage/channel-states.ts'
import { removeSetupCode, writeSetupCode } from '../storage/setup-code.ts'
import { isLoopback } from './server/guard.ts'
import type { CachedResponse } from './server/response.ts'
import { createServer } from './server/server.ts'

export interface App {
  readonly runtime: Runtime
  readonly server: FastifyInstance
  /** The URL on which the service listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

export interface AppOptions extends Omit<RuntimeOptions, 'cache'> {
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

/**
 * Opens the runtime and starts the server. Throws what `openRuntime` throws, a ConfigError, or the system's error if
 * the server cannot listen.
 */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port, mount, public_url, allowed_hosts, trusted_proxies } = config.server
  const { frame_ancestors, strict_transport } = config.server
  validateOverrides(config)
  await requireFreePort(host, port).catch((error) => Promise.reject(toListenError(error, config.server)))
  const cache = createCache<CachedResponse>({ timeoutMs: config.settings.CACHE_TIMEOUT * 1000 })
  const runtime = await openRuntime(config, { ...options, cache })
  const stop = new AbortController()
  const loops: Promise<void>[] = []
  const signIn = createSignIn(runtime, log)
  const close = async (server?: FastifyInstance) => {
    stop.abort()
    await server?.close()
    await Promise.all(loops)
    await signIn.close()
    await saveLevels({ ...runtime, log })
    await runtime.close()
  }
  try {
    const tls = await openTls(config, options)
    await signIn.openSetup(config, options)
    const server = await createServer({
      db: runtime.db,
      credentials: signIn.credentials,
      hasher: signIn.hasher,
      setupCode: signIn.setupCode,
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
      signal: stop.signal,
      version: options.version,
      webRoot: options.webRoot,
      tls,
      guard: {
        host,
        allowedHosts: allowed_hosts,
        requireLogin: config.require_login,
        publicRead: config.public_read,
        trustedProxies: trusted_proxies,
      },
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
      assignments: runtime.assignments,
      shows: runtime.shows,
      runningShows: runtime.runningShows,
      sourceBodies: runtime.sourceBodies,
      reportingSources: runtime.reportingSources,
      batteryThreshold: (receiver, channel) =>
        runtime.conditions.thresholdsOf(receiver, channel).alert_battery_threshold,
      replaceSoon: (receiver, channel) => runtime.conditions.thresholdsOf(receiver, channel).BATTERY_REPLACE_SOON,
      live: runtime.live,
      history: runtime.history,
      channelStatesAt: (time) => listChannelStatesAt(runtime.db.read, time),
      discoveryDeps: { ...runtime, ranges: config.discovery_ranges, signal: stop.signal, now },
      editDeps: { ...runtime, now },
      importDeps: { ...runtime, now, mount },
      storeDeps: runtime,
      rateLimit: config.rate_limit,
      redis: runtime.redis,
      ...createEditingDeps(runtime),
      isBroadcasting: (manufacturer) => runtime.settings(manufacturer).enable_websocket,
    })
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
    if (runtime.remoteWrite !== null) loops.push(runtime.remoteWrite.run(stop.signal))
    if (!options.servesOnly) {
      const hasReaders = () => runtime.leaseManager.hasOtherNodes && runtime.redis?.isUp !== true
      loops.push(runtime.monitor.run(stop.signal), keepSavingLevels({ ...runtime, log }, hasReaders, stop.signal))
    }
    if (!isLoopback(host)) await reportExposure(runtime, config, log)
    return { runtime, server, address: addressOf(server, config), close: () => close(server) }
  } catch (error) {
    await close()
    throw error
  }
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

/** Returns the certificate and key to use; null without TLS. */
async function openTls({ tls, data_dir, server }: Config, { print }: AppOptions) {
  if (tls !== 'auto') return tls
  const names = [server.host, hostname(), `${hostname()}.local`, ...server.allowed_hosts]
  const { cert, key, fingerprint, isNew } = await openCertificate(data_dir, names, now())
  print?.(`${isNew ? 'Created' : 'Using'} a self-signed certificate with the SHA-256 fingerprint ${fingerprint}`)
  return { cert, key }
}

/** Creates the dependencies of the server's editing routes. */
function createEditingDeps(runtime: Runtime) {
  const { db, secrets, ingest, receiverStore, placeholderStore, unitStore, events, reload, sourceDeps } = runtime
  const settings = runtime.settingsIn
  const hasManufacturer = (code: string) => runtime.manufacturers().some((manufacturer) => manufacturer.code === code)
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
    showDeps: { db, reload, now },
    markerDeps: { db, receiverStore, events, now },
    placeholderDeps: { ingest, receiverStore, placeholderStore, now },
    manufacturerDeps: { db, secrets, ...sourceDeps, sources: () => runtime.sources, reload },
  }
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
