/**
 * Passes the first report of a subscription to the polling cycle that has opened it, so that a device that pushes
 * everything is not also polled in a separate session.
 */

import type { DeviceReport } from '../domain/equipment/receiver.ts'

interface WaitingCycle {
  /** Null if there will be no report: the cycle then polls. */
  resolve(report: DeviceReport | null): void
  reject(error: unknown): void
}

export class FirstReport {
  #waiting: WaitingCycle | null = null
  #onApplied = () => {}

  /** True while a cycle waits for the report. */
  get isAwaited(): boolean {
    return this.#waiting !== null
  }

  /**
   * Resolves with the report, or with null if none arrives within `limitMs` or the subscription is not opened. If
   * opening the subscription fails, throws its error; if the signal aborts, throws the signal's reason.
   */
  async read(limitMs: number, signal: AbortSignal): Promise<DeviceReport | null> {
    const cancel = () => this.cancel()
    const timer = setTimeout(cancel, limitMs)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const report = await new Promise<DeviceReport | null>((resolve, reject) => {
        this.#waiting = { resolve, reject }
        if (signal.aborted) this.cancel()
      })
      signal.throwIfAborted()
      return report
    } finally {
      this.#waiting = null
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }

  /** Passes the report to the waiting cycle, and resolves when the cycle has applied it. Null if no cycle waits. */
  deliver(report: DeviceReport): Promise<void> | null {
    const waiting = this.#waiting
    if (waiting === null) return null
    this.#waiting = null
    const applied = new Promise<void>((resolve) => {
      this.#onApplied = resolve
    })
    waiting.resolve(report)
    return applied
  }

  /** Called when a cycle has applied its reports, or has ended without applying them. */
  recordApplied(): void {
    this.#onApplied()
  }

  /** Called when the subscription could not be opened. Returns whether a cycle was waiting for it. */
  fail(error: unknown): boolean {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.reject(error)
    return waiting !== null
  }

  /** Called when the subscription is not opened for now, for example because another process holds it. */
  cancel(): void {
    this.#waiting?.resolve(null)
    this.#waiting = null
  }
}
