import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LevelDemand } from './level-demand.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const codes = ['sennheiser', 'shure', 'sony']
const select = (demand: LevelDemand) => demand.select(() => codes)

it('selects the manufacturers that clients show, and for 30 s those that they showed', () => {
  const demand = new LevelDemand()
  let shown: readonly string[] = ['shure']
  const remove = demand.add(() => shown)
  expect(select(demand)).toEqual(['shure'])
  vi.advanceTimersByTime(60_000)
  expect(select(demand)).toEqual(['shure'])

  shown = ['sony', 'unknown']
  expect(select(demand)).toEqual(['shure', 'sony'])
  vi.advanceTimersByTime(29_999)
  expect(select(demand)).toEqual(['shure', 'sony'])
  vi.advanceTimersByTime(1)
  expect(select(demand)).toEqual(['sony'])

  remove()
  vi.advanceTimersByTime(29_999)
  expect(select(demand)).toEqual(['sony'])
  vi.advanceTimersByTime(1)
  expect(select(demand)).toEqual([])
})

it('selects all manufacturers while a client shows all', () => {
  const demand = new LevelDemand()
  const remove = demand.add(() => null)
  expect(select(demand)).toEqual(codes)
  remove()
  vi.advanceTimersByTime(30_000)
  expect(select(demand)).toEqual([])
})

it('selects the manufacturers in a response for 30 s', () => {
  const demand = new LevelDemand()
  demand.addResponse('shure')
  vi.advanceTimersByTime(20_000)
  demand.addResponse(null)
  expect(select(demand)).toEqual(codes)
  vi.advanceTimersByTime(29_999)
  expect(select(demand)).toEqual(codes)
  vi.advanceTimersByTime(1)
  expect(select(demand)).toEqual([])
})

it('calls back for a new client, and for a response with levels that were not needed before', () => {
  const demand = new LevelDemand()
  const onAdded = vi.fn()
  demand.listen(onAdded)
  demand.addResponse('shure')
  demand.addResponse('shure')
  expect(onAdded).toHaveBeenCalledTimes(1)
  demand.addResponse(null)
  demand.addResponse('sony')
  expect(onAdded).toHaveBeenCalledTimes(2)
  demand.add(() => null)
  expect(onAdded).toHaveBeenCalledTimes(3)
})

it('does not list manufacturers while no levels are needed', () => {
  const list = vi.fn(() => codes)
  expect(new LevelDemand().select(list)).toEqual([])
  expect(list).not.toHaveBeenCalled()
})
