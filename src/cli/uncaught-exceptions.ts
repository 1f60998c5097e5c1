/**
 * A bug that nobody foresaw must not end the show: the exception is logged and everything goes on. One that comes again
 * and again means that something is broken for good: then the process ends in order, for its supervisor to start anew.
 */

import { exceptionKey, isTooFrequent, type Occurrences, recordOccurrence } from '../model/repeats.ts'
import type { Terminal } from './terminal.ts'

interface Log {
  error(about: object, message: string): void
  fatal(about: object, message: string): void
}

/** From now on, for a command that runs until it is told to stop. */
export function surviveExceptions(terminal: Pick<Terminal, 'onException' | 'giveUp'>, log: Log): void {
  let known: readonly Occurrences[] = []
  terminal.onException((error) => {
    const key = exceptionKey(error)
    known = recordOccurrence(known, key, performance.now())
    const err = error instanceof Error ? error : new Error(`Somebody threw ${String(error)}`)
    log.error({ err }, 'an exception that nobody caught')
    if (!known.some((one) => one.key === key && isTooFrequent(one))) return
    log.fatal({ err }, 'the same exception more than 10 times within a minute; giving up')
    terminal.giveUp()
  })
}
