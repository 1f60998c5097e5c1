/** Splits blocks of any length into frames of 10 ms and measures them once for all detectors. */

/** Hz. Streams of other rates are converted first. */
export const sampleRate = 48_000
export const frameMs = 10
export const frameLength = 480
const msLength = 48
/** A difference in time beyond this starts a new piece of sound. */
const maxJumpMs = 5

/** Samples of one channel at 48 kHz. */
export interface AudioBlock {
  /** Unix ms of the first sample. */
  readonly at: number
  /** Floats from -1 to 1, or 16-bit PCM. */
  readonly samples: Float32Array | Int16Array
  /** Samples of the block that the network lost, `[from, to)`. */
  readonly lost: readonly (readonly [from: number, to: number])[]
}

/** The values of each millisecond, in Float32Arrays and Uint8Arrays of 10, and of the frame. Reused: never keep it. */
export class AudioFrame {
  /** Unix ms of the first sample. */
  at = 0
  readonly samples = new Float32Array(frameLength)
  /** 1 for a millisecond of which at least one sample was lost. */
  readonly lost = new Uint8Array(frameMs)
  lostMs = 0
  /** Mean square. */
  readonly power = new Float32Array(frameMs)
  /** 1 for a millisecond of exact zeros. */
  readonly zero = new Uint8Array(frameMs)
  /** The correlation of adjacent samples, from -1 to 1: 0 for white noise, close to 1 for voices. */
  readonly correlation = new Float32Array(frameMs)
  /** Mean square of the frame. */
  meanPower = 0
  meanCorrelation = 0
  peak = 0
  sum = 0
  /** Zero crossings per sample. */
  zeroCrossings = 0
  #last = 0

  measure(): void {
    let frameEnergy = 0
    let frameProduct = 0
    let crossings = 0
    let peak = 0
    let sum = 0
    let before = this.#last
    this.lostMs = 0
    for (let ms = 0; ms < frameMs; ms++) {
      let energy = 0
      let product = 0
      for (let i = ms * msLength; i < (ms + 1) * msLength; i++) {
        const value = this.samples[i] as number
        energy += value * value
        product += value * before
        sum += value
        if (value < 0 !== before < 0) crossings++
        if (value > peak) peak = value
        else if (-value > peak) peak = -value
        before = value
      }
      this.power[ms] = energy / msLength
      this.zero[ms] = energy === 0 ? 1 : 0
      this.correlation[ms] = energy === 0 ? 0 : product / energy
      this.lostMs += this.lost[ms] as number
      frameEnergy += energy
      frameProduct += product
    }
    this.#last = before
    this.meanPower = frameEnergy / frameLength
    this.meanCorrelation = frameEnergy === 0 ? 0 : frameProduct / frameEnergy
    this.zeroCrossings = crossings / frameLength
    this.peak = peak
    this.sum = sum
  }
}

export class FrameSplitter {
  readonly #frame = new AudioFrame()
  #filled = 0
  /** Unix ms at which the next block should begin. */
  #expectedAt = Number.NaN

  /** Calls `onJump` before the frames if the block does not follow the one before, then `onFrame` for each full frame. */
  split({ at, samples, lost }: AudioBlock, onJump: () => void, onFrame: (frame: AudioFrame) => void): void {
    const frame = this.#frame
    if (!(Math.abs(at - this.#expectedAt) <= maxJumpMs)) {
      this.#filled = 0
      frame.lost.fill(0)
      onJump()
    }
    this.#expectedAt = at + (samples.length / sampleRate) * 1000
    const scale = samples instanceof Int16Array ? 1 / 32_768 : 1
    for (let i = 0; i < samples.length; i++) {
      if (this.#filled === 0) frame.at = at + (i / sampleRate) * 1000
      frame.samples[this.#filled] = (samples[i] as number) * scale
      if (lost.length > 0 && lost.some(([from, to]) => i >= from && i < to)) {
        frame.lost[Math.floor(this.#filled / msLength)] = 1
      }
      this.#filled++
      if (this.#filled < frameLength) continue
      frame.measure()
      onFrame(frame)
      frame.lost.fill(0)
      this.#filled = 0
    }
  }
}

/** Converts decibels relative to full scale to a mean square. */
export function toPower(dbfs: number): number {
  return 10 ** (dbfs / 10)
}
