import { setTimeout as sleep } from 'node:timers/promises'

/** Waits; an abort ends the wait at once. True when the time is up, false when it was cut short. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return sleep(Math.max(0, ms), true, { signal }).catch(() => false)
}

export interface Lifetime {
  readonly signal: AbortSignal
  /** Aborts the signal and lets go of the parent. */
  end(): void
}

/** Ends with `parent`, or before it. Unlike AbortSignal.any, nothing of it stays with a parent that lives on. */
export function childOf(parent: AbortSignal): Lifetime {
  const child = new AbortController()
  const end = () => {
    parent.removeEventListener('abort', end)
    child.abort()
  }
  if (parent.aborted) child.abort()
  else parent.addEventListener('abort', end, { once: true })
  return { signal: child.signal, end }
}
