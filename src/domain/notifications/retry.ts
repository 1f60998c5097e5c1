import type { DeliveryStatus } from '../../contract/values.ts'

/** Messages expire: a late alarm helps nobody. */
export const expiryMs = 120_000

const pausesMs = [1_000, 5_000, 15_000, 30_000, 60_000]
const jitter = 0.1
/** The last try is at least this long before the expiry. */
const lastTryMs = 1_000

export interface FailedAttempt {
  /** Number of attempts, including this one. */
  readonly attempts: number
  /** When the message was queued; epoch milliseconds. */
  readonly createdAt: number
  /** Epoch milliseconds. */
  readonly now: number
  /** Requested by the service. */
  readonly retryAfterSeconds: number | null
  /** From 0 to 1. */
  readonly random: number
}

/** Epoch milliseconds; null if the message stays pending until it expires. */
export function planRetry(attempt: FailedAttempt): number | null | 'expired' {
  const { attempts, createdAt, now, retryAfterSeconds, random } = attempt
  const expiresAt = createdAt + expiryMs
  const earliest = now + (retryAfterSeconds ?? 0) * 1000
  if (earliest > expiresAt) return 'expired'
  const pauseMs = pausesMs[attempts - 1]
  if (pauseMs === undefined) return null
  const shortest = now + pauseMs * (1 - jitter)
  // The jitter must not move the sixth try beyond the expiry.
  const longest = Math.max(shortest, Math.min(now + pauseMs * (1 + jitter), expiresAt - lastTryMs))
  const at = Math.round(Math.max(earliest, shortest + (longest - shortest) * random))
  return at < expiresAt ? at : null
}

export function evaluateTry(
  outcome: 'sent' | 'failed' | 'retry',
  attempt: FailedAttempt,
): { readonly status: DeliveryStatus; readonly retryAt: number | null } {
  if (outcome !== 'retry') return { status: outcome, retryAt: null }
  const retryAt = planRetry(attempt)
  return retryAt === 'expired' ? { status: 'expired', retryAt: null } : { status: 'pending', retryAt }
}

/** If the clock was set back, a message may have been queued in the future. */
export function isExpired(createdAt: number, now: number): boolean {
  return Math.abs(now - createdAt) >= expiryMs
}
