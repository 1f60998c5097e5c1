/** Announces stored changes to line checks and notifications, including those by other processes. */

import { toCheckBody } from '../domain/checks.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'
import { listChecksSince } from '../storage/shows.ts'
import type { LivePublisher } from './live-publisher.ts'

export class StoredAnnouncements {
  readonly #db: Database
  readonly #live: LivePublisher
  /** Null before the first load, which announces nothing. */
  #checks: number | null = null
  /** The sum of the counters, which only increase. */
  #notifications: number | null = null
  readonly #loading = new Semaphore(1)

  constructor(db: Database, live: LivePublisher) {
    this.#db = db
    this.#live = live
  }

  load(): Promise<void> {
    return this.#loading.run(async () => {
      await this.#loadChecks()
      await this.#loadNotifications()
    })
  }

  async #loadChecks(): Promise<void> {
    const before = this.#checks
    const revision = await currentRevision(this.#db.read, 'checks')
    if (before !== null && revision !== before) {
      for (const check of await listChecksSince(this.#db.read, before)) this.#live.checkChanged(toCheckBody(check))
    }
    this.#checks = revision
  }

  /** The announcement has no content, because not every client may read notification channels, rules and deliveries. */
  async #loadNotifications(): Promise<void> {
    const counters = ['notifications', 'notification_deliveries'] as const
    let revision = 0
    for (const counter of counters) revision += await currentRevision(this.#db.read, counter)
    if (this.#notifications !== null && revision !== this.#notifications) this.#live.notificationsChanged()
    this.#notifications = revision
  }
}
