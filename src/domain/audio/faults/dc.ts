/**
 * Finds a constant offset: a mean of more than 0.01 of full scale over 2 s. It ends below half of that.
 *
 * Source: dart_pop_n_click 0.1.0.
 */

import { type AudioFrame, frameLength } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const maxMean = 0.01
const windowFrames = 200

export class DcDetector implements Detector {
  readonly #range = new FindingRange('dc')
  #sum = 0
  #frames = 0
  #from = 0

  add(frame: AudioFrame): AudioFinding | null {
    if (frame.lostMs > 0) return null
    if (this.#frames === 0) this.#from = frame.at
    this.#sum += frame.sum
    if (++this.#frames < windowFrames) return null
    const mean = Math.abs(this.#sum / (windowFrames * frameLength))
    this.#sum = 0
    this.#frames = 0
    if (mean > maxMean) return this.#range.begin(this.#from)
    return mean < maxMean / 2 ? this.#range.end(this.#from) : null
  }
}
