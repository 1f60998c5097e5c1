/**
 * Finds mains hum of 50 or 60 Hz. At least three of the first eight harmonics stand 12 dB above their neighbours 7 Hz
 * away, and their sum is above -60 dBFS. This must hold in five windows of 1 s in a row; windows with speech do not count.
 *
 * Sources: harmonics as in ferraus-analysis; the numbers are own choices. Goertzel algorithm at 3 kHz.
 */

import { type AudioFrame, frameLength, toPower } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const decimation = 16
const rate = 3000
const windowLength = 3000
const harmonics = 8
const minHarmonics = 3
const neighbourHz = 7
const minProminence = 10 ** (12 / 10)
const minSum = toPower(-60)
const windowsToBegin = 5
/** A window in which the level varies by more contains speech. */
const maxVariation = 10 ** (10 / 10)

/** Three moving averages of 16 samples: aliases to 400 Hz are 50 dB down, 480 Hz 1 dB. */
const kernel = convolve(convolve(average(), average()), average())
const hann = Float64Array.from({ length: windowLength }, (_, i) => 1 - Math.cos((2 * Math.PI * i) / windowLength))

export class HumDetector implements Detector {
  readonly #range = new FindingRange('hum')
  /** The end of the frame before, then the frame. */
  readonly #input = new Float64Array(kernel.length - 1 + frameLength)
  readonly #window = new Float64Array(windowLength)
  #filled = 0
  #lowest = Number.POSITIVE_INFINITY
  #highest = 0
  #isLost = false
  #windows = 0
  #firstAt = 0
  #windowAt = 0

  add(frame: AudioFrame): AudioFinding | null {
    if (this.#filled === 0) this.#windowAt = frame.at
    this.#decimate(frame)
    this.#lowest = Math.min(this.#lowest, frame.meanPower)
    this.#highest = Math.max(this.#highest, frame.meanPower)
    if (frame.lostMs > 0) this.#isLost = true
    if (this.#filled < windowLength) return null
    const finding = this.#judgeWindow()
    this.#filled = 0
    this.#lowest = Number.POSITIVE_INFINITY
    this.#highest = 0
    this.#isLost = false
    return finding
  }

  #judgeWindow(): AudioFinding | null {
    if (this.#isLost || this.#highest > this.#lowest * maxVariation) return null
    if (!hasHum(this.#window, 50) && !hasHum(this.#window, 60)) {
      this.#windows = 0
      return this.#range.end(this.#windowAt)
    }
    if (this.#windows++ === 0) this.#firstAt = this.#windowAt
    return this.#windows >= windowsToBegin ? this.#range.begin(this.#firstAt) : null
  }

  #decimate({ samples }: AudioFrame): void {
    const input = this.#input
    input.copyWithin(0, frameLength)
    input.set(samples, kernel.length - 1)
    for (let start = 0; start < frameLength; start += decimation) {
      let sum = 0
      for (let i = 0; i < kernel.length; i++) sum += (kernel[i] as number) * (input[start + i] as number)
      this.#window[this.#filled] = sum * (hann[this.#filled] as number)
      this.#filled++
    }
  }
}

function hasHum(window: Float64Array, fundamental: number): boolean {
  let count = 0
  let sum = 0
  for (let harmonic = 1; harmonic <= harmonics; harmonic++) {
    const hz = fundamental * harmonic
    const power = goertzel(window, hz)
    const neighbours = Math.max(goertzel(window, hz - neighbourHz), goertzel(window, hz + neighbourHz))
    if (power < neighbours * minProminence) continue
    count++
    sum += power
  }
  return count >= minHarmonics && sum > minSum
}

/** Returns the mean square of a sine of that frequency. */
function goertzel(window: Float64Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / rate)
  let before = 0
  let beforeThat = 0
  for (let i = 0; i < window.length; i++) {
    const value = (window[i] as number) + coefficient * before - beforeThat
    beforeThat = before
    before = value
  }
  const power = before * before + beforeThat * beforeThat - coefficient * before * beforeThat
  return (2 * power) / (windowLength * windowLength)
}

function average(): number[] {
  return Array.from({ length: decimation }, () => 1 / decimation)
}

function convolve(left: readonly number[], right: readonly number[]): number[] {
  const result = Array.from({ length: left.length + right.length - 1 }, () => 0)
  for (const [i, a] of left.entries()) {
    for (const [j, b] of right.entries()) result[i + j] = (result[i + j] as number) + a * b
  }
  return result
}
