import { describe, expect, it } from 'vitest'
import { loginLimits, loginWaitMs } from './login-limits.ts'

const minute = 60_000
const tries = (count: number, account: string, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ account, at: from + at * minute }))

describe('how long to wait for the next try', () => {
  // Reliability: 3.6.3.
  it.each([
    ['four wrong ones are nothing', tries(4, 'ana'), 'ana', 5 * minute, 0],
    [
      'the fifth closes the account to this stranger until the first has aged',
      tries(5, 'ana'),
      'ana',
      5 * minute,
      10 * minute,
    ],
    ['but no other account', tries(5, 'ana'), 'ben', 5 * minute, 0],
    ['an aged one no longer counts', tries(5, 'ana'), 'ana', 15 * minute, 0],
    [
      'twenty over all accounts close all',
      tries(20, 'x').map((one, at) => ({ at: one.at / 20, account: `${at}` })),
      'ben',
      minute,
      14 * minute,
    ],
    ['a clock set back never means more than the window', tries(5, 'ana', 10 * minute), 'ana', 0, loginLimits.windowMs],
    ['nor anything that lies further ahead', tries(5, 'ana', 60 * minute), 'ana', 0, 0],
  ])('%s', (_, failures, account, now, waitMs) => {
    expect(loginWaitMs(failures, account, now)).toBe(waitMs)
  })
})
