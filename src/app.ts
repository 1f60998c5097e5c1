/** Opens, joins and, in reverse order, closes everything. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Config, ConfigError, type ManufacturerEntry } from './config.ts'
import type { CachedAnswer } from './http/answer.ts'
import { isLoopback } from './http/guard.ts'
import { createServer } from './http/server.ts'
import { createCache } from './live/cache.ts'
import { createFeed, type Feed } from './live/feed.ts'
import { createLatest, type Latest } from './live/latest.ts'
import { type HeardSource, listSources, openSources, sourceId } from './manufacturers/sources.ts'
import type { Group } from './model/api.ts'
import type { Connection } from './model/connection.ts'
import {
  type ManufacturerHealth,
  type MonitoredManufacturer,
  type ServiceHealth,
  serviceHealth,
} from './model/health.ts'
import { type SettingRecord, type Settings, settingsInForce } from './model/settings.ts'
import { createIngest, type Ingest } from './monitor/ingest.ts'
import { createMonitor, type Monitor } from './monitor/monitor.ts'
import { ownerName } from './monitor/ownership.ts'
import { createReports, type Reports } from './monitor/reports.ts'
import { pause } from './monitor/wait.ts'
import { listConnections } from './store/connections.ts'
import { type Database, openDatabase } from './store/database.ts'
import { listEntries } from './store/discovery.ts'
import { listGroups } from './store/groups.ts'
import { migrate } from './store/migrate.ts'
import { listReceivers } from './store/receivers.ts'
import { currentRevision } from './store/revision.ts'
import { openSecrets, type Secrets } from './store/secrets.ts'
import { listManufacturers, listSettings, type StoredManufacturer, saveManufacturer } from './store/settings.ts'
import { createTurnstile } from './upstream/link.ts'

export interface HouseOptions {
  readonly log: FastifyBaseLogger
  readonly pid: number
  /** Above every other polling interval. */
  readonly intervalSeconds?: number | undefined
  /** Instead of the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds?: number
  /** Manufacturers beside those of the configuration. */
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Leaves the database as it is. */
  readonly isReadOnly?: boolean
}

