/** Subscribers of OSC values: each for 60 seconds, unless it subscribes again. */

import type { Log } from '../../monitoring/log.ts'
import { pause } from '../../monitoring/wait.ts'
import type { OscOrigin } from './listener.ts'
import type { OscPeer } from './peers.ts'
import type { OscPublisher } from './publisher.ts'

const durationMs = 60_000
const maxSubscribers = 32
const checkEveryMs = 1_000

interface Subscription {
  readonly peer: OscPeer
  readonly end: () => void
  endsAt: number
}

export class OscSubscriptions {
  readonly #publisher: OscPublisher
  readonly #log: Log
  readonly #byKey = new Map<string, Subscription>()
  #hasRejected = false

  constructor(publisher: OscPublisher, log: Log) {
    this.#publisher = publisher
    this.#log = log
  }

  /** Ends subscriptions that were not renewed, and all of them when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (await pause(checkEveryMs, signal)) this.#endExpired()
    for (const key of [...this.#byKey.keys()]) this.unsubscribe(key)
  }

  /** Sends all values now, also if the subscription is renewed, and changes from now on. */
  subscribe({ key, createPeer }: Pick<OscOrigin, 'key' | 'createPeer'>): void {
    const endsAt = performance.now() + durationMs
    const known = this.#byKey.get(key)
    if (known !== undefined) {
      known.endsAt = endsAt
      this.#publisher.sendAll(known.peer)
    } else if (this.#byKey.size < maxSubscribers) {
      const peer = createPeer()
      this.#byKey.set(key, { peer, end: this.#publisher.addPeer(peer), endsAt })
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

  #endExpired(): void {
    for (const [key, { endsAt }] of this.#byKey) if (endsAt <= performance.now()) this.unsubscribe(key)
  }
}
