/**
 * The time of the service, in which every page counts and to which every entered time refers. The clocks of tablets and
 * walls without Internet are often minutes off.
 */

/** A difference up to this is not worth a word. */
export const clockToleranceMs = 5_000

/** The service's clock minus the browser's. */
let aheadMs = 0

/** A reading of the service's clock between two times of the browser's clock. */
export interface ClockReading {
  /** Epoch milliseconds: the reading, and how much later it may have been, for a clock that is cut to seconds. */
  readonly at: number
  readonly resolutionMs?: number
  /** When the request was sent, if the reading is a response. */
  readonly sentAt?: number
  readonly receivedAt: number
}

/** Returns the time of the service, in epoch milliseconds. */
export function serviceNow(): number {
  return toServiceTime(Date.now())
}

export function toServiceTime(browserTime: number): number {
  return browserTime + aheadMs
}

/** Returns the service's clock minus the browser's, in milliseconds. */
export function clockAheadMs(): number {
  return aheadMs
}

/**
 * Corrects the estimate as far as the reading proves it wrong: the clock was read after the request was sent, and before
 * the response arrived. A late message therefore never makes the present look older.
 */
export function readServiceClock({ at, resolutionMs = 0, sentAt, receivedAt }: ClockReading): void {
  if (Number.isNaN(at)) return
  const most = sentAt === undefined ? Number.POSITIVE_INFINITY : at + resolutionMs - sentAt
  aheadMs = Math.min(Math.max(aheadMs, at - receivedAt), most)
}
