/** Pages count in the service's time, because the clocks of tablets without Internet are often minutes off. */

/** A smaller difference is not shown. */
export const clockToleranceMs = 5_000

let aheadMs = 0

/** The service's clock, read between two times of the browser's clock. */
export interface ClockReading {
  /** Epoch milliseconds. A clock that is cut to seconds may be later by `resolutionMs`. */
  readonly at: number
  readonly resolutionMs?: number
  /** When the request was sent, if the reading is a response. */
  readonly sentAt?: number
  readonly receivedAt: number
}

export function serviceNow(): number {
  return toServiceTime(Date.now())
}

export function toServiceTime(browserTime: number): number {
  return browserTime + aheadMs
}

export function clockAheadMs(): number {
  return aheadMs
}

/**
 * Corrects the estimate only as far as the reading disproves it: the clock was read between request and response. A
 * late message therefore never makes the present look older.
 */
export function readServiceClock({ at, resolutionMs = 0, sentAt, receivedAt }: ClockReading): void {
  if (Number.isNaN(at)) return
  const most = sentAt === undefined ? Number.POSITIVE_INFINITY : at + resolutionMs - sentAt
  aheadMs = Math.min(Math.max(aheadMs, at - receivedAt), most)
}

/** Whole seconds as `2026-05-01T18:00:00Z`, other times with milliseconds. */
export function toIso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z')
}
