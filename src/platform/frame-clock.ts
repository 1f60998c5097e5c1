/** Combines many changes into one call: immediately after a quiet moment, and at most every 20 ms under load. */

const frameMs = 20

export class FrameClock {
  readonly #onFrame: () => void
  readonly #now: () => number
  #lastFrameAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #isStopped = false

  constructor(onFrame: () => void, now: () => number = () => performance.now()) {
    this.#onFrame = onFrame
    this.#now = now
  }

  /** Repeated requests before the frame have no effect. */
  request(): void {
    if (this.#isStopped || this.#timer !== undefined || this.#immediate !== undefined) return
    const waitMs = this.#lastFrameAt + frameMs - this.#now()
    if (waitMs <= 0) this.#immediate = setImmediate(() => this.#run())
    else this.#timer = setTimeout(() => this.#run(), waitMs)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
  }

  #run(): void {
    this.#timer = undefined
    this.#immediate = undefined
    this.#lastFrameAt = this.#now()
    this.#onFrame()
  }
}
