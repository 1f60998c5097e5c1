/** What every command shares: the outside world it may touch, its exit codes, how it words an outcome. */

import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Table from 'cli-table3'
import { Command, InvalidArgumentError, Option } from 'commander'
import pino from 'pino'
import { type Config, type ConfigFlags, type ReadOptions, readConfig } from '../config.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly version: string
  /** Where the built pages lie. */
  readonly webRoot: string
  /** Aborts on SIGINT and SIGTERM, and on SIGHUP where the process has a terminal. */
  readonly signal: AbortSignal
  /** Called on SIGHUP where the process has no terminal. */
  onHangup(listener: () => void): void
  /** From now on exceptions that nobody catches go there; before, they end the process. */
  onException(take: (error: unknown) => void): void
  /** What is still to be done when the process ends in a hurry; at once, and nothing is waited for. */
  onExit(work: () => void): void
  /** Like a signal to stop, but the process ends with 1. */
  giveUp(): void
  /** Lines that standard output and standard error did not take. */
  readonly droppedLines: number
  /** Standard error is a terminal, so that progress can be drawn there. */
  readonly isInteractive: boolean
  out(text: string): void
  err(text: string): void
  /** Asks on standard error, without echo; null when nobody sits at standard input, or gave up. */
  askSecret(question: string): Promise<string | null>
  /** The first line of standard input. */
  readLine(): Promise<string>
  /** All of standard input. */
  readAll(): Promise<string>
}

export const exitCodes = { ok: 0, failed: 1, usage: 2, tempFail: 75 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Wrong words on the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command with the flags that stand above the configuration, and `--json`. */
export function createCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'configuration file (default: micwatch.yaml, if there)')
    .option('--host <address>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 for a free one')
    .option('--mount <prefix>', 'path prefix of everything, e.g. /micwatch')
    .option('--data-dir <folder>', 'where the database and the secrets lie')
    .option('--database-url <url>', 'sqlite:<file> or postgres://…')
    .option('--redis-url <url>', 'redis://…')
    .option('--json', 'one JSON document on standard output, nothing else there')
}

/** What commander makes of those flags. */
export interface CommonOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: string
  readonly mount?: string
  readonly dataDir?: string
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly json?: boolean
}

export function readOptions(options: CommonOptions, { env }: Pick<Terminal, 'env'>, how?: ReadOptions): Config {
  const { config, host, port, mount, dataDir, databaseUrl, redisUrl } = options
  const flags: ConfigFlags = { config, host, port, mount }
  return readConfig({ ...flags, data_dir: dataDir, database_url: databaseUrl, redis_url: redisUrl }, env, how)
}

/** Which house is meant, as flags for a command in another shell, which may lack what the environment says here. */
export function installationFlags(options: CommonOptions, env: Terminal['env']): string {
  const config = options.config || env.MICWATCH_CONFIG
  const dataDir = options.dataDir || env.MICWATCH_DATA_DIR
  const databaseUrl = options.databaseUrl || env.MICWATCH_DATABASE_URL
  const flags = [
    ['--config', config],
    ['--data-dir', dataDir],
    ['--database-url', databaseUrl && withoutPassword(databaseUrl)],
  ] as const
  return flags.map(([name, value]) => (value ? ` ${name} ${quoted(value)}` : '')).join('')
}

/** What is printed may end up in a log. */
function withoutPassword(url: string): string {
  if (!URL.canParse(url) || new URL(url).password === '') return url
  const shown = new URL(url)
  shown.password = 'PASSWORD'
  return shown.href
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export function wholeOption(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
  })
}

/** One JSON line an event, on standard error; MICWATCH_LOG names the least level. */
export function createLog(terminal: Pick<Terminal, 'env' | 'err'>, defaultLevel: string) {
  const level = terminal.env.MICWATCH_LOG ?? defaultLevel
  return pino(
    { level: level in pino.levels.values || level === 'silent' ? level : defaultLevel },
    { write: (line: string) => terminal.err(line.trimEnd()) },
  )
}

export function printJson(terminal: Terminal, document: unknown): void {
  terminal.out(JSON.stringify(document, null, 2))
}

/** Control characters would let a device's name move the cursor, marks of direction let it read as something else. */
export function plain(value: unknown): string {
  return String(value ?? '–').replace(/[\p{Cc}\p{Bidi_Control}]/gu, (one) => {
    const code = one.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })
}

export function formatTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } })
  table.push(...rows.map((row) => row.map(plain)))
  return table.toString()
}

/** Redraws one line; gone once the work is done. Says nothing where nobody looks. */
export function createProgress(
  terminal: Terminal,
  label: string,
): { show(done: number, total: number): void; end(): void } {
  let isDrawn = false
  return {
    show(done, total) {
      if (!terminal.isInteractive) return
      const width = 24
      const filled = total === 0 ? width : Math.round((done / total) * width)
      terminal.err(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total}\u001b[K`)
      isDrawn = true
    },
    end() {
      if (isDrawn) terminal.err('\r\u001b[K')
    },
  }
}

/** A folder that is gone when the work is done, or when nobody waits for that. */
export async function withPassingFolder<T>(
  prefix: string,
  terminal: Pick<Terminal, 'onExit'>,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  terminal.onExit(() => rmSync(path, { recursive: true, force: true }))
  try {
    return await work(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}
