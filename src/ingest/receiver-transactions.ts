/**
 * Transactions on receivers and on everything else that is announced by the same counters (`storage/revision.ts`). In one
 * process, they run one at a time. Each requires that memory matches the database: if another process has written
 * meanwhile, its changes are loaded and the transaction is repeated. Transactions on the readings of one manufacturer
 * require only the readings of this manufacturer, and do not wait for those of other manufacturers in other processes.
 */

import { Semaphore } from '../platform/concurrency.ts'
import type { Database, Tx } from '../storage/database.ts'
import { StoreBusyError } from '../storage/errors.ts'
import { nextReadingRevision, nextRevisions } from '../storage/revision.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { StoredChanges } from './stored-changes.ts'

/** Attempts before a transaction fails because other processes keep writing first. */
const maxAttempts = 20

export class ReceiverTransactions {
  readonly #db: Database
  readonly #receiverStore: ReceiverStore
  readonly #stored: StoredChanges
  readonly #queue = new Semaphore(1)

  constructor(db: Database, receiverStore: ReceiverStore, stored: StoredChanges) {
    this.#db = db
    this.#receiverStore = receiverStore
    this.#stored = stored
  }

  /** Runs `work` after everything that was enqueued before. All other methods are called within such work. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    return this.#db.pending.track(this.#queue.run(work))
  }

  /** Runs one transaction. Throws an OvertakenError if memory lacks changes by other processes. */
  run<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    return this.#db.transaction(async (tx) => {
      const { revision, readings } = await nextRevisions(tx)
      if (revision !== this.#receiverStore.revisions.revision + 1) throw new OvertakenError()
      // No other process can store readings until the commit.
      await this.#stored.loadReadings(tx.query, readings)
      return work(tx, revision)
    })
  }

  /** Runs one transaction whose changes memory contains, or will contain before the next transaction. */
  async runKnown<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    const receiverStore = this.#receiverStore
    const result = await this.run(work)
    receiverStore.revisions = { ...receiverStore.revisions, revision: receiverStore.revisions.revision + 1 }
    return result
  }

  /**
   * Runs one transaction that stores nothing but readings, times of last reports or conditions of receivers of one
   * manufacturer, which memory contains, or will contain before the next transaction.
   */
  async runReadings<T>(manufacturer: string, work: (tx: Tx, readings: number) => Promise<T>): Promise<T> {
    const known = this.#receiverStore.revisions
    const expected = (known.readings.get(manufacturer) ?? 0) + 1
    const result = await this.#db.transaction(async (tx) => {
      const { revision, readings } = await nextReadingRevision(tx, manufacturer)
      if (revision !== known.revision || readings !== expected) throw new OvertakenError()
      return work(tx, readings)
    })
    this.#receiverStore.revisions = { ...known, readings: new Map(known.readings).set(manufacturer, expected) }
    return result
  }

  /** Repeats `attempt` as long as other processes write first. */
  async retry<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof OvertakenError) || attempts === maxAttempts) throw error
        await this.#stored.load()
      }
    }
  }
}

/** Another process wrote first. */
export class OvertakenError extends StoreBusyError {
  constructor() {
    super('The change was not stored, because other processes wrote to the database during every attempt.')
  }
}
