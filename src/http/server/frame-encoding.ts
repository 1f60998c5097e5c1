/** Encodes WebSocket frames (RFC 6455) once for all clients that receive the same batch. */

import type { ChannelBody } from '../../contract/live.ts'
import { differOnlyInLevels, encodeRecords, isEncodable } from '../../domain/levels/level-records.ts'
import type { BroadcastMessage, DeviceUpdate } from '../../domain/messages.ts'
import type { MessageBatch } from '../../state/feed.ts'

/** Encodes a batch as frames that can be written to the socket. */
export type FrameEncoder = (batch: MessageBatch) => Buffer

const encoded = new WeakMap<MessageBatch, Buffer>()

/**
 * Encodes a batch as text frames. WebSocket frames from a server are not masked, so they are the same for every client.
 */
export const jsonEncoder: FrameEncoder = (batch) => {
  let bytes = encoded.get(batch)
  if (bytes === undefined) {
    bytes = toFrames(batch.messages.map((message) => JSON.stringify(message)))
    encoded.set(batch, bytes)
  }
  return bytes
}

/** The channels in the last full update of a receiver. Updates that differ only in levels share the same pattern. */
type Pattern = readonly ChannelBody[]

/** A message with the ways it can be encoded. */
interface EncodableMessage {
  readonly message: BroadcastMessage
  /** Null unless the message is a device update. */
  readonly update: { readonly receiverId: number; readonly pattern: Pattern } | null
  /** Whether the message can be sent as a record to clients that have its pattern. */
  readonly isEncodable: boolean
  text?: string
}

interface EncodableBatch {
  readonly entries: readonly EncodableMessage[]
  /** The encoding for clients that have the patterns of all entries. */
  bytes?: Buffer
}

/**
 * Creates encoders for the subprotocol in domain/levels/level-records.ts; call the returned function once per connection.
 * Clients that are up to date share the same bytes. A client that has not received the pattern of a record is sent the
 * full update instead.
 */
export function createLevelsEncoder(): () => FrameEncoder {
  const patterns = new Map<number, Pattern>()
  const preparedBatches = new WeakMap<MessageBatch, EncodableBatch>()

  function prepare(batch: MessageBatch): EncodableBatch {
    const known = preparedBatches.get(batch) ?? { entries: batch.messages.map(toEncodable) }
    preparedBatches.set(batch, known)
    return known
  }

  function toEncodable(message: BroadcastMessage): EncodableMessage {
    if (message.type !== 'device_update') return { message, update: null, isEncodable: false }
    const update = { receiverId: message.receiver_id, pattern: patternOf(message) }
    return { message, update, isEncodable: isEncodable(message) }
  }

  function patternOf({ receiver_id, data }: DeviceUpdate): Pattern {
    const known = patterns.get(receiver_id)
    if (known !== undefined && differOnlyInLevels(known, data.channels)) return known
    patterns.set(receiver_id, data.channels)
    return data.channels
  }

  return () => {
    const sentPatterns = new Map<number, Pattern>()
    const hasPattern = ({ update }: EncodableMessage) =>
      update === null || sentPatterns.get(update.receiverId) === update.pattern
    return (batch) => {
      const prepared = prepare(batch)
      if (prepared.entries.every(hasPattern)) {
        prepared.bytes ??= toFrames(contents(prepared.entries, () => true))
        return prepared.bytes
      }
      const hadPattern = prepared.entries.map((entry) => {
        const had = hasPattern(entry)
        if (entry.update !== null) sentPatterns.set(entry.update.receiverId, entry.update.pattern)
        return had
      })
      return toFrames(contents(prepared.entries, (index) => hadPattern[index] === true))
    }
  }
}

/** Returns the contents of the frames in order; consecutive records share one frame. */
function contents(
  entries: readonly EncodableMessage[],
  hadPattern: (index: number) => boolean,
): (string | Uint8Array)[] {
  const frames: (string | Uint8Array)[] = []
  let records: DeviceUpdate[] = []
  const flushRecords = () => {
    if (records.length > 0) frames.push(encodeRecords(records))
    records = []
  }
  for (const [index, entry] of entries.entries()) {
    const { message } = entry
    if (message.type === 'device_update' && entry.isEncodable && hadPattern(index)) records.push(message)
    else {
      flushRecords()
      entry.text ??= JSON.stringify(message)
      frames.push(entry.text)
    }
  }
  flushRecords()
  return frames
}

const finalText = 0x81
const finalBinary = 0x82

function toFrames(contents: readonly (string | Uint8Array)[]): Buffer {
  const sizes = contents.map((content) => (typeof content === 'string' ? Buffer.byteLength(content) : content.length))
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headSize(size) + size, 0))
  let offset = 0
  for (const [index, content] of contents.entries()) {
    offset = writeHead(bytes, offset, typeof content === 'string' ? finalText : finalBinary, sizes[index] ?? 0)
    if (typeof content === 'string') offset += bytes.write(content, offset)
    else {
      bytes.set(content, offset)
      offset += content.length
    }
  }
  return bytes
}

function headSize(size: number): number {
  if (size < 126) return 2
  return size < 2 ** 16 ? 4 : 10
}

function writeHead(bytes: Buffer, start: number, kind: number, size: number): number {
  const offset = bytes.writeUInt8(kind, start)
  if (size < 126) return bytes.writeUInt8(size, offset)
  if (size < 2 ** 16) return bytes.writeUInt16BE(size, bytes.writeUInt8(126, offset))
  return bytes.writeBigUInt64BE(BigInt(size), bytes.writeUInt8(127, offset))
}
