/**
 * Logs uncaught exceptions and continues, because they must not stop monitoring during a show. An exception that
 * repeats too often indicates a permanent fault. The process then shuts down normally, and its supervisor restarts it.
 * An exception in a timer or listener of a source is a failure of that source alone.
 */

import { exceptionKey, isTooFrequent, type Occurrences, recordOccurrence } from '../domain/scheduling/exception-rate.ts'
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
