/** What goes out over a WebSocket (RFC 6455), put together once for all who are sent it. */

import type { MessageBatch } from '../live/feed.ts'
import type { ChannelBody } from '../model/api.ts'
import { differOnlyInLevels, encodeRecords, isEncodable } from '../model/level-records.ts'
import type { BroadcastMessage, DeviceUpdate } from '../model/messages.ts'

/** The batch as frames, ready for the wire. */
export type FrameEncoder = (batch: MessageBatch) => Buffer

const wired = new WeakMap<MessageBatch, Buffer>()

/** As text frames: what a server sends is not masked, so it is the same for everybody. */
export const jsonEncoder: FrameEncoder = (batch) => {
  let bytes = wired.get(batch)
  if (bytes === undefined) {
    bytes = toFrames(batch.messages.map((message) => JSON.stringify(message)))
    wired.set(batch, bytes)
  }
  return bytes
}

/** The channels a receiver was last told whole with, by whomever: all that are the same but for their levels share them. */
type Pattern = readonly ChannelBody[]

/** A message, and how it can be said. */
interface Saying {
  readonly message: BroadcastMessage
  /** Of an update. */
  readonly about: { readonly receiverId: number; readonly pattern: Pattern } | null
  /** To whoever was told its pattern. */
  readonly fitsRecord: boolean
  text?: string
}

interface Said {
  readonly sayings: readonly Saying[]
  /** For those who were told all of its patterns. */
  bytes?: Buffer
}

/**
 * In the subprotocol of model/level-records.ts; call the answer once for every connection. Those who keep up are sent the
 * same bytes, and whoever was not told yet what a record rests on is told it whole.
 */
export function createLevelsEncoder(): () => FrameEncoder {
  const patterns = new Map<number, Pattern>()
  const said = new WeakMap<MessageBatch, Said>()

  function say(batch: MessageBatch): Said {
    const known = said.get(batch) ?? { sayings: batch.messages.map(toSaying) }
    said.set(batch, known)
    return known
  }

  function toSaying(message: BroadcastMessage): Saying {
    if (message.type !== 'device_update') return { message, about: null, fitsRecord: false }
    const about = { receiverId: message.receiver_id, pattern: patternOf(message) }
    return { message, about, fitsRecord: isEncodable(message) }
  }

  function patternOf({ receiver_id, data }: DeviceUpdate): Pattern {
    const known = patterns.get(receiver_id)
    if (known !== undefined && differOnlyInLevels(known, data.channels)) return known
    patterns.set(receiver_id, data.channels)
    return data.channels
  }

  return () => {
    const told = new Map<number, Pattern>()
    const isTold = ({ about }: Saying) => about === null || told.get(about.receiverId) === about.pattern
    return (batch) => {
      const all = say(batch)
      if (all.sayings.every(isTold)) {
        all.bytes ??= toFrames(contents(all.sayings, () => true))
        return all.bytes
      }
      const wasTold = all.sayings.map((saying) => {
        const was = isTold(saying)
        if (saying.about !== null) told.set(saying.about.receiverId, saying.about.pattern)
        return was
      })
      return toFrames(contents(all.sayings, (nth) => wasTold[nth] === true))
    }
  }
}

/** What the frames hold, in order; records that follow each other share one. */
function contents(sayings: readonly Saying[], wasTold: (nth: number) => boolean): (string | Uint8Array)[] {
  const frames: (string | Uint8Array)[] = []
  let records: DeviceUpdate[] = []
  const close = () => {
    if (records.length > 0) frames.push(encodeRecords(records))
    records = []
  }
  for (const [nth, saying] of sayings.entries()) {
    const { message } = saying
    if (message.type === 'device_update' && saying.fitsRecord && wasTold(nth)) records.push(message)
    else {
      close()
      saying.text ??= JSON.stringify(message)
      frames.push(saying.text)
    }
  }
  close()
  return frames
}

const finalText = 0x81
const finalBinary = 0x82

function toFrames(contents: readonly (string | Uint8Array)[]): Buffer {
  const sizes = contents.map((content) => (typeof content === 'string' ? Buffer.byteLength(content) : content.length))
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headSize(size) + size, 0))
  let at = 0
  for (const [nth, content] of contents.entries()) {
    at = writeHead(bytes, at, typeof content === 'string' ? finalText : finalBinary, sizes[nth] ?? 0)
    if (typeof content === 'string') at += bytes.write(content, at)
    else {
      bytes.set(content, at)
      at += content.length
    }
  }
  return bytes
}

function headSize(size: number): number {
  if (size < 126) return 2
  return size < 2 ** 16 ? 4 : 10
}

function writeHead(bytes: Buffer, start: number, kind: number, size: number): number {
  const at = bytes.writeUInt8(kind, start)
  if (size < 126) return bytes.writeUInt8(size, at)
  if (size < 2 ** 16) return bytes.writeUInt16BE(size, bytes.writeUInt8(126, at))
  return bytes.writeBigUInt64BE(BigInt(size), bytes.writeUInt8(127, at))
}
