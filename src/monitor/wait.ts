import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits; an abort ends the wait at once. True when the time is up, false when it was cut short. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return sleep(Math.max(0, ms), true, { signal }).catch(() => false)
}

/** What the promise brings, or `late` when it takes longer. Its failure, early or late, is the caller's to handle. */
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
  /** Aborts the signal and lets go of the parent. */
  abort(): void
}

/** Ends with `parent`, or before it. Unlike AbortSignal.any, nothing of it stays with a parent that lives on. */
export function childLifetime(parent: AbortSignal): Lifetime {
  const child = new AbortController()
  const abort = () => {
    parent.removeEventListener('abort', abort)
    child.abort()
  }
  // There may be as many as there are sources.
  setMaxListeners(0, parent)
  if (parent.aborted) child.abort()
  else parent.addEventListener('abort', abort, { once: true })
  return { signal: child.signal, abort }
}
