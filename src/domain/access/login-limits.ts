/** Limits for failed sign-in attempts. Times are epoch milliseconds. */

export interface FailedLogin {
  /** The name of the account. */
  readonly account: string
  readonly at: number
}

export const loginLimits = { windowMs: 15 * 60_000, perAccount: 5, perClient: 20 } as const

/** After this many failures across all clients, sign-ins from unknown browsers are delayed. */
export const globalLoginLimit = { failures: 300, delayMs: 1000 } as const

/** Returns the time until the next attempt is allowed; 0 if it is allowed now. `failures` belong to one client. */
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

/** Returns the time until the next attempt of a client is allowed, whatever the account. */
export function clientWaitMs(failures: readonly FailedLogin[], now: number): number {
  return Math.min(loginLimits.windowMs, remainingMs(failures, loginLimits.perClient, now))
}

/** Returns the time until enough failures have expired for their number to drop below `limit`. */
function remainingMs(failures: readonly FailedLogin[], limit: number, now: number): number {
  if (failures.length < limit) return 0
  const times = failures.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(0, (times[times.length - limit] ?? now) + loginLimits.windowMs - now)
}
