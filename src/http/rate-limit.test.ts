import { describe, expect, it } from 'vitest'
import { createLimiter } from './rate-limit.ts'

describe('a limiter', () => {
  it('refills evenly and never above its size', () => {
    let now = 0
    const limiter = createLimiter({ max_requests: 4, window_seconds: 8 }, () => now)
    const ask = () => limiter.take('a')
    expect(ask()).toEqual({ remaining: 3, resetSeconds: 2, waitMs: 0 })
    for (let n = 0; n < 3; n += 1) ask()
    expect(ask()).toEqual({ remaining: 0, resetSeconds: 8, waitMs: 2000 })
    now += 2000
    expect(ask().waitMs).toBe(0)
    now += 1_000_000
    expect(ask().remaining).toBe(3)
    limiter.giveBack('a')
    limiter.giveBack('a')
    expect(ask().remaining).toBe(3)
  })

  it('forgets whoever was silent longest', () => {
    const limiter = createLimiter({ max_requests: 1, window_seconds: 1000 }, () => 0)
    limiter.take('first')
    for (let n = 0; n < 49_999; n += 1) limiter.take(`address ${n}`)
    expect(limiter.take('first').waitMs).toBeGreaterThan(0)
    limiter.take('one more')
    expect(limiter.take('first').waitMs).toBeGreaterThan(0)
    expect(limiter.take('address 0').waitMs).toBe(0)
  })

  it('costs next to nothing', () => {
    const limiter = createLimiter({ max_requests: 1e9, window_seconds: 1 }, () => performance.now())
    for (let n = 0; n < 50_000; n += 1) limiter.take(`address ${n}`)
    const startedAt = performance.now()
    const rounds = 200_000
    for (let n = 0; n < rounds; n += 1) limiter.take(`address ${n % 50_000}`)
    // Far above what it takes, for machines that are busy.
    expect(((performance.now() - startedAt) / rounds) * 1000).toBeLessThan(20)
  })
})
