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
/** In samples. */
const maxLength = 96
const meanLength = 480
/** Peaks closer than this belong together, also across frames. */
const quietLength = 480
/** The range ends this long after its last click. */
const endAfterMs = 3000

/** Samples with a high second difference, from the first to the last. */
interface Burst {
  readonly at: number
  readonly first: number
  last: number
  readonly isPeak: boolean
}

export class ClickDetector implements Detector {
  readonly #range = new FindingRange('clicks')
  #mean = 0
  #before = 0
  #beforeThat = 0
  /** Samples before the frame. */
  #position = 0
  #burst: Burst | null = null
  #lastAt = Number.NEGATIVE_INFINITY
  #lostBefore = true

  add(frame: AudioFrame): AudioFinding | null {
    const isDisturbed = frame.lostMs > 0 || this.#lostBefore
    this.#lostBefore = frame.lostMs > 0
    const click = this.#findClick(frame, isDisturbed)
    if (click !== null) {
      this.#lastAt = click
      return this.#range.begin(click)
    }
    return frame.at + frameMs - this.#lastAt > endAfterMs ? this.#range.end(this.#lastAt) : null
  }

  /** Returns the time of a click that is known to be short now. */
  #findClick(frame: AudioFrame, isDisturbed: boolean): number | null {
    const isPeak = frame.peak * frame.peak > minCrest * minCrest * frame.meanPower
    if (isDisturbed) this.#burst = null
    let click: number | null = null
    let mean = this.#mean
    let before = this.#before
    let beforeThat = this.#beforeThat
    for (let i = 0; i < frameLength; i++) {
      const value = frame.samples[i] as number
      const difference = Math.abs(value - 2 * before + beforeThat)
      if (difference > minDifference && difference > minRatio * mean && !isDisturbed) {
        const position = this.#position + i
        click ??= this.#takeClick(position)
        if (this.#burst === null) {
          this.#burst = { at: frame.at + (i / sampleRate) * 1000, first: position, last: position, isPeak }
        } else this.#burst.last = position
      }
      // Single peaks count for at most three times the mean, so that a click does not hide the next one.
      mean += (Math.min(difference, 3 * mean + 1e-5) - mean) / meanLength
      beforeThat = before
      before = value
    }
    this.#mean = mean
    this.#before = before
    this.#beforeThat = beforeThat
    this.#position += frameLength
    return click ?? this.#takeClick(this.#position)
  }

  /** Ends the burst if it is over at this position. Returns its time if it was a click. */
  #takeClick(position: number): number | null {
    const burst = this.#burst
    if (burst === null || position - burst.last < quietLength) return null
    this.#burst = null
    return burst.isPeak && burst.last - burst.first < maxLength ? burst.at : null
  }
}
