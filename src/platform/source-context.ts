/** Finds the source that code runs for, including in timers and listeners that its loop has created. */

import { AsyncLocalStorage } from 'node:async_hooks'

export interface SourceContext {
  /** Ends the current attempt to monitor the source, and records this error. */
  fail(error: unknown): void
}

const storage = new AsyncLocalStorage<SourceContext>()

export function runForSource<Result>(context: SourceContext, work: () => Result): Result {
  return storage.run(context, work)
}

/** Returns null for code that no source has started. */
export function currentSource(): SourceContext | null {
  return storage.getStore() ?? null
}
