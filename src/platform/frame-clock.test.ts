import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FrameClock } from './frame-clock.ts'

describe('FrameClock', () => {
  let clock: FrameClock
  const frames: number[] = []

  beforeEach(() => {
    vi.useFakeTimers()
    frames.length = 0
    clock = new FrameClock(() => frames.push(performance.now()))
  })

  afterEach(() => {
    clock.stop()
    vi.useRealTimers()
  })

  test('runs a frame at once after a quiet moment', () => {
    vi.advanceTimersByTime(1000)
    const start = performance.now()
    clock.request()
    clock.request()
    vi.advanceTimersByTime(0)
    expect(frames).toEqual([start])
  })

  test('runs at most one frame every 20 ms while changes keep arriving', () => {
    const start = performance.now()
    for (let ms = 0; ms < 90; ms += 1) {
      clock.request()
      vi.advanceTimersByTime(1)
    }
    expect(frames.map((at) => at - start)).toEqual([0, 20, 40, 60, 80])
  })

  test('runs no frame without a request', () => {
    vi.advanceTimersByTime(1000)
    expect(frames).toEqual([])
  })

  test('runs no frame after stop', () => {
    clock.request()
    clock.stop()
    clock.request()
    vi.advanceTimersByTime(1000)
    expect(frames).toEqual([])
  })
})
