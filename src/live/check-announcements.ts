/** Announces changed line checks, also those of other processes. */

import { toCheckBody } from '../domain/checks.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'
import { listChecksSince } from '../storage/shows.ts'
import type { LivePublisher } from './live-publisher.ts'

export class CheckAnnouncements {
  readonly #db: Database
  readonly #live: LivePublisher
  #revision: number | null = null
  readonly #loading = new Semaphore(1)

  constructor(db: Database, live: LivePublisher) {
    this.#db = db
    this.#live = live
  }

  /** The first call announces nothing. */
  load(): Promise<void> {
    return this.#loading.run(async () => {
      const before = this.#revision
      const revision = await currentRevision(this.#db.read, 'checks')
      if (before !== null && revision !== before) {
        for (const check of await listChecksSince(this.#db.read, before)) this.#live.checkChanged(toCheckBody(check))
      }
      this.#revision = revision
    })
  }
}
