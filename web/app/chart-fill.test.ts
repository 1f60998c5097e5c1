import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { levelsOf } from '../../test/support/browser/recorded-story.ts'
import type { Api } from './api.ts'
import { createChartFill } from './chart-fill.ts'
import { createHistory, sampleCount } from './history.ts'
import type { WatchState } from './watch-state.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-05-01T20:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

function start(isFresh = true) {
  const queries: URLSearchParams[] = []
  let state = { isFresh } as WatchState
  let notify = () => {}
  const history = createHistory(Date.now())
  const read = async (address: string) => {
    const query = new URL(address, 'http://service').searchParams
    queries.push(query)
    return { ok: true, body: levelsOf(query, (_, at) => ({ letter: at % 2 === 0 ? '1' : '0', rf: -50, audio: -20 })) }
  }
  const watch = {
    get: () => state,
    subscribe: (listener: () => void) => {
      notify = listener
      return () => {}
    },
  }
  const api = { read } as unknown as Api
  const { signal } = new AbortController()
  const redraw = vi.fn()
  const fill = createChartFill({ api, watch, history, redraw, signal })
  const setFresh = (isFresh: boolean) => {
    state = { ...state, isFresh }
    notify()
  }
  const channelsOf = () => queries.map((query) => query.get('channels')?.split(',').length)
  const countKnown = (id: number) => history.of(id)?.rf.filter((value) => !Number.isNaN(value)).length ?? 0
  return { fill, setFresh, queries, channelsOf, countKnown, redraw }
}

// Conformance: C-12.91.
it('fills charts at once, in requests of at most 100 channels, and their last seconds afterwards', async () => {
  const { fill, channelsOf, countKnown, redraw } = start()
  for (let id = 1; id <= 250; id++) fill.show(id)
  await vi.advanceTimersByTimeAsync(0)
  expect(channelsOf()).toEqual([100, 100, 50])
  expect(redraw).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(channelsOf()).toEqual([100, 100, 50, 100, 100, 50])
  // Without a transmitter, no level is drawn.
  expect(countKnown(250)).toBe(sampleCount / 2)
})

it('asks only for charts that are shown, and only once for each', async () => {
  const { fill, queries } = start()
  const hide = fill.show(1)
  hide()
  fill.show(2)
  fill.show(2)()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(queries.map((query) => query.get('channels'))).toEqual(['2', '2'])
})

// Conformance: C-12.91.
it('waits for the live state, and fills the gap after the connection was lost', async () => {
  const { fill, setFresh, queries } = start(false)
  fill.show(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(queries).toHaveLength(0)
  setFresh(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(queries).toHaveLength(2)
  setFresh(false)
  setFresh(true)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(queries).toHaveLength(4)
})
