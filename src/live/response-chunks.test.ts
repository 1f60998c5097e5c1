import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { createChunker, digestOf, gzipChunks, joinChunks, toChunk } from './response-chunks.ts'

const items = Array.from({ length: 50 }, (_, id) => ({ id, name: `Größe ${id}` }))

test('joins and compresses any number of chunks to the same content', () => {
  for (const list of [[], items.slice(0, 1), items.slice(0, 16), items]) {
    const chunks = [toChunk('['), ...createChunker(JSON.stringify).cut(list), toChunk(']')]
    const joined = joinChunks(chunks)
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).equals(joined)).toBe(true)
    expect(JSON.parse(joined.toString())).toEqual(list)
    expect(gunzipSync(gzipChunks(chunks)).equals(joined)).toBe(true)
  }
})

test('rebuilds only the chunk of a changed item', () => {
  let written = 0
  const chunker = createChunker((item: object) => {
    written += 1
    return JSON.stringify(item)
  })
  const before = chunker.cut(items)
  const changed = items.map((item) => (item.id === 20 ? { ...item, name: 'other' } : item))
  const after = chunker.cut(changed)
  expect(after.map((chunk, index) => chunk === before[index])).toEqual([true, false, true, true])
  expect([written, digestOf(after) === digestOf(before)]).toEqual([66, false])
  expect(digestOf(chunker.cut(items))).toBe(digestOf(before))
  expect(
    chunker.cut(items.slice(0, 20)).map((chunk) => JSON.parse(`[${chunk.bytes.toString().replace(/^,/, '')}]`).length),
  ).toEqual([16, 4])
})

test('reuses a chunk for equal items, and releases it after 10 s without use', () => {
  vi.useFakeTimers()
  const chunker = createChunker(JSON.stringify)
  const [before] = chunker.cut(items)
  expect(chunker.cut(structuredClone(items))[0]).toBe(before)
  vi.advanceTimersByTime(9_000)
  const [reused] = chunker.cut(items)
  vi.advanceTimersByTime(9_000)
  expect(chunker.cut(items)[0]).toBe(reused)
  vi.advanceTimersByTime(10_000)
  expect(chunker.cut(items)[0]).not.toBe(reused)
  vi.useRealTimers()
})
