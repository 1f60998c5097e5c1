/** Counts the open resources of this process, and waits until they are closed. */

import { setTimeout as pause } from 'node:timers/promises'

/** Counts sockets and timers that keep this process, which also runs the simulator, alive. */
export function countResources(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP.*|Timeout|TLS.*)$/.test(name)).length
}

/** Samples for a moment and returns the lowest count, because the test runner has timers of its own. */
export async function minResources(): Promise<number> {
  let min = countResources()
  for (const endAt = performance.now() + 100; performance.now() < endAt; await pause(10))
    min = Math.min(min, countResources())
  return min
}

export async function until(condition: () => boolean, description = String(condition)): Promise<void> {
  for (const deadline = performance.now() + 10_000; !condition(); await pause(10)) {
    if (performance.now() > deadline) {
      throw new Error(`timed out: ${description}; open resources: ${process.getActiveResourcesInfo().join(', ')}`)
    }
  }
}

/** Returns the reason of a rejection; undefined if the promise is fulfilled. */
export function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error) => error,
  )
}
