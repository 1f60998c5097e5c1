import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits. Returns true after the full time, or false as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return sleep(Math.max(0, ms), true, { signal }).catch(() => false)
}

/**
 * Returns the promise's result, or `late` after the timeout. The caller must handle a rejection, even one after the
 * timeout.
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  const timer = new AbortController()
  try {
    return await Promise.race([promise, pause(ms, timer.signal).then(() => 'late' as const)])
  } finally {
    timer.abort()
  }
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

export interface Lifetime {
  readonly signal: AbortSignal
  /** Aborts the signal and removes the listener from the parent. */
  abort(): void
}

/**
 * Creates a signal that aborts together with `parent` or before it. Unlike `AbortSignal.any`, it leaves no listeners on
 * a long-lived parent.
 */
export function childLifetime(parent: AbortSignal): Lifetime {
  const child = new AbortController()
  const abort = () => {
    parent.removeEventListener('abort', abort)
    child.abort()
  }
  // There is one listener per source, which may be more than the default maximum.
  setMaxListeners(0, parent)
  if (parent.aborted) child.abort()
  else parent.addEventListener('abort', abort, { once: true })
  return { signal: child.signal, abort }
}
