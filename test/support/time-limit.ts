import { setTimeout as pause } from 'node:timers/promises'

/**
 * Returns the longest duration that a test accepts where `promisedMs` is promised. A shared machine can be many times
 * slower, but does not stop for seconds. So a test fails only if the mechanism is wrong, for example because the event
 * loop is blocked or a timeout is missing. The benchmarks measure the promised durations themselves.
 */
export const timeLimit = (promisedMs: number): number => promisedMs + Math.min(9 * promisedMs, maxDelayMs)

const maxDelayMs = 5_000

/**
 * Calls `attempt` until it returns true. Time is counted in turns of the event loop, not by the clock, so that a busy
 * machine gets more of it. Returns false if the state is not reached within `timeoutMs`.
 */
export async function waitInTurns(attempt: () => Promise<boolean>, timeoutMs: number, turnMs = 20): Promise<boolean> {
  for (let waitedMs = 0; waitedMs <= timeoutMs; waitedMs += turnMs) {
    if (await attempt()) return true
    await pause(turnMs)
  }
  return false
}
