/** The log of a command on standard error: JSON for machines, text for people, priorities for the systemd journal. */

import { fstatSync } from 'node:fs'
import { type LevelWithSilent, pino } from 'pino'
import type { Config } from '../config.ts'
import { LruMap } from '../platform/cache.ts'
import type { LogTail } from '../platform/log-tail.ts'
import type { Terminal } from './terminal.ts'

/** A line, as pino writes it. */
interface Line {
  readonly level: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly msg?: string
  readonly error?: unknown
  readonly err?: { readonly message: string; readonly stack: string }
  readonly [field: string]: unknown
}

const { warn: warnLevel = 40, fatal: fatalLevel = 60 } = pino.levels.values

/** `defaultLevel` applies if none is configured. */
export function createLog(
  terminal: Pick<Terminal, 'env' | 'err'>,
  { log, log_format }: Pick<Config, 'log' | 'log_format'>,
  defaultLevel: LevelWithSilent = 'error',
  tail?: LogTail,
) {
  const repeats = new RepeatLimiter()
  const format = log_format === 'text' ? formatText : (line: Line) => JSON.stringify(line)
  const prefix = isJournal(terminal.env) ? journalPriority : () => ''
  const write = (text: string) => {
    const line = JSON.parse(text) as Line
    const isLimited = line.level >= warnLevel && line.level < fatalLevel
    const leftOut = isLimited ? repeats.admit(causeOf(line), performance.now()) : 0
    if (leftOut === null) return
    tail?.add(text)
    const lines = format(leftOut === 0 ? line : { ...line, left_out: leftOut }).split('\n')
    for (const part of lines) terminal.err(prefix(line) + part)
  }
  return pino({ level: log ?? defaultLevel }, { write })
}

/** Several parts of the service may report one cause in their own words, such as a database that does not respond. */
function causeOf({ msg, error, err, source, channel }: Line): string {
  return String(error ?? err?.message ?? JSON.stringify([msg, source, channel]))
}

/** Limits the lines about a repeated cause: the first three, then one a minute. */
export class RepeatLimiter {
  static readonly #writtenAtFirst = 3
  static readonly #repeatAfterMs = 60_000
  readonly #causes = new LruMap<string, { lines: number; seenAt: number; writtenAt: number; leftOut: number }>(1000)

  /**
   * Returns the number of lines about the cause that were dropped since the last one; null to drop this one. After a
   * minute without a line, a cause is new again. `now` is in milliseconds.
   */
  admit(cause: string, now: number): number | null {
    const known = this.#causes.get(cause)
    if (known === undefined || now - known.seenAt >= RepeatLimiter.#repeatAfterMs) {
      this.#causes.set(cause, { lines: 1, seenAt: now, writtenAt: now, leftOut: 0 })
      return known?.leftOut ?? 0
    }
    known.lines += 1
    known.seenAt = now
    if (known.lines > RepeatLimiter.#writtenAtFirst && now - known.writtenAt < RepeatLimiter.#repeatAfterMs) {
      known.leftOut += 1
      return null
    }
    const { leftOut } = known
    known.writtenAt = now
    known.leftOut = 0
    return leftOut
  }
}

/** Formats a line as its time, level, message and fields, and the stack of an error below. */
function formatText({ level, time, msg, err, pid: _pid, hostname: _hostname, ...fields }: Line): string {
  const start = `${new Date(time).toISOString()} ${(pino.levels.labels[level] ?? '').toUpperCase().padEnd(5)}`
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [[start, msg, ...rest].filter(Boolean).join(' '), ...(err === undefined ? [] : [err.stack])].join('\n')
}

/** `$JOURNAL_STREAM` is the device and inode of the journal: see systemd.exec(5). */
function isJournal({ JOURNAL_STREAM }: Terminal['env']): boolean {
  if (JOURNAL_STREAM === undefined) return false
  const { dev, ino } = fstatSync(2)
  return JOURNAL_STREAM === `${dev}:${ino}`
}

/** The priorities of syslog, which the journal reads at the start of a line and removes: see sd-daemon(3). */
const priorities = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 }

function journalPriority({ level }: Line): string {
  const label = pino.levels.labels[level] as keyof typeof priorities | undefined
  return `<${label === undefined ? priorities.info : priorities[label]}>`
}
