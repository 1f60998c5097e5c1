import type { SampleRange } from './ring.ts'

/** Own choice: speech is stationary for about this time. */
const repeatSeconds = 0.005
const rampSeconds = 0.002

/**
 * Hides lost samples from listeners. Up to 5 ms, it plays the last sound backwards, which continues without a step, and
 * fades; longer losses become silence with ramps of 2 ms.
 */
export class Concealer {
  readonly #repeat: number
  readonly #ramp: number
  /** The last samples of the output. */
  readonly #recent: Float64Array
  /** Where the next of them is written. */
  #at = 0
  /** Those before the present loss, the last one first. */
  readonly #reversed: Float64Array
  /** Samples of the present loss so far; 0 outside of losses. */
  #gap = 0
  /** Samples that are still faded in after a loss. */
  #fading = 0
  #fade = 0
  /** The step that a loss soon after another would make; it is spread over a ramp. */
  #step = 0
  /** Samples of that ramp that are left. */
  #smoothing = 0

  constructor(rate: number) {
    this.#repeat = Math.round(rate * repeatSeconds)
    this.#ramp = Math.round(rate * rampSeconds)
    this.#recent = new Float64Array(this.#repeat)
    this.#reversed = new Float64Array(this.#repeat)
  }

  /** Replaces the lost samples of the next block. `isAfterGap`: it does not continue the one before. */
  conceal(samples: Int32Array, lost: readonly SampleRange[], isAfterGap = false): void {
    if (isAfterGap) this.#fill(samples, 0, 0)
    if (lost.length === 0 && this.#gap === 0 && this.#fading === 0) {
      this.#remember(samples, 0, samples.length)
      return
    }
    let at = 0
    for (const { from, to } of lost) {
      this.#receive(samples, at, from)
      this.#fill(samples, from, to)
      at = to
    }
    this.#receive(samples, at, samples.length)
  }

  #fill(samples: Int32Array, from: number, to: number): void {
    if (this.#gap === 0) for (const index of this.#reversed.keys()) this.#reversed[index] = this.#recentAt(index)
    this.#fade = this.#gap + to - from > this.#repeat ? this.#ramp : this.#repeat
    this.#step = this.#recentAt(0) - this.#repeated(this.#gap)
    this.#smoothing = this.#ramp
    for (let index = from; index < to; index++) samples[index] = Math.round(this.#substitute())
    this.#fading = this.#ramp
    this.#remember(samples, from, to)
  }

  #receive(samples: Int32Array, from: number, to: number): void {
    if (from === to) return
    let index = from
    for (; index < to && this.#fading > 0; index++) {
      const part = this.#fading / (this.#ramp + 1)
      const received = samples[index] ?? 0
      samples[index] = Math.round(received * (1 - part) + this.#substitute() * part)
      this.#fading--
    }
    this.#remember(samples, from, to)
    if (this.#fading === 0) this.#gap = 0
  }

  /** The next sample in place of a lost one. It continues the output without a step. */
  #substitute(): number {
    const rest = this.#smoothing / this.#ramp
    if (this.#smoothing > 0) this.#smoothing--
    return this.#repeated(this.#gap++) + this.#step * rest
  }

  /** The sample that was this far before the loss. */
  #repeated(offset: number): number {
    if (offset >= this.#fade) return 0
    return (this.#reversed[offset] ?? 0) * (1 - offset / this.#fade)
  }

  #remember(samples: Int32Array, from: number, to: number): void {
    for (let index = Math.max(from, to - this.#recent.length); index < to; index++) {
      this.#recent[this.#at] = samples[index] ?? 0
      this.#at = (this.#at + 1) % this.#recent.length
    }
  }

  /** The sample of the output this far before its last one. */
  #recentAt(offset: number): number {
    const { length } = this.#recent
    return this.#recent[(this.#at - 1 - offset + 2 * length) % length] ?? 0
  }
}
