/** The last seconds of one channel, for evidence: PCM16 at 48 kHz, with the times and the losses of its blocks. */

import { blocksPerSecond, type SampleRange } from './ring.ts'

export const heldRate = 48_000
const blockFrames = heldRate / blocksPerSecond
const blockMs = 1000 / blocksPerSecond
/** 15 s before an event, and the time until it is stored: see docs/decisions/0032-held-sound.md. */
const blockCount = 20 * blocksPerSecond

export interface HeldAudio {
  /** Unix milliseconds of the first sample, with a fraction. */
  readonly from: number
  /** PCM16 at 48 kHz. Lost samples are 0. */
  readonly samples: Int16Array
  /** Ranges of samples that the network lost. */
  readonly lost: readonly SampleRange[]
}

interface HeldBlock {
  readonly at: number
  readonly lost: readonly SampleRange[]
}

export class HeldSound {
  readonly #samples = new Int16Array(blockCount * blockFrames)
  readonly #blocks: (HeldBlock | undefined)[] = []
  #count = 0

  /** Adds 20 ms. `lost` are ranges of samples at 48 kHz. */
  add(at: number, samples: Int16Array, lost: readonly SampleRange[]): void {
    const slot = this.#count % blockCount
    this.#samples.set(samples, slot * blockFrames)
    this.#blocks[slot] = { at, lost }
    this.#count++
  }

  discard(): void {
    this.#samples.fill(0)
    this.#blocks.length = 0
    this.#count = 0
  }

  /** Returns the part of this time that is held, in whole blocks; null if none of it is. Gaps between blocks are lost. */
  read(fromMs: number, toMs: number): HeldAudio | null {
    const held: { readonly slot: number; readonly block: HeldBlock }[] = []
    for (let index = Math.max(0, this.#count - blockCount); index < this.#count; index++) {
      const slot = index % blockCount
      const block = this.#blocks[slot]
      if (block !== undefined && block.at + blockMs > fromMs && block.at < toMs) held.push({ slot, block })
    }
    const [first] = held
    const last = held.at(-1)
    if (first === undefined || last === undefined) return null
    const from = first.block.at
    // Estimated times vary by fractions of a millisecond, so that a block starts where the previous one ends.
    const indexOf = ({ at }: HeldBlock) => Math.round((at - from) / blockMs) * blockFrames
    const samples = new Int16Array(indexOf(last.block) + blockFrames)
    const lost: SampleRange[] = []
    let end = 0
    for (const { slot, block } of held) {
      const start = Math.max(end, indexOf(block))
      if (start + blockFrames > samples.length) break
      if (start > end) lost.push({ from: end, to: start })
      samples.set(this.#samples.subarray(slot * blockFrames, (slot + 1) * blockFrames), start)
      for (const range of block.lost) lost.push({ from: start + range.from, to: start + range.to })
      end = start + blockFrames
    }
    return { from, samples: samples.subarray(0, end), lost: joinRanges(lost) }
  }
}

function joinRanges(ranges: readonly SampleRange[]): SampleRange[] {
  const joined: SampleRange[] = []
  for (const range of ranges) {
    const previous = joined.at(-1)
    if (previous !== undefined && previous.to === range.from)
      joined[joined.length - 1] = { from: previous.from, to: range.to }
    else joined.push(range)
  }
  return joined
}
