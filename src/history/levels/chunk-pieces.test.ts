import { expect, it } from 'vitest'
import { cutIntoPieces, joinPieces, type Piece } from './chunk-pieces.ts'
import type { Chunk } from './tables.ts'

const start = 1_777_658_400

const chunk = (group: number, length: number): Chunk => ({
  start,
  group,
  data: Uint8Array.from({ length }, (_, index) => (group * 31 + index * 7) % 251),
})

const chunks = [
  chunk(16, 20_000),
  chunk(17, 3),
  chunk(19, 8106),
  chunk(20, 8000),
  chunk(70_000, 300),
  chunk(70_001, 30_000),
]

const join = (pieces: readonly Piece[]) =>
  joinPieces(
    pieces.map(({ data }) => data),
    start,
  )

/** Compares the bytes, not the classes. */
const plain = (list: readonly Chunk[]) => list.map(({ data, ...rest }) => ({ ...rest, data: [...data] }))

it.each([0, 1, 300, 4000, 8168])('joins what was cut when %i bytes were free', (room) => {
  expect(plain(join(cutIntoPieces(chunks, room).pieces))).toEqual(plain(chunks))
})

it('joins the chunks of each group from the pieces that contain the group', () => {
  const { pieces } = cutIntoPieces(chunks, 5000)
  for (const wanted of chunks) {
    const { group } = wanted
    const some = pieces.filter(({ firstGroup, lastGroup }) => firstGroup <= group && lastGroup >= group)
    expect(some.length).toBeLessThan(pieces.length)
    expect(plain(join(some).filter((found) => found.group === group))).toEqual(plain([wanted]))
  }
})

it('fills pages, and begins with what is free in the first one', () => {
  const { pieces, room } = cutIntoPieces(chunks, 1004)
  const lengths = pieces.map(({ data }) => data.length)
  // The header of a row has 52 bytes, its address 4, and an empty page has room for 8168.
  expect(lengths.slice(0, -1)).toEqual([948, ...Array.from({ length: lengths.length - 2 }, () => 8108)])
  expect(room).toBe(8168 - 4 - Math.ceil((52 + (lengths.at(-1) ?? 0)) / 8) * 8)
})

it('cuts no chunks into no pieces', () => {
  expect(cutIntoPieces([], 100)).toEqual({ pieces: [], room: 100 })
  expect(joinPieces([], start)).toEqual([])
})
