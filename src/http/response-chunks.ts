/**
 * A long answer, put together of pieces. One level changes, and all pieces but one are as they were: they are not
 * written, hashed or compressed again.
 */

import { createHash } from 'node:crypto'
import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface ResponseChunk {
  /** Its own, or a part of the last whole it went into. */
  bytes: Buffer
  readonly digest: Buffer
  /** Without a beginning or an end: it stands where the piece stands, in whatever company. */
  deflated?: Buffer
}

export function toChunk(text: string): ResponseChunk {
  return digested(Buffer.from(text))
}

function digested(bytes: Buffer): ResponseChunk {
  return { bytes, digest: createHash('sha1').update(bytes).digest() }
}

/** Cuts a list into pieces, and gives back those of which every item is still the same object. */
export interface Chunker<Item> {
  cut(items: readonly Item[]): readonly ResponseChunk[]
}

/** Small enough to be made again for one change, large enough to be worth compressing. */
const itemsAPiece = 16
/** What nobody has asked for so long is made anew when somebody does: it holds every item as it was. */
const forgetAfterMs = 10_000

/** `write` gives the JSON of an item. */
export function createChunker<Item>(write: (item: Item) => string): Chunker<Item> {
  let kept: readonly { readonly items: readonly Item[]; readonly piece: ResponseChunk }[] = []
  const forgetting = setTimeout(() => {
    kept = []
  }, forgetAfterMs).unref()
  return {
    cut(items) {
      forgetting.refresh()
      const cut: { items: readonly Item[]; piece: ResponseChunk }[] = []
      for (let at = 0; at < items.length; at += itemsAPiece) {
        const before = kept[cut.length]
        if (before !== undefined && isSame(before.items, items, at)) cut.push(before)
        else {
          const own = items.slice(at, at + itemsAPiece)
          const bytes = Buffer.from(`${at > 0 ? ',' : ''}${own.map(write).join(',')}`)
          // Other items may say the same.
          cut.push({ items: own, piece: before?.piece.bytes.equals(bytes) ? before.piece : digested(bytes) })
        }
      }
      kept = cut
      return cut.map(({ piece }) => piece)
    },
  }
}

function isSame<Item>(own: readonly Item[], items: readonly Item[], start: number): boolean {
  if (own.length !== Math.min(itemsAPiece, items.length - start)) return false
  for (let at = 0; at < own.length; at += 1) if (own[at] !== items[start + at]) return false
  return true
}

/** The whole; the pieces are parts of it from now on, so that nothing is kept twice. */
export function joinChunks(pieces: readonly ResponseChunk[]): Buffer {
  const [only, ...others] = pieces
  if (only !== undefined && others.length === 0) return only.bytes
  const whole = Buffer.concat(pieces.map(({ bytes }) => bytes))
  let at = 0
  for (const piece of pieces) {
    const end = at + piece.bytes.length
    piece.bytes = whole.subarray(at, end)
    at = end
  }
  return whole
}

export function digestOf(pieces: readonly ResponseChunk[]): string {
  const hash = createHash('sha1')
  for (const { digest } of pieces) hash.update(digest)
  return hash.digest('base64url')
}

const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
const deflateEnd = Buffer.from([3, 0])

/** One gzip member (RFC 1952): the pieces' own blocks one behind the other, as RFC 1951 allows. */
export function gzipChunks(pieces: readonly ResponseChunk[]): Buffer {
  let checksum = 0
  let size = 0
  for (const { bytes } of pieces) {
    checksum = crc32(bytes, checksum)
    size += bytes.length
  }
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(checksum, 0)
  tail.writeUInt32LE(size % 2 ** 32, 4)
  return Buffer.concat([gzipHead, ...pieces.map(deflate), deflateEnd, tail])
}

function deflate(piece: ResponseChunk): Buffer {
  piece.deflated ??= deflateRawSync(piece.bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH })
  return piece.deflated
}
