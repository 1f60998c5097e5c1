/** Limits of requests, failed sign-ins and connections. Times are milliseconds of one clock. */

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
 * Returns the bucket of a process that takes over a source. The previous process may have used up all tokens `idleMs`
 * ago, so only tokens added since then count, up to this process's own bucket.
 */
export function bucketAfterTakeover(current: Bucket, rateLimit: RateLimit, now: number, idleMs: number): Bucket {
  const previous = { tokens: 0, updatedAt: now - idleMs }
  return { tokens: Math.min(tokensAt(current, rateLimit, now), tokensAt(previous, rateLimit, now)), updatedAt: now }
}

/**
 * Takes a token if there is one. Otherwise `waitMs` is the time until the next one. Setting the clock back neither adds
 * nor removes tokens.
 */
export function takeToken(bucket: Bucket, rateLimit: RateLimit, now: number): { bucket: Bucket; waitMs: number } {
  const tokens = tokensAt(bucket, rateLimit, now)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, updatedAt: now }, waitMs: 0 }
  return { bucket: { tokens, updatedAt: now }, waitMs: Math.ceil(((1 - tokens) / rateLimit.perSecond) * 1000) }
}

/**
 * Like `takeToken`, but takes a future token if necessary. The caller waits for `waitMs`. Later calls wait longer, so
 * calls keep their order.
 */
export function reserveToken(bucket: Bucket, rateLimit: RateLimit, now: number): { bucket: Bucket; waitMs: number } {
  const tokens = tokensAt(bucket, rateLimit, now) - 1
  const waitMs = tokens >= 0 ? 0 : Math.ceil((-tokens / rateLimit.perSecond) * 1000)
  return { bucket: { tokens, updatedAt: now }, waitMs }
}

/** Rejected credentials are unlikely to be accepted sooner. */
export const credentialsPauseMs = 60_000

/** Varies `ms` by up to ±20%. `random` is in [0, 1). */
export function jitter(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random))
}

/**
 * Returns the time between the starts of two polling cycles after `failures` consecutive failures: max(interval,
 * 2^(failures-1) s), limited to the longer of 30 s and the interval.
 */
export function backoffMs(intervalMs: number, failures: number): number {
  if (failures <= 0) return intervalMs
  const exponentialMs = 1000 * 2 ** Math.min(failures - 1, 20)
  return Math.min(Math.max(intervalMs, exponentialMs), Math.max(30_000, intervalMs))
}

const maxReconnectMs = 30_000

/**
 * Returns the delay before the nth consecutive attempt to restore a subscription: 1, 2, 4 … 30 s. The system can
 * request a minimum delay of up to 30 s with `requestedMs`.
 */
export function reconnectMs(attempt: number, requestedMs: number | null = null): number {
  const exponentialMs = Math.max(1000 * 2 ** Math.min(Math.max(0, attempt - 1), 20), requestedMs ?? 0)
  return Math.min(maxReconnectMs, exponentialMs)
}

/** A connection that lasts this long resets the reconnection delay. */
const stableConnectionMs = 60_000

/** `connectedMs` is 0 if the connection never opened. */
export function nextAttempt(attempt: number, connectedMs: number): number {
  return connectedMs >= stableConnectionMs ? 1 : attempt + 1
}

/**
 * Returns the start of the next cycle: one interval after the last start, or 100 ms after the end of a cycle that took
 * longer than the interval. Missed cycles are skipped.
 */
export function nextStart(startedAt: number, intervalMs: number, now: number): { at: number; overran: boolean } {
  const due = startedAt + intervalMs
  return now <= due ? { at: due, overran: false } : { at: now + 100, overran: true }
}

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3) to seconds: whole seconds, or a date relative to the response's `Date`
 * header. Limits the result to 1 to 300 s; returns null for an invalid value.
 */
export function parseRetryAfter(value: string | undefined, date: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[+-]?\d+$/.test(text)) return clampRetryAfter(Number(text))
  // HTTP dates start with the weekday. Date.parse alone would parse "1.5" as a month and a day.
  const until = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return null
  const upstreamNow = Date.parse(date ?? '')
  return clampRetryAfter(Math.ceil((until - (Number.isNaN(upstreamNow) ? now : upstreamNow)) / 1000))
}

export const maxRetryAfterMs = 300_000

function clampRetryAfter(seconds: number): number {
  return Math.min(maxRetryAfterMs / 1000, Math.max(1, seconds))
}

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

export interface ConnectionLimits {
  readonly connections: number
  readonly sockets: number
  readonly connectionsPerAddress: number
  /** Connections per client address that have not sent a request yet. */
  readonly unusedPerAddress: number
}

const defaultLimits = { connections: 12_000, sockets: 10_000, unusedPerAddress: 1024 } as const

/** Enough for twenty screens behind one address, even where few connections are allowed. */
export const minSocketsPerClient = 24
const minConnectionsPerAddress = 32

/** File descriptors reserved for the database, upstreams and files. */
const reservedDescriptors = 256

/** `descriptors` is the maximum number of this process's file descriptors; null if unknown. */
export function connectionLimits(
  descriptors: number | null,
): ConnectionLimits & ({ readonly isLowered: false } | { readonly isLowered: true; readonly descriptors: number }) {
  const isLowered = descriptors !== null && descriptors < defaultLimits.connections + reservedDescriptors
  const connections = isLowered ? Math.max(64, descriptors - reservedDescriptors) : defaultLimits.connections
  const sockets = Math.floor((connections * defaultLimits.sockets) / defaultLimits.connections)
  const connectionsPerAddress = Math.max(minConnectionsPerAddress, Math.floor(connections / 4))
  const unusedPerAddress = Math.min(defaultLimits.unusedPerAddress, connectionsPerAddress)
  const limits = { connections, sockets, connectionsPerAddress, unusedPerAddress }
  return isLowered ? { ...limits, isLowered, descriptors } : { ...limits, isLowered }
}

/** Healthchecks accepts five requests a minute. */
export const minHeartbeatSeconds = 12
