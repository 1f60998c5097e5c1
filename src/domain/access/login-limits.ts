/** Limits failed sign-ins. Times are epoch milliseconds. */

export interface FailedLogin {
  readonly account: string
  readonly at: number
}

export const loginLimits = { windowMs: 15 * 60_000, perAccount: 5, perClient: 20 } as const

/** After this many failures across all clients, sign-ins from unknown browsers are delayed. */
export const globalLoginLimit = { failures: 300, delayMs: 1000 } as const

/** Returns the time until the next attempt is allowed, or 0. All `failures` belong to one client. */
export function loginWaitMs(failures: readonly FailedLogin[], account: string, now: number): number {
  const since = now - loginLimits.windowMs
  // A clock that is set back must not lock a client out for longer than the window.
  const recent = failures.filter(({ at }) => at > since && at <= now + loginLimits.windowMs)
  const waits = [
    remainingMs(
      recent.filter((failure) => failure.account === account),
      loginLimits.perAccount,
      now,
    ),
    remainingMs(recent, loginLimits.perClient, now),
  ]
  return Math.min(loginLimits.windowMs, Math.max(...waits))
}

/** Like `loginWaitMs`, for all accounts together. */
export function clientWaitMs(failures: readonly FailedLogin[], now: number): number {
  return Math.min(loginLimits.windowMs, remainingMs(failures, loginLimits.perClient, now))
}

function remainingMs(failures: readonly FailedLogin[], limit: number, now: number): number {
  if (failures.length < limit) return 0
  const times = failures.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(0, (times[times.length - limit] ?? now) + loginLimits.windowMs - now)
}
