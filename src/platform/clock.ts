/**
 * The wall clock of the service, for times that are stored or displayed. After a jump of the system clock, it continues
 * with the monotonic clock. It follows the jump only after a delay, so that short errors of the system clock have no
 * effect.
 */

interface ClockOptions {
  /** The system clock, epoch milliseconds. */
  readonly system?: () => number
  readonly monotonic?: () => number
}

/** Smaller corrections, such as those by time synchronisation, are followed immediately. */
const jumpMs = 1_000
/** A clock jump is accepted after this time. */
const acceptJumpAfterMs = 30_000

/** Returns whole epoch milliseconds. */
export const now = createClock()

export function createClock({ system = () => Date.now(), monotonic = () => performance.now() }: ClockOptions = {}) {
  /** System clock minus monotonic clock. */
  let offset = system() - monotonic()
  let jumped: { readonly offset: number; readonly at: number } | null = null
  return (): number => {
    const elapsed = monotonic()
    const systemOffset = system() - elapsed
    if (isJump(offset, systemOffset)) {
      if (jumped === null || isJump(jumped.offset, systemOffset)) jumped = { offset: systemOffset, at: elapsed }
      if (elapsed - jumped.at < acceptJumpAfterMs) return Math.floor(offset + elapsed)
    }
    jumped = null
    offset = systemOffset
    return Math.floor(offset + elapsed)
  }
}

function isJump(before: number, after: number): boolean {
  return Math.abs(after - before) > jumpMs
}
