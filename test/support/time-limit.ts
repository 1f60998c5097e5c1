import { setTimeout as pause } from 'node:timers/promises'

/**
 * Returns the longest duration that a test accepts where `promisedMs` is promised. A shared machine can be many times
 * slower, but does not stand still for seconds, so a test fails only when a duration shows a wrong mechanism, such as a
 * blocked event loop or a missing timeout. The benchmarks measure the promised durations themselves.
 */
export const timeLimit = (promisedMs: number): number => promisedMs + Math.min(9 * promisedMs, maxDelayMs)

const maxDelayMs = 5_000

/**
 * Waits for a state: calls `attempt` until it returns true. Time counts in turns of the event loop, not by the clock, so
 * that a busy machine, on which the service under test gets as little time as the test, allows more of it. Returns false
 * if the state is not reached within `timeoutMs` of such time.
 */
export async function waitInTurns(attempt: () => Promise<boolean>, timeoutMs: number, turnMs = 20): Promise<boolean> {
  for (let waitedMs = 0; waitedMs <= timeoutMs; waitedMs += turnMs) {
    if (await attempt()) return true
    await pause(turnMs)
  }
  return false
}
