/** Announces changed line checks, also those of other processes. */

import { toCheckBody } from '../domain/checks.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { listChecksSince } from '../storage/checks.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'
import type { LivePublisher } from './live-publisher.ts'

interface CheckAnnouncementDeps {
  readonly db: Database
  readonly live: Pick<LivePublisher, 'checkChanged'>
}

export class CheckAnnouncements {
  readonly #deps: CheckAnnouncementDeps
  #revision: number | null = null
  readonly #loading = new Semaphore(1)

  constructor(deps: CheckAnnouncementDeps) {
    this.#deps = deps
  }

  /** The first call announces nothing. */
  load(): Promise<void> {
    return this.#loading.run(async () => {
      const { db, live } = this.#deps
      const before = this.#revision
      const revision = await currentRevision(db.read, 'checks')
      if (before !== null && revision !== before) {
        for (const check of await listChecksSince(db.read, before)) live.checkChanged(toCheckBody(check))
      }
      this.#revision = revision
    })
  }
}
