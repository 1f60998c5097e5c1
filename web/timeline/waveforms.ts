/** The waveforms of clips, each loaded when it is drawn first. */

import type { ClipWaveform } from '../../src/contract/clips.ts'
import type { Api } from '../app/api.ts'

export class Waveforms {
  readonly #api: Api
  readonly #onLoad: () => void
  /** Null until it is loaded. */
  readonly #known = new Map<number, ClipWaveform | null>()

  constructor(api: Api, onLoad: () => void) {
    this.#api = api
    this.#onLoad = onLoad
  }

  find(clipId: number): ClipWaveform | null {
    const known = this.#known.get(clipId)
    if (known !== undefined) return known
    this.#known.set(clipId, null)
    void this.#load(clipId)
    return null
  }

  async #load(clipId: number): Promise<void> {
    const response = await this.#api.read(`/api/audio/clips/${clipId}/waveform/`, 'object')
    if (!response.ok) return
    this.#known.set(clipId, response.body)
    this.#onLoad()
  }
}
