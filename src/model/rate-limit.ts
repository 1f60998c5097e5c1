/** How fast and how soon: token bucket and backoff as arithmetic on plain values. Times are milliseconds of one clock. */

export interface Bucket {
  readonly tokens: number
  readonly updatedAt: number
}

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export function fullBucket(rateLimit: RateLimit, now: number): Bucket {
  return { tokens: rateLimit.burst, updatedAt: now }
}

function tokensAt(bucket: Bucket, rateLimit: RateLimit, now: number): number {
  const refilled = (Math.max(0, now - bucket.updatedAt) / 1000) * rateLimit.perSecond
  return Math.min(rateLimit.burst, bucket.tokens + refilled)
}

/**
 * The bucket of a process that takes over from another one, which may have used every token until `idleMs` ago: it holds
 * what has been earned since, and never more than this process had left.
 */
export function bucketAfterTakeover(own: Bucket, rateLimit: RateLimit, now: number, idleMs: number): Bucket {
  const shared = { tokens: 0, updatedAt: now - idleMs }
  return { tokens: Math.min(tokensAt(own, rateLimit, now), tokensAt(shared, rateLimit, now)), updatedAt: now }
}

/**
 * Takes one token. Refused: `waitMs` says when one is there.
 * A clock that went backwards earns nothing and costs nothing.
 */
export function takeToken(bucket: Bucket, rateLimit: RateLimit, now: number): { bucket: Bucket; waitMs: number } {
  const tokens = tokensAt(bucket, rateLimit, now)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, updatedAt: now }, waitMs: 0 }
  return { bucket: { tokens, updatedAt: now }, waitMs: Math.ceil(((1 - tokens) / rateLimit.perSecond) * 1000) }
}

/**
 * The place of one call in line: like `takeToken`, but the token is always taken, if need be from the future.
 * `waitMs` is how long the caller has to hold back. Calls that come later wait longer, so nobody is passed over.
 */
export function reserveToken(bucket: Bucket, rateLimit: RateLimit, now: number): { bucket: Bucket; waitMs: number } {
  const tokens = tokensAt(bucket, rateLimit, now) - 1
  const waitMs = tokens >= 0 ? 0 : Math.ceil((-tokens / rateLimit.perSecond) * 1000)
  return { bucket: { tokens, updatedAt: now }, waitMs }
}

/** Credentials refused: nothing to gain from asking again soon (reliability rules, flat 60 s). */
export const credentialsPauseMs = 60_000

/** `random` is in [0, 1); the answer within ±20 % of `ms`. */
export function jitter(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random))
}

/**
 * After how long a polling cycle follows the start of one that failed `failures` times in a row:
 * max(interval, 2^(failures-1) s), at most 30 s or the interval if that is longer.
 */
export function backoffMs(intervalMs: number, failures: number): number {
  if (failures <= 0) return intervalMs
  const exponentialMs = 1000 * 2 ** Math.min(failures - 1, 20)
  return Math.min(Math.max(intervalMs, exponentialMs), Math.max(30_000, intervalMs))
}

const maxReconnectMs = 30_000

/**
 * Before the nth try in a row to restore a lost link: 1, 2, 4 … 30 s; `askedMs`: not sooner than the system asked for,
 * which counts from 1 to 30 s.
 */
export function reconnectMs(attempt: number, requestedMs: number | null = null): number {
  const exponentialMs = Math.max(1000 * 2 ** Math.min(Math.max(0, attempt - 1), 20), requestedMs ?? 0)
  return Math.min(maxReconnectMs, exponentialMs)
}

/** A link that held this long starts its reconnection delays anew. */
const stableConnectionMs = 60_000

/** Which try in a row the next one is, after a link that was up for `heldMs` (0: it never came up). */
export function nextAttempt(attempt: number, connectedMs: number): number {
  return connectedMs >= stableConnectionMs ? 1 : attempt + 1
}

/**
 * When the next cycle starts: at fixed times `startedAt + k * interval`; a cycle that outlasts its interval is followed
 * 100 ms after its end, and the missed times are dropped.
 */
export function nextStart(startedAt: number, intervalMs: number, now: number): { at: number; overran: boolean } {
  const due = startedAt + intervalMs
  return now <= due ? { at: due, overran: false } : { at: now + 100, overran: true }
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): whole seconds, or a date, measured against the answer's own `Date` where it has
 * one. Null when it cannot be read; never under 1 s, never over 300 s.
 */
export function parseRetryAfter(value: string | undefined, date: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[+-]?\d+$/.test(text)) return clampRetryAfter(Number(text))
  // A date starts with its weekday; Date.parse alone would take "1.5" for a month and a day.
  const until = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return null
  const upstreamNow = Date.parse(date ?? '')
  return clampRetryAfter(Math.ceil((until - (Number.isNaN(upstreamNow) ? now : upstreamNow)) / 1000))
}

/** No upstream is given a longer pause than this. */
export const maxRetryAfterMs = 300_000

function clampRetryAfter(seconds: number): number {
  return Math.min(maxRetryAfterMs / 1000, Math.max(1, seconds))
}
