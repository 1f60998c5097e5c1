/** Sends a heartbeat to a dead man's switch while polling moves. The switch raises an alarm when none arrives. */

import type { HeartbeatConfig } from '../config/heartbeat.ts'
import { minHeartbeatSeconds } from '../domain/access/limits.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import { post, secretsOf } from './services/http.ts'

interface Subsystems {
  readonly monitor: { readonly isMoving: boolean }
  readonly outbound: Outbound
  readonly log: Log
}

export class Heartbeat {
  readonly #url: URL
  readonly #intervalSeconds: number
  readonly #subsystems: Subsystems
  #problem: string | null = null
  #acceptedAt: number | null = null

  constructor({ url, interval }: HeartbeatConfig, subsystems: Subsystems) {
    this.#url = new URL(url)
    this.#intervalSeconds = interval
    this.#subsystems = subsystems
  }

  /** Describes why the last heartbeat was not sent; null if it was. */
  get problem(): string | null {
    return this.#problem === null ? null : `Heartbeat: ${this.#problem}`
  }

  /** When a heartbeat was last accepted, in epoch milliseconds; null if never. */
  get acceptedAt(): number | null {
    return this.#acceptedAt
  }

  /** Sends until the signal aborts. Waits first, so that a service that crashes repeatedly sends nothing. */
  async run(signal: AbortSignal): Promise<void> {
    const retrySeconds = Math.min(this.#intervalSeconds, minHeartbeatSeconds)
    while (await pause((this.#problem === null ? this.#intervalSeconds : retrySeconds) * 1000, signal)) {
      const problem = await this.#send(signal)
      if (signal.aborted) break
      if (problem === null) this.#acceptedAt = now()
      if (problem !== null && problem !== this.#problem)
        this.#subsystems.log.warn({ error: problem }, 'no heartbeat was sent')
      this.#problem = problem
    }
    this.#problem = null
  }

  /** Returns why nothing was sent or accepted; null if it was. */
  async #send(signal: AbortSignal): Promise<string | null> {
    const { monitor, outbound } = this.#subsystems
    if (!monitor.isMoving) return 'polling does not move.'
    const kit = { destinations: outbound.destinations, signal, now, publicUrl: null, signingSecrets: [] }
    const url = this.#url
    return post({ url, body: '{}', secrets: secretsOf(url) }, kit).then(
      ({ error }) => error,
      // The signal has aborted.
      () => null,
    )
  }
}
