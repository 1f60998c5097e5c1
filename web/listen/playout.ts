/**
 * Plays frames that arrive at irregular times, on a clock that differs from that of the sender. The buffer is held at a
 * target by resampling. Used in the audio thread: nothing here allocates while it reads.
 *
 * The control and its figures: docs/listening.md.
 */

const initialTargetMs = 60
const maxTargetMs = 300
const underrunStepMs = 20
/** The target returns to its initial value at this rate, in ms for each second of sound. */
const decayMsPerSecond = 1
const skipAboveMs = 200
const maxRateChange = 0.005
const gain = 0.004
/** For 128 frames. */
const averaging = 0.002
const fadeMs = 2
/** A longer gap is not filled with silence. */
const maxGapFrames = 10
const bufferSeconds = 2

export interface PlayoutStatus {
  readonly fillMs: number
  readonly targetMs: number
  readonly underruns: number
  readonly skips: number
  /** The largest sample since the last status, from 0 to 1. */
  readonly peak: number
}

/** The factor of the reading rate that brings the fill, in ms, to its target. */
export function rateFor(fillMs: number, targetMs: number): number {
  const wanted = (gain * (fillMs - targetMs)) / targetMs
  return 1 + Math.min(maxRateChange, Math.max(-maxRateChange, wanted))
}

export class PlayoutBuffer {
  readonly #sourceRate: number
  readonly #outputRate: number
  readonly #samples: Float32Array
  /** Positions in samples since the start. The reader's has a fraction. */
  #written = 0
  #position = 0
  #averageFill = 0
  #targetMs = initialTargetMs
  #isFilling = true
  #expected: number | null = null
  #fade = 0
  /** True while the sound fades out before a skip. */
  #isSkipping = false
  #last = 0
  #underruns = 0
  #skips = 0
  #peak = 0

  constructor(sourceRate: number, outputRate: number) {
    this.#sourceRate = sourceRate
    this.#outputRate = outputRate
    this.#samples = new Float32Array(Math.ceil(sourceRate * bufferSeconds))
  }

  get fillMs(): number {
    return ((this.#written - this.#position) / this.#sourceRate) * 1000
  }

  /** Frames that the service has left out, or that arrived twice, are recognized by their sequence. */
  write(sequence: number, frame: Int16Array): void {
    const missing = this.#expected === null ? 0 : sequence - this.#expected
    if (missing < 0) return
    this.#expected = sequence + 1
    if (missing > 0) this.#putGap(Math.min(missing, maxGapFrames) * frame.length)
    const rampLength = missing > 0 ? this.#fadeSamples : 0
    for (const [index, sample] of frame.entries()) this.#put((sample / 32_768) * rampAt(index, rampLength))
    if (this.fillMs <= this.#targetMs + skipAboveMs) return
    if (this.#fade > 0) this.#isSkipping = true
    else this.#skip()
  }

  read(output: Float32Array): void {
    const outputMs = (output.length / this.#outputRate) * 1000
    if (this.#isFilling && this.fillMs >= this.#targetMs) {
      this.#isFilling = false
      this.#averageFill = this.fillMs
    }
    const weight = 1 - (1 - averaging) ** (output.length / 128)
    this.#averageFill += (this.fillMs - this.#averageFill) * weight
    this.#targetMs = Math.max(initialTargetMs, this.#targetMs - (decayMsPerSecond * outputMs) / 1000)
    const step = (this.#sourceRate / this.#outputRate) * rateFor(this.#averageFill, this.#targetMs)
    const fadeStep = 1000 / (fadeMs * this.#outputRate)
    for (let index = 0; index < output.length; index += 1) {
      if (this.#isSkipping && this.#fade === 0) this.#skip()
      const isReadable = !this.#isFilling && this.#position + 1 < this.#written
      if (isReadable) {
        this.#last = this.#sampleAt(this.#position)
        this.#position += step
        this.#fade = this.#isSkipping ? Math.max(0, this.#fade - fadeStep) : Math.min(1, this.#fade + fadeStep)
      } else {
        if (!this.#isFilling) this.#underrun()
        this.#fade = Math.max(0, this.#fade - fadeStep)
      }
      const sample = this.#last * this.#fade
      output[index] = sample
      this.#peak = Math.max(this.#peak, Math.abs(sample))
    }
  }

  /** Resets the peak. */
  takeStatus(): PlayoutStatus {
    const peak = this.#peak
    this.#peak = 0
    return { fillMs: this.fillMs, targetMs: this.#targetMs, underruns: this.#underruns, skips: this.#skips, peak }
  }

  get #fadeSamples(): number {
    return (fadeMs * this.#sourceRate) / 1000
  }

  /** Silence for what is missing, without a step at its start. */
  #putGap(length: number): void {
    const last = this.#sampleAt(Math.max(0, this.#written - 1))
    for (let index = 0; index < length; index += 1) this.#put(last * (1 - rampAt(index, this.#fadeSamples)))
  }

  #put(sample: number): void {
    this.#samples[this.#written % this.#samples.length] = sample
    this.#written += 1
  }

  #sampleAt(position: number): number {
    const whole = Math.floor(position)
    const before = this.#samples[whole % this.#samples.length] ?? 0
    const after = this.#samples[(whole + 1) % this.#samples.length] ?? 0
    return before + (after - before) * (position - whole)
  }

  #underrun(): void {
    this.#isFilling = true
    this.#underruns += 1
    this.#targetMs = Math.min(maxTargetMs, this.#targetMs + underrunStepMs)
  }

  /** Continues at the target, so that a delay on the network does not stay. */
  #skip(): void {
    this.#position = this.#written - (this.#targetMs / 1000) * this.#sourceRate
    this.#averageFill = this.#targetMs
    this.#skips += 1
    this.#isSkipping = false
  }
}

/** From 0 to 1 over `length`. */
function rampAt(index: number, length: number): number {
  return index < length ? index / length : 1
}
