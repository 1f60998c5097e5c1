/**
 * Transactions on receivers and on everything else that has the same revision. They run one at a time. Each requires
 * that memory contains all that is stored: if another process has written in the meantime, its changes are loaded and
 * the transaction is repeated.
 */

import { Semaphore } from '../platform/semaphore.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { Database, Tx } from '../storage/database.ts'
import { StoreBusyError } from '../storage/errors.ts'
import { nextRevision } from '../storage/revision.ts'

export interface ReceiverTransactionDeps {
  readonly db: Database
  readonly receiverStore: Pick<ReceiverStore, 'revision'>
  /** Loads what other processes have stored. */
  load(): Promise<void>
}

/** Attempts before a transaction fails because other processes keep writing first. */
const maxAttempts = 20

export class ReceiverTransactions {
  readonly #deps: ReceiverTransactionDeps
  readonly #queue = new Semaphore(1)

  constructor(deps: ReceiverTransactionDeps) {
    this.#deps = deps
  }

  /** Runs `work` after everything that was enqueued before. All other methods are called within such work. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    return this.#deps.db.pending.track(this.#queue.run(work))
  }

  /** Runs one transaction. Throws an OvertakenError if memory lacks changes of other processes. */
  run<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    const { db, receiverStore } = this.#deps
    return db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      if (revision !== receiverStore.revision + 1) throw new OvertakenError()
      return work(tx, revision)
    })
  }

  /** Runs one transaction whose changes memory contains, or will contain before the next transaction. */
  async runKnown<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    const result = await this.run(work)
    this.#deps.receiverStore.revision += 1
    return result
  }

  /** Repeats `attempt` as long as other processes write first. */
  async retry<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof OvertakenError) || attempts === maxAttempts) throw error
        await this.#deps.load()
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
