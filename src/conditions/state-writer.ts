/** Stores facts and conditions that were applied in memory only, soon after they change, and again after an error. */

import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { Log } from '../platform/log.ts'
import type { StoredCondition } from '../storage/channel-states.ts'

export interface UnsavedState {
  /** The ids of receivers whose facts are not stored. */
  readonly receivers: readonly number[]
  readonly conditions: readonly StoredCondition[]
}

/** Implemented by `Ingest`. */
export interface StateStorage {
  saveState(state: UnsavedState): Promise<void>
}

/** Changes are collected for this long. */
const saveAfterMs = 300
const retryAfterMs = 1000

export class StateWriter {
  readonly #log: Log
  #storage: StateStorage | null = null
  #receivers = new Set<number>()
  /** By channel id. */
  #memories = new Map<number, ConditionMemory>()
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Must be called before anything is stored. */
  connect(storage: StateStorage): void {
    this.#storage = storage
  }

  /** Stores the memory of a channel now. */
  async saveCondition(channelId: number, memory: ConditionMemory): Promise<void> {
    await this.#storage?.saveState({ receivers: [], conditions: [{ channelId, memory }] })
  }

  /** Stores the facts of a receiver soon. */
  putFacts(receiverId: number): void {
    this.#receivers.add(receiverId)
    this.#schedule(saveAfterMs)
  }

  /** Stores the memory of a channel soon. */
  putCondition(channelId: number, memory: ConditionMemory): void {
    this.#memories.set(channelId, memory)
    this.#schedule(saveAfterMs)
  }

  /** Drops the memory of a channel if it is not stored yet. */
  dropCondition(channelId: number): void {
    this.#memories.delete(channelId)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#saving
    await this.#save().catch(() => {})
  }

  #schedule(afterMs: number): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#saving = this.#save().catch((error) => {
        this.#log.debug({ error: String(error) }, 'facts and conditions could not be stored')
        this.#schedule(retryAfterMs)
      })
    }, afterMs)
  }

  async #save(): Promise<void> {
    this.#timer = undefined
    const [receivers, memories] = [this.#receivers, this.#memories]
    if (receivers.size + memories.size === 0) return
    this.#receivers = new Set()
    this.#memories = new Map()
    const conditions = [...memories].map(([channelId, memory]) => ({ channelId, memory }))
    try {
      await this.#storage?.saveState({ receivers: [...receivers], conditions })
    } catch (error) {
      for (const id of receivers) this.#receivers.add(id)
      this.#memories = new Map([...memories, ...this.#memories])
      throw error
    }
  }
}
