/** Stores what evaluations must remember: changes are collected for a short time, and stored again after an error. */

import type { ConditionMemory } from '../domain/conditions/memory.ts'
import type { StoredCondition } from '../storage/conditions.ts'
import type { Log } from './log.ts'

interface ConditionWriterDeps {
  save(stored: readonly StoredCondition[]): Promise<void>
  readonly log: Log
}

/** Changes are collected for this time before they are stored. */
const saveAfterMs = 300
const retryAfterMs = 1000

export class ConditionWriter {
  readonly #deps: ConditionWriterDeps
  /** By channel id. */
  #unsaved = new Map<number, ConditionMemory>()
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(deps: ConditionWriterDeps) {
    this.#deps = deps
  }

  /** Stores the memory of a channel soon. */
  put(channelId: number, memory: ConditionMemory): void {
    this.#unsaved.set(channelId, memory)
    this.#schedule(saveAfterMs)
  }

  /** Drops what is not stored yet of a channel. */
  drop(channelId: number): void {
    this.#unsaved.delete(channelId)
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
        this.#deps.log.debug({ error: String(error) }, 'conditions could not be stored')
        this.#schedule(retryAfterMs)
      })
    }, afterMs)
  }

  async #save(): Promise<void> {
    this.#timer = undefined
    const memories = this.#unsaved
    if (memories.size === 0) return
    this.#unsaved = new Map()
    try {
      await this.#deps.save([...memories].map(([channelId, memory]) => ({ channelId, memory })))
    } catch (error) {
      this.#unsaved = new Map([...memories, ...this.#unsaved])
      throw error
    }
  }
}
