/** The same thing again and again: how often within a while is too often. */

export interface Occurrences {
  readonly key: string
  /** When it happened within the last while; milliseconds of one clock. */
  readonly times: readonly number[]
}

const maxPerWindow = 10
const windowMs = 60_000
/** So many different ones are told apart; the oldest goes first. */
const maxKeys = 100

/** It has happened (once more). */
export function recordOccurrence(known: readonly Occurrences[], key: string, now: number): readonly Occurrences[] {
  const before = known.find((one) => one.key === key)?.times ?? []
  const times = [...before.filter((time) => now - time < windowMs), now].slice(-maxPerWindow - 1)
  return [...known.filter((one) => one.key !== key), { key, times }].slice(-maxKeys)
}

/** More than ten times in a minute. */
export function isTooFrequent({ times }: Occurrences): boolean {
  return times.length > maxPerWindow
}

/** Exceptions thrown at one place are the same one, whatever values their messages name. */
export function exceptionKey(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = error.stack?.split('\n').find((line) => /^\s+at /.test(line))
  return `${error.name} ${place?.trim() ?? error.message}`
}
