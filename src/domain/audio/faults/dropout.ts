/**
 * Finds sound that breaks off within 2 ms to silence or to noise. A voice decays by at most about 2 dB per millisecond,
 * because the damping of the vocal tract is limited. A receiver that mutes or loses its carrier is faster. A finding is only a candidate: see `judgeDropout`.
 *
 * Sources: RFDeck (-65 dBFS, held 40 ms; noise for 60 ms), Essentia GapsDetector (10 ms and more). Zeros for 5 ms and
 * the break within 2 ms are own choices.
 */

import { type AudioFrame, frameMs, toPower } from './audio-frame.ts'
import type { AudioFinding, Detector } from './finding.ts'
import { isNoise } from './noise.ts'

const programmePower = toPower(-40)
const absentPower = toPower(-65)
const returnedPower = toPower(-60)
/** The level before the break is the mean of this many milliseconds. */
const programmeMs = 5
const breakMs = 2
const heldZerosMs = 5
const heldSilenceMs = 40
const heldNoiseMs = 60
/** A millisecond has only 48 samples, so that its correlation varies by ±0.15. */
const tonalCorrelation = 0.7
const maxNoiseCorrelation = 0.5
const historyMs = 128

interface Absence {
  readonly from: number
  /** Milliseconds received since, without those that were lost. */
  heldMs: number
  isZero: boolean
  isReported: boolean
}

export class DropoutDetector implements Detector {
  /** The last milliseconds, as a ring; NaN for a lost one. */
  readonly #power = new Float64Array(historyMs).fill(Number.NaN)
  readonly #correlation = new Float64Array(historyMs).fill(Number.NaN)
  #count = 0
  #absence: Absence | null = null
  #noiseFrames = 0
  #noiseFrom: number | null = null

  add(frame: AudioFrame): AudioFinding | null {
    let found: AudioFinding | null = null
    for (let ms = 0; ms < frameMs; ms++) {
      const isLost = frame.lost[ms] === 1
      found = (isLost ? null : this.#addMs(frame, ms)) ?? found
      const slot = this.#count++ % historyMs
      this.#power[slot] = isLost ? Number.NaN : (frame.power[ms] as number)
      this.#correlation[slot] = isLost ? Number.NaN : (frame.correlation[ms] as number)
    }
    return found ?? this.#addNoise(frame)
  }

  #addMs(frame: AudioFrame, ms: number): AudioFinding | null {
    const power = frame.power[ms] as number
    const isZero = frame.zero[ms] === 1
    if (this.#absence !== null) return this.#continue(this.#absence, frame.at + ms, power, isZero)
    if (power < absentPower && this.#programmeBefore(this.#count) > programmePower) {
      this.#absence = { from: frame.at + ms, heldMs: 1, isZero, isReported: false }
    }
    return null
  }

  #continue(absence: Absence, at: number, power: number, isZero: boolean): AudioFinding | null {
    if (power > returnedPower) {
      this.#absence = null
      return absence.isReported ? { kind: 'audio_dropout', from: absence.from, until: at } : null
    }
    // The first millisecond of an absence may contain the end of the sound.
    if (!isZero && absence.heldMs > 1) absence.isZero = false
    else if (isZero && absence.heldMs === 1) absence.isZero = true
    absence.heldMs++
    if (absence.isReported || absence.heldMs < (absence.isZero ? heldZerosMs : heldSilenceMs)) return null
    absence.isReported = true
    return { kind: 'audio_dropout', from: absence.from, until: null }
  }

  /** The mean square before a break that is complete at a millisecond; NaN if any of it is unknown. */
  #programmeBefore(count: number): number {
    let sum = 0
    for (let i = count - breakMs - programmeMs; i < count - breakMs; i++) sum += this.#at(this.#power, i)
    return sum / programmeMs
  }

  #at(values: Float64Array, index: number): number {
    return index < 0 ? Number.NaN : (values[index % historyMs] as number)
  }

  #addNoise(frame: AudioFrame): AudioFinding | null {
    if (frame.lostMs > 0) return null
    if (!isNoise(frame)) {
      this.#noiseFrames = 0
      if (this.#noiseFrom === null) return null
      const from = this.#noiseFrom
      this.#noiseFrom = null
      return { kind: 'audio_dropout', from, until: frame.at }
    }
    this.#noiseFrames++
    if (this.#noiseFrames * frameMs !== heldNoiseMs) return null
    const breakAt = this.#findBreakToNoise()
    if (breakAt === null) return null
    this.#noiseFrom = frame.at + frameMs - (this.#count - breakAt)
    return { kind: 'audio_dropout', from: this.#noiseFrom, until: null }
  }

  /** Returns the millisecond at which a voice became noise within 2 ms; null if it did so slowly or was too quiet. */
  #findBreakToNoise(): number | null {
    const firstFull = this.#count - heldNoiseMs
    let first = firstFull
    while (first > firstFull - frameMs && this.#at(this.#correlation, first - 1) < maxNoiseCorrelation) first--
    const lastTonal = first - 1 - breakMs
    for (let i = lastTonal; i > lastTonal - programmeMs; i--) {
      if (!(this.#at(this.#correlation, i) > tonalCorrelation)) return null
    }
    return this.#programmeBefore(first) > programmePower ? first : null
  }
}
