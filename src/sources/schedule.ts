/** Wakes many waiting loops with one timer. */

interface Waiting {
  /** Returns when to wake (`performance.now()`). May change during the wait. */
  readonly dueAt: () => number
  at: number
  wake(): void
}

/** A change of what `dueAt` returns takes effect within this time. */
const recheckMs = 1000
/** Loops that are due within this time of each other wake together. */
const togetherMs = 5

export class Schedule {
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined
  #wakesAt = Number.POSITIVE_INFINITY
  #recheckAt = 0

  /** Waits until the time that `dueAt` returns. Returns false as soon as the signal aborts. */
  wait(dueAt: () => number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const end = (isDue: boolean) => {
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', abort)
        if (this.#waiting.size === 0) this.#stop()
        resolve(isDue)
      }
      const abort = () => end(false)
      const waiting: Waiting = { dueAt, at: dueAt(), wake: () => end(true) }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(waiting)
      this.#wakeAt(Math.min(waiting.at, performance.now() + recheckMs))
    })
  }

  #wakeAt(time: number): void {
    if (time >= this.#wakesAt) return
    this.#stop()
    this.#wakesAt = time
    this.#timer = setTimeout(() => this.#wakeDue(), Math.max(0, time - performance.now()))
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#wakesAt = Number.POSITIVE_INFINITY
  }

  #wakeDue(): void {
    const now = performance.now()
    this.#stop()
    const isRecheck = now >= this.#recheckAt
    if (isRecheck) this.#recheckAt = now + recheckMs
    let next = this.#recheckAt
    for (const waiting of this.#waiting) {
      if (isRecheck) waiting.at = waiting.dueAt()
      if (waiting.at <= now) waiting.wake()
      else next = Math.min(next, waiting.at)
    }
    if (this.#waiting.size > 0) this.#wakeAt(Math.max(next, now + togetherMs))
  }
}
