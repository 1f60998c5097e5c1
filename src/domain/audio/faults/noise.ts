/**
 * Finds noise that lasts longer than any consonant: 400 ms in which adjacent samples do not correlate and the signal
 * crosses zero often. Quiet noise is that of the room, and is not reported.
 *
 * Source: RFDeck (0.2, 0.2, 400 ms); white noise has a correlation of about 0, voices 0.998. The level is an own choice.
 */

import { type AudioFrame, frameMs, toPower } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const maxCorrelation = 0.2
const minCrossings = 0.2
const minPower = toPower(-50)
const heldMs = 400

export function isNoise({ meanPower, meanCorrelation, zeroCrossings }: AudioFrame): boolean {
  return meanPower > minPower && meanCorrelation < maxCorrelation && zeroCrossings > minCrossings
}

export class NoiseDetector implements Detector {
  readonly #range = new FindingRange('noise')
  #from: number | null = null

  add(frame: AudioFrame): AudioFinding | null {
    if (frame.lostMs > 0) return null
    if (!isNoise(frame)) {
      this.#from = null
      return this.#range.end(frame.at)
    }
    this.#from ??= frame.at
    return frame.at + frameMs - this.#from > heldMs ? this.#range.begin(this.#from) : null
  }
}
