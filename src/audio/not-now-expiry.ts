/** Ends "Not now" at its time. If the database is down, it ends when the database is reachable again. */

import type { Receiver } from '../domain/equipment/receiver.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { maxTimerMs } from '../platform/wait.ts'
import { saveNotNow } from '../storage/channel-audio.ts'

interface Subsystems {
  readonly receiverStore: ReceiverStore
  readonly ingest: Ingest
  readonly log: Log
}

const retryMs = 5000

export class NotNowExpiry {
  readonly #subsystems: Subsystems
  /** The times in milliseconds, by channel. */
  readonly #endsAt = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(subsystems: Subsystems) {
    this.#subsystems = subsystems
  }

  start(): void {
    const { receiverStore } = this.#subsystems
    receiverStore.changed.subscribe(({ before, after }) => {
      if (before?.channels !== after?.channels) this.#read(before, after)
    })
    for (const receiver of receiverStore.listAllFacts()) this.#read(undefined, receiver)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #read(before: Receiver | undefined, after: Receiver | undefined): void {
    const sizeBefore = this.#endsAt.size
    for (const { id } of before?.channels ?? []) this.#endsAt.delete(id)
    // That of a followed site ends there.
    if (after !== undefined && after.origin === undefined) {
      for (const { id, not_now } of after.channels) {
        if (typeof not_now?.until === 'number') this.#endsAt.set(id, not_now.until)
      }
    }
    if (sizeBefore > 0 || this.#endsAt.size > 0) this.#setTimer(0)
  }

  #setTimer(minMs: number): void {
    clearTimeout(this.#timer)
    if (this.#endsAt.size === 0 || this.#isClosed) return
    const waitMs = Math.min(...this.#endsAt.values()) - now()
    this.#timer = setTimeout(() => void this.#end(), Math.min(maxTimerMs, Math.max(minMs, waitMs))).unref()
  }

  async #end(): Promise<void> {
    const { ingest, log } = this.#subsystems
    try {
      await ingest.change(async (tx, revision) => {
        for (const channelId of this.#listDue()) await saveNotNow(tx, revision, { channelId, notNow: null })
      })
      this.#setTimer(0)
    } catch (error) {
      if (this.#isClosed) return
      log.warn({ error: String(error) }, '"Not now" could not be ended; it is tried again')
      this.#setTimer(retryMs)
    }
  }

  /** Also called after the changes of other processes were loaded. */
  #listDue(): number[] {
    const at = now()
    return [...this.#endsAt].filter(([, endsAt]) => endsAt <= at).map(([id]) => id)
  }
}
