/** Plays kept sound. Nothing plays before a user asks for it, and each request of the sound is audited. */

import type { ClipBody } from '../../src/contract/clips.ts'
import { isRecord } from '../../src/domain/json.ts'

export interface ClipPlayback {
  /** The clip that is loaded or played. */
  readonly clipId: number | null
  readonly problem: string | null
}

const silent: ClipPlayback = { clipId: null, problem: null }

export class ClipPlayer {
  readonly #mount: string
  readonly #onTime: (at: number) => void
  readonly #listeners = new Set<() => void>()
  #playback = silent
  #context: AudioContext | null = null
  #stopping = new AbortController()

  /** `onTime` receives the time of the sound that is played, in epoch milliseconds. */
  constructor(mount: string, onTime: (at: number) => void) {
    this.#mount = mount
    this.#onTime = onTime
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (): ClipPlayback => this.#playback

  /** Plays from a time in the clip. Must be called by an event handler of a user's action. */
  async play(clip: ClipBody, at: number): Promise<void> {
    this.stop()
    const { signal } = this.#stopping
    this.#context ??= new AudioContext()
    const context = this.#context
    void context.resume()
    this.#update({ clipId: clip.id, problem: null })
    try {
      const response = await fetch(`${this.#mount}/api/audio/clips/${clip.id}/audio.wav`, { signal })
      if (!response.ok) throw new Error(await readError(response))
      const buffer = await context.decodeAudioData(await response.arrayBuffer())
      if (!signal.aborted) this.#start(context, buffer, Date.parse(clip.from), at)
    } catch (error) {
      if (!signal.aborted)
        this.#update({ clipId: null, problem: error instanceof Error ? error.message : String(error) })
    }
  }

  stop(): void {
    this.#stopping.abort()
    this.#stopping = new AbortController()
    if (this.#playback !== silent) this.#update(silent)
  }

  close(): void {
    this.stop()
    void this.#context?.close()
    this.#context = null
  }

  #start(context: AudioContext, buffer: AudioBuffer, from: number, at: number): void {
    const { signal } = this.#stopping
    const source = context.createBufferSource()
    source.buffer = buffer
    source.connect(context.destination)
    source.onended = () => {
      if (!signal.aborted) this.stop()
    }
    source.start(0, Math.max(0, at - from) / 1_000)
    const startedAt = context.currentTime
    const follow = () => {
      if (signal.aborted) return
      this.#onTime(at + (context.currentTime - startedAt) * 1_000)
      requestAnimationFrame(follow)
    }
    follow()
    signal.addEventListener('abort', () => source.disconnect())
  }

  #update(playback: ClipPlayback): void {
    this.#playback = playback
    for (const listener of this.#listeners) listener()
  }
}

async function readError(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null)
  return isRecord(body) ? String(body.error) : String(response.status)
}
