/** The parts of the running service: creates and connects them, loads the stored state into them, and closes them. */

import { randomBytes } from 'node:crypto'
import { NotificationAnnouncements } from '../alerts/notification-announcements.ts'
import type { Config } from '../config.ts'
import type { AnnouncedSiteBody } from '../contract/sites.ts'
import { canChangeSurroundings } from '../domain/notifications/surroundings.ts'
import { toAnnouncedSites } from '../domain/sites/announced-sites.ts'
import { FrequencyChecker } from '../frequencies/frequency-checker.ts'
import { LiveFrequencies } from '../frequencies/live-frequencies.ts'
import { createRemoteWrite } from '../history/configured-remote-write.ts'
import { RunningHistory } from '../history/history.ts'
import { createBlankPlaceholders } from '../lists/blank-placeholders.ts'
import { Loader } from '../lists/loader.ts'
import { CheckAnnouncements } from '../live/check-announcements.ts'
import { now } from '../platform/clock.ts'
import { createCounters } from '../platform/counters.ts'
import { untilAborted } from '../platform/wait.ts'
import type { RuntimeOptions } from '../service.ts'
import { SiteHistory } from '../sites/site-history.ts'
import { createNodeId, nodeLease } from '../sources/lease-manager.ts'
import { ManufacturerLoader } from '../sources/manufacturer-loader.ts'
import type { Database } from '../storage/database.ts'
import type { Redis } from '../storage/redis.ts'
import type { Secrets } from '../storage/secrets.ts'
import type { ConfiguredManufacturers } from './configured-manufacturers.ts'
import { followedRecords } from './followed-records.ts'
import { Follower } from './follower.ts'
import { Monitoring } from './monitoring.ts'
import { createState } from './state.ts'

/** What is opened before the parts are created. */
export interface Connected {
  readonly db: Database
  readonly secrets: Secrets
  readonly configured: ConfiguredManufacturers
  readonly redis: Redis | null
  readonly installation: string
  readonly installationName: string
}

export type Parts = ReturnType<typeof createParts>

/** Creates the parts and connects them. They refer to each other, so each is found through `parts` when it is called. */
export function createParts(config: Config, options: RuntimeOptions, connected: Connected) {
  const { db, secrets, configured, redis, installation, installationName } = connected
  const { log, isReadOnly = false, cache = { drop: () => {} }, intervalSeconds } = options
  const nodeId = createNodeId(options.pid, randomBytes(4).toString('hex'))
  const counters = createCounters(options.droppedLines)
  const state = createState({
    config,
    defaultIntervalSeconds: options.defaultIntervalSeconds,
    onReceiverChanged(id, before, after) {
      monitoring.events.receiverChanged(id)
      monitoring.frequencyConflicts.receiverChanged(id)
      if (canChangeSurroundings(before, after)) monitoring.notificationSender.planSoon()
    },
    onPlaceholdersChanged() {
      monitoring.frequencyConflicts.listsChanged()
      monitoring.frequencyAnnouncements.listsChanged()
    },
  })
  const { live } = state
  const checker = new FrequencyChecker()
  const frequencies = new LiveFrequencies({ state, checker, now })
  const reload = () => loader.reload()
  const monitoring = new Monitoring({
    state,
    frequencies,
    db,
    paths: config,
    redis,
    cache,
    counters,
    nodeId,
    installation,
    secrets,
    publicUrl: config.server.public_url,
    reload,
    log,
    intervalSeconds,
    onSourcesFailingChanged: () => siteHistory.retry(),
  })
  const { events } = monitoring
  const followedSites = {
    announced: announcedSites,
    assignments: () => monitoring.monitor.sites.flatMap((site) => site.assignments()),
  }
  live.connect({ ...monitoring, followedSites })
  const history = new RunningHistory({
    db,
    databaseUrl: config.database_url,
    state,
    monitoring,
    reload,
    onGap: ({ from, until, reason }) => events.recordGap({ from: from * 1000, until: until * 1000, reason }),
    log,
  })
  const siteHistory = new SiteHistory({
    db,
    receiverStore: state.receiverStore,
    sources: () => state.sourceRegistry.sources(),
    isFailing: (source) => monitoring.sourceRecords.isFailing(source),
    log,
    now,
  })
  const writeDeps = { db, history: history.levels, state, monitoring, counters, installationName, log }
  const remoteWrite = isReadOnly ? null : createRemoteWrite(config.history_remote_write, writeDeps)
  const manufacturers = new ManufacturerLoader({ state, monitoring, secrets, log, onChanged: listsChanged })
  const loader: Loader = new Loader({
    db,
    state,
    conditions: monitoring.conditions,
    configured,
    manufacturers,
    onListsChanged: listsChanged,
  })
  const checks = new CheckAnnouncements({ db, live })
  const notifications = new NotificationAnnouncements({ db, live })
  const maintenance = isReadOnly ? null : monitoring.maintenance
  const follower = new Follower({ monitoring, db, checks, notifications, log, configured, reload, maintenance })
  return {
    db,
    secrets,
    configured,
    redis,
    installation,
    installationName,
    nodeId,
    counters,
    state,
    checker,
    frequencies,
    monitoring,
    history,
    siteHistory,
    remoteWrite,
    loader,
    checks,
    notifications,
    follower,
    reload,
    announcedSites,
    listsChanged,
  }

  function announcedSites(): readonly AnnouncedSiteBody[] {
    return followedRecords({ state, monitoring }).flatMap((record) => toAnnouncedSites(record, record.announcements))
  }

  /** The lists, the settings or the manufacturers have changed. */
  function listsChanged(): void {
    state.settings.clear()
    monitoring.conditions.settingsChanged()
    history.listsChanged()
    monitoring.alerts.settingsChanged()
    monitoring.frequencyConflicts.listsChanged()
    monitoring.frequencyAnnouncements.listsChanged()
    cache.drop(null)
    live.listsChanged()
    events.loadSoon()
    monitoring.notificationSender.planSoon()
  }
}

