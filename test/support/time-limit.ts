/**
 * Returns the longest duration that a test accepts where `promisedMs` is promised. A shared machine can be many times
 * slower, but does not stand still for seconds, so a test fails only when a duration shows a wrong mechanism, such as a
 * blocked event loop or a missing timeout. The benchmarks measure the promised durations themselves.
 */
export const timeLimit = (promisedMs: number): number => promisedMs + Math.min(9 * promisedMs, maxDelayMs)

const maxDelayMs = 5_000
