/** Keeps the process up to date with the shared database: loads what other processes have changed, twice a second. */

import type { FastifyBaseLogger } from 'fastify'
import type { StoredAnnouncements } from '../live/stored-announcements.ts'
import { pause } from '../platform/wait.ts'
import type { Database } from '../storage/database.ts'
import type { StoreMaintenance } from '../storage/store-maintenance.ts'
import type { ConfiguredManufacturers } from './configured-manufacturers.ts'
import type { Monitoring } from './monitoring.ts'

/** How often changes made by other processes are loaded. */
const loadEveryMs = 500
/** Orphaned sources and connections are checked in every nth of these loads. */
const checkOrphansEvery = 4

interface FollowerDeps {
  readonly db: Database
  readonly log: FastifyBaseLogger
  readonly monitoring: Monitoring
  readonly announcements: StoredAnnouncements
  readonly configured: ConfiguredManufacturers
  /** Null if nothing may be written to the database. */
  readonly maintenance: StoreMaintenance | null
  /** Loads manufacturers, settings and lists. */
  reload(): Promise<void>
}

export class Follower {
  readonly #deps: FollowerDeps
  #isStoreDown = false
  #isStarted = false

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  /** True if the last load failed. */
  get isStoreDown(): boolean {
    return this.#isStoreDown
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, monitoring, maintenance } = this.#deps
    this.#isStarted = true
    for (let loads = 1; await pause(loadEveryMs, signal); loads += 1) {
      await this.#load()
      await maintenance?.run()
      const condition = db.condition()
      monitoring.alerts.unstored.update(condition === 'ok' && this.#isStoreDown ? 'unwritable' : condition)
      if (!this.#isStoreDown && loads % checkOrphansEvery === 0) await this.#check()
    }
  }

  async close(): Promise<void> {
    if (this.#isStarted) await this.#deps.maintenance?.close()
  }

  async #load(): Promise<void> {
    const { log } = this.#deps
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
    const { db, monitoring, announcements, configured, maintenance, reload } = this.#deps
    const { alerts, events, ingest, sourceRecords, receiverSources, connections } = monitoring
    const isWritable = maintenance !== null && db.condition() === 'ok'
    // Alerts are loaded before the states. Other processes store a state before they clear the alert about it, so a
    // cleared alert is never evaluated with the older state, which would raise the alert again.
    await alerts.load()
    await ingest.catchUp()
    await ingest.correctTimes()
    if (db.condition() === 'ok') await configured.save()
    await reload()
    await sourceRecords.load()
    if (isWritable) await receiverSources.save()
    await receiverSources.load()
    await connections.load()
    await announcements.load()
    await events.load()
    alerts.evaluateAll()
  }

  async #check(): Promise<void> {
    const { db, log } = this.#deps
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
    const { connections, orphanedSources, orphanedSites, ingest, monitor, leaseManager, conditions } =
      this.#deps.monitoring
    await connections.closeOrphaned()
    await orphanedSources.update(monitor.isRunning)
    if (monitor.isRunning && !leaseManager.hasOtherNodes) conditions.watchAll()
    for (const batch of await orphanedSources.listSilentReceivers()) await ingest.ingest(batch)
    await orphanedSites.check()
  }
}