export async function loadParts(parts: Parts, { log, isReadOnly = false }: RuntimeOptions): Promise<void> {
  const { db, monitoring, loader, checks, notifications } = parts
  if (!isReadOnly) {
    await createBlankPlaceholders(db).catch((error) =>
      log.warn({ error: String(error) }, 'blank slots of groups could not be stored as placeholders'),
    )
  }
  await monitoring.forecasts.open()
  await loader.open()
  await monitoring.reportingSources.load()
  await monitoring.alerts.open()
  if (!isReadOnly) monitoring.frequencyConflicts.open()
  if (!isReadOnly) await monitoring.events.open()
  await checks.load()
  await notifications.load()
  await monitoring.connections.open()
  await monitoring.sourceRecords.load()
}

export async function followDatabase(parts: Parts, options: RuntimeOptions, signal: AbortSignal): Promise<void> {
  const { monitoring, history, follower, nodeId } = parts
  const { isReadOnly = false, isRecording = true } = options
  if (!isReadOnly && isRecording) history.start()
  if (!isReadOnly) monitoring.forecasts.start()
  const waitForEnd = (lease: { readonly signal: AbortSignal }) => untilAborted(lease.signal)
  const registration = monitoring.leaseManager.runWhileHeld(nodeLease(nodeId), signal, waitForEnd)
  await follower.run(signal)
  await registration
}

export async function closeParts(parts: Parts, { isReadOnly = false }: RuntimeOptions): Promise<void> {
  const { db, redis, state, checker, monitoring, history, siteHistory, loader, follower } = parts
  const { alerts } = monitoring
  state.live.close()
  monitoring.ingest.levelAges.close()
  monitoring.ingest.levelLane.stop()
  await loader.idle()
  await checker.close()
  monitoring.frequencyAnnouncements.close()
  monitoring.frequencyConflicts.close()
  alerts.close()
  monitoring.unstoredNotifications.close()
  await alerts.flushed()
  await monitoring.forecasts.close()
  monitoring.conditions.close()
  await monitoring.stateWriter.close()
  await siteHistory.close()
  await history.close()
  if (!isReadOnly) await monitoring.events.close()
  monitoring.reportPublisher?.close()
  monitoring.levelSubscriptions?.close()
  monitoring.siteLevels.close()
  await redis?.close()
  await follower.close()
  await Promise.all(state.sourceRegistry.sources().map(({ client }) => client.close()))
  await db.close()
}
