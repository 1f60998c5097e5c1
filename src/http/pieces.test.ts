import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { createChunker, digestOf, gzipChunks, joinChunks, toChunk } from './response-chunks.ts'

const items = Array.from({ length: 50 }, (_, id) => ({ id, name: `Größe ${id}` }))

test('the pieces are the whole, compressed or not, and however many there are', () => {
  for (const some of [[], items.slice(0, 1), items.slice(0, 16), items]) {
    const pieces = [toChunk('['), ...createChunker(JSON.stringify).cut(some), toChunk(']')]
    const whole = joinChunks(pieces)
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(whole)).toBe(true)
    expect(JSON.parse(whole.toString())).toEqual(some)
    expect(gunzipSync(gzipChunks(pieces)).equals(whole)).toBe(true)
  }
})

test('one item changes, and one piece with it', () => {
  let written = 0
  const cutter = createChunker((item: object) => {
    written += 1
    return JSON.stringify(item)
  })
  const before = cutter.cut(items)
  const changed = items.map((item) => (item.id === 20 ? { ...item, name: 'other' } : item))
  const after = cutter.cut(changed)
  expect(after.map((piece, at) => piece === before[at])).toEqual([true, false, true, true])
  expect([written, digestOf(after) === digestOf(before)]).toEqual([66, false])
  expect(digestOf(cutter.cut(items))).toBe(digestOf(before))
  expect(
    cutter.cut(items.slice(0, 20)).map((piece) => JSON.parse(`[${piece.bytes.toString().replace(/^,/, '')}]`).length),
  ).toEqual([16, 4])
})

test('other items that say the same leave the piece as it was, and what nobody asks for is forgotten', () => {
  vi.useFakeTimers()
  const cutter = createChunker(JSON.stringify)
  const [before] = cutter.cut(items)
  expect(cutter.cut(structuredClone(items))[0]).toBe(before)
  vi.advanceTimersByTime(9_000)
  const [asked] = cutter.cut(items)
  vi.advanceTimersByTime(9_000)
  expect(cutter.cut(items)[0]).toBe(asked)
  vi.advanceTimersByTime(10_000)
  expect(cutter.cut(items)[0]).not.toBe(asked)
  vi.useRealTimers()
})
