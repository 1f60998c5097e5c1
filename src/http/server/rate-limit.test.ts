import { describe, expect, it } from 'vitest'
import { timeLimit } from '../../../test/support/time-limit.ts'
import { createBuckets } from './rate-limit.ts'

describe('createBuckets', () => {
  // Conformance: S-8.2.
  it('refills evenly and never above the burst size', () => {
    let now = 0
    const buckets = createBuckets({ perSecond: 0.5, burst: 4 }, () => now)
    const take = () => buckets.take('a')
    expect(take()).toEqual({ tokens: 3, waitMs: 0 })
    for (let n = 0; n < 3; n += 1) take()
    expect(take()).toEqual({ tokens: 0, waitMs: 2000 })
    now += 2000
    expect(take().waitMs).toBe(0)
    now += 1_000_000
    expect(take().tokens).toBe(3)
    buckets.returnToken('a')
    buckets.returnToken('a')
    expect(take().tokens).toBe(3)
  })

  // Reliability: 1.25, 3.7.3.
  it('removes the client with the oldest request when it is full', () => {
    const buckets = createBuckets({ perSecond: 0.001, burst: 1 }, () => 0)
    buckets.take('first')
    for (let n = 0; n < 49_999; n += 1) buckets.take(`address ${n}`)
    expect(buckets.take('first').waitMs).toBeGreaterThan(0)
    buckets.take('one more')
    expect(buckets.take('first').waitMs).toBeGreaterThan(0)
    expect(buckets.take('address 0').waitMs).toBe(0)
  })

  it('takes a token in microseconds with 50,000 clients', () => {
    const buckets = createBuckets({ perSecond: 1e9, burst: 1e9 }, () => performance.now())
    for (let n = 0; n < 50_000; n += 1) buckets.take(`address ${n}`)
    const startedAt = performance.now()
    const rounds = 200_000
    for (let n = 0; n < rounds; n += 1) buckets.take(`address ${n % 50_000}`)
    // The limit is far above the usual time, for busy machines.
    expect(((performance.now() - startedAt) / rounds) * 1000).toBeLessThan(timeLimit(20))
  })
})
