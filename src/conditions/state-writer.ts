/**
 * Stores facts that were applied in memory only, and what evaluations must remember: changes are collected for a short
 * time, and stored again after an error.
 */

import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { Log } from '../platform/log.ts'
import type { StoredCondition } from '../storage/channel-states.ts'

export interface UnsavedState {
  /** The ids of receivers whose facts are not stored. */
  readonly receivers: readonly number[]
  readonly conditions: readonly StoredCondition[]
}

interface StateWriterDeps {
  save(state: UnsavedState): Promise<void>
  readonly log: Log
}

/** Changes are collected for this time before they are stored. */
const saveAfterMs = 300
const retryAfterMs = 1000

export class StateWriter {
  readonly #deps: StateWriterDeps
  #receivers = new Set<number>()
  /** By channel id. */
  #memories = new Map<number, ConditionMemory>()
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(deps: StateWriterDeps) {
    this.#deps = deps
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

  /** Drops what is not stored yet of a channel. */
  dropCondition(channelId: number): void {
    this.#memories.delete(channelId)
  }

  /** Stores what is not stored yet. */
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
        this.#deps.log.debug({ error: String(error) }, 'facts and conditions could not be stored')
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
      await this.#deps.save({ receivers: [...receivers], conditions })
    } catch (error) {
      for (const id of receivers) this.#receivers.add(id)
      this.#memories = new Map([...memories, ...this.#memories])
      throw error
    }
  }
}
