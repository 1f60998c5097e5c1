/** The thread that sends the sound of the demo's microphones. */

import type { Worker } from 'node:worker_threads'
import { callThread } from '../../src/platform/call-thread.ts'
import { startThread } from '../../src/platform/thread.ts'
import type { DemoMicrophone } from './demo-sound.ts'

export type SoundTask =
  | { readonly type: 'start'; readonly microphones: readonly DemoMicrophone[]; readonly startedAt: number }
  | { readonly type: 'read'; readonly microphone: number; readonly fromMs: number; readonly toMs: number }

export type SoundReply =
  | { readonly type: 'started'; readonly sdp: string }
  | { readonly type: 'samples'; readonly samples: Int16Array }

export class DemoVoices {
  /** The description of the stream, with one channel for each microphone. */
  readonly sdp: string
  readonly #thread: Worker
  readonly #startedAt: number

  private constructor(thread: Worker, startedAt: number, sdp: string) {
    this.#thread = thread
    this.#startedAt = startedAt
    this.sdp = sdp
  }

  /** Throws if UDP to this machine is not possible. */
  static async start(microphones: readonly DemoMicrophone[], startedAt: number): Promise<DemoVoices> {
    const thread = startThread(new URL('./demo-sound-worker.ts', import.meta.url))
    try {
      const reply = await call(thread, { type: 'start', microphones, startedAt })
      if (reply.type !== 'started') throw new Error('The thread of the voices did not start.')
      return new DemoVoices(thread, startedAt, reply.sdp)
    } catch (error) {
      await thread.terminate()
      throw error
    }
  }

  /** Returns what a microphone has sent between two times, in Unix milliseconds. */
  async read(microphone: number, from: number, to: number): Promise<Int16Array> {
    const [fromMs, toMs] = [from - this.#startedAt, to - this.#startedAt]
    const reply = await call(this.#thread, { type: 'read', microphone, fromMs, toMs })
    if (reply.type !== 'samples') throw new Error('The thread of the voices returned no samples.')
    return reply.samples
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}

async function call(thread: Worker, task: SoundTask): Promise<SoundReply> {
  return (await callThread(thread, task)) as SoundReply
}
