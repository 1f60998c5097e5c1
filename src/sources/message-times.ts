/** When this process last received a message of each connection. The times are stored at intervals. */

import type { Connection } from '../domain/equipment/connection.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { saveLastMessages } from '../storage/connections.ts'
import type { Database } from '../storage/database.ts'

/** How often the times are stored. */
const saveEveryMs = 10_000

export class MessageTimes {
  readonly #db: Database
  readonly #log: Log
  /** By the id of the connection. */
  readonly #times = new Map<number, number>()
  readonly #unsaved = new Set<number>()
  /** When the times were last stored (`performance.now()`). */
  #savedAt = 0

  constructor(db: Database, log: Log) {
    this.#db = db
    this.#log = log
  }

  record(id: number): void {
    this.#times.set(id, now())
    this.#unsaved.add(id)
  }

  delete(id: number): void {
    this.#times.delete(id)
    this.#unsaved.delete(id)
  }

  /** Returns the connection with the time of its last message, if this process knows a later one. */
  addTo(connection: Connection): Connection {
    const at = this.#times.get(connection.id) ?? 0
    const known = connection.last_message_at ?? 0
    // If the stored time is in the future, the clock has been set back since then.
    return at > known || (at > 0 && known > now()) ? { ...connection, last_message_at: at } : connection
  }

  /** Stores the times, unless they were stored recently. */
  async save(): Promise<void> {
    if (this.#unsaved.size === 0 || performance.now() - this.#savedAt < saveEveryMs) return
    const due = [...this.#unsaved].map((id) => [id, this.#times.get(id) ?? 0] as const)
    this.#unsaved.clear()
    this.#savedAt = performance.now()
    try {
      await this.#db.transaction((tx) => saveLastMessages(tx, due))
    } catch (error) {
      for (const [id] of due) this.#unsaved.add(id)
      this.#log.warn(
        { connections: due.length, error: String(error) },
        'times of the last messages could not be stored',
      )
    }
  }
}
