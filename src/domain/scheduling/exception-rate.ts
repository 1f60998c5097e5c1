/** Detects events that occur too frequently. */

export interface Occurrences {
  readonly key: string
  /** The times of the occurrences within the window, in milliseconds of one clock. */
  readonly times: readonly number[]
}

const maxPerWindow = 10
const windowMs = 60_000
/** The maximum number of tracked keys. The key whose last occurrence is oldest is dropped first. */
const maxKeys = 100

export function recordOccurrence(known: readonly Occurrences[], key: string, now: number): readonly Occurrences[] {
  const earlier = known.find((entry) => entry.key === key)?.times ?? []
  const times = [...earlier.filter((time) => now - time < windowMs), now].slice(-maxPerWindow - 1)
  return [...known.filter((entry) => entry.key !== key), { key, times }].slice(-maxKeys)
}

/** True after more than ten occurrences within a minute. */
export function isTooFrequent({ times }: Occurrences): boolean {
  return times.length > maxPerWindow
}

/**
 * Returns the key that an exception is counted under. Exceptions from the same code location share a key, because
 * messages can contain varying values.
 */
export function exceptionKey(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const frame = error.stack?.split('\n').find((line) => /^\s+at /.test(line))
  return `${error.name} ${frame?.trim() ?? error.message}`
}
