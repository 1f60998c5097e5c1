/**
 * Builds a long response from chunks. A change of one level serializes, hashes and compresses one chunk.
 */

import { createHash } from 'node:crypto'
import { constants, crc32, deflateRawSync } from 'node:zlib'

export interface ResponseChunk {
  bytes: Buffer
  readonly digest: Buffer
  /** Deflate blocks without header and end, which can be concatenated. */
  deflated?: Buffer
}

export function toChunk(text: string): ResponseChunk {
  return digested(Buffer.from(text))
}

function digested(bytes: Buffer): ResponseChunk {
  return { bytes, digest: createHash('sha1').update(bytes).digest() }
}

/** Reuses the chunks whose items are the same objects as before. */
export interface Chunker<Item> {
  cut(items: readonly Item[]): readonly ResponseChunk[]
}

/** A change rebuilds little, and compression stays effective. */
const itemsPerChunk = 16
/** Unused chunks keep references to old items. */
const releaseAfterMs = 10_000

export function createChunker<Item>(write: (item: Item) => string): Chunker<Item> {
  let cached: readonly { readonly items: readonly Item[]; readonly chunk: ResponseChunk }[] = []
  const releaseTimer = setTimeout(() => {
    cached = []
  }, releaseAfterMs).unref()
  return {
    cut(items) {
      releaseTimer.refresh()
      const entries: { items: readonly Item[]; chunk: ResponseChunk }[] = []
      for (let offset = 0; offset < items.length; offset += itemsPerChunk) {
        const before = cached[entries.length]
        if (before !== undefined && isSame(before.items, items, offset)) entries.push(before)
        else {
          const slice = items.slice(offset, offset + itemsPerChunk)
          const bytes = Buffer.from(`${offset > 0 ? ',' : ''}${slice.map(write).join(',')}`)
          // New item objects may serialize to the same JSON.
          entries.push({ items: slice, chunk: before?.chunk.bytes.equals(bytes) ? before.chunk : digested(bytes) })
        }
      }
      cached = entries
      return entries.map(({ chunk }) => chunk)
    },
  }
}

function isSame<Item>(slice: readonly Item[], items: readonly Item[], start: number): boolean {
  if (slice.length !== Math.min(itemsPerChunk, items.length - start)) return false
  for (let index = 0; index < slice.length; index += 1) if (slice[index] !== items[start + index]) return false
  return true
}

/** The chunks become slices of the result, so that no byte is kept twice. */
export function joinChunks(chunks: readonly ResponseChunk[]): Buffer {
  const [only, ...others] = chunks
  if (only !== undefined && others.length === 0) return only.bytes
  const joined = Buffer.concat(chunks.map(({ bytes }) => bytes))
  let offset = 0
  for (const chunk of chunks) {
    const end = offset + chunk.bytes.length
    chunk.bytes = joined.subarray(offset, end)
    offset = end
  }
  return joined
}

export function digestOf(chunks: readonly ResponseChunk[]): string {
  const hash = createHash('sha1')
  for (const { digest } of chunks) hash.update(digest)
  return hash.digest('base64url')
}

const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
const deflateEnd = Buffer.from([3, 0])

/** One gzip member (RFC 1952) of the deflate blocks of all chunks (RFC 1951). */
export function gzipChunks(chunks: readonly ResponseChunk[]): Buffer {
  let checksum = 0
  let size = 0
  for (const { bytes } of chunks) {
    checksum = crc32(bytes, checksum)
    size += bytes.length
  }
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(checksum, 0)
  tail.writeUInt32LE(size % 2 ** 32, 4)
  return Buffer.concat([gzipHead, ...chunks.map(deflate), deflateEnd, tail])
}

function deflate(chunk: ResponseChunk): Buffer {
  chunk.deflated ??= deflateRawSync(chunk.bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH })
  return chunk.deflated
}
