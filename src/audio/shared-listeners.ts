/** Who listens in all processes of the installation. Each stores its listeners, and loads those of the others. */

import type { AudioListenerBody } from '../contract/listening.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import { deleteOtherListeners, listOtherListeners, saveListeners } from '../storage/audio-listeners.ts'
import type { Database } from '../storage/database.ts'
import { currentRevision } from '../storage/revision.ts'

interface Subsystems {
  readonly db: Database
  readonly log: Log
  readonly nodeId: string
}

export class SharedListeners {
  /** Someone has begun or stopped listening in another process. */
  readonly changed = new Topic()
  /** The listeners of the other processes. */
  others: readonly AudioListenerBody[] = []
  readonly #subsystems: Subsystems
  #own: readonly AudioListenerBody[] = []
  #isSaved = true
  #revision = -1
  /** Serializes reads and writes. */
  readonly #queue = new Semaphore(1)

  constructor(subsystems: Subsystems) {
    this.#subsystems = subsystems
  }

  /** Stores the listeners of this process. If that fails, the next `load` tries again. */
  async save(own: readonly AudioListenerBody[]): Promise<void> {
    this.#own = own
    this.#isSaved = false
    await this.#queue.run(() => this.#write())
  }

  /** With `isReceiver`, this is the process that receives audio, so that no other one has listeners. */
  load(isReceiver: boolean): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#subsystems.db.condition() === 'ok') await this.#write(isReceiver && this.others.length > 0)
      await this.#read()
    })
  }

  async #write(areOthersGone = false): Promise<void> {
    const { db, log, nodeId } = this.#subsystems
    const own = this.#own
    if (this.#isSaved && !areOthersGone) return
    try {
      await db.transaction(async (tx) => {
        await saveListeners(tx, nodeId, own)
        if (areOthersGone) await deleteOtherListeners(tx, nodeId)
      })
      this.#isSaved = own === this.#own
    } catch (error) {
      log.warn({ error: String(error) }, 'other processes cannot show who listens')
    }
  }

  async #read(): Promise<void> {
    const { db, nodeId } = this.#subsystems
    const revision = await currentRevision(db.read, 'listeners')
    if (revision === this.#revision) return
    const before = this.others
    this.others = await listOtherListeners(db.read, nodeId)
    this.#revision = revision
    if (before.length + this.others.length > 0) this.changed.publish()
  }
}
