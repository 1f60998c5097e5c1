/** Reads the fields of a message in place, because splitting every meter message into strings costs more than reading it. */

import { highestByte } from './values.ts'

const space = 32
const zero = 48
const nine = 57

/** The fields of one message, separated by white space. An instance can be reused for any number of messages. */
export class Fields {
  #message = ''
  #starts: number[] = []
  #ends: number[] = []
  #count = 0

  /** Finds the fields of another message. */
  read(message: string): this {
    this.#message = message
    this.#count = 0
    for (let index = 0, isInside = false; index <= message.length; index += 1) {
      const isField = index < message.length && message.charCodeAt(index) > space
      if (isField && !isInside) this.#starts[this.#count] = index
      if (!isField && isInside) {
        this.#ends[this.#count] = index
        this.#count += 1
      }
      isInside = isField
    }
    return this
  }

  get count(): number {
    return this.#count
  }

  /** The text of a field; empty if there is no such field. */
  text(index: number): string {
    return index < this.#count ? this.#message.slice(this.#starts[index], this.#ends[index]) : ''
  }

  /** Whether the field has this text. */
  is(index: number, text: string): boolean {
    const start = this.#starts[index] ?? 0
    return index < this.#count && this.#ends[index] === start + text.length && this.#message.startsWith(text, start)
  }

  /** A field of up to eight digits in the range of `readByte`; null if it is anything else. */
  byte(index: number, max: number = highestByte): number | null {
    if (index >= this.#count) return null
    const start = this.#starts[index] ?? 0
    const end = this.#ends[index] ?? 0
    if (end - start > 8) return null
    let value = 0
    for (let position = start; position < end; position += 1) {
      const code = this.#message.charCodeAt(position)
      if (code < zero || code > nine) return null
      value = value * 10 + code - zero
    }
    return value > max ? null : value
  }

  /** The text from a field to the end of the last one. */
  textFrom(index: number): string {
    return index < this.#count ? this.#message.slice(this.#starts[index], this.#ends[this.#count - 1]) : ''
  }
}
