/** Finds the subscriptions that count as lost although they are connected, because they were lost repeatedly. */

import type { ConnectionEvent } from '../domain/equipment/connection.ts'
import { Topic } from '../platform/topic.ts'

const lossesUntilFlapping = 3
const lossesWithinMs = 120_000
/** A subscription that stays connected for this long no longer counts as lost. */
const stableAfterMs = 60_000

export class FlappingSubscriptions {
  /** The subscription of this source no longer counts as lost. */
  readonly stable = new Topic<string>()
  /** When each subscription was recently lost (`performance.now()`), by source. */
  readonly #losses = new Map<string, readonly number[]>()
  readonly #flapping = new Set<string>()
  /** Runs while a flapping subscription is connected. */
  readonly #timers = new Map<string, NodeJS.Timeout>()

  has(source: string): boolean {
    return this.#flapping.has(source)
  }

  record(source: string, type: ConnectionEvent['type']): void {
    if (type === 'opened') {
      if (this.has(source) && !this.#timers.has(source)) this.#setTimer(source)
      return
    }
    clearTimeout(this.#timers.get(source))
    this.#timers.delete(source)
    if (type === 'lost') this.#addLoss(source)
    else if (type === 'ended') this.#forget(source)
  }

  #addLoss(source: string): void {
    const now = performance.now()
    const losses = [...(this.#losses.get(source) ?? []), now].filter((at) => now - at <= lossesWithinMs)
    this.#losses.set(source, losses)
    if (losses.length >= lossesUntilFlapping) this.#flapping.add(source)
  }

  #setTimer(source: string): void {
    const timer = setTimeout(() => {
      this.#timers.delete(source)
      this.#forget(source)
      this.stable.publish(source)
    }, stableAfterMs)
    this.#timers.set(source, timer.unref())
  }

  #forget(source: string): void {
    this.#losses.delete(source)
    this.#flapping.delete(source)
  }
}
