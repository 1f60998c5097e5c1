import { setMaxListeners } from 'node:events'

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
