/**
 * Subscribers of OSC values: each for 60 seconds, unless it subscribes again. All values are many times larger than the
 * packet that asks for them, so each subscriber is sent them at most once in five seconds.
 */

import { LruMap } from '../../platform/cache.ts'
import type { Log } from '../../platform/log.ts'
import { pause } from '../../platform/wait.ts'
import type { OscOrigin } from './listener.ts'
import type { OscPeer } from './peers.ts'
import type { OscPublisher } from './publisher.ts'

const durationMs = 60_000
const maxSubscribers = 32
const checkEveryMs = 1_000
const allEveryMs = 5_000
/** Subscribers for which the time of the last complete set of values is remembered. */
const maxRemembered = 10_000

interface Subscription {
  readonly peer: OscPeer
  readonly end: () => void
  endsAt: number
  /** True if all values are sent once five seconds have passed. */
  awaitsAll: boolean
}

export class OscSubscriptions {
  readonly #publisher: OscPublisher
  readonly #log: Log
  readonly #byKey = new Map<string, Subscription>()
  /** When each subscriber was last sent all values. Subscribers that have left are remembered. */
  readonly #sentAllAt = new LruMap<string, number>(maxRemembered)
  #hasRejected = false

  constructor(publisher: OscPublisher, log: Log) {
    this.#publisher = publisher
    this.#log = log
  }

  /** Ends subscriptions that were not renewed, and all of them when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (await pause(checkEveryMs, signal)) {
      this.#endExpired()
      for (const [key, subscription] of this.#byKey) if (subscription.awaitsAll) this.#sendAll(key, subscription)
    }
    for (const key of [...this.#byKey.keys()]) this.unsubscribe(key)
  }

  /** Sends all values as soon as allowed, even for a renewed subscription, and then every change. */
  subscribe({ key, createPeer }: OscOrigin): void {
    const endsAt = performance.now() + durationMs
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      known.endsAt = endsAt
      this.#sendAll(key, known)
    } else if (this.#byKey.size < maxSubscribers) {
      const peer = createPeer()
      const end = this.#publisher.addPeer(peer, { sendsAll: false })
      const subscription = { peer, end, endsAt, awaitsAll: true }
      this.#byKey.set(key, subscription)
      this.#sendAll(key, subscription)
    } else {
      if (!this.#hasRejected)
        this.#log.warn({ subscriber: key, maxSubscribers }, 'OSC subscription ignored: there are too many')
      this.#hasRejected = true
    }
  }

  unsubscribe(key: string): void {
    this.#byKey.get(key)?.end()
    this.#byKey.delete(key)
    this.#hasRejected = false
  }

  #sendAll(key: string, subscription: Subscription): void {
    const now = performance.now()
    subscription.awaitsAll = now - (this.#sentAllAt.get(key) ?? Number.NEGATIVE_INFINITY) < allEveryMs
    if (subscription.awaitsAll) return
    this.#sentAllAt.set(key, now)
    this.#publisher.sendAll(subscription.peer)
  }

  #endExpired(): void {
    for (const [key, { endsAt }] of this.#byKey) if (endsAt <= performance.now()) this.unsubscribe(key)
  }
}