/** Everything but the doors. */
export interface House {
  readonly db: Database
  readonly latest: Latest
  readonly feed: Feed
  readonly ingest: Ingest
  readonly reports: Reports
  readonly monitor: Monitor
  readonly sources: readonly HeardSource[]
  manufacturers(): readonly MonitoredManufacturer[]
  settings(manufacturer: string | null): Settings
  groups(manufacturer?: string): readonly Group[]
  health(manufacturer?: string): ServiceHealth
  /** Takes in what other processes change, until the signal aborts. */
  keepUp(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** How soon what another process stored is seen here. */
const keepUpEveryMs = 500

/** Throws ConfigError, or what the store throws when it cannot be opened. */
export async function openHouse(config: Config, options: HouseOptions): Promise<House & { cache: Cache }> {
  const { log, isReadOnly = false } = options
  const now = Date.now
  const secrets = await openSecrets(config.data_dir)
  const db = await openDatabase({ url: config.database_url })
  try {
    const migrations = isReadOnly ? [] : await migrate(db)
    const entries = [...config.manufacturers, ...(options.manufacturers ?? [])]
    const stored = await mergeManufacturers(db, secrets, entries, { config, isReadOnly })
    // Said once nothing of the configuration is wrong any more: a complaint about that stands alone.
    for (const name of migrations) log.info({ migration: name }, 'database brought up to date')
    const latest = createLatest()
    const feed = createFeed()
    const cache = createCache<CachedAnswer>({ timeoutMs: config.settings.CACHE_TIMEOUT * 1000 })
    const turnstile = createTurnstile()
    const opened = stored.map((record) => openManufacturer(record, turnstile))
    const sources = opened.flatMap((one) => one.sources)

    let records: readonly SettingRecord[] = []
    let groups: readonly Group[] = []
    let isStoreDown = false
    const reports = createReports({ db, feed, now, manufacturers: () => opened.map((one) => one.monitored) })
    const ingest = createIngest({ db, latest, feed, cache, now })
    const connections = new Map<number, Connection>()

    const defaultInterval = options.defaultIntervalSeconds ?? config.settings.DEFAULT_POLLING_INTERVAL
    const configured = new Set(opened.map((one) => one.monitored.code))
    const inForce = new Map<string | null, Settings>()
    const settings = (manufacturer: string | null): Settings => {
      const known = inForce.get(manufacturer)
      if (known !== undefined) return known
      const configuredInterval = sources.find((one) => one.manufacturer === manufacturer)?.source.pollIntervalSeconds
      const read = settingsInForce({ records, manufacturer, configuredInterval, defaultInterval })
      // Anybody may ask for any code; only those that exist are worth remembering.
      if (manufacturer === null || configured.has(manufacturer)) inForce.set(manufacturer, read)
      return read
    }
    const intervalMs = (heard: HeardSource) =>
      (options.intervalSeconds ?? settings(heard.manufacturer).polling_interval) * 1000
    const deps = { db, ingest, latest, feed, reports, connections, log, now, random: Math.random, intervalMs }
    const owner = ownerName(options.pid, randomBytes(4).toString('hex'))
    const monitor = createMonitor({ ...deps, owner }, sources)

    const readState = async () => {
      await reports.load()
      const before = JSON.stringify([records, groups])
      records = await listSettings(db.read)
      groups = await listGroups(db.read)
      if (JSON.stringify([records, groups]) === before) return
      inForce.clear()
      cache.drop(null)
    }
    const readAll = async () => {
      latest.revision = await currentRevision(db.read)
      for (const receiver of await listReceivers(db.read)) latest.put(receiver)
      for (const entry of await listEntries(db.read)) latest.putEntry(entry)
      for (const connection of await listConnections(db.read)) connections.set(connection.receiver, connection)
      await readState()
    }
    await readAll()

    return {
      db,
      latest,
      feed,
      cache,
      ingest,
      reports,
      monitor,
      sources,
      settings,
      manufacturers: () => opened.map((one) => one.monitored),
      groups: (manufacturer) => groups.filter((one) => manufacturer === undefined || one.manufacturer === manufacturer),
      health(selected) {
        const told = new Map(opened.flatMap((one) => (one.trouble === null ? [] : [[one.trouble.code, one.trouble]])))
        const manufacturers = reports.health(opened.map((one) => one.monitored)).map((one) => told.get(one.code) ?? one)
        return serviceHealth(manufacturers, { selected, storeDown: isStoreDown })
      },
      async keepUp(signal) {
        while (await pause(keepUpEveryMs, signal)) {
          try {
            await ingest.catchUp()
            await readState()
            isStoreDown = false
          } catch (error) {
            if (!isStoreDown) log.error({ error: String(error) }, 'the database cannot be read')
            isStoreDown = true
          }
        }
      },
      async close() {
        feed.close()
        await Promise.all(sources.map(({ link }) => link.close()))
        await db.close()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

type Cache = ReturnType<typeof createCache<CachedAnswer>>

export interface App {
  readonly house: House
  readonly server: FastifyInstance
  /** Where it listens, with the mount prefix. */
  readonly address: string
  close(): Promise<void>
}

export interface AppOptions extends HouseOptions {
  readonly version: string
  /** Where the built pages lie. */
  readonly webRoot: string
  /** Leaves polling and subscriptions to other processes. */
  readonly isScreenOnly?: boolean
}

/** Throws what `openHouse` throws, and the system's error when it cannot listen. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port, mount, allowed_hosts } = config.server
  await requireFreePort(host, port)
  const house = await openHouse(config, options)
  const stop = new AbortController()
  const running: Promise<void>[] = []
  const close = async (server?: FastifyInstance) => {
    stop.abort()
    await server?.close()
    await Promise.all(running)
    await saveLevels(house, log)
    await house.close()
  }
  try {
    const server = await createServer({
      log,
      mount,
      latest: house.latest,
      cache: house.cache,
      feed: house.feed,
      monitor: house.monitor,
      signal: stop.signal,
      version: options.version,
      webRoot: options.webRoot,
      tls: config.tls,
      guard: { host, allowedHosts: allowed_hosts, requireLogin: config.require_login },
      now: Date.now,
      settings: (manufacturer) => house.settings(manufacturer ?? null),
      groups: house.groups,
      health: house.health,
      manufacturers: house.manufacturers,
      isBroadcasting: (manufacturer) =>
        config.settings.WEBSOCKET_BROADCASTING &&
        house.settings(null).enable_websocket &&
        (manufacturer === null || house.settings(manufacturer).enable_websocket),
    })
    try {
      await server.listen({ host, port })
    } catch (error) {
      await server.close()
      throw error
    }
    running.push(house.keepUp(stop.signal))
    if (!options.isScreenOnly) running.push(house.monitor.run(stop.signal))
    if (!isLoopback(host) && config.tls === null)
      log.warn({ host }, 'listening without TLS: anybody on this network can read along')
    return { house, server, address: addressOf(server, config), close: () => close(server) }
  } catch (error) {
    await close()
    throw error
  }
}

/** Throws the system's error before anything is opened, so that a second service by mistake touches nothing. */
async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return
  const probe = createNetServer().listen({ host, port })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

function addressOf(server: FastifyInstance, { server: { host, mount }, tls }: Config): string {
  const bound = server.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : ''
  const name = host.includes(':') ? `[${host}]` : host
  return `${tls === null ? 'http' : 'https'}://${name}:${port}${mount}/`
}

/** What was pushed since the last cycle goes to disk before we leave. */
async function saveLevels({ ingest, manufacturers }: House, log: FastifyBaseLogger): Promise<void> {
  for (const { code } of manufacturers()) {
    await ingest.take({ manufacturer: code, observations: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'the last levels could not be stored')
    })
  }
}

/** What is stored, with what the configuration gives laid over it; written down unless read-only. */
async function mergeManufacturers(
  db: Database,
  secrets: Secrets,
  entries: readonly ManufacturerEntry[],
  { config, isReadOnly }: { config: Config; isReadOnly: boolean },
): Promise<StoredManufacturer[]> {
  const merged = new Map((await listManufacturers(db.read, secrets)).map((record) => [record.code, record]))
  for (const [at, entry] of entries.entries()) {
    const before = merged.get(entry.code)
    const plugin = entry.plugin ?? before?.plugin ?? entry.code
    const record: StoredManufacturer = {
      code: entry.code,
      name: entry.name ?? before?.name ?? entry.code,
      plugin,
      api_enabled: entry.api_enabled ?? before?.api_enabled ?? true,
      config: { ...before?.config, ...entry.config },
      secretsUnreadable: before?.secretsUnreadable ?? false,
    }
    checkEntry(record, `${config.file ?? 'configuration'}: manufacturers.${at}`)
    merged.set(record.code, record)
    if (!isReadOnly) await db.transaction((tx) => saveManufacturer(tx, secrets, record))
  }
  return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
}

function checkEntry(record: StoredManufacturer, where: string): void {
  try {
    listSources(record)
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError(`${where}.${error instanceof RangeError ? `plugin: ${message}` : `config.${message}`}`)
  }
}

interface OpenedManufacturer {
  readonly monitored: MonitoredManufacturer
  readonly sources: readonly HeardSource[]
  /** Why it cannot be asked at all; null when it can. */
  readonly trouble: ManufacturerHealth | null
}

function openManufacturer(
  record: StoredManufacturer,
  turnstile: ReturnType<typeof createTurnstile>,
): OpenedManufacturer {
  const { code } = record
  const unusable = (error: string, base_url: string): OpenedManufacturer => ({
    monitored: { code, base_url, isEnabled: record.api_enabled, sources: [] },
    sources: [],
    trouble: record.api_enabled ? { code, base_url, status: 'unhealthy', consecutive_failures: 0, error } : null,
  })
  try {
    const listed = listSources(record)
    const base_url = listed[0]?.baseUrl ?? ''
    if (record.secretsUnreadable) return unusable('credentials unreadable, enter them again', base_url)
    const isEnabled = record.api_enabled && listed.every((source) => source.isEnabled)
    const monitored = { code, base_url, isEnabled, sources: listed.map((source) => sourceId(code, source)) }
    return { monitored, sources: isEnabled ? openSources(record, turnstile) : [], trouble: null }
  } catch (error) {
    return unusable(`its configuration cannot be used: ${(error as Error).message}`, '')
  }
}
