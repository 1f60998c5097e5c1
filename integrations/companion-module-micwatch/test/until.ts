import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `condition` repeatedly until it returns true, or a value other than text, false, null or undefined. Text is the
 * reason why it is not fulfilled yet.
 */
export async function until<T>(
  description: string,
  condition: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<Exclude<T, string | false | null | undefined>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const result = await condition()
    if (isFulfilled(result)) return result
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${description} (${result})`)
    await pause(20)
  }
}

function isFulfilled<T>(result: T): result is Exclude<T, string | false | null | undefined> {
  return result !== false && result !== undefined && result !== null && typeof result !== 'string'
}
