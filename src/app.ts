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
import { type House, type HouseOptions, openHouse } from './house.ts'
import type { CachedAnswer } from './http/answer.ts'
import { isLoopback } from './http/guard.ts'
import { operations } from './http/openapi.ts'
import { createServer } from './http/server.ts'
import { createCache } from './live/cache.ts'
import { saveLevels, saveLevelsForever } from './monitor/levels.ts'
import { writeAudit } from './store/audit.ts'
import { openCertificate } from './store/certificate.ts'
import { removeSetupCode, writeSetupCode } from './store/setup-code.ts'

export interface App {
  readonly house: House
  readonly server: FastifyInstance
  /** Where it listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

export interface AppOptions extends Omit<HouseOptions, 'cache'> {
  readonly version: string
  /** Where the built pages lie. */
  readonly webRoot: string
  /** Leaves polling and subscriptions to other processes. */
  readonly isScreenOnly?: boolean
  /** The command that makes an administrator of this house, for a shell. */
  readonly createAdmin?: string
  /** Tells whoever started the service, and nobody else: a set-up code is no matter for a log. */
  say?(line: string): void
}

/** Throws what `openHouse` throws, a ConfigError, and the system's error when it cannot listen. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port, mount, public_url, allowed_hosts, trusted_proxies } = config.server
  const { frame_ancestors, strict_transport } = config.server
  checkOverrides(config)
  await requireFreePort(host, port).catch((error) => Promise.reject(listenTrouble(error, config.server)))
  const cache = createCache<CachedAnswer>({ timeoutMs: config.settings.CACHE_TIMEOUT * 1000 })
  const house = await openHouse(config, { ...options, cache })
  const stop = new AbortController()
  const running: Promise<void>[] = []
  const people = createPeople(house, log)
  const close = async (server?: FastifyInstance) => {
    stop.abort()
    await server?.close()
    await Promise.all(running)
    await people.close()
    await saveLevels({ ...house, log })
    await house.close()
  }
  try {
    const tls = await openTls(config, options)
    await people.openSetup(config, options)
    const server = await createServer({
      db: house.db,
      credentials: people.credentials,
      hasher: people.hasher,
      setupCode: people.setupCode,
      onSetUp: people.onSetUp,
      log,
      mount,
      latest: house.latest,
      cache,
      feed: house.feed,
      connections: house.connections,
      alerts: house.alerts,
      tally: house.tally,
      monitor: house.monitor,
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
      settings: (manufacturer) => house.settings(manufacturer ?? null),
      explainSettings: house.explainSettings,
      groups: house.groups,
      health: house.health,
      manufacturers: house.manufacturers,
      locations: house.locations,
      discovered: house.discovered,
      discoveryDeps: { ...house, ranges: config.discovery_ranges, signal: stop.signal, now },
      placeDeps: { ...house, now },
      storeDeps: house,
      rateLimit: config.rate_limit,
      shared: house.shared,
      ...editing(house),
      isBroadcasting: (manufacturer) => house.settings(manufacturer).enable_websocket,
    })
    try {
      await server.listen({ host, port })
    } catch (error) {
      await server.close()
      throw listenTrouble(error, config.server)
    }
    const bound = server.server.address()
    if (typeof bound === 'object' && bound !== null) house.sourceDeps.destinations.addOwn(bound.address, bound.port)
    running.push(house.keepUp(stop.signal), people.credentials.keepUp(stop.signal))
    if (!options.isScreenOnly) {
      const hasReaders = () => house.keeper.hasOthers() && house.shared?.isUp !== true
      running.push(house.monitor.run(stop.signal), saveLevelsForever({ ...house, log }, hasReaders, stop.signal))
    }
    if (!isLoopback(host)) await tellOpenness(house, config, log)
    return { house, server, address: addressOf(server, config), close: () => close(server) }
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

function createPeople({ db }: House, log: FastifyBaseLogger): People {
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
    async openSetup({ server: { host }, require_login, data_dir }, { say, createAdmin }) {
      if ((isLoopback(host) && !require_login) || !(await isSetupNeeded({ db }))) return
      const path = await writeSetupCode(data_dir, setupCode.current() ?? '').catch((error) => {
        log.warn({ error: String(error) }, 'the set-up code is in no file')
        return null
      })
      forgetCode = () => removeSetupCode(data_dir)
      say?.(`Nobody can sign in yet. Open the set-up page within 60 minutes; its code is ${setupCode.current()}`)
      if (path !== null)
        say?.(createAdmin === undefined ? `(also in ${path})` : `(also in ${path}), or run: ${createAdmin}`)
      else if (createAdmin !== undefined) say?.(`(or run: ${createAdmin})`)
    },
    async close() {
      await hasher.close()
      await forget()
    },
  }
}

/** Others can reach us: what is not locked is said, and written down. */
async function tellOpenness(
  { db }: House,
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
async function openTls({ tls, data_dir, server }: Config, { say }: AppOptions) {
  if (tls !== 'auto') return tls
  const names = [server.host, hostname(), `${hostname()}.local`, ...server.allowed_hosts]
  const { cert, key, fingerprint, isNew } = await openCertificate(data_dir, names, now())
  say?.(`${isNew ? 'Made a certificate' : 'The certificate is our own'}; its SHA-256 fingerprint: ${fingerprint}`)
  return { cert, key }
}

/** What those who change something need of the house. */
function editing(house: House) {
  const { db, secrets, ingest, units, settings, reload, sourceDeps } = house
  const isKnown = (code: string) => house.manufacturers().some((one) => one.code === code)
  return {
    units,
    settingsDeps: { db, settings, reload },
    hardwareDeps: { db, ingest, hasManufacturer: isKnown, reload, now },
    manufacturerDeps: { db, secrets, ...sourceDeps, sources: () => house.sources, reload },
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
