/** Runs the playout in the audio thread. The file contains everything that it needs. */

import { PlayoutBuffer } from './playout.ts'

/** The names of the scope of audio worklets, which the types of the browser do not include. */
declare const sampleRate: number
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(
  name: string,
  processor: new (options: { processorOptions: { readonly rate: number } }) => AudioWorkletProcessor,
): void

const statusEverySeconds = 0.1

class PlayoutProcessor extends AudioWorkletProcessor {
  readonly #buffer: PlayoutBuffer
  #samplesSinceStatus = 0
  #isStopped = false

  constructor({ processorOptions }: { processorOptions: { readonly rate: number } }) {
    super()
    this.#buffer = new PlayoutBuffer(processorOptions.rate, sampleRate)
    this.port.onmessage = ({ data }) => {
      if (data === 'stop') this.#isStopped = true
      else this.#buffer.write(data.sequence, data.frame)
    }
  }

  process(_inputs: unknown, [channels]: readonly Float32Array[][]): boolean {
    const output = channels?.[0]
    if (output === undefined) return !this.#isStopped
    this.#buffer.read(output)
    this.#samplesSinceStatus += output.length
    if (this.#samplesSinceStatus >= statusEverySeconds * sampleRate) {
      this.#samplesSinceStatus = 0
      this.port.postMessage(this.#buffer.takeStatus())
    }
    return !this.#isStopped
  }
}

registerProcessor('playout', PlayoutProcessor)
