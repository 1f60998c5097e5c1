/** The house with its doors open: joined, listening, and closed in reverse order. */

import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Credentials, createCredentials } from './actions/credentials.ts'
import { createHasher, type Hasher } from './actions/hasher.ts'
import { createSetupCode, isSetupNeeded, type SetupCode } from './actions/sign-in.ts'
import { now } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { isLoopback } from './http/guard.ts'
import { operations } from './http/openapi.ts'
import type { CachedResponse } from './http/response.ts'
import { createServer } from './http/server.ts'
import { createCache } from './live/cache.ts'
import { keepSavingLevels, saveLevels } from './monitor/levels.ts'
import { openRuntime, type Runtime, type RuntimeOptions } from './runtime.ts'
import { writeAudit } from './store/audit.ts'
import { openCertificate } from './store/certificate.ts'
import { removeSetupCode, writeSetupCode } from './store/setup-code.ts'

export interface App {
  readonly runtime: Runtime
  readonly server: FastifyInstance
  /** Where it listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

export interface AppOptions extends Omit<RuntimeOptions, 'cache'> {
  readonly version: string
  /** Where the built pages lie. */
  readonly webRoot: string
  /** Leaves polling and subscriptions to other processes. */
  readonly servesOnly?: boolean
  /** The command that makes an administrator of this house, for a shell. */
  readonly createAdmin?: string
  /** Tells whoever started the service, and nobody else: a set-up code is no matter for a log. */
  print?(line: string): void
}

/** Throws what `openHouse` throws, a ConfigError, and the system's error when it cannot listen. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port, mount, public_url, allowed_hosts, trusted_proxies } = config.server
  const { frame_ancestors, strict_transport } = config.server
  checkOverrides(config)
  await requireFreePort(host, port).catch((error) => Promise.reject(listenTrouble(error, config.server)))
  const cache = createCache<CachedResponse>({ timeoutMs: config.settings.CACHE_TIMEOUT * 1000 })
  const runtime = await openRuntime(config, { ...options, cache })
  const stop = new AbortController()
  const running: Promise<void>[] = []
  const people = createPeople(runtime, log)
  const close = async (server?: FastifyInstance) => {
    stop.abort()
    await server?.close()
    await Promise.all(running)
    await people.close()
    await saveLevels({ ...runtime, log })
    await runtime.close()
  }
  try {
    const tls = await openTls(config, options)
    await people.openSetup(config, options)
    const server = await createServer({
      db: runtime.db,
      credentials: people.credentials,
      hasher: people.hasher,
      setupCode: people.setupCode,
      onSetUp: people.onSetUp,
      log,
      mount,
      receiverStore: runtime.receiverStore,
      cache,
      feed: runtime.feed,
      connections: runtime.connections,
      alerts: runtime.alerts,
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
      settings: (manufacturer) => runtime.settings(manufacturer ?? null),
      explainSettings: runtime.explainSettings,
      groups: runtime.groups,
      health: runtime.health,
      manufacturers: runtime.manufacturers,
      locations: runtime.locations,
      discovered: runtime.discovered,
      discoveryDeps: { ...runtime, ranges: config.discovery_ranges, signal: stop.signal, now },
      editDeps: { ...runtime, now },
      storeDeps: runtime,
      rateLimit: config.rate_limit,
      redis: runtime.redis,
      ...editing(runtime),
      isBroadcasting: (manufacturer) => runtime.settings(manufacturer).enable_websocket,
    })
    try {
      await server.listen({ host, port })
    } catch (error) {
      await server.close()
      throw listenTrouble(error, config.server)
    }
    const bound = server.server.address()
    if (typeof bound === 'object' && bound !== null) runtime.sourceDeps.destinations.addOwn(bound.address, bound.port)
    running.push(runtime.follow(stop.signal), people.credentials.watch(stop.signal))
    if (!options.servesOnly) {
      const hasReaders = () => runtime.leaseManager.hasOtherNodes() && runtime.redis?.isUp !== true
      running.push(runtime.monitor.run(stop.signal), keepSavingLevels({ ...runtime, log }, hasReaders, stop.signal))
    }
    if (!isLoopback(host)) await tellOpenness(runtime, config, log)
    return { runtime, server, address: addressOf(server, config), close: () => close(server) }
  } catch (error) {
    await close()
    throw error
  }
}

interface People {
  readonly credentials: Credentials
  readonly hasher: Hasher
  readonly setupCode: SetupCode
  onSetUp(): void
  /** Where nobody can sign in yet and strangers can reach us, says how the first administrator is made. */
  openSetup(config: Config, options: AppOptions): Promise<void>
  close(): Promise<void>
}

