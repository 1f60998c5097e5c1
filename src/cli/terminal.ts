/** Shared by all commands: the terminal, options, exit codes and output formats. */

import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Table from 'cli-table3'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ConfigFlags } from '../config/environment.ts'
import { type Config, type ReadOptions, readConfig } from '../config.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * Adds the variables of the environment file to `env`, and prints a warning for each variable without an effect.
   * Later calls have no effect. Throws a ConfigError if the file cannot be read.
   */
  prepareEnvironment(): void
  readonly pid: number
  readonly version: string
  readonly nodeVersion: string
  /** The folder of the built pages. */
  readonly webRoot: string
  /** Aborts on SIGINT and SIGTERM, and on SIGHUP if the process has a terminal. */
  readonly signal: AbortSignal
  /** Called on the first SIGTERM. The signal aborts when the listener has finished. A second one ends the process. */
  onTerminate(listener: () => Promise<void>): void
  /** Called at every SIGHUP if the process has no terminal. */
  onHangup(listener: () => void): void
  /** Handles later uncaught exceptions. Without a handler, they end the process. */
  onException(handler: (error: unknown) => void): void
  /** Registers synchronous work to run when the process exits. */
  onExit(work: () => void): void
  /** Ends the process after this time, even if something is still pending. */
  exitWithin(ms: number): void
  /** Stops the process as SIGTERM does, but with exit code 1. */
  giveUp(): void
  /** Lines that standard output and standard error dropped. */
  readonly droppedLines: number
  /** True if standard error is a terminal, on which progress can be drawn. */
  readonly isInteractive: boolean
  out(text: string): void
  err(text: string): void
  /**
   * Writes text of any length to standard output, and waits until the reader has taken it. Resolves with false if the
   * reader has closed the pipe.
   */
  write(text: Uint8Array): Promise<boolean>
  /**
   * Prompts on standard error and reads an answer without echo; null if standard input is not a terminal or the user
   * cancelled.
   */
  askSecret(question: string): Promise<string | null>
  readLine(): Promise<string>
  readAll(): Promise<string>
}

export const exitCodes = { ok: 0, failed: 1, usage: 2, tempFail: 75 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An invalid command line or input file. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Creates a command with the flags that override the configuration, and `--json`. */
export function createCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'configuration file (default: micwatch.yaml, if it exists)')
    .option('--host <address>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 for a free one')
    .option('--mount <prefix>', 'path prefix of all URLs, e.g. /micwatch')
    .option('--data-dir <folder>', 'folder of the database and the secrets')
    .option('--database-url <url>', 'sqlite:<file> or postgres://…')
    .option('--redis-url <url>', 'redis://…')
    .option('--json', 'print only one JSON document on standard output')
}

/** The flags as parsed by commander. */
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

export function readOptions(options: CommonOptions, { env, prepareEnvironment }: Terminal, how?: ReadOptions): Config {
  prepareEnvironment()
  return readConfig(toFlags(options), env, how)
}

export function toFlags({ config, host, port, mount, dataDir, databaseUrl, redisUrl }: CommonOptions): ConfigFlags {
  return { config, host, port, mount, data_dir: dataDir, database_url: databaseUrl, redis_url: redisUrl }
}

/**
 * Returns the flags that select the same installation in another shell, where the environment variables may be missing.
 */
export function installationFlags(options: CommonOptions, env: Terminal['env']): string {
  const config = options.config || env.MICWATCH_CONFIG
  const dataDir = options.dataDir || env.MICWATCH_DATA_DIR
  const databaseUrl = options.databaseUrl || env.MICWATCH_DATABASE_URL
  const flags = [
    ['--config', config],
    ['--data-dir', dataDir],
    ['--database-url', databaseUrl && withoutPassword(databaseUrl)],
  ] as const
  return flags.map(([name, value]) => (value ? ` ${name} ${quoteForShell(value)}` : '')).join('')
}

/** Masks the password, because printed URLs may end up in a log. */
function withoutPassword(url: string): string {
  if (!URL.canParse(url) || new URL(url).password === '') return url
  const masked = new URL(url)
  masked.password = 'PASSWORD'
  return masked.href
}

function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export function wholeOption(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
  })
}

export function printJson(terminal: Terminal, document: unknown): void {
  terminal.out(JSON.stringify(document, null, 2))
}

/** Escapes control characters, which could move the cursor, and bidirectional controls, which could disguise a name. */
export function plain(value: unknown): string {
  return String(value ?? '–').replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })
}

export function formatTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } })
  table.push(...rows.map((row) => row.map(plain)))
  return table.toString()
}

/** Redraws one progress line and removes it at the end. Prints nothing unless standard error is a terminal. */
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

/** The folder is removed when the work is done or the process exits. */
export async function withTemporaryFolder<T>(
  prefix: string,
  terminal: Terminal,
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
