import { setMaxListeners } from 'node:events'

/** Longer timers fire immediately. */
export const maxTimerMs = 2_000_000_000

export const neverAborted = new AbortController().signal

/** Resolves with true after the full time, or with false as soon as the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve(true)
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/**
 * Returns the promise's result, or `late` after the timeout. The caller must handle a rejection, even one after the
 * timeout.
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late')
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** A shared reason: an error for each would cost a stack trace, and thousands of lifetimes can end at once. */
const ended = new DOMException('This operation was aborted', 'AbortError')

export interface Lifetime {
  readonly signal: AbortSignal
  /** Aborts the signal and removes the listener from the parent. */
  abort(): void
}

/**
 * Creates a signal that aborts with `parent` or before it. Unlike `AbortSignal.any`, it leaves no listeners on a
 * long-lived parent.
 */
export function childLifetime(parent: AbortSignal): Lifetime {
  const child = new AbortController()
  const abort = () => {
    parent.removeEventListener('abort', abort)
    child.abort(ended)
  }
  // There is one listener per source, which may be more than the default maximum.
  setMaxListeners(0, parent)
  if (parent.aborted) child.abort(ended)
  else parent.addEventListener('abort', abort, { once: true })
  return { signal: child.signal, abort }
}

/**
 * Creates a signal that aborts with `parent`, or after this time with a `TimeoutError`. It does not keep the process
 * running. Not `AbortSignal.any` with `AbortSignal.timeout`: the garbage collector of Node.js 20 may remove such a
 * timeout, which then never fires.
 */
export function abortWithin(ms: number, parent?: AbortSignal): AbortSignal {
  if (parent?.aborted) return parent
  const controller = new AbortController()
  const abort = () => {
    clearTimeout(timer)
    controller.abort(parent?.reason)
  }
  const timer = setTimeout(() => {
    parent?.removeEventListener('abort', abort)
    controller.abort(new DOMException(`not within ${ms} ms`, 'TimeoutError'))
  }, ms)
  timer.unref()
  if (parent !== undefined) {
    // Many operations may share one parent.
    setMaxListeners(0, parent)
    parent.addEventListener('abort', abort, { once: true })
  }
  return controller.signal
}

/** Resolves like `promise`, but rejects with the signal's reason as soon as it aborts, even if the promise never settles. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
  })
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
