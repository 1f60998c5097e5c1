/** Follows the shared database: loads the changes by other processes twice a second. */

import type { FastifyBaseLogger } from 'fastify'
import type { Alerts } from '../alerts/alerts.ts'
import type { Listening } from '../audio/listening.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { EventLog } from '../history/event-log.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { Loader } from '../lists/loader.ts'
import type { StoredAnnouncements } from '../live/stored-announcements.ts'
import { pause } from '../platform/wait.ts'
import type { OrphanedSites } from '../sites/stale-receivers.ts'
import type { Connections } from '../sources/connections.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import type { Monitor } from '../sources/monitor.ts'
import type { OrphanedSources } from '../sources/orphaned-sources.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { Database } from '../storage/database.ts'
import type { StoreMaintenance } from '../storage/store-maintenance.ts'
import type { ConfiguredManufacturers } from './configured-manufacturers.ts'

/** How often changes made by other processes are loaded. */
const loadEveryMs = 500
/** Orphaned sources and connections are checked in every nth of these loads. */
const checkOrphansEvery = 4

interface Subsystems {
  readonly db: Database
  readonly log: FastifyBaseLogger
  readonly alerts: Alerts
  readonly ingest: Ingest
  readonly configuredManufacturers: ConfiguredManufacturers
  readonly loader: Loader
  readonly sourceRecords: SourceRecords
  readonly receiverSources: ReceiverSources
  readonly connections: Connections
  readonly announcements: StoredAnnouncements
  readonly events: EventLog
  readonly listening: Listening
  readonly orphanedSources: OrphanedSources
  readonly orphanedSites: OrphanedSites
  readonly monitor: Monitor
  readonly leaseManager: LeaseManager
  readonly conditions: ConditionMonitor
  /** Null if nothing may be written to the database. */
  readonly maintenance: StoreMaintenance | null
}

export class Follower {
  readonly #subsystems: Subsystems
  #isStoreDown = false
  #isStarted = false

  constructor(subsystems: Subsystems) {
    this.#subsystems = subsystems
  }

  /** True if the last load failed. */
  get isStoreDown(): boolean {
    return this.#isStoreDown
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, alerts, maintenance } = this.#subsystems
    this.#isStarted = true
    for (let loads = 1; await pause(loadEveryMs, signal); loads += 1) {
      await this.#load()
      await maintenance?.run()
      const condition = db.condition()
      alerts.unstored.update(condition === 'ok' && this.#isStoreDown ? 'unwritable' : condition)
      if (!this.#isStoreDown && loads % checkOrphansEvery === 0) await this.#check()
    }
  }

  async close(): Promise<void> {
    if (this.#isStarted) await this.#subsystems.maintenance?.close()
  }

  async #load(): Promise<void> {
    const { log } = this.#subsystems
    try {
      await this.#loadAll()
      if (this.#isStoreDown) log.info('database is reachable again')
      this.#isStoreDown = false
    } catch (error) {
      if (!this.#isStoreDown) log.error({ error: String(error) }, 'database cannot be read')
      this.#isStoreDown = true
    }
  }

  async #loadAll(): Promise<void> {
    const { db, alerts, ingest, configuredManufacturers, loader, sourceRecords, receiverSources } = this.#subsystems
    const { connections, announcements, events, listening, maintenance } = this.#subsystems
    const isWritable = maintenance !== null && db.condition() === 'ok'
    // Alerts are loaded before the states. Other processes store a state before they clear the alert about it, so a
    // cleared alert is never evaluated with the older state, which would raise the alert again.
    await alerts.load()
    await ingest.catchUp()
    await ingest.correctTimes()
    if (db.condition() === 'ok') await configuredManufacturers.save()
    await loader.reload()
    await sourceRecords.load()
    if (isWritable) await receiverSources.save()
    await receiverSources.load()
    await connections.load()
    await announcements.load()
    await listening.load()
    await events.load()
    alerts.evaluateAll()
  }

  async #check(): Promise<void> {
    const { db, log } = this.#subsystems
    // The database is probed here, because without writes its recovery would not be noticed.
    if (db.condition() === 'unwritable') return db.probe().catch(() => {})
    await this.#checkOrphans().catch((error) =>
      log.warn({ error: String(error) }, 'the check for orphaned sources and connections failed'),
    )
  }

  /**
   * Ends what processes that have stopped left behind: their connections, and receivers and sites that no process polls
   * or follows. A process that polls alone also watches the receivers of which it has received nothing.
   */
  async #checkOrphans(): Promise<void> {
    const { connections, orphanedSources, orphanedSites, ingest, monitor, leaseManager, conditions } = this.#subsystems
    await connections.closeOrphaned()
    await orphanedSources.update(monitor.isRunning)
    if (monitor.isRunning && !leaseManager.hasOtherNodes) conditions.watchAll()
    for await (const batch of orphanedSources.findSilentReceivers()) await ingest.ingest(batch)
    await orphanedSites.check()
  }
}
