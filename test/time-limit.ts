/**
 * The longest duration that a test accepts for a promised one. A shared machine can be many times slower than promised;
 * a test fails only when a duration shows a wrong mechanism, such as a blocked event loop or a missing timeout. The benches
 * measure the promised durations themselves.
 */
export const timeLimit = (promisedMs: number): number => 10 * promisedMs
