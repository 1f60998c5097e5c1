/** A growing byte buffer. */

export class ByteWriter {
  #buffer: Uint8Array
  #length = 0

  constructor(expectedLength = 1024) {
    this.#buffer = new Uint8Array(Math.max(16, expectedLength))
  }

  writeByte(byte: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = byte
  }

  write(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes a whole number from 0 to 2^53 - 1 in groups of seven bits, lowest first. */
  writeVarint(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.writeByte((rest % 0x80) | 0x80)
    this.writeByte(rest)
  }

  writeDouble(value: number): void {
    this.#reserve(8)
    new DataView(this.#buffer.buffer, this.#length).setFloat64(0, value, true)
    this.#length += 8
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = new Uint8Array(2 * (this.#length + count))
    larger.set(this.bytes())
    this.#buffer = larger
  }
}

/** Returns the number of bytes that `writeVarint` writes. */
export function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1
  return length
}
