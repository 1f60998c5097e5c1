import { expect, it } from 'vitest'
import { isExpired, planRetry } from './retry.ts'

const failed = { createdAt: 0, now: 2_000, retryAfterSeconds: null, random: 0.5 }

// Conformance: C-14.4.
it.each([
  [1, 0.5, 3_000],
  [2, 0.5, 7_000],
  [3, 0.5, 17_000],
  [4, 0.5, 32_000],
  [5, 0.5, 62_000],
  [1, 0, 2_900],
  [1, 1, 3_100],
  [5, 0, 56_000],
  [5, 1, 68_000],
])('after try %i, with the random number %f, tries again at %i ms', (attempts, random, at) => {
  expect(planRetry({ ...failed, attempts, random })).toBe(at)
})

// Conformance: C-14.4.
it.each([0, 0.5, 0.999])(
  'tries six times before the expiry if tries take no time, with the random number %f',
  (random) => {
    let now = 2_000
    for (let attempts = 1; attempts <= 5; attempts++) {
      now = Number(planRetry({ ...failed, attempts, now, random }) ?? Number.NaN)
    }
    expect(now).toBeLessThan(119_001)
  },
)

it('leaves a message pending after the sixth try', () => {
  expect(planRetry({ ...failed, attempts: 6 })).toBeNull()
})

it('leaves a message pending whose next try would be after its expiry', () => {
  expect(planRetry({ ...failed, attempts: 5, now: 70_000 })).toBeNull()
})

// Conformance: C-14.5.
it.each([
  ['waits as long as the service asks', 1, 20, 22_000],
  ['waits at least its own pause', 3, 1, 17_000],
  ['lets a message expire that the service wants later', 1, 119, 'expired'],
  ['tries again at the last moment', 1, 117, 119_000],
])('%s', (_, attempts, retryAfterSeconds, at) => {
  expect(planRetry({ ...failed, attempts, retryAfterSeconds })).toBe(at)
})

it('expires after 120 s, also if the clock was set back', () => {
  expect([119_999, 120_000, -119_999, -120_000].map((now) => isExpired(0, now))).toEqual([false, true, false, true])
})
