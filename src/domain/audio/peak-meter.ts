import type { SampleFormat, StreamEncoding } from './audio-stream.ts'
import { copyChannel, fullScale } from './samples.ts'

/** dBFS of digital silence: one step of 24 bits below full scale, rounded. */
const silenceDb = -144
const bucketMs = 100
const buckets = 10

/** The peaks of all channels of a stream over the last second. */
export class PeakMeter {
  readonly #format: StreamEncoding | SampleFormat
  readonly #channels: number
  /** The highest magnitudes of each tenth of a second, channel by channel. */
  readonly #peaks: Float64Array
  #samples = new Int32Array(1)
  #bucket = 0

  constructor(format: StreamEncoding | SampleFormat, channels: number) {
    this.#format = format
    this.#channels = channels
    this.#peaks = new Float64Array(channels * buckets)
  }

  write(bytes: Uint8Array, frames: number, atMs: number): void {
    this.#advance(atMs)
    if (this.#samples.length !== frames) this.#samples = new Int32Array(frames)
    const row = (this.#bucket % buckets) * this.#channels
    for (let channel = 0; channel < this.#channels; channel++) {
      copyChannel[this.#format](bytes, channel, this.#channels, this.#samples, 0)
      let peak = this.#peaks[row + channel] as number
      for (let index = 0; index < frames; index++) {
        const magnitude = Math.abs(this.#samples[index] as number)
        if (magnitude > peak) peak = magnitude
      }
      this.#peaks[row + channel] = peak
    }
  }

  /** Returns the peak of each channel in dBFS, with one decimal. */
  levels(atMs: number): number[] {
    this.#advance(atMs)
    return Array.from({ length: this.#channels }, (_, channel) => {
      let peak = 0
      for (let bucket = 0; bucket < buckets; bucket++) {
        peak = Math.max(peak, this.#peaks[bucket * this.#channels + channel] as number)
      }
      return peak === 0 ? silenceDb : Math.max(silenceDb, Math.round(200 * Math.log10(peak / fullScale)) / 10)
    })
  }

  #advance(atMs: number): void {
    const bucket = Math.floor(atMs / bucketMs)
    if (bucket - this.#bucket >= buckets) this.#peaks.fill(0)
    else {
      for (let passed = this.#bucket + 1; passed <= bucket; passed++) {
        const row = (passed % buckets) * this.#channels
        this.#peaks.fill(0, row, row + this.#channels)
      }
    }
    this.#bucket = bucket
  }
}
