/**
 * Announces that notification channels, rules or deliveries have changed, in this process or another one, to clients of
 * version 2. The message has no content, because not every client may read them.
 */

import type { LivePublisher } from '../live/live-publisher.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'

interface NotificationAnnouncementDeps {
  readonly db: Database
  readonly live: Pick<LivePublisher, 'notificationsChanged'>
}

export class NotificationAnnouncements {
  readonly #deps: NotificationAnnouncementDeps
  /** The sum of the counters, which only increase; null before the first call. */
  #revision: number | null = null

  constructor(deps: NotificationAnnouncementDeps) {
    this.#deps = deps
  }

  /** The first call announces nothing. */
  async load(): Promise<void> {
    const { db, live } = this.#deps
    const counters = ['notifications', 'notification_deliveries'] as const
    let revision = 0
    for (const counter of counters) revision += await currentRevision(db.read, counter)
    if (this.#revision !== null && revision !== this.#revision) live.notificationsChanged()
    this.#revision = revision
  }
}
