/**
 * Finds clicks: a second difference of more than 14 times its running mean, in 10 ms whose peak is more than 6 times
 * their RMS. A click is short: where the second difference stays high for longer than 2 ms, a consonant began.
 * Edges of lost samples are no clicks.
 *
 * Sources: RFDeck (14, 6); the limits of length and level are own choices.
 */

import { type AudioFrame, frameLength, frameMs, sampleRate } from './audio-frame.ts'
import { type AudioFinding, type Detector, FindingRange } from './finding.ts'

const minRatio = 14
const minCrest = 6
const minDifference = 0.02
const maxLength = 96
const meanLength = 480
/** The range ends this long after its last click. */
const endAfterMs = 3000

export class ClickDetector implements Detector {
  readonly #range = new FindingRange('clicks')
  #mean = 0
  #before = 0
  #beforeThat = 0
  #lastAt = Number.NEGATIVE_INFINITY
  #lostBefore = true

  add(frame: AudioFrame): AudioFinding | null {
    const isDisturbed = frame.lostMs > 0 || this.#lostBefore
    this.#lostBefore = frame.lostMs > 0
    const click = this.#findClick(frame)
    if (!isDisturbed && click !== null) {
      const at = frame.at + (click / sampleRate) * 1000
      this.#lastAt = at
      return this.#range.begin(at)
    }
    return frame.at + frameMs - this.#lastAt > endAfterMs ? this.#range.end(this.#lastAt) : null
  }

  /** Returns the sample of the first click. */
  #findClick(frame: AudioFrame): number | null {
    let first = -1
    let last = -1
    let mean = this.#mean
    let before = this.#before
    let beforeThat = this.#beforeThat
    for (let i = 0; i < frameLength; i++) {
      const value = frame.samples[i] as number
      const difference = Math.abs(value - 2 * before + beforeThat)
      if (difference > minDifference && difference > minRatio * mean) {
        if (first < 0) first = i
        last = i
      }
      // Single peaks count for at most three times the mean, so that a click does not hide the next one.
      mean += (Math.min(difference, 3 * mean + 1e-5) - mean) / meanLength
      beforeThat = before
      before = value
    }
    this.#mean = mean
    this.#before = before
    this.#beforeThat = beforeThat
    const isShort = first >= 0 && last - first < maxLength
    return isShort && frame.peak * frame.peak > minCrest * minCrest * frame.meanPower ? first : null
  }
}
