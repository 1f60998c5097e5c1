/** What goes out over a WebSocket (RFC 6455), put together once for all who are sent it. */

import type { Batch } from '../live/feed.ts'

const finalText = 0x81

const wired = new WeakMap<Batch, Buffer>()

/** The batch as text frames, ready for the wire: what a server sends is not masked, so it is the same for everybody. */
export function toWire(batch: Batch): Buffer {
  let bytes = wired.get(batch)
  if (bytes === undefined) {
    bytes = toFrames(batch.messages.map((message) => JSON.stringify(message)))
    wired.set(batch, bytes)
  }
  return bytes
}

function toFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headSize(size) + size, 0))
  let at = 0
  for (const [nth, text] of texts.entries()) {
    at = writeHead(bytes, at, sizes[nth] ?? 0)
    at += bytes.write(text, at)
  }
  return bytes
}

function headSize(size: number): number {
  if (size < 126) return 2
  return size < 2 ** 16 ? 4 : 10
}

function writeHead(bytes: Buffer, start: number, size: number): number {
  const at = bytes.writeUInt8(finalText, start)
  if (size < 126) return bytes.writeUInt8(size, at)
  if (size < 2 ** 16) return bytes.writeUInt16BE(size, bytes.writeUInt8(126, at))
  return bytes.writeBigUInt64BE(BigInt(size), bytes.writeUInt8(127, at))
}
