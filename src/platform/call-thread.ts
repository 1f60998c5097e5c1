// Separate from `thread.ts`, which tests replace.

import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'

/**
 * Passes a task to an idle thread and returns its reply. Rejects if the thread fails or ends, or if `limit` aborts
 * first. The thread keeps the process alive only during the call.
 */
export async function callThread(thread: Worker, task: unknown, limit?: AbortSignal): Promise<unknown> {
  const ended = new AbortController()
  const end = () => ended.abort()
  thread.once('exit', end).ref()
  thread.postMessage(task)
  try {
    const [reply] = await once(thread, 'message', {
      signal: AbortSignal.any([ended.signal, ...(limit ? [limit] : [])]),
    })
    return reply
  } finally {
    thread.off('exit', end).unref()
  }
}
