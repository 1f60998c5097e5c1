/** How often somebody may be wrong about a password before they have to wait. Times are epoch milliseconds. */

export interface FailedTry {
  /** The account it was about. */
  readonly account: string
  readonly at: number
}

export const loginLimits = { windowMs: 15 * 60_000, perAccount: 5, perStranger: 20 } as const

/** Beyond so many failures of everybody together, a browser that never signed in here is held up. */
export const globalLoginLimit = { failures: 300, delayMs: 1000 } as const

/** How long until another try is let through; 0 for at once. `failures` are those of one stranger. */
export function loginWaitMs(failures: readonly FailedTry[], account: string, now: number): number {
  const since = now - loginLimits.windowMs
  // A clock that was set back must not lock anybody out for longer than the window.
  const recent = failures.filter(({ at }) => at > since && at <= now + loginLimits.windowMs)
  const waits = [
    remainingMs(
      recent.filter((one) => one.account === account),
      loginLimits.perAccount,
      now,
    ),
    remainingMs(recent, loginLimits.perStranger, now),
  ]
  return Math.min(loginLimits.windowMs, Math.max(...waits))
}

/** Until so many have aged that fewer than `limit` are left. */
function remainingMs(failures: readonly FailedTry[], limit: number, now: number): number {
  if (failures.length < limit) return 0
  const times = failures.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(0, (times[times.length - limit] ?? now) + loginLimits.windowMs - now)
}
