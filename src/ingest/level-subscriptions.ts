/**
 * Receives the levels that other processes publish, of those manufacturers whose levels the clients of this process need
 * (`ingest/level-demand.ts`). There is one Redis channel for each manufacturer.
 */

import { Topic } from '../platform/topic.ts'
import type { Redis } from '../storage/redis.ts'
import { type LevelDemand, watchDemand } from './level-demand.ts'
import { decodeFrame, type FramedLevels } from './level-frame.ts'
import type { ReceiverStore } from './receiver-store.ts'

/** A message to this topic contains the code of a manufacturer of which a process needs all current levels. */
export const requestTopic = 'level-requests'

export function levelTopic(manufacturer: string): string {
  return `levels:${manufacturer}`
}

export class LevelSubscriptions {
  /** Levels that other processes received. */
  readonly received = new Topic<readonly FramedLevels[]>()
  readonly #redis: Redis
  /** Identifies this process. */
  readonly #nodeId: string
  readonly #demand: LevelDemand
  readonly #receiverStore: ReceiverStore
  /** End each subscription, by manufacturer. */
  readonly #subscriptions = new Map<string, () => void>()
  /** Manufacturers whose current levels must be requested once Redis responds. */
  readonly #unsentRequests = new Set<string>()
  readonly #endWatch: () => void

  /** `demand` is by manufacturer. */
  constructor(redis: Redis, nodeId: string, demand: LevelDemand, receiverStore: ReceiverStore) {
    this.#redis = redis
    this.#nodeId = nodeId
    this.#demand = demand
    this.#receiverStore = receiverStore
    // Also sends the requests that could not be sent while Redis was unavailable.
    this.#endWatch = watchDemand(demand, () => this.#update())
  }

  close(): void {
    this.#endWatch()
    for (const end of this.#subscriptions.values()) end()
    this.#subscriptions.clear()
  }

  #update(): void {
    const listManufacturers = () => new Set(this.#receiverStore.listFacts().map(({ manufacturer }) => manufacturer))
    const needed = new Set(this.#demand.select(listManufacturers))
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
    const end = this.#redis.subscribe(levelTopic(manufacturer), {
      onMessage: (message) => this.#receive(message),
      // Levels that do not change are not published, so the current ones are requested.
      onSubscribed: () => this.#request(manufacturer),
    })
    this.#subscriptions.set(manufacturer, end)
  }

  #request(manufacturer: string): void {
    if (!this.#redis.isUp) this.#unsentRequests.add(manufacturer)
    else {
      this.#unsentRequests.delete(manufacturer)
      this.#redis.publish(requestTopic, manufacturer)
    }
  }

  #receive(message: Buffer): void {
    const frame = decodeFrame(message)
    if (frame !== null && frame.owner !== this.#nodeId) this.received.publish(frame.receivers)
  }
}
