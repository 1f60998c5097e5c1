import { describe, expect, it } from 'vitest'
import { timeLimit } from '../../test/time-limit.ts'
import { createBuckets } from './rate-limit.ts'

describe('the buckets of a process', () => {
  // Conformance: S-8.2.
  it('refill evenly and never above their size', () => {
    let now = 0
    const buckets = createBuckets({ perSecond: 0.5, burst: 4 }, () => now)
    const ask = () => buckets.take('a')
    expect(ask()).toEqual({ tokens: 3, waitMs: 0 })
    for (let n = 0; n < 3; n += 1) ask()
    expect(ask()).toEqual({ tokens: 0, waitMs: 2000 })
    now += 2000
    expect(ask().waitMs).toBe(0)
    now += 1_000_000
    expect(ask().tokens).toBe(3)
    buckets.giveBack('a')
    buckets.giveBack('a')
    expect(ask().tokens).toBe(3)
  })

  // Reliability: 1.25, 3.7.3.
  it('forget whoever was silent longest', () => {
    const buckets = createBuckets({ perSecond: 0.001, burst: 1 }, () => 0)
    buckets.take('first')
    for (let n = 0; n < 49_999; n += 1) buckets.take(`address ${n}`)
    expect(buckets.take('first').waitMs).toBeGreaterThan(0)
    buckets.take('one more')
    expect(buckets.take('first').waitMs).toBeGreaterThan(0)
    expect(buckets.take('address 0').waitMs).toBe(0)
  })

  it('cost next to nothing', () => {
    const buckets = createBuckets({ perSecond: 1e9, burst: 1e9 }, () => performance.now())
    for (let n = 0; n < 50_000; n += 1) buckets.take(`address ${n}`)
    const startedAt = performance.now()
    const rounds = 200_000
    for (let n = 0; n < rounds; n += 1) buckets.take(`address ${n % 50_000}`)
    // Far above what it takes, for machines that are busy.
    expect(((performance.now() - startedAt) / rounds) * 1000).toBeLessThan(timeLimit(20))
  })
})
