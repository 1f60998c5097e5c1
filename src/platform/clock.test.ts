import { describe, expect, it } from 'vitest'
import { createClock } from './clock.ts'

const start = 1_800_000_000_000

function shiftedClock() {
  let elapsed = 5_000
  let shift = 0
  const now = createClock({ system: () => start + elapsed + shift, monotonic: () => elapsed })
  return {
    /** The difference from a system clock that never jumped. */
    error: () => now() - start - elapsed,
    pass(ms: number) {
      elapsed += ms
    },
    jump(ms: number) {
      shift += ms
    },
  }
}

describe('createClock', () => {
  it.each([3_600_000, -3_600_000, -start])('ignores a jump by %i ms that is reverted', (jump) => {
    const clock = shiftedClock()
    clock.jump(jump)
    for (let seconds = 0; seconds < 29; seconds += 1) {
      expect(clock.error()).toBe(0)
      clock.pass(1_000)
    }
    clock.jump(-jump)
    expect(clock.error()).toBe(0)
  })

  it.each([3_600_000, -3_600_000])('follows a permanent jump by %i ms', (jump) => {
    const clock = shiftedClock()
    clock.jump(jump)
    expect(clock.error()).toBe(0)
    clock.pass(30_000)
    expect(clock.error()).toBe(jump)
  })

  it('restarts the delay after every further jump', () => {
    const clock = shiftedClock()
    clock.jump(3_600_000)
    expect(clock.error()).toBe(0)
    clock.pass(20_000)
    clock.jump(3_600_000)
    expect(clock.error()).toBe(0)
    clock.pass(20_000)
    expect(clock.error()).toBe(0)
    clock.pass(10_000)
    expect(clock.error()).toBe(7_200_000)
  })

  it('follows small corrections at once', () => {
    const clock = shiftedClock()
    clock.jump(-900)
    expect(clock.error()).toBe(-900)
    clock.pass(100)
    clock.jump(1_000)
    expect(clock.error()).toBe(100)
  })
})
