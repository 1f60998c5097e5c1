/**
 * Announces that notification channels, rules or deliveries have changed, in this process or another one, to clients of
 * version 2. The message has no content, because not every client may read them.
 */

import type { LivePublisher } from '../live/live-publisher.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'

export class NotificationAnnouncements {
  readonly #db: Database
  readonly #live: LivePublisher
  /** The sum of the counters, which only increase; null before the first call. */
  #revision: number | null = null

  constructor(db: Database, live: LivePublisher) {
    this.#db = db
    this.#live = live
  }

  /** The first call announces nothing. */
  async load(): Promise<void> {
    const counters = ['notifications', 'notification_deliveries'] as const
    let revision = 0
    for (const counter of counters) revision += await currentRevision(this.#db.read, counter)
    if (this.#revision !== null && revision !== this.#revision) this.#live.notificationsChanged()
    this.#revision = revision
  }
}
