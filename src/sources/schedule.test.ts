import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Schedule } from './schedule.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new AbortController().signal

describe('a schedule', () => {
  it('wakes each loop when it is due, with one timer for all', async () => {
    const schedule = new Schedule()
    const woken: number[] = []
    const startedAt = performance.now()
    for (const dueMs of [300, 100, 5000, 200]) {
      void schedule.wait(() => startedAt + dueMs, never).then(() => woken.push(dueMs))
      expect(vi.getTimerCount()).toBe(1)
    }
    await vi.advanceTimersByTimeAsync(250)
    expect(woken).toEqual([100, 200])
    await vi.advanceTimersByTimeAsync(4800)
    expect(woken).toEqual([100, 200, 300, 5000])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('applies an earlier time within a second', async () => {
    const schedule = new Schedule()
    let dueAt = performance.now() + 600_000
    const waiting = schedule.wait(() => dueAt, never)
    await vi.advanceTimersByTimeAsync(1500)
    dueAt = 0
    await vi.advanceTimersByTimeAsync(1010)
    expect(await waiting).toBe(true)
  })

  it('ends a wait when its signal aborts, and continues the other waits', async () => {
    const schedule = new Schedule()
    const stop = new AbortController()
    const startedAt = performance.now()
    const stopped = schedule.wait(() => startedAt + 100, stop.signal)
    const other = schedule.wait(() => startedAt + 200, never)
    stop.abort()
    expect(await stopped).toBe(false)
    await vi.advanceTimersByTimeAsync(210)
    expect(await other).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('immediately wakes a loop that is already due', async () => {
    const waiting = new Schedule().wait(() => 0, never)
    await vi.advanceTimersByTimeAsync(0)
    expect(await waiting).toBe(true)
  })
})
