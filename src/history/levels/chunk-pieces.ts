/**
 * Joins the chunks of a part of the channels into one sequence of bytes, and cuts it into pieces that fill the pages of
 * PostgreSQL. Long values that PostgreSQL divides itself need about 6% more space than their data.
 */

import type { Chunk } from './tables.ts'

/** Bytes of a sequence, and the groups whose chunks they contain, even if only in part. */
export interface Piece {
  readonly firstGroup: number
  readonly lastGroup: number
  /** Begins with the offset of the first chunk that begins in the piece, in two bytes. */
  readonly data: Buffer
}

/** Bytes for rows in an empty page of 8 kB. */
const pageRoom = 8168
/** Bytes of a row without its data: its address in the page, and its header with the other columns. */
const rowAddress = 4
const rowHeader = 52
/** Rows begin at multiples of this. */
const rowUnit = 8
/** A shorter piece is not begun, because each needs an entry in the index. */
const minPieceBytes = 200
const offsetBytes = 2
/** The group and the length of a chunk, before its data. */
const chunkHeader = 8

/**
 * Returns the pieces in the order in which they must be written. The chunks are in the order of their groups. `room` is
 * the free space in the page of the previous row, and afterwards in that of the last piece. If it is wrong, pages are
 * filled less.
 */
export function cutIntoPieces(chunks: readonly Chunk[], room: number): { pieces: Piece[]; room: number } {
  const parts: Uint8Array[] = []
  const places: { group: number; from: number; to: number }[] = []
  let total = 0
  for (const { group, data } of chunks) {
    const header = Buffer.alloc(chunkHeader)
    header.writeUInt32BE(group, 0)
    header.writeUInt32BE(data.length, 4)
    parts.push(header, data)
    const from = total
    total += header.length + data.length
    places.push({ group, from, to: total })
  }
  const bytes = Buffer.concat(parts)
  const pieces: Piece[] = []
  let free = room
  for (let from = 0; from < total; ) {
    if (roomForData(free) < Math.min(total - from, minPieceBytes)) free = pageRoom
    const to = Math.min(total, from + roomForData(free))
    const contained = places.filter((place) => place.from < to && place.to > from)
    const begun = contained.find((place) => place.from >= from)?.from ?? to
    const offset = Buffer.alloc(offsetBytes)
    offset.writeUInt16BE(begun - from)
    const data = Buffer.concat([offset, bytes.subarray(from, to)])
    const groups = contained.map(({ group }) => group)
    pieces.push({ firstGroup: Math.min(...groups), lastGroup: Math.max(...groups), data })
    free -= rowAddress + Math.ceil((rowHeader + data.length) / rowUnit) * rowUnit
    from = to
  }
  return { pieces, room: free }
}

/** Returns how many bytes of a sequence a row may contain that has to fit into `free` bytes. */
function roomForData(free: number): number {
  return Math.floor((free - rowAddress) / rowUnit) * rowUnit - rowHeader - offsetBytes
}

/** Returns the chunks that are complete in consecutive pieces of one sequence. */
export function joinPieces(pieces: readonly Uint8Array[], start: number): Chunk[] {
  const [first] = pieces
  if (first === undefined) return []
  const bytes = Buffer.concat(pieces.map((data) => data.subarray(offsetBytes)))
  const chunks: Chunk[] = []
  for (let at = Buffer.from(first).readUInt16BE(); at + chunkHeader <= bytes.length; ) {
    const end = at + chunkHeader + bytes.readUInt32BE(at + 4)
    if (end > bytes.length) break
    chunks.push({ start, group: bytes.readUInt32BE(at), data: bytes.subarray(at + chunkHeader, end) })
    at = end
  }
  return chunks
}
