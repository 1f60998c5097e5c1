/**
 * The message in which one process sends levels to others: for each receiver, the time of its last report and all levels
 * of its channels. A channel with ten levels takes 24 bytes.
 *
 * The message consists of the format's version (1 byte), the length of the sender's id (1 byte), the id, and the
 * receivers. A receiver consists of its id (6 bytes), the time in epoch ms (6 bytes), the number of its channels
 * (2 bytes), and the channels. A channel consists of its number (2 bytes), a bit mask of the columns that follow
 * (2 bytes), and their values (2 bytes each). All numbers are big-endian.
 */

import { type EncodedLevels, encodedCount, noLevel } from './level-store.ts'

/** The levels of one receiver. */
export interface FramedLevels {
  readonly receiverId: number
  /** When its last report arrived, in epoch ms. */
  readonly lastSeen: number
  readonly channels: readonly EncodedLevels[]
}

export interface LevelFrame {
  /** The process that sent it. */
  readonly owner: string
  readonly receivers: readonly FramedLevels[]
}

/** Must be increased if the columns or their order change, so that messages of other versions are ignored. */
const version = 1
const receiverBytes = 6 + 6 + 2
const channelBytes = 2 + 2

export function encodeFrame({ owner, receivers }: LevelFrame): Buffer {
  const maxBytes = receivers.reduce(
    (sum, { channels }) => sum + receiverBytes + channels.length * (channelBytes + 2 * encodedCount),
    2 + owner.length,
  )
  const frame = Buffer.alloc(maxBytes)
  frame[0] = version
  frame[1] = owner.length
  let offset = 2 + frame.write(owner, 2, 'latin1')
  for (const { receiverId, lastSeen, channels } of receivers) {
    offset = frame.writeUIntBE(receiverId, offset, 6)
    offset = frame.writeUIntBE(lastSeen, offset, 6)
    offset = frame.writeUInt16BE(channels.length, offset)
    for (const channel of channels) offset = writeChannel(frame, channel, offset)
  }
  return frame.subarray(0, offset)
}

/** Returns the offset after the channel. */
function writeChannel(frame: Buffer, { channel, values }: EncodedLevels, start: number): number {
  const maskAt = frame.writeUInt16BE(channel, start)
  let offset = maskAt + 2
  let mask = 0
  for (const [column, value] of values.entries()) {
    if (value === noLevel) continue
    mask |= 1 << column
    offset = frame.writeInt16BE(value, offset)
  }
  frame.writeUInt16BE(mask, maskAt)
  return offset
}

/** Returns null if the message has a different format, because other programs may use the same Redis server. */
export function decodeFrame(message: Buffer): LevelFrame | null {
  if (message[0] !== version) return null
  try {
    const reader = new FrameReader(message)
    const owner = reader.text(reader.number(1))
    const receivers: FramedLevels[] = []
    while (!reader.isAtEnd) receivers.push(readReceiver(reader))
    return { owner, receivers }
  } catch (error) {
    // The message ends too early.
    if (error instanceof RangeError) return null
    throw error
  }
}

function readReceiver(reader: FrameReader): FramedLevels {
  const receiverId = reader.number(6)
  const lastSeen = reader.number(6)
  const channels = Array.from({ length: reader.number(2) }, () => readChannel(reader))
  return { receiverId, lastSeen, channels }
}

function readChannel(reader: FrameReader): EncodedLevels {
  const channel = reader.number(2)
  const mask = reader.number(2)
  const values = new Int16Array(encodedCount).fill(noLevel)
  for (let column = 0; column < encodedCount; column += 1) {
    if ((mask & (1 << column)) !== 0) values[column] = reader.value()
  }
  return { channel, values }
}

/** Throws a RangeError at the end of the message. */
class FrameReader {
  readonly #message: Buffer
  #offset = 1

  constructor(message: Buffer) {
    this.#message = message
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#message.length
  }

  number(bytes: number): number {
    const value = this.#message.readUIntBE(this.#offset, bytes)
    this.#offset += bytes
    return value
  }

  value(): number {
    const value = this.#message.readInt16BE(this.#offset)
    this.#offset += 2
    return value
  }

  text(length: number): string {
    if (this.#offset + length > this.#message.length) throw new RangeError('The message ends too early.')
    const text = this.#message.toString('latin1', this.#offset, this.#offset + length)
    this.#offset += length
    return text
  }
}
