import { setMaxListeners } from 'node:events'

/**
 * Creates a signal that aborts with `parent`, or after this time with a `TimeoutError`. It does not keep the process
 * running. `AbortSignal.any` with `AbortSignal.timeout` is not used, because the garbage collector of Node.js 20 may
 * remove such a timeout, which then never ends.
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
    // Much work may share one parent.
    setMaxListeners(0, parent)
    parent.addEventListener('abort', abort, { once: true })
  }
  return controller.signal
}
