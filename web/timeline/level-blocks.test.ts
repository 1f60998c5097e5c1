/** The blocks of recorded levels in the browser, and which of them are requested. */

import { describe, expect, it } from 'vitest'
import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import { noValue } from '../../src/domain/history/columns.ts'
import { type BlockKey, blocksIn, createBlockCache, readBlocks, settleSeconds, tierFor } from './level-blocks.ts'
import { planRequests } from './level-plan.ts'
import { presets } from './range.ts'

/** A whole multiple of a week, so that blocks of every tier begin here. */
const start = 2_900 * 604_800
const later = (start + 10 * 604_800) * 1_000

/** A response in which every step has the same values. */
function response(from: number, step: number, count: number, ids: readonly number[], letter = '1'): HistoryLevelsBody {
  const list = <Value>(value: Value) => Array.from({ length: count }, () => value)
  const iso = (seconds: number) => new Date(seconds * 1_000).toISOString()
  const channels = ids.map((id) => ({
    ...{ id, state: letter.repeat(count), rf: { min: list(-70), max: list(-60) }, weak_ms: list(0) },
    ...{ audio: { max: list(null), last: list(null) }, battery: { last: list(80) } },
  }))
  return { from: iso(from), to: iso(from + step * count), step_seconds: step, channels }
}

function blockOf(from: number, step: number, count: number, now = later, letter = '1') {
  const block = readBlocks(response(from, step, count, [7], letter), now).get(7)
  if (block === undefined) throw new Error('The response contains channel 7.')
  return block
}

describe('tierFor', () => {
  it('selects a tier for every preset with at most two steps per pixel, and at least one step per 10 pixels', () => {
    for (const width of [360, 1_000, 2_400]) {
      for (const span of presets) {
        const perPixel = span / width / (tierFor(span / width) * 1_000)
        expect(perPixel).toBeLessThanOrEqual(2)
        if (tierFor(span / width) > 1) expect(perPixel).toBeGreaterThan(0.1)
      }
    }
  })
})

it('covers a range with blocks that begin at fixed times', () => {
  const keys = blocksIn(1, (start + 599) * 1_000, (start + 1_201) * 1_000)
  expect(keys.map(({ from, to }) => [from - start, to - start])).toEqual([
    [0, 600],
    [600, 1_200],
    [1_200, 1_800],
  ])
})

it('reads a response into blocks, and extends a block by a later response', () => {
  const key: BlockKey = { step: 1, from: start, to: start + 600 }
  const cache = createBlockCache()
  cache.put(7, key, blockOf(start, 1, 100, (start + 100) * 1_000))
  expect(cache.get(7, key)).toMatchObject({ count: 100, until: start + 100 - settleSeconds })
  cache.put(7, key, blockOf(start + 88, 1, 40, (start + 128) * 1_000, 'x'))
  const block = cache.get(7, key)
  expect(block?.count).toBe(128)
  expect([...(block?.state ?? [])].slice(86, 90)).toEqual([4, 4, 1, 1])
  expect([block?.rfMin[127], block?.audioMax[0], block?.battery[3]]).toEqual([-70, noValue, 80])
})

describe('the cache', () => {
  it('draws a coarser tier until the finer one is there, and says where nothing is known', () => {
    const cache = createBlockCache()
    expect(cache.find(7, 1, start + 5).block).toBeNull()
    cache.put(7, { step: 60, from: start, to: start + 21_600 }, blockOf(start, 60, 360))
    expect(cache.find(7, 1, start + 5)).toMatchObject({ block: { step: 60 }, until: start + 600 })
    cache.put(7, { step: 1, from: start, to: start + 600 }, blockOf(start, 1, 600))
    expect(cache.find(7, 1, start + 5)).toMatchObject({ block: { step: 1 }, until: start + 600 })
    expect(cache.find(7, 1, start + 601)).toMatchObject({ block: { step: 60 } })
    // A coarser view uses the finer steps where it has nothing better.
    expect(cache.find(7, 600, start + 5).block?.step).toBe(60)
  })

  it('forgets the blocks that were not used for the longest time', () => {
    const cache = createBlockCache(1_000)
    const key = (index: number): BlockKey => ({ step: 1, from: start + index * 600, to: start + (index + 1) * 600 })
    for (const index of [0, 1, 2]) cache.put(7, key(index), blockOf(start + index * 600, 1, 400))
    expect([0, 1, 2].map((index) => cache.get(7, key(index)) !== undefined)).toEqual([false, true, true])
  })
})

describe('planRequests', () => {
  const ids = Array.from({ length: 250 }, (_, index) => index + 1)
  const range = { from: (start + 300) * 1_000, span: 600_000 }
  const demand = { range, channelIds: ids, msPerPixel: 600 }

  // Conformance: C-12.83.
  it('stays within the limits of the interface, and requests the middle first', () => {
    const requests = planRequests(demand, createBlockCache(), later)
    expect(requests.length).toBe(6)
    for (const { channelIds, maxPoints } of requests) {
      expect(channelIds.length).toBeLessThanOrEqual(100)
      expect(channelIds.length * maxPoints).toBeLessThanOrEqual(100_000)
    }
    expect(new Set(requests.flatMap(({ channelIds }) => channelIds)).size).toBe(250)
  })

  it('requests the neighbours once everything visible is known, and then nothing', () => {
    const cache = createBlockCache()
    const few = { ...demand, channelIds: [7] }
    const fill = () => {
      const requests = planRequests(few, cache, later)
      for (const { key } of requests) cache.put(7, key, blockOf(key.from, 1, 600))
      return requests.map(({ key }) => key.from - start)
    }
    expect(fill().sort()).toEqual([0, 600])
    expect(fill()).toEqual([-600, 1_200])
    expect(fill()).toEqual([])
  })

  // Conformance: C-12.83.
  it('reads only the end of the present block again, and never beyond the present', () => {
    const cache = createBlockCache()
    const now = (start + 700) * 1_000
    const present = { ...demand, channelIds: [7], range: { from: (start + 601) * 1_000, span: 100_000 } }
    const [first] = planRequests(present, cache, now)
    expect(first).toMatchObject({ from: start + 600, to: start + 701, maxPoints: 101 })
    cache.put(7, { step: 1, from: start + 600, to: start + 1_200 }, blockOf(start + 600, 1, 101, now))
    const again = (seconds: number) =>
      planRequests(present, cache, now + seconds * 1_000).filter(({ key }) => key.from === start + 600)
    expect(again(1)).toEqual([])
    expect(again(5)).toMatchObject([{ from: start + 700 - settleSeconds, to: start + 706 }])
  })

  it('asks for the steps of the tier even if a finer tier would fit the shortened range', () => {
    const day = { range: { from: start * 1_000, span: 86_400_000 }, channelIds: [7], msPerPixel: 100_000 }
    const [request] = planRequests(day, createBlockCache(), (start + 1_800) * 1_000)
    expect(request).toMatchObject({ key: { step: 60 }, maxPoints: 31 })
  })
})
