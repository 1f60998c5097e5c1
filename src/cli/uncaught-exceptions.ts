/**
 * Logs uncaught exceptions and continues, because they must not stop monitoring during a show. An exception that
 * repeats too often indicates a permanent fault. The process then shuts down normally, and its supervisor restarts it.
 * An exception in a timer or listener of a source is a failure of that source alone.
 */

import { currentSource } from '../platform/source-context.ts'
import type { Terminal } from './terminal.ts'

interface Log {
  error(fields: object, message: string): void
  fatal(fields: object, message: string): void
}

/** Installs the handler in a command that runs until it is stopped. */
export function surviveExceptions(terminal: Pick<Terminal, 'onException' | 'giveUp'>, log: Log): void {
  let known: readonly Occurrences[] = []
  terminal.onException((error) => {
    const source = currentSource()
    if (source !== null) {
      source.fail(error)
      return
    }
    const key = exceptionKey(error)
    known = recordOccurrence(known, key, performance.now())
    const err = error instanceof Error ? error : new Error(`Thrown value: ${String(error)}`)
    log.error({ err }, 'uncaught exception')
    if (!known.some((repeats) => repeats.key === key && isTooFrequent(repeats))) return
    log.fatal({ err }, 'the same exception more than 10 times within a minute; shutting down')
    terminal.giveUp()
  })
}

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
