/**
 * Receives the levels that other processes publish, of those manufacturers whose levels the clients of this process need
 * (`ingest/level-demand.ts`). There is one Redis channel for each manufacturer.
 */

import type { Redis } from '../storage/redis.ts'
import { type LevelDemand, watchDemand } from './level-demand.ts'
import { decodeFrame, type FramedLevels } from './level-frame.ts'

/** A message to this topic contains the code of a manufacturer of which a process needs all current levels. */
export const requestTopic = 'level-requests'

export function levelTopic(manufacturer: string): string {
  return `levels:${manufacturer}`
}

export interface LevelSubscriptionDeps {
  readonly redis: Redis
  /** Identifies this process. */
  readonly nodeId: string
  readonly demand: LevelDemand
  /** Lists the manufacturers of the known receivers. */
  manufacturers(): Iterable<string>
  /** Called with levels that other processes received. */
  onLevels(received: readonly FramedLevels[]): void
}

export class LevelSubscriptions {
  readonly #deps: LevelSubscriptionDeps
  /** What ends each subscription, by manufacturer. */
  readonly #subscriptions = new Map<string, () => void>()
  /** Manufacturers whose current levels have to be requested as soon as Redis responds. */
  readonly #unsentRequests = new Set<string>()
  readonly #endWatch: () => void

  constructor(deps: LevelSubscriptionDeps) {
    this.#deps = deps
    // Also sends the requests that could not be sent while Redis was unavailable.
    this.#endWatch = watchDemand(deps.demand, () => this.#update())
  }

  close(): void {
    this.#endWatch()
    for (const end of this.#subscriptions.values()) end()
    this.#subscriptions.clear()
  }

  #update(): void {
    const { demand, manufacturers } = this.#deps
    const needed = new Set(demand.select(manufacturers))
    for (const manufacturer of needed) if (!this.#subscriptions.has(manufacturer)) this.#subscribe(manufacturer)
    for (const [manufacturer, end] of this.#subscriptions) {
      if (needed.has(manufacturer)) continue
      this.#subscriptions.delete(manufacturer)
      this.#unsentRequests.delete(manufacturer)
      end()
    }
    for (const manufacturer of this.#unsentRequests) this.#request(manufacturer)
  }

  #subscribe(manufacturer: string): void {
    const end = this.#deps.redis.subscribe(levelTopic(manufacturer), {
      onMessage: (message) => this.#receive(message),
      // Levels that do not change are not published, so the current ones are requested.
      onSubscribed: () => this.#request(manufacturer),
    })
    this.#subscriptions.set(manufacturer, end)
  }

  #request(manufacturer: string): void {
    const { redis } = this.#deps
    if (!redis.isUp) this.#unsentRequests.add(manufacturer)
    else {
      this.#unsentRequests.delete(manufacturer)
      redis.publish(requestTopic, manufacturer)
    }
  }

  #receive(message: Buffer): void {
    const frame = decodeFrame(message)
    if (frame !== null && frame.owner !== this.#deps.nodeId) this.#deps.onLevels(frame.receivers)
  }
}
