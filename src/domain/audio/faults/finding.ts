/** The findings of the detectors, and the range that most of them keep open. */

import type { AudioFrame } from './audio-frame.ts'

const audioObservations = ['silence', 'hum', 'noise', 'clicks', 'dc'] as const
export const audioFaults = ['audio_dropout', 'audio_clipping', ...audioObservations] as const
export type AudioFault = (typeof audioFaults)[number]

/** Reported when it begins and when it ends; one of a few milliseconds only when it ends. Times are Unix ms. */
export interface AudioFinding {
  readonly kind: AudioFault
  readonly from: number
  /** Null while it lasts. */
  readonly until: number | null
}

export interface Detector {
  /** Frames must follow each other without a gap. */
  add(frame: AudioFrame): AudioFinding | null
}

export class FindingRange {
  readonly #kind: AudioFault
  #from: number | null = null

  constructor(kind: AudioFault) {
    this.#kind = kind
  }

  /** Returns null if it has begun already. */
  begin(from: number): AudioFinding | null {
    if (this.#from !== null) return null
    this.#from = from
    return { kind: this.#kind, from, until: null }
  }

  /** Returns null if it has not begun. */
  end(until: number): AudioFinding | null {
    if (this.#from === null) return null
    const finding = { kind: this.#kind, from: this.#from, until }
    this.#from = null
    return finding
  }
}
