/** Sends sweeps to the service. Sweeps that come faster than it accepts them are united by their highest levels. */

import type { MeasuredSweep } from '../../domain/frequencies/analysers/span.ts'
import { maxSweepsPerSecond } from '../../domain/frequencies/sweeps/sweep.ts'
import { abortWithin, pause } from '../../platform/wait.ts'
import { requestService, UnreachableError } from '../service-client.ts'
import {
  authorizationOf,
  defaultRetryMs,
  describeResponse,
  isTemporary,
  RefusedError,
  retryAfterMs,
  type SweepTarget,
  sweepsPath,
} from './service-target.ts'

/** A little more than the service demands, because the network delays some sweeps more than others. */
const intervalMs = 1000 / maxSweepsPerSecond + 10
const responseMs = 15_000

export class SweepSender {
  readonly #target: SweepTarget
  readonly #signal: AbortSignal
  readonly #report: (text: string) => void
  readonly #onFail: () => void
  #held: MeasuredSweep | null = null
  #sending: Promise<void> | null = null
  #error: unknown = null
  #isInterrupted = false
  sent = 0

  /** `report` prints that the service is away or back. `onFail` is called when it refuses sweeps for good. */
  constructor(target: SweepTarget, signal: AbortSignal, report: (text: string) => void, onFail: () => void) {
    this.#target = target
    this.#signal = signal
    this.#report = report
    this.#onFail = onFail
  }

  offer(sweep: MeasuredSweep): void {
    if (this.#error !== null) return
    this.#held = this.#held === null ? sweep : unite(this.#held, sweep)
    this.#sending ??= this.#sendHeld()
      .catch((error) => {
        this.#error = error
        this.#onFail()
      })
      .finally(() => {
        this.#sending = null
      })
  }

  /** Resolves when nothing is being sent. Throws what has ended the sending. */
  async finish(): Promise<void> {
    await this.#sending
    if (this.#error !== null) throw this.#error
  }

  async #sendHeld(): Promise<void> {
    while (this.#held !== null && !this.#signal.aborted) {
      const sweep = this.#held
      this.#held = null
      const waitMs = await this.#send(sweep)
      if (!(await pause(waitMs, this.#signal))) return
    }
  }

  /** Returns the time until the next sweep may be sent. */
  async #send({ startedAt, fromMhz, stepMhz, dbm }: MeasuredSweep): Promise<number> {
    const { base, source } = this.#target
    const started_at = new Date(startedAt).toISOString()
    try {
      const response = await requestService(base, sweepsPath, {
        method: 'POST',
        headers: { ...authorizationOf(this.#target), 'content-type': 'application/json' },
        body: JSON.stringify({ source, started_at, mhz_from: fromMhz, mhz_step: stepMhz, dbm }),
        signal: abortWithin(responseMs, this.#signal),
      })
      const text = await response.text()
      if (response.ok) return this.#succeed()
      const reason = describeResponse(response.status, text)
      const mayRetry = this.sent > 0 || response.status === 429
      if (!isTemporary(response.status) || !mayRetry) throw new RefusedError(reason)
      this.#interrupt(`${reason} Sweeps are left out until the service accepts them again.`)
      return retryAfterMs(response.headers.get('retry-after'))
    } catch (error) {
      if (this.#signal.aborted) return 0
      if (!(error instanceof UnreachableError) || this.sent === 0) throw error
      this.#interrupt(`The service at ${base}/ does not respond. Sweeps are left out until it does.`)
      return defaultRetryMs
    }
  }

  #succeed(): number {
    this.sent += 1
    if (this.#isInterrupted) this.#report('The service accepts sweeps again.')
    this.#isInterrupted = false
    return intervalMs
  }

  #interrupt(text: string): void {
    if (!this.#isInterrupted) this.#report(text)
    this.#isInterrupted = true
  }
}

function unite(held: MeasuredSweep, sweep: MeasuredSweep): MeasuredSweep {
  const dbm = sweep.dbm.map((level, index) => {
    const before = held.dbm[index] ?? null
    return level === null || before === null ? (level ?? before) : Math.max(level, before)
  })
  return { ...sweep, dbm }
}
