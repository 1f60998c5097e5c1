/**
 * The wall clock of the service, for times that are stored or displayed. After a jump of the system clock, it continues
 * with the monotonic clock and follows the jump only after a delay, so that a short error of the system clock has no
 * effect.
 */

interface ClockOptions {
  /** The system clock, epoch milliseconds. */
  readonly system?: () => number
  readonly monotonic?: () => number
}

/** Smaller corrections, such as those made by time synchronisation, are followed at once. */
const jumpMs = 1_000
/** A jump is followed if it lasts this long. */
const acceptJumpAfterMs = 30_000

/** Returns the current time in whole epoch milliseconds. */
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
