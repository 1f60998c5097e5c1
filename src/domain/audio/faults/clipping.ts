/**
 * Finds clipping: three runs of at least three samples at full scale within a second. A run must be flat, because a
 * loud low note also stays close to its peak for several samples, and curved.
 *
 * Sources: dart_pop_n_click 0.1.0 (three samples at 0.99), Essentia SaturationDetector (a difference of 0.001).
 */

import { type AudioFrame, sampleRate } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const fullScale = 0.99
const maxDifference = 0.001
const runLength = 3
const runsToBegin = 3
const windowMs = 1000

export class ClippingDetector implements Detector {
  readonly #range = new FindingRange('audio_clipping')
  /** When the last runs began. */
  #runs: number[] = []
  #length = 0
  #before = 0

  add(frame: AudioFrame): AudioFinding | null {
    if (frame.peak < fullScale) {
      this.#length = 0
      this.#before = frame.samples.at(-1) as number
    } else this.#countRuns(frame)
    const last = this.#runs.at(-1)
    if (last === undefined) return null
    this.#runs = this.#runs.filter((at) => frame.at - at < windowMs)
    if (this.#runs.length >= runsToBegin) return this.#range.begin(this.#runs[0] as number)
    return this.#runs.length === 0 ? this.#range.end(last) : null
  }

  #countRuns(frame: AudioFrame): void {
    for (const [i, value] of frame.samples.entries()) {
      const isFull = Math.abs(value) >= fullScale
      this.#length = !isFull ? 0 : Math.abs(value - this.#before) < maxDifference ? this.#length + 1 : 1
      this.#before = value
      if (this.#length === runLength) this.#runs.push(frame.at + (i / sampleRate) * 1000)
    }
    // A second of square waves would have thousands of runs.
    this.#runs = this.#runs.slice(-10 * runsToBegin)
  }
}
