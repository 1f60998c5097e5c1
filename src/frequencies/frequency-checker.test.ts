import { expect, it, vi } from 'vitest'
import { onTestEnd } from '../../test/support/cleanup.ts'
import type { Carrier } from '../domain/frequencies/carrier.ts'
import { checkCarriers } from '../domain/frequencies/check.ts'
import { carriersAt } from '../domain/frequencies/test-carriers.ts'
import { startThread } from '../platform/thread.ts'
import { FrequencyChecker } from './frequency-checker.ts'

// Conformance: C-15.35.
it.each([
  [40, 0],
  [41, 1],
  [100, 1],
  [101, 1],
])('checks %i carriers in %i threads, with the same result', async (count, threads) => {
  const start = vi.fn(() => startThread(new URL('./frequency-worker.ts', import.meta.url)))
  const checker = new FrequencyChecker(start)
  onTestEnd(() => checker.close())
  const carriers = carriersAt(
    Array.from({ length: count }, (_, index) => 470 + 0.6 * index + 0.025 * (index % 7)),
    { spacing: 350, '2t3o': 75, '3t3o': 50 },
  )
  expect(await checker.check(carriers, {}, 'a')).toEqual(checkCarriers(carriers))
  expect(start).toHaveBeenCalledTimes(threads)
})

it('ends a check that takes too long, and makes the next one', async () => {
  const checker = new FrequencyChecker(undefined, 5_000)
  onTestEnd(() => checker.close())
  const guards = { spacing: 350, '2t3o': 75, '3t3o': 50 }
  // 250 carriers on each of four frequencies have about four billion conflicts.
  const endless = Array.from({ length: 1000 }, (_, index) => ({
    ...(carriersAt([500 + 0.4 * (index % 4)], guards)[0] as Carrier),
    id: `c${index}`,
  }))
  const few = carriersAt(
    Array.from({ length: 41 }, (_, index) => 470 + 0.6 * index),
    guards,
  )
  const [ended, next] = await Promise.allSettled([checker.check(endless, {}, 'a'), checker.check(few, {}, 'a')])
  expect(ended).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringContaining('Check fewer carriers') },
  })
  expect(next).toMatchObject({ status: 'fulfilled' })
})
