/** Checks that polling of one source moves: a cycle ends in time, and the next one starts in time. */

const toleratedIntervals = 3

export class PollProgress {
  readonly #timeoutMs: number
  /** Returns when the next cycle is due (`performance.now()`); null during a cycle. */
  #dueAt: (() => number) | null = null
  #startedAt = performance.now()

  /** `timeoutMs` is the time limit of one request. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  started(): void {
    this.#startedAt = performance.now()
    this.#dueAt = null
  }

  waiting(dueAt: () => number): void {
    this.#dueAt = dueAt
  }

  /** False if the running cycle should have ended, or the next one have started. A failed cycle has ended too. */
  isMoving(intervalMs: number, requests: number, now = performance.now()): boolean {
    const toleratedMs = toleratedIntervals * intervalMs
    if (this.#dueAt !== null) return now - this.#dueAt() <= toleratedMs
    return now - this.#startedAt <= toleratedMs + requests * this.#timeoutMs
  }
}
