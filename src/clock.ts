/**
 * The wall clock of the service, for times that are stored or shown. While the system's clock jumps, time goes on as the
 * monotonic clock measures it, and a jump counts only once it has lasted: a clock that is wrong for a moment leaves no wrong
 * times behind.
 */

interface ClockOptions {
  /** Epoch milliseconds as the system has them. */
  readonly system?: () => number
  readonly monotonic?: () => number
}

/** Small corrections are followed at once, as time servers make them. */
const jumpMs = 1_000
/** A jump counts after this time. */
const settledAfterMs = 30_000

/** Epoch milliseconds, whole. */
export const now = createClock()

export function createClock({ system = Date.now, monotonic = () => performance.now() }: ClockOptions = {}) {
  /** What the system's clock is ahead of the monotonic one. */
  let offset = system() - monotonic()
  let jumped: { readonly offset: number; readonly at: number } | null = null
  return (): number => {
    const elapsed = monotonic()
    const seen = system() - elapsed
    if (isJump(offset, seen)) {
      if (jumped === null || isJump(jumped.offset, seen)) jumped = { offset: seen, at: elapsed }
      if (elapsed - jumped.at < settledAfterMs) return Math.floor(offset + elapsed)
    }
    jumped = null
    offset = seen
    return Math.floor(offset + elapsed)
  }
}

function isJump(before: number, after: number): boolean {
  return Math.abs(after - before) > jumpMs
}
