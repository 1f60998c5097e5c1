const bucketMs = 1000
const buckets = 5

/**
 * Estimates when the samples of a segment were sent. The packets that were delayed least give the relation of media
 * time to arrival; the sliding window follows the drift of the sender's clock.
 */
export class ArrivalClock {
  readonly #msPerSample: number
  /** The smallest delay in each of the last seconds, with the start of the second. */
  #minima: { readonly since: number; minimum: number }[] = []

  constructor(rate: number) {
    this.#msPerSample = 1000 / rate
  }

  /** `end` is the position after the last sample, which cannot have been sent before it existed. */
  observe(end: number, atMs: number): void {
    const delay = atMs - end * this.#msPerSample
    const newest = this.#minima.at(-1)
    if (newest === undefined || atMs - newest.since >= bucketMs) {
      this.#minima.push({ since: atMs, minimum: delay })
      if (this.#minima.length > buckets) this.#minima.shift()
    } else if (delay < newest.minimum) newest.minimum = delay
  }

  reset(): void {
    this.#minima = []
  }

  /** Returns when this sample was sent, on the clock of `observe`. */
  timeOf(position: number): number {
    let minimum = Number.POSITIVE_INFINITY
    for (const bucket of this.#minima) minimum = Math.min(minimum, bucket.minimum)
    return minimum + position * this.#msPerSample
  }
}
