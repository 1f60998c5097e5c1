/** Everything but the doors: the store, what is true right now, and the loops, joined. */

import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { now } from './clock.ts'
import { type Config, ConfigError, type ManufacturerEntry } from './config.ts'
import type { Cache } from './live/cache.ts'
import { createFeed, type Feed } from './live/feed.ts'
import { createLatest, type Latest } from './live/latest.ts'
import { openShared, type Shared } from './live/shared.ts'
import { createTally, type Tally } from './live/tally.ts'
import { createUnits, type Units } from './live/units.ts'
import { type HeardSource, listSources, type SourceDeps } from './manufacturers/sources.ts'
import type { AuditRecord } from './model/access.ts'
import type { Group } from './model/api.ts'
import { type DiscoveredRecord, discoveredForMs } from './model/discovery.ts'
import {
  type MonitoredManufacturer,
  type ServiceHealth,
  type StoreIncident,
  serviceHealth,
  storeHealth,
} from './model/health.ts'
import type { Location } from './model/location.ts'
import { type Receiver, seenBy } from './model/receiver.ts'
import {
  type ExplainedSettings,
  explainSettings,
  type SettingRecord,
  type Settings,
  settingsInForce,
} from './model/settings.ts'
import { type Alerts, createAlerts } from './monitor/alerts.ts'
import { type Connections, createConnections } from './monitor/connections.ts'
import { createIngest, type Ingest } from './monitor/ingest.ts'
import { shareLevels } from './monitor/levels.ts'
import { createMonitor, type Monitor } from './monitor/monitor.ts'
import { createKeeper, type Keeper, ownerName, presenceOf } from './monitor/ownership.ts'
import { silentAfterMs } from './monitor/poller.ts'
import { createReports, type Reports } from './monitor/reports.ts'
import { createRoster } from './monitor/roster.ts'
import { silenceUnpolled } from './monitor/silence.ts'
import { createStoreCare, openMendedStore } from './monitor/store-care.ts'
import { createUnpolled } from './monitor/unpolled.ts'
import { pause, untilAborted } from './monitor/wait.ts'
import type { Database } from './store/database.ts'
import { listEntries } from './store/discovery.ts'
import { StoreDownError } from './store/errors.ts'
import { listGroups } from './store/groups.ts'
import { getHouseId } from './store/house-id.ts'
import { findIncident } from './store/mend.ts'
import { listDiscovered, listLocations } from './store/places.ts'
import { listReceivers } from './store/receivers.ts'
import { currentRevision } from './store/revision.ts'
import { openSecrets, type Secrets } from './store/secrets.ts'
import {
  listManufacturers,
  listSealedManufacturers,
  listSettings,
  openManufacturer,
  type StoredManufacturer,
  saveManufacturer,
} from './store/settings.ts'
import { listUnits } from './store/units.ts'
import { createDestinations } from './upstream/destinations.ts'
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
  /** How many lines of the log came to nothing. */
  droppedLines?(): number
  /** Leaves the database as it is. */
  readonly isReadOnly?: boolean
  /** Hears what is written to the audit log. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
  /** Rather than go on with a snapshot of a database that is damaged, throw. */
  readonly isStrict?: boolean
  /** Answers to be dropped when what they say has changed. */
  readonly cache?: Pick<Cache<unknown>, 'drop'>
}

