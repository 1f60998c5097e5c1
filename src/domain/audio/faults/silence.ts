/**
 * Finds silence: below -60 dBFS for 10 s. It ends above -54 dBFS for 0.5 s.
 *
 * Source: ffmpeg's silencedetect (-60 dB); the times and the hysteresis are own choices.
 */

import { type AudioFrame, frameMs, toPower } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const silentPower = toPower(-60)
const soundPower = toPower(-54)
const silentMs = 10_000
const soundMs = 500

export class SilenceDetector implements Detector {
  readonly #range = new FindingRange('silence')
  #quietFrom: number | null = null
  #loudFrom: number | null = null

  add(frame: AudioFrame): AudioFinding | null {
    if (frame.lostMs > 0) return null
    const end = frame.at + frameMs
    if (frame.meanPower >= silentPower) this.#quietFrom = null
    else this.#quietFrom ??= frame.at
    if (frame.meanPower <= soundPower) this.#loudFrom = null
    else this.#loudFrom ??= frame.at
    if (this.#loudFrom !== null && end - this.#loudFrom >= soundMs) return this.#range.end(this.#loudFrom)
    return this.#quietFrom !== null && end - this.#quietFrom >= silentMs ? this.#range.begin(this.#quietFrom) : null
  }
}
