/** Open resources in this process, and waiting until they are closed. */

import { setTimeout as pause } from 'node:timers/promises'

/** Counts sockets and timers that keep this process, which also runs the simulator, alive. */
export function resources(): number {
  return process.getActiveResourcesInfo().filter((one) => /^(TCP.*|Timeout|TLS.*)$/.test(one)).length
}

/** Samples for a moment and returns the lowest count, because the test runner has timers of its own. */
export async function leastResources(): Promise<number> {
  let least = resources()
  for (const endAt = Date.now() + 100; Date.now() < endAt; await pause(10)) least = Math.min(least, resources())
  return least
}

export async function until(isSo: () => boolean, what = String(isSo)): Promise<void> {
  for (const giveUpAt = Date.now() + 1000; !isSo(); await pause(10)) {
    if (Date.now() > giveUpAt) throw new Error(`timed out: ${what}`)
  }
}

/** Returns the reason of a rejection; undefined if the promise is fulfilled. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error) => error,
  )
}
