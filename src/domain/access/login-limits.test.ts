import { describe, expect, it } from 'vitest'
import { loginLimits, loginWaitMs } from './login-limits.ts'

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
