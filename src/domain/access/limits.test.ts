import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  backoffMs,
  bucketAfterTakeover,
  connectionLimits,
  fullBucket,
  jitter,
  loginLimits,
  loginWaitMs,
  nextAttempt,
  nextStart,
  parseRetryAfter,
  reconnectMs,
  reserveToken,
  takeToken,
} from './limits.ts'

const rateLimit = { perSecond: 2, burst: 120 }

describe('token bucket', () => {
  test('allows the burst, then returns the time to wait', () => {
    let bucket = fullBucket(rateLimit, 0)
    for (let i = 0; i < 120; i += 1) {
      const taken = takeToken(bucket, rateLimit, 0)
      expect(taken.waitMs).toBe(0)
      bucket = taken.bucket
    }
    expect(takeToken(bucket, rateLimit, 0).waitMs).toBe(500)
    expect(takeToken(bucket, rateLimit, 500).waitMs).toBe(0)
  })

  test('adds no tokens when the clock is set back', () => {
    const { bucket } = takeToken({ tokens: 1, updatedAt: 1000 }, rateLimit, 1000)
    expect(takeToken(bucket, rateLimit, 0).waitMs).toBeGreaterThan(0)
  })

  test('bucketAfterTakeover contains the tokens added while the source was idle, but no more than this process has itself', () => {
    const current = { tokens: 50, updatedAt: 900 }
    const tokens = (idleMs: number, bucket = current) => bucketAfterTakeover(bucket, rateLimit, 1000, idleMs).tokens
    expect(tokens(0)).toBe(0)
    expect(tokens(10_000)).toBe(20)
    expect(tokens(1_000_000)).toBeCloseTo(50.2)
    expect(tokens(1_000_000, fullBucket(rateLimit, 0))).toBe(120)
    expect(bucketAfterTakeover(current, rateLimit, 1000, 0).updatedAt).toBe(1000)
  })

  test('reserveToken keeps the order of calls and the rate limit', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 60 }), (gaps) => {
        const slow = { perSecond: 10, burst: 5 }
        let bucket = fullBucket(slow, 0)
        let now = 0
        const departures: number[] = []
        for (const gap of gaps) {
          now += gap
          const reserved = reserveToken(bucket, slow, now)
          bucket = reserved.bucket
          departures.push(now + reserved.waitMs)
        }
        expect(departures).toEqual([...departures].sort((a, b) => a - b))
        for (const [index, start] of departures.entries()) {
          const within = departures.slice(index).filter((time) => time < start + 1000).length
          expect(within).toBeLessThanOrEqual(slow.burst + slow.perSecond + 1)
        }
      }),
    )
  })
})

// Reliability: 2.1.3.
test.each([
  [10_000, 0, 10_000],
  [10_000, 1, 10_000],
  [10_000, 5, 16_000],
  [10_000, 9, 30_000],
  [1_000, 1, 1_000],
  [1_000, 3, 4_000],
  [60_000, 9, 60_000],
])('backoffMs with interval %i ms after %i failures is %i ms', (interval, failures, expected) => {
  expect(backoffMs(interval, failures)).toBe(expected)
})

// Conformance: S-3.13, C-8.5.
// Reliability: R1, R7.
test('reconnectMs is 1, 2, 4 … 30 s, and jitter varies it by 20%', () => {
  const waits = (requestedMs?: number) => [1, 2, 3, 4, 5, 6, 99].map((attempt) => reconnectMs(attempt, requestedMs))
  expect(waits()).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  // A delay that the stream requests is a minimum, limited to 30 s.
  expect(waits(0)).toEqual(waits())
  expect(waits(5000)).toEqual([5000, 5000, 5000, 8000, 16_000, 30_000, 30_000])
  expect(new Set(waits(999_999_999))).toEqual(new Set([30_000]))
  expect([jitter(1000, 0), jitter(1000, 0.5), jitter(1000, 0.999)]).toEqual([800, 1000, 1200])
})

// Conformance: S-1.12, C-1.18.
// Reliability: T3.
test('nextStart keeps the interval, and starts at once after an overrun', () => {
  expect(nextStart(1000, 10_000, 3000)).toEqual({ at: 11_000, overran: false })
  expect(nextStart(1000, 10_000, 12_000)).toEqual({ at: 12_100, overran: true })
})

// Reliability: U9.
test.each([
  ['7', undefined, 7],
  ['0', undefined, 1],
  ['-5', undefined, 1],
  ['1.5', undefined, null],
  ['abc', undefined, null],
  [undefined, undefined, null],
  ['9999999999', undefined, 300],
  ['Fri, 20 Nov 2026 12:00:07 GMT', 'Fri, 20 Nov 2026 12:00:00 GMT', 7],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 'Fri, 20 Nov 2026 12:00:00 GMT', 1],
  ['Fri, 20 Nov 2026 12:00:30 GMT', undefined, 30],
])('parseRetryAfter(%s) with Date %s is %s s', (value, date, expected) => {
  expect(parseRetryAfter(value, date, Date.parse('2026-11-20T12:00:00Z'))).toBe(expected)
})

// Conformance: C-8.6.
// Reliability: R1.
test('nextAttempt restarts after a connection of at least a minute', () => {
  expect([nextAttempt(0, 0), nextAttempt(4, 59_999), nextAttempt(4, 60_000)]).toEqual([1, 5, 1])
})

const minute = 60_000
const failures = (count: number, account: string, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ account, at: from + index * minute }))

describe('loginWaitMs', () => {
  // Reliability: 3.6.3.
  it.each([
    ['allows a fifth attempt', failures(4, 'ana'), 'ana', 5 * minute, 0],
    [
      'blocks the account for this client after five failures until the first expires',
      failures(5, 'ana'),
      'ana',
      5 * minute,
      10 * minute,
    ],
    ['does not block other accounts after five failures', failures(5, 'ana'), 'ben', 5 * minute, 0],
    ['ignores expired failures', failures(5, 'ana'), 'ana', 15 * minute, 0],
    [
      'blocks all accounts after twenty failures',
      failures(20, 'x').map(({ at }, index) => ({ at: at / 20, account: `${index}` })),
      'ben',
      minute,
      14 * minute,
    ],
    [
      'waits at most for the window after the clock is set back',
      failures(5, 'ana', 10 * minute),
      'ana',
      0,
      loginLimits.windowMs,
    ],
    ['ignores failures that are too far in the future', failures(5, 'ana', 60 * minute), 'ana', 0, 0],
  ])('%s', (_, earlierFailures, account, now, waitMs) => {
    expect(loginWaitMs(earlierFailures, account, now)).toBe(waitMs)
  })
})

// Reliability: 3.12.4, 3.12.5.
it.each([
  [null, 12_000, 10_000, 3000, 1024],
  [1_048_576, 12_000, 10_000, 3000, 1024],
  [12_256, 12_000, 10_000, 3000, 1024],
  [4096, 3840, 3200, 960, 960],
  [1024, 768, 640, 192, 192],
  [64, 64, 53, 32, 32],
])(
  'allows, with %s descriptors, %d connections, %d WebSockets, and per address %d connections, of which %d are unused',
  (descriptors, connections, sockets, connectionsPerAddress, unusedPerAddress) => {
    expect(connectionLimits(descriptors)).toMatchObject({
      connections,
      sockets,
      connectionsPerAddress,
      unusedPerAddress,
    })
  },
)
