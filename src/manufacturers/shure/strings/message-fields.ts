/**
 * Reads the fields of a message in place, because converting every meter message to strings costs more than reading it.
 */

const space = 32
const zero = 48
const nine = 57
const openAngle = 60
const closeAngle = 62
const openBrace = 123

/** The fields of one message, separated by white space. An instance can be reused for any number of messages. */
export class Fields {
  #bytes: Buffer = empty
  #starts: number[] = []
  #ends: number[] = []
  #count = 0

  static of(text: string): Fields {
    const fields = new Fields()
    const bytes = Buffer.from(text, 'latin1')
    fields.#find(bytes, 0, bytes.length)
    return fields
  }

  /**
   * Finds the fields of the first frame (`< … >`) at or after `offset`. Returns the offset after the frame, or -1 if
   * the frame is incomplete or contains text in braces.
   */
  readFrame(bytes: Buffer, offset: number): number {
    const end = this.#find(bytes, skipToFrame(bytes, offset) + 1, bytes.length)
    return bytes[end] === closeAngle ? end + 1 : -1
  }

  get count(): number {
    return this.#count
  }

  /** Returns an empty text for a missing field. */
  text(index: number): string {
    return index < this.#count ? this.#bytes.toString('latin1', this.#starts[index], this.#ends[index]) : ''
  }

  is(index: number, text: string): boolean {
    const start = this.#starts[index] ?? 0
    if (index >= this.#count || this.#ends[index] !== start + text.length) return false
    for (let position = 0; position < text.length; position += 1) {
      if (this.#bytes[start + position] !== text.charCodeAt(position)) return false
    }
    return true
  }

  /** Returns the characters of a field as one number, the last one in the low byte; null if there are more than two. */
  characters(index: number): number | null {
    if (index >= this.#count) return null
    const start = this.#starts[index] ?? 0
    const end = this.#ends[index] ?? 0
    if (end - start > 2) return null
    return end - start === 1 ? (this.#bytes[start] ?? 0) : pack(this.#bytes[start] ?? 0, this.#bytes[start + 1] ?? 0)
  }

  /** Returns the number in a field of up to eight digits; null for other content, or if the number exceeds `max`. */
  byte(index: number, max = 255): number | null {
    if (index >= this.#count) return null
    const start = this.#starts[index] ?? 0
    const end = this.#ends[index] ?? 0
    if (end - start > 8) return null
    let value = 0
    for (let position = start; position < end; position += 1) {
      const code = this.#bytes[position] ?? 0
      if (code < zero || code > nine) return null
      value = value * 10 + code - zero
    }
    return value > max ? null : value
  }

  /** Finds the fields up to `end` or to the first `<`, `>` or `{`. Returns the offset at which it stopped. */
  #find(bytes: Buffer, start: number, end: number): number {
    this.#bytes = bytes
    this.#count = 0
    let isInside = false
    let offset = start
    for (; offset < end; offset += 1) {
      const code = bytes[offset] ?? 0
      if (code === closeAngle || code === openAngle || code === openBrace) break
      if (code > space === isInside) continue
      if (isInside) {
        this.#ends[this.#count] = offset
        this.#count += 1
      } else this.#starts[this.#count] = offset
      isInside = !isInside
    }
    if (isInside) {
      this.#ends[this.#count] = offset
      this.#count += 1
    }
    return offset
  }
}

const empty = Buffer.alloc(0)

/** Combines two characters as `Fields.characters` does. */
export function pack(first: number, second: number): number {
  return first * 256 + second
}

/** Returns the offset of the next frame, or the length of the bytes. */
export function skipToFrame(bytes: Buffer, start: number): number {
  let offset = start
  while (offset < bytes.length && bytes[offset] !== openAngle) offset += 1
  return offset
}
