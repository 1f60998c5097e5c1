import { describe, expect, it } from 'vitest'
import { createClock } from './clock.ts'

const start = 1_800_000_000_000

/** A clock whose system time is `shift` off. */
function shiftedClock() {
  let elapsed = 5_000
  let shift = 0
  const now = createClock({ system: () => start + elapsed + shift, monotonic: () => elapsed })
  return {
    /** What the clock is off from a system clock that never jumped. */
    error: () => now() - start - elapsed,
    pass(ms: number) {
      elapsed += ms
    },
    jump(ms: number) {
      shift += ms
    },
  }
}

describe('the wall clock', () => {
  it.each([3_600_000, -3_600_000, -start])('ignores a jump by %i ms that is taken back', (jump) => {
    const clock = shiftedClock()
    clock.jump(jump)
    for (let seconds = 0; seconds < 29; seconds += 1) {
      expect(clock.error()).toBe(0)
      clock.pass(1_000)
    }
    clock.jump(-jump)
    expect(clock.error()).toBe(0)
  })

  it.each([3_600_000, -3_600_000])('follows a jump by %i ms that lasts', (jump) => {
    const clock = shiftedClock()
    clock.jump(jump)
    expect(clock.error()).toBe(0)
    clock.pass(30_000)
    expect(clock.error()).toBe(jump)
  })

  it('waits anew after every further jump', () => {
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