function createPeople({ db }: Runtime, log: FastifyBaseLogger): People {
  const hasher = createHasher()
  const setupCode = createSetupCode(() => performance.now())
  let forgetCode = async () => {}
  const forget = () =>
    forgetCode().catch((error) => log.error({ error: String(error) }, 'the set-up code stays behind'))
  return {
    credentials: createCredentials({ db, log, now }),
    hasher,
    setupCode,
    onSetUp: () => void forget(),
    async openSetup({ server: { host }, require_login, data_dir }, { print, createAdmin }) {
      if ((isLoopback(host) && !require_login) || !(await isSetupNeeded({ db }))) return
      const path = await writeSetupCode(data_dir, setupCode.current() ?? '').catch((error) => {
        log.warn({ error: String(error) }, 'the set-up code is in no file')
        return null
      })
      forgetCode = () => removeSetupCode(data_dir)
      print?.(`Nobody can sign in yet. Open the set-up page within 60 minutes; its code is ${setupCode.current()}`)
      if (path !== null)
        print?.(createAdmin === undefined ? `(also in ${path})` : `(also in ${path}), or run: ${createAdmin}`)
      else if (createAdmin !== undefined) print?.(`(or run: ${createAdmin})`)
    },
    async close() {
      await hasher.close()
      await forget()
    },
  }
}

/** Others can reach us: what is not locked is said, and written down. */
async function tellOpenness(
  { db }: Runtime,
  { server, tls, public_read }: Config,
  log: FastifyBaseLogger,
): Promise<void> {
  if (tls === null) log.warn({ host: server.host }, 'listening without TLS: anybody on this network can read along')
  if (public_read) log.warn({ host: server.host }, 'public_read: anybody on this network can look')
  if (tls !== null && !public_read) return
  const actor = { kind: 'cli', id: null, name: 'serve', role: 'admin', address: null } as const
  const details = { host: server.host, tls: tls === null ? 'off' : 'on', public_read }
  const entry = { actor, action: 'service.start', target: 'service', result: 'ok', details } as const
  await db
    .transaction((tx) => writeAudit(tx, entry))
    .catch((error) => log.warn({ error: String(error) }, 'not audited'))
}

/** The files of the certificate to use; null without TLS. */
async function openTls({ tls, data_dir, server }: Config, { print }: AppOptions) {
  if (tls !== 'auto') return tls
  const names = [server.host, hostname(), `${hostname()}.local`, ...server.allowed_hosts]
  const { cert, key, fingerprint, isNew } = await openCertificate(data_dir, names, now())
  print?.(`${isNew ? 'Made a certificate' : 'The certificate is our own'}; its SHA-256 fingerprint: ${fingerprint}`)
  return { cert, key }
}

/** What those who change something need of the house. */
function editing(runtime: Runtime) {
  const { db, secrets, ingest, unitStore, settings, reload, sourceDeps } = runtime
  const isKnown = (code: string) => runtime.manufacturers().some((one) => one.code === code)
  return {
    unitStore,
    settingsDeps: { db, settings, reload },
    hardwareDeps: { db, ingest, hasManufacturer: isKnown, reload, now },
    manufacturerDeps: { db, secrets, ...sourceDeps, sources: () => runtime.sources, reload },
  }
}

/** An endpoint is one of those that the OpenAPI document tells of. */
function checkOverrides({ file, rate_limit }: Config): void {
  const stray = Object.keys(rate_limit.overrides).find(
    (endpoint) => !Object.hasOwn(operations, endpoint.replace(/\/$/, '')),
  )
  if (stray === undefined) return
  const where = `${file ?? 'configuration'}: rate_limit.overrides`
  throw new ConfigError(`${where}: expected an endpoint such as POST /api/discover/, not ${stray}`)
}

/** Throws the system's error before anything is opened, so that a second service by mistake touches nothing. */
async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return
  const probe = createNetServer().listen({ host, port })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

/** Why nobody can listen at an address of the configuration, and what to do; the error itself where that says it. */
function listenTrouble(error: unknown, { host, port }: Config['server']): unknown {
  const { code } = error as NodeJS.ErrnoException
  const say = (sentence: string) => new Error(sentence, { cause: error })
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return say(`server.host: the name ${host} does not resolve; give an address of this machine, such as 127.0.0.1`)
    case 'EADDRNOTAVAIL':
      return say(`server.host: ${host} is no address of this machine; give one that is, or 0.0.0.0 for all of them`)
    case 'EACCES':
      return say(`server.port: port ${port} takes more rights than this process has; choose one from 1024 on`)
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