export interface House {
  readonly db: Database
  readonly secrets: Secrets
  readonly latest: Latest
  readonly units: Units
  readonly feed: Feed
  readonly ingest: Ingest
  readonly reports: Reports
  readonly connections: Connections
  readonly alerts: Alerts
  readonly tally: Tally
  /** Names this process in leases. */
  readonly owner: string
  /** Its leases. */
  readonly keeper: Keeper
  readonly monitor: Monitor
  /** What processes on one house share; null without Redis. */
  readonly shared: Shared | null
  /** What the links of the process share. */
  readonly sourceDeps: SourceDeps
  readonly sources: readonly HeardSource[]
  manufacturers(): readonly MonitoredManufacturer[]
  settings(manufacturer: string | null): Settings
  /** The same, each with where it comes from. */
  explainSettings(manufacturer: string | null): ExplainedSettings
  groups(manufacturer?: string): readonly Group[]
  locations(): readonly Location[]
  /** Found by a scan within the last day; by now some may be receivers. */
  discovered(): readonly DiscoveredRecord[]
  health(manufacturer?: string): ServiceHealth
  /** Takes over at once what people have changed in the store: manufacturers, settings, groups, locations. */
  reload(): Promise<void>
  /** Takes in what other processes change, until the signal aborts. */
  keepUp(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** How soon what another process stored is seen here. */
const keepUpEveryMs = 500
/** In every so manyth of these looks it is seen to what others left behind. */
const lookAfterOthersEvery = 4

/** Throws ConfigError, or what the store throws when it cannot be opened. */
export async function openHouse(config: Config, options: HouseOptions): Promise<House> {
  const { log, isReadOnly = false, isStrict = false, cache = { drop: () => {} } } = options
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  if (secrets.warning !== null) log.warn(secrets.warning)
  const { onAudit } = options
  const { db, migrations } = await openMendedStore(config, { log, now, isReadOnly, isStrict, onAudit })
  try {
    const entries = [...config.manufacturers, ...(options.manufacturers ?? [])]
    const merged = mergeManufacturers(await listManufacturers(db.read, secrets), entries, config)
    /** False while the database cannot be written: then what it holds is not yet what is in force. */
    let isMergeSaved = isReadOnly || (await saveConfigured(db, secrets, merged, { entries, log }))
    // Said once nothing of the configuration is wrong any more: a complaint about that stands alone.
    for (const name of migrations) log.info({ migration: name }, 'database brought up to date')
    const latest = createLatest()
    const units = createUnits()
    const feed = createFeed()
    const sourceDeps = { turnstile: createTurnstile(), destinations: createDestinations() }
    const roster = createRoster(sourceDeps)

    let records: readonly SettingRecord[] = []
    let groups: readonly Group[] = []
    let locations: readonly Location[] = []
    let discovered: readonly DiscoveredRecord[] = []
    let incident: StoreIncident | null = null
    /** What was read last, as text. */
    let orders = ''
    let sealed = ''
    let isStoreDown = false
    let isRunningOn = false
    const isSource = (id: string) => roster.find(id) !== undefined
    const rankOf = (id: string) => {
      const source = roster.find(id)
      return source === undefined ? null : (source.form.rank ?? 0)
    }
    const connections = createConnections({ db, latest, feed, log, now, rankOf })
    const alerts = createAlerts({
      db,
      latest,
      units,
      feed,
      log,
      now,
      isSource,
      threshold: (manufacturer) => settings(manufacturer).alert_battery_threshold,
      isMonitored: (code) => roster.manufacturers().some((one) => one.code === code && one.isEnabled),
      links: connections.links,
      isKeptElsewhere: connections.isKeptElsewhere,
    })
    const tally = createTally(options.droppedLines)
    const { manufacturers } = roster
    const intervalInForceMs = (code: string) => settings(code).polling_interval * 1000
    const isHeard = (code: string) => {
      const since = performance.now() - silentAfterMs(intervalInForceMs(code))
      return latest.list(code).some(({ id }) => latest.heardAt(id) >= since)
    }
    const unpolled = createUnpolled({ db, manufacturers, isHeard, isPolling: () => monitor.isRunning })
    const reports = createReports({
      db,
      feed,
      now,
      manufacturers,
      isUnpolled: unpolled.has,
      onNoted: alerts.noteSource,
    })
    const owner = ownerName(options.pid, randomBytes(4).toString('hex'))
    const shared = isReadOnly ? null : await openRedis(config, db, log)
    const sharing =
      shared === null ? null : shareLevels({ shared, owner, hear: (levels) => ingest.hearElsewhere(levels) })
    const onHeard = (receiver: Receiver) => sharing?.heard(receiver)
    const ingest = createIngest({ db, latest, units, feed, cache, alerts, onHeard, now })

    const defaultInterval = options.defaultIntervalSeconds ?? config.settings.DEFAULT_POLLING_INTERVAL
    const inForce = new Map<string | null, Settings>()
    const settingsOptions = (manufacturer: string | null) => {
      const configuredInterval = manufacturer === null ? undefined : roster.pollIntervalSeconds(manufacturer)
      const isBroadcasting = config.settings.WEBSOCKET_BROADCASTING
      return { records, manufacturer, configuredInterval, defaultInterval, isBroadcasting }
    }
    const settings = (manufacturer: string | null): Settings => {
      const known = inForce.get(manufacturer)
      if (known !== undefined) return known
      const read = settingsInForce(settingsOptions(manufacturer))
      // Anybody may ask for any code; only those that exist are worth remembering.
      if (manufacturer === null || roster.has(manufacturer)) inForce.set(manufacturer, read)
      return read
    }
    const intervalMs = (heard: HeardSource) =>
      (options.intervalSeconds ?? settings(heard.manufacturer).polling_interval) * 1000
    const loops = { db, ingest, latest, units, reports, connections, tally, log, now }
    const deps = { ...loops, random: Math.random, intervalMs }
    const care = createStoreCare({ db, place: config, feed, log, now })
    const keeper = createKeeper({ db, owner, log })
    const monitor = createMonitor({ ...deps, owner, keeper })

    const hear = (manufacturers: readonly StoredManufacturer[]) => {
      const before = roster.manufacturers()
      const gone = roster.update(manufacturers)
      for (const { code } of before) if (!roster.has(code)) units.forgetManufacturer(code)
      inForce.clear()
      cache.drop(null)
      forgetReports(gone)
      // Writes do not wait for a source that stops: they must not depend on how a system behaves.
      const stopped = monitor.setSources(roster.sources())
      closeLinks(stopped, gone).catch((error) => log.warn({ error: String(error) }, 'a connection could not be closed'))
    }
    const forgetReports = (sources: readonly HeardSource[]) => {
      for (const { id } of sources) if (!isSource(id)) reports.forget(id)
    }
    const closeLinks = async (stopped: Promise<void>, sources: readonly HeardSource[]) => {
      await stopped
      // Its last cycle may have been reported after the source was removed.
      forgetReports(sources)
      await Promise.all(sources.map(({ link }) => link.close()))
    }
    const readManufacturers = async () => {
      if (!isMergeSaved) return
      const rows = await listSealedManufacturers(db.read)
      const text = JSON.stringify(rows)
      if (text === sealed) return
      hear(rows.map((row) => openManufacturer(row, secrets)))
      sealed = text
    }
    const readOrders = async () => {
      const read = {
        records: await listSettings(db.read),
        groups: await listGroups(db.read),
        locations: await listLocations(db.read),
        discovered: await listDiscovered(db.read, now() - discoveredForMs),
        incident: await findIncident(db.read),
      }
      const text = JSON.stringify(read)
      if (text === orders) return
      orders = text
      records = read.records
      groups = read.groups
      locations = read.locations
      discovered = read.discovered
      incident = read.incident
      inForce.clear()
      cache.drop(null)
    }
    /** What others leave behind when they end. */
    const lookAfterOthers = async () => {
      await connections.sweep()
      await unpolled.look()
      await silenceUnpolled({
        ...loops,
        manufacturers,
        intervalMs: intervalInForceMs,
      })
    }
    let turn: Promise<unknown> = Promise.resolve()
    const reload = (): Promise<void> => {
      // One after the other: an earlier look must not overwrite what a later one saw.
      const reading = turn.then(async () => {
        await readOrders()
        await readManufacturers()
      })
      turn = reading.catch(() => {})
      return db.pending.track(reading)
    }

    latest.revision = await currentRevision(db.read)
    for (const receiver of await listReceivers(db.read)) latest.put(seenBy(now(), receiver))
    for (const entry of await listEntries(db.read)) latest.putEntry(entry)
    for (const unit of await listUnits(db.read)) units.put(unit)
    await readOrders()
    if (isReadOnly || !isMergeSaved) hear(merged)
    else await readManufacturers()
    await alerts.open()
    await connections.open()
    await reports.load()

    return {
      db,
      secrets,
      latest,
      units,
      feed,
      ingest,
      reports,
      connections,
      alerts,
      tally,
      owner,
      keeper,
      monitor,
      shared,
      sourceDeps,
      get sources() {
        return roster.sources()
      },
      settings,
      explainSettings: (manufacturer) => explainSettings(settingsOptions(manufacturer)),
      manufacturers: roster.manufacturers,
      groups: (manufacturer) => groups.filter((one) => manufacturer === undefined || one.manufacturer === manufacturer),
      locations: () => locations,
      discovered: () => discovered,
      health(selected) {
        const troubles = roster.troubles()
        const manufacturers = reports.health(roster.manufacturers()).map((one) => troubles.get(one.code) ?? one)
        const longestWriteMs = db.pending.longestMs()
        const store = storeHealth({ isReachable: !isStoreDown, condition: db.condition(), incident, longestWriteMs })
        const details = shared?.isUp === false ? ['Redis does not answer; each process goes on alone.'] : []
        return serviceHealth(manufacturers, { selected, store, details })
      },
      reload,
      async keepUp(signal) {
        isRunningOn = !isReadOnly
        const present = keeper.whileOwner(presenceOf(owner), signal, (held) => untilAborted(held.signal))
        for (let turns = 1; await pause(keepUpEveryMs, signal); turns += 1) {
          try {
            // Alerts first: what cleared one was stored before it was, so it is read by the time they are judged.
            await alerts.load()
            await ingest.catchUp()
            await ingest.correctTimes()
            if (!isMergeSaved && db.condition() === 'well') {
              isMergeSaved = await saveConfigured(db, secrets, merged, { entries, log })
            }
            await reload()
            await reports.load()
            await connections.load()
            alerts.judge()
            if (isStoreDown) log.info('the database can be read again')
            isStoreDown = false
          } catch (error) {
            if (!isStoreDown) log.error({ error: String(error) }, 'the database cannot be read')
            isStoreDown = true
          }
          if (isRunningOn) await care.look()
          if (isStoreDown || turns % lookAfterOthersEvery !== 0) continue
          // Nobody may write for a while; that it works again is worth knowing sooner.
          if (db.condition() === 'unwritable') await db.probe().catch(() => {})
          else
            await lookAfterOthers().catch((error) => log.warn({ error: String(error) }, 'others are not looked after'))
        }
        await present
      },
      async close() {
        feed.close()
        await turn
        await alerts.settled()
        sharing?.close()
        await shared?.close()
        if (isRunningOn) await care.close()
        await Promise.all(roster.sources().map(({ link }) => link.close()))
        await db.close()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Null where none is configured. Nobody waits for it to answer. */
async function openRedis({ redis_url }: Config, db: Database, log: FastifyBaseLogger): Promise<Shared | null> {
  if (redis_url === null) return null
  return openShared({
    url: redis_url,
    prefix: `micwatch:${await getHouseId(db)}`,
    onChange(isUp) {
      if (isUp) log.info('Redis answers')
      else log.warn('Redis does not answer; this process goes on alone until it does')
    },
  })
}

/** What is stored, with what the configuration gives laid over it. */
function mergeManufacturers(
  stored: readonly StoredManufacturer[],
  entries: readonly ManufacturerEntry[],
  config: Config,
): StoredManufacturer[] {
  const merged = new Map(stored.map((record) => [record.code, record]))
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
  }
  return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** Stores the manufacturers that the configuration names; false while the database cannot be written. */
async function saveConfigured(
  db: Database,
  secrets: Secrets,
  merged: readonly StoredManufacturer[],
  { entries, log }: { readonly entries: readonly ManufacturerEntry[]; readonly log: FastifyBaseLogger },
): Promise<boolean> {
  const codes = new Set(entries.map(({ code }) => code))
  const configured = merged.filter(({ code }) => codes.has(code))
  if (configured.length === 0) return true
  try {
    await db.transaction(async (tx) => {
      for (const record of configured) await saveManufacturer(tx, secrets, record)
    })
    return true
  } catch (error) {
    if (!(error instanceof StoreDownError)) throw error
    log.error({ error: error.message }, 'the manufacturers of the configuration are not stored yet')
    return false
  }
}

function checkEntry(record: StoredManufacturer, where: string): void {
  try {
    listSources(record)
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError(`${where}.${error instanceof RangeError ? `plugin: ${message}` : `config.${message}`}`)
  }
}
