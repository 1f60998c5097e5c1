/** Opens the database, creates the parts of the service and loads them. Has no HTTP server. */

import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { now } from '../platform/clock.ts'
import type { Runtime, RuntimeOptions } from '../service.ts'
import { getInstallationId } from '../storage/meta.ts'
import { migrationNames } from '../storage/migrations/index.ts'
import { openRedis, type Redis } from '../storage/redis.ts'
import { openSecrets } from '../storage/secrets.ts'
import { openRepairedStore } from '../storage/store-maintenance.ts'
import { OidcProvider } from '../upstream/oidc.ts'
import { createPlanningCenter } from '../upstream/planning-center.ts'
import { ConfiguredManufacturers } from './configured-manufacturers.ts'
import { sitesOf, viaOf } from './followed-records.ts'
import { healthOf } from './health.ts'
import { type Connected, closeParts, createParts, followDatabase, loadParts, type Parts } from './parts.ts'
import { toDefaults } from './state.ts'

/** Opens the runtime. Throws a ConfigError, or the database error if the database cannot be opened. */
export async function openRuntime(config: Config, options: RuntimeOptions): Promise<Runtime> {
  const { log, onAudit, isReadOnly = false, failsOnDamage = false } = options
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  if (secrets.warning !== null) log.warn(secrets.warning)
  const { db, migrations } = await openRepairedStore(config, { log, now, isReadOnly, isStrict: failsOnDamage, onAudit })
  try {
    const configured = await ConfiguredManufacturers.open(withExtra(config, options), { db, secrets, log, isReadOnly })
    // Logged only after the configuration was validated, so that a configuration error is the only output.
    if (migrations.length === migrationNames.length) log.info('created the database')
    else for (const name of migrations) log.info({ migration: name }, 'applied a database migration')
    return await composeRuntime(config, options, { db, secrets, configured })
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Adds the manufacturers in the options to those in the configuration. */
function withExtra({ file, manufacturers }: Config, options: RuntimeOptions): Pick<Config, 'file' | 'manufacturers'> {
  return { file, manufacturers: [...manufacturers, ...(options.manufacturers ?? [])] }
}

type OpenedStore = Omit<Connected, 'redis' | 'installation' | 'installationName'>

/** Creates all parts and loads the stored state into them. */
async function composeRuntime(config: Config, options: RuntimeOptions, store: OpenedStore): Promise<Runtime> {
  // A database that is only read may not have an id yet.
  const installation = options.isReadOnly ? '' : String(await getInstallationId(store.db))
  const redis = options.isReadOnly ? null : await connectRedis(config, installation, options.log)
  const installationName = config.server.name ?? installation
  const parts = createParts(config, options, { ...store, redis, installation, installationName })
  await loadParts(parts, options)
  return toRuntime(parts, config, options)
}

function toRuntime(parts: Parts, config: Config, options: RuntimeOptions): Runtime {
  const { db, secrets, configured, redis, installation, installationName, nodeId, counters, state, checker } = parts
  const { frequencies, monitoring, history, siteHistory, remoteWrite, loader, checks, reload, listsChanged } = parts
  const { lists, settings, sourceRegistry, sourceDeps, receiverStore, placeholderStore, unitStore, live } = state
  const { sourceRecords, connections, conditions, alerts, events, forecasts } = monitoring
  const { leaseManager, ingest, monitor, notificationSender, reportingSourcesOf } = monitoring
  const { destinations } = sourceDeps
  return {
    log: options.log,
    db,
    secrets,
    receiverStore,
    placeholderStore,
    unitStore,
    levelDemand: state.levelDemand,
    siteLevelDemand: state.siteLevelDemand,
    live,
    ingest,
    sourceRecords,
    connections,
    alerts,
    events,
    checks,
    conditions,
    forecasts,
    history,
    siteHistory,
    remoteWrite,
    notifications: notificationSender,
    checker,
    frequencies,
    counters,
    installation,
    installationName,
    via: () => viaOf(monitor),
    sites: () => sitesOf(parts),
    nodeId,
    leaseManager,
    monitor,
    redis,
    sourceDeps,
    planningCenter: createPlanningCenter({ url: config.planning_center_url, destinations }),
    identityProvider: config.oidc && new OidcProvider({ ...config.oidc, destinations }),
    reportingSources: reportingSourcesOf,
    assignments: () => state.cast.assignments(),
    assignmentsWithSites: () => live.lists.assignments(),
    shows: () => lists.current.shows,
    runningShows: state.runningShows,
    get sources() {
      return sourceRegistry.sources()
    },
    manufacturers: sourceRegistry.manufacturers,
    settings: (manufacturer) => settings.get(manufacturer),
    settingsIn: (scope) => settings.inScope(scope),
    explainSettings: (scope) => settings.explain(scope),
    groups: (manufacturer) =>
      lists.current.groups.filter((group) => manufacturer === undefined || group.manufacturer === manufacturer),
    locations: () => lists.current.locations,
    storedProfiles: () => lists.current.frequencyProfiles,
    silences: () => lists.current.silences,
    scans: () => lists.current.scans,
    health: (selected) => healthOf(parts, options, selected),
    reload,
    async applyConfig(changed) {
      await configured.update(withExtra(changed, options))
      settings.setDefaults(toDefaults(changed, options.defaultIntervalSeconds))
      listsChanged()
      await loader.applyConfigured()
    },
    follow: (signal) => followDatabase(parts, options, signal),
    close: () => closeParts(parts, options),
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
