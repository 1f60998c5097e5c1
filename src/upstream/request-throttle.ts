import { setTimeout as sleep } from 'node:timers/promises'
import { type Bucket, bucketAfterTakeover, fullBucket, type RateLimit, reserveToken } from '../domain/access/limits.ts'

/** Applies rate limits and Retry-After periods per origin. One instance serves the whole process. */
export interface RequestThrottle {
  waitForTurn(origin: string, rateLimit: RateLimit, signal?: AbortSignal): Promise<void>
  /** Allows for requests of another process, which may have used the full rate limit until `idleMs` ago. */
  takeOver(origin: string, rateLimit: RateLimit, idleMs: number): void
  /** Blocks requests for `ms`. Does not shorten a longer period. */
  hold(origin: string, ms: number): void
  /** Returns the remaining time of the blocked period, or 0. */
  holdMs(origin: string): number
}

/** `now` must be a monotonic clock. */
export function createRequestThrottle(now: () => number = () => performance.now()): RequestThrottle {
  const buckets = new Map<string, Bucket>()
  const holds = new Map<string, number>()
  // The upstream counts requests when they arrive, this process when they are sent. The delay in between varies, so a
  // tenth of the burst is reserved.
  const withReserve = (rateLimit: RateLimit) => ({
    ...rateLimit,
    burst: Math.max(1, Math.floor(rateLimit.burst * 0.9)),
  })
  const bucketOf = (origin: string, reduced: RateLimit) => buckets.get(origin) ?? fullBucket(reduced, now())
  return {
    hold: (origin, ms) => void holds.set(origin, Math.max(holds.get(origin) ?? 0, now() + ms)),
    holdMs: (origin) => Math.max(0, (holds.get(origin) ?? 0) - now()),
    async waitForTurn(origin, rateLimit, signal) {
      signal?.throwIfAborted()
      const reduced = withReserve(rateLimit)
      const { bucket, waitMs } = reserveToken(bucketOf(origin, reduced), reduced, now())
      buckets.set(origin, bucket)
      if (waitMs > 0) await pause(waitMs, signal)
    },
    takeOver(origin, rateLimit, idleMs) {
      const reduced = withReserve(rateLimit)
      buckets.set(origin, bucketAfterTakeover(bucketOf(origin, reduced), reduced, now(), idleMs))
    },
  }
}

/** Rejects with the signal's reason on abort. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch((error) => {
    signal?.throwIfAborted()
    throw error
  })
}
