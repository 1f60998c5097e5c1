/**
 * An adaptive binary range coder, which codes each bit in as little space as its probability allows. It learns
 * probabilities from the bits before. The arithmetic is that of LZMA. The adaptation slows down with every bit, so that
 * short data is learned quickly and long data exactly.
 */

/** Codes bits in either direction, so that one function describes a format for writing and reading. */
export interface BitCoder {
  /** Codes a bit with the probability at `index`, and returns it. A decoder ignores `bit`. */
  code(index: number, bit: number): number
}

const certain = 1 << 16
/** The step of a probability towards the coded bit, by the number of bits before, as a fraction of `certain`. */
const rates = Uint32Array.from({ length: 128 }, (_, seen) => Math.round(certain / (seen + 1.5)))
const minRange = 2 ** 24

class BitProbabilities {
  /** Probability of a zero bit. */
  readonly zero: Uint16Array
  readonly seen: Uint8Array

  constructor(size: number) {
    this.zero = new Uint16Array(size).fill(certain / 2)
    this.seen = new Uint8Array(size)
  }

  /** Returns the part of `range` that stands for a zero bit. */
  split(index: number, range: number): number {
    const chance = (this.zero[index] as number) >>> 4
    return (range >>> 12) * (chance === 0 ? 1 : chance)
  }

  learn(index: number, bit: number): void {
    const seen = this.seen[index] as number
    const rate = rates[seen] as number
    const chance = this.zero[index] as number
    if (seen < rates.length - 1) this.seen[index] = seen + 1
    this.zero[index] =
      bit === 0
        ? Math.min(certain - 16, chance + (((certain - chance) * rate) >>> 16))
        : Math.max(16, chance - ((chance * rate) >>> 16))
  }
}

export class BitEncoder implements BitCoder {
  readonly #probabilities: BitProbabilities
  #bytes = new Uint8Array(4096)
  #length = 0
  #low = 0
  #range = 2 ** 32 - 1
  /** The last byte that a carry may still change, followed by `#pending - 1` bytes of 255. */
  #cache = 0
  #pending = 0

  constructor(probabilities: number) {
    this.#probabilities = new BitProbabilities(probabilities)
  }

  code(index: number, bit: number): number {
    const part = this.#probabilities.split(index, this.#range)
    if (bit === 0) this.#range = part
    else {
      this.#low += part
      this.#range -= part
    }
    this.#probabilities.learn(index, bit)
    while (this.#range < minRange) {
      this.#range *= 256
      this.#shift()
    }
    return bit
  }

  /** Omits zero bytes at the end; the decoder supplies them. */
  finish(): Uint8Array {
    for (let rest = 0; rest < 5; rest++) this.#shift()
    let { length } = this.#bytes.subarray(0, this.#length)
    while (length > 0 && this.#bytes[length - 1] === 0) length--
    return this.#bytes.slice(0, length)
  }

  #shift(): void {
    if (this.#low < 0xff_00_00_00 || this.#low >= 2 ** 32) {
      const carry = this.#low >= 2 ** 32 ? 1 : 0
      if (this.#pending > 0) this.#push(this.#cache + carry)
      for (; this.#pending > 1; this.#pending--) this.#push(255 + carry)
      this.#pending = 0
      this.#cache = (this.#low >>> 24) & 255
    }
    this.#pending++
    this.#low = (this.#low & 0xff_ff_ff) * 256
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes[this.#length++] = byte
  }
}

export class BitDecoder implements BitCoder {
  readonly #probabilities: BitProbabilities
  readonly #bytes: Uint8Array
  #at: number
  #range = 2 ** 32 - 1
  #code = 0

  constructor(probabilities: number, bytes: Uint8Array, start: number) {
    this.#probabilities = new BitProbabilities(probabilities)
    this.#bytes = bytes
    this.#at = start
    for (let byte = 0; byte < 4; byte++) this.#code = this.#code * 256 + this.#next()
  }

  code(index: number): number {
    const part = this.#probabilities.split(index, this.#range)
    const bit = this.#code < part ? 0 : 1
    if (bit === 0) this.#range = part
    else {
      this.#code -= part
      this.#range -= part
    }
    this.#probabilities.learn(index, bit)
    while (this.#range < minRange) {
      this.#range *= 256
      this.#code = this.#code * 256 + this.#next()
    }
    return bit
  }

  #next(): number {
    return this.#bytes[this.#at++] ?? 0
  }
}
