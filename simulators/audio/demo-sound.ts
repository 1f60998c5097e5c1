/**
 * The sound of the demo's microphones as a function of the time: a synthesised voice that repeats, silent while the
 * simulated receiver mutes the channel. Live sound and clips of the day before are therefore the same.
 */

import { batteryAt } from '../show/battery.ts'
import type { ChannelSetup } from '../show/cast.ts'
import { type ChannelDay, findPeriod } from '../show/day.ts'
import { isSquelched } from '../show/levels.ts'
import { demoVoices, synthesizeVoice } from './voices.ts'

/** One of the channels whose sound is sent. */
export interface DemoMicrophone {
  readonly manufacturer: string
  /** The ids under which the receiver may be reported. */
  readonly reportedIds: readonly string[]
  readonly setup: ChannelSetup
  readonly day: ChannelDay
}

const samplesPerMs = 48
/** RF is evaluated this often. */
const blockSamples = 4 * samplesPerMs

export class DemoSound {
  readonly #microphones: readonly DemoMicrophone[]
  readonly #voices: readonly Float32Array[]
  /** The number and the state of the last block of each microphone. */
  readonly #blocks: { number: number; isSilent: boolean }[]

  constructor(microphones: readonly DemoMicrophone[]) {
    this.#microphones = microphones
    this.#voices = demoVoices.slice(0, microphones.length).map(synthesizeVoice)
    this.#blocks = microphones.map(() => ({ number: Number.NaN, isSilent: false }))
  }

  /** Returns a sample from -1 to 1. `position` is in samples since the start of the show, negative before it. */
  sampleAt(microphone: number, position: number): number {
    const voice = this.#voices[microphone] as Float32Array
    if (this.#isSilent(microphone, Math.floor(position / blockSamples))) return 0
    const index = position % voice.length
    return voice[index < 0 ? index + voice.length : index] as number
  }

  /** Times are milliseconds since the start of the show. */
  read(microphone: number, fromMs: number, toMs: number): Int16Array<ArrayBuffer> {
    const from = Math.round(fromMs * samplesPerMs)
    return Int16Array.from({ length: Math.round(toMs * samplesPerMs) - from }, (_, index) =>
      Math.round(32_767 * this.sampleAt(microphone, from + index)),
    )
  }

  #isSilent(microphone: number, number: number): boolean {
    const block = this.#blocks[microphone] as { number: number; isSilent: boolean }
    if (block.number !== number) {
      block.number = number
      block.isSilent = isSilentAt(
        this.#microphones[microphone] as DemoMicrophone,
        (number * blockSamples) / samplesPerMs,
      )
    }
    return block.isSilent
  }
}

function isSilentAt({ setup: { seed, pack }, day }: DemoMicrophone, elapsedMs: number): boolean {
  const isOn = elapsedMs < 0 ? findPeriod(day.on, elapsedMs) !== undefined : pack && batteryAt(pack, elapsedMs) !== null
  return !isOn || isSquelched(seed, elapsedMs) || findPeriod(day.muted, elapsedMs) !== undefined
}
