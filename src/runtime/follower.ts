/** Keeps the process up to date with the shared database: loads what other processes have changed, twice a second. */

import type { FastifyBaseLogger } from 'fastify'
import type { Alerts } from '../monitoring/alerts.ts'
import type { Connections } from '../monitoring/connections.ts'
import type { EventLog } from '../monitoring/event-log.ts'
import type { Ingest } from '../monitoring/ingest.ts'
import type { ReportingSources } from '../monitoring/reporting-sources.ts'
import type { SourceRecords } from '../monitoring/source-records.ts'
import type { StoreMaintenance } from '../monitoring/store-maintenance.ts'
import { pause } from '../monitoring/wait.ts'
import type { Database } from '../storage/database.ts'
import type { CheckAnnouncements } from './check-announcements.ts'
import type { ConfiguredManufacturers } from './configured-manufacturers.ts'
import type { NotificationAnnouncements } from './notification-announcements.ts'

/** How often changes made by other processes are loaded. */
const loadEveryMs = 500
/** Orphaned sources and connections are checked in every nth of these loads. */
const checkOrphansEvery = 4

interface FollowerDeps {
  readonly db: Database
  readonly log: FastifyBaseLogger
  readonly alerts: Alerts
  readonly events: Pick<EventLog, 'load'>
  readonly checks: Pick<CheckAnnouncements, 'load'>
  readonly notifications: Pick<NotificationAnnouncements, 'load'>
  readonly ingest: Ingest
  readonly sourceRecords: SourceRecords
  readonly reportingSources: Pick<ReportingSources, 'load' | 'save'>
  readonly connections: Connections
  readonly configured: ConfiguredManufacturers
  /** Null if nothing may be written to the database. */
  readonly maintenance: StoreMaintenance | null
  /** Loads manufacturers, settings and lists. */
  reload(): Promise<void>
  /** Handles sources and connections that no process is responsible for. */
  checkOrphans(): Promise<void>
}

export class Follower {
  readonly #deps: FollowerDeps
  #isStoreDown = false
  #isStarted = false

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  /** Whether the last load failed. */
  get isStoreDown(): boolean {
    return this.#isStoreDown
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, alerts } = this.#deps
    this.#isStarted = true
    for (let loads = 1; await pause(loadEveryMs, signal); loads += 1) {
      await this.#load()
      await this.#deps.maintenance?.run()
      const condition = db.condition()
      alerts.storeAlert.update(condition === 'ok' && this.#isStoreDown ? 'unwritable' : condition)
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
    const { db, alerts, events, checks, ingest, configured, sourceRecords, reportingSources, connections } = this.#deps
    const isWritable = this.#deps.maintenance !== null && db.condition() === 'ok'
    // Alerts are loaded before the states. Other processes store a state before they clear the alert about it, so a
    // cleared alert is never evaluated with the older state, which would raise the alert again.
    await alerts.load()
    await ingest.catchUp()
    await ingest.correctTimes()
    if (db.condition() === 'ok') await configured.save()
    await this.#deps.reload()
    await sourceRecords.load()
    if (isWritable) await reportingSources.save()
    await reportingSources.load()
    await connections.load()
    await checks.load()
    await this.#deps.notifications.load()
    await events.load()
    alerts.evaluateAll()
  }

  async #check(): Promise<void> {
    const { db, log } = this.#deps
    // The database is probed here, because without writes its recovery would not be noticed.
    if (db.condition() === 'unwritable') return db.probe().catch(() => {})
    await this.#deps
      .checkOrphans()
      .catch((error) => log.warn({ error: String(error) }, 'the check for orphaned sources and connections failed'))
  }
}
