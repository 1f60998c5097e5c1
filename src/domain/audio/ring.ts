/** Puts the samples of a stream into order by their positions, and returns them in blocks of 20 ms. */

import type { SampleFormat, StreamEncoding } from './audio-stream.ts'
import { copyChannel } from './samples.ts'

/** Samples from `from` to before `to`. */
export interface SampleRange {
  readonly from: number
  readonly to: number
}

export interface SampleBlock {
  /** The position of the first sample. */
  readonly position: number
  /** True if the previous block does not end where this one begins. */
  readonly startsSegment: boolean
  /** Samples that did not arrive in time, relative to the block; they are 0. */
  readonly lost: readonly SampleRange[]
  /** 24 bits. A new array for each call. */
  samplesOf(channel: number): Int32Array
}

export const blocksPerSecond = 50
/** Longer gaps are left out: after them, a new segment starts. */
const maxGapSeconds = 0.1
/** Packets that overtake others within this time are put into order. */
const reorderSeconds = 0.005

export interface RingFormat {
  readonly format: StreamEncoding | SampleFormat
  /** A multiple of `blocksPerSecond`. */
  readonly rate: number
  readonly channels: number
}

export class SampleRing {
  readonly blockFrames: number
  readonly #format: RingFormat
  readonly #capacity: number
  /** One byte for each frame: 1 if it has arrived. */
  readonly #present: Uint8Array
  /** The channels that are read. */
  readonly #channels = new Map<number, Int32Array>()
  /** The position of the next block; null before the first packet. */
  #next: number | null = null
  #end = 0
  #longestPacket = 0
  #startsSegment = true

  constructor(format: RingFormat) {
    this.#format = format
    this.#capacity = format.rate
    this.#present = new Uint8Array(this.#capacity)
    this.blockFrames = format.rate / blocksPerSecond
  }

  /** Channels count from 0. */
  addChannel(channel: number): void {
    if (!this.#channels.has(channel)) this.#channels.set(channel, new Int32Array(this.#capacity))
  }

  removeChannel(channel: number): void {
    this.#channels.delete(channel)
  }

  /** Adds interleaved samples. Calls `onBlock` for every block that is then complete, or too late to become so. */
  write(position: number, bytes: Uint8Array, frames: number, onBlock: (block: SampleBlock) => void): void {
    if (frames > this.#capacity / 4) return
    this.#longestPacket = Math.max(this.#longestPacket, frames)
    if (this.#next === null) this.#start(position)
    else if (Math.abs(position - this.#end) > this.#format.rate * maxGapSeconds) this.startSegment(position, onBlock)
    const next = this.#next ?? position
    if (position < next) {
      if (position + frames <= next) return
      const skipped = next - position
      const bytesPerFrame = bytes.length / frames
      this.#place(next, bytes.subarray(skipped * bytesPerFrame), frames - skipped)
    } else this.#place(position, bytes, frames)
    this.#end = Math.max(this.#end, position + frames)
    const delay = Math.max(Math.round(this.#format.rate * reorderSeconds), 2 * this.#longestPacket)
    while (this.#end - (this.#next ?? 0) >= this.blockFrames + delay) onBlock(this.#take())
  }

  /** Completes the present segment, and starts one at this position. */
  startSegment(position: number, onBlock: (block: SampleBlock) => void): void {
    while (this.#next !== null && this.#end > this.#next) onBlock(this.#take())
    this.#start(position)
  }

  #start(position: number): void {
    this.#present.fill(0)
    this.#next = position
    this.#end = position
    this.#longestPacket = 0
    this.#startsSegment = true
  }

  #place(position: number, bytes: Uint8Array, frames: number): void {
    const { format, channels } = this.#format
    const at = position % this.#capacity
    const untilWrap = Math.min(frames, this.#capacity - at)
    this.#present.fill(1, at, at + untilWrap)
    this.#present.fill(1, 0, frames - untilWrap)
    for (const [channel, ring] of this.#channels) copyChannel[format](bytes, channel, channels, ring, at)
  }

  #take(): SampleBlock {
    const position = this.#next ?? 0
    const at = position % this.#capacity
    const lost = this.#findLost(at)
    const channels = new Map<number, Int32Array>()
    for (const [channel, ring] of this.#channels) channels.set(channel, this.#copy(ring, at, lost))
    const block: SampleBlock = {
      position,
      startsSegment: this.#startsSegment,
      lost,
      samplesOf: (channel) => channels.get(channel) ?? new Int32Array(this.blockFrames),
    }
    this.#startsSegment = false
    this.#next = position + this.blockFrames
    return block
  }

  /** Returns the missing ranges of the block, and clears it for the next second. */
  #findLost(at: number): SampleRange[] {
    const lost: SampleRange[] = []
    let from: number | null = null
    for (let offset = 0; offset < this.blockFrames; offset++) {
      const index = (at + offset) % this.#capacity
      if (this.#present[index] === 0) from ??= offset
      else if (from !== null) {
        lost.push({ from, to: offset })
        from = null
      }
      this.#present[index] = 0
    }
    if (from !== null) lost.push({ from, to: this.blockFrames })
    return lost
  }

  #copy(ring: Int32Array, at: number, lost: readonly SampleRange[]): Int32Array {
    // A second has whole blocks, but a segment may start anywhere.
    const samples = new Int32Array(this.blockFrames)
    const untilWrap = Math.min(this.blockFrames, this.#capacity - at)
    samples.set(ring.subarray(at, at + untilWrap))
    samples.set(ring.subarray(0, this.blockFrames - untilWrap), untilWrap)
    for (const { from, to } of lost) samples.fill(0, from, to)
    return samples
  }
}
