/** Words on the command line -> one command -> exit code. The only file that touches `process`. */

import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import { backupCommand, restoreCommand } from './cli/backup.ts'
import { checkConnectionsCommand, realtimeStatusCommand } from './cli/connections.ts'
import { createAdminCommand } from './cli/create-admin.ts'
import { addDevicesCommands } from './cli/devices.ts'
import { exportCommand, importCommand } from './cli/export-import.ts'
import { followCommands } from './cli/follow.ts'
import { migrateCommand, simulateCommand } from './cli/maintenance.ts'
import { nodesCommand } from './cli/nodes.ts'
import { createOutput, escapeControls } from './cli/output.ts'
import { pollDevicesCommand } from './cli/poll-devices.ts'
import { serveCommand } from './cli/serve.ts'
import { checkApiHealthCommand } from './cli/status.ts'
import { type ExitCode, exitCodes, plain, type Terminal, UsageError } from './cli/terminal.ts'
import { ConfigError } from './config.ts'
import { limitYoungGeneration } from './heap.ts'

const version = typeof __MICWATCH_VERSION__ === 'undefined' ? 'development' : __MICWATCH_VERSION__
const isBuilt = typeof __MICWATCH_VERSION__ !== 'undefined'

limitYoungGeneration()

/** A terminal sends Ctrl+C to npm and to us, and npm passes its own on: asked twice so soon is asked once. */
const echoMs = 200
/** Longer than any stop takes in which nothing hangs. */
const lastResortMs = 8000

const stop = new AbortController()
let interruptedAt: number | undefined
for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(name, () => {
    const at = performance.now()
    if (name === 'SIGINT' && interruptedAt !== undefined && at - interruptedAt < echoMs) return
    if (name === 'SIGINT') interruptedAt ??= at
    requestStop(code)
  })
}

// Asked now: a terminal that was closed is none any more.
const hasTerminal = [0, 1, 2].some(isatty)
let onHangup = () => {}
// Without a listener it would end the process at once, and nohup would not help: Node.js restores the default of every signal.
process.on('SIGHUP', () => {
  if (hasTerminal) requestStop(129)
  else onHangup()
})

function requestStop(code: number): void {
  // Asked twice, somebody is in a hurry.
  if (stop.signal.aborted) process.exit(code)
  stop.abort()
}
// A database that hangs, say, is not waited for.
stop.signal.addEventListener('abort', () => {
  setTimeout(() => process.exit(hasGivenUp ? exitCodes.failed : process.exitCode), lastResortMs).unref()
})

let hasGivenUp = false
let takeException: (error: unknown) => void = (error) => process.exit(explain(error))
for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(name, (error: unknown) => takeException(error))
}

/** Nobody would read as much log later; an answer somebody asked for is given in full. */
const out = createOutput(process.stdout, 16 * 1024 * 1024)
const err = createOutput(process.stderr, 1024 * 1024)

const terminal: Terminal = {
  env: process.env,
  pid: process.pid,
  version,
  webRoot: fileURLToPath(new URL(isBuilt ? './web' : '../dist/web', import.meta.url)),
  signal: stop.signal,
  isInteractive: process.stderr.isTTY === true,
  onException(take) {
    takeException = take
  },
  onHangup(listener) {
    onHangup = listener
  },
  onExit: (work) => void process.once('exit', work),
  giveUp() {
    hasGivenUp = true
    stop.abort()
  },
  get droppedLines() {
    return out.dropped + err.dropped
  },
  out: (text) => out.write(`${escapeControls(text)}\n`),
  // A progress bar returns to the start of its line and clears the rest of it.
  err: (text) => err.write(text.startsWith('\r') ? text : `${escapeControls(text)}\n`),
  askSecret,
  readLine: async () => {
    for await (const line of createInterface({ input: process.stdin })) return line
    return ''
  },
  readAll: async () => {
    let text = ''
    for await (const part of process.stdin.setEncoding('utf8')) text += part
    return text
  },
}

const ended = await run(process.argv.slice(2))
process.exitCode = hasGivenUp ? exitCodes.failed : ended

async function run(words: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok
  const done = (ended: ExitCode) => {
    code = ended
  }
  const program = new Command('micwatch')
    .description('Watches every wireless microphone in a building, live.')
    .version(version)
    .addCommand(serveCommand(terminal, done))
    .addCommand(pollDevicesCommand(terminal, done))
    .addCommand(checkApiHealthCommand(terminal, done))
    .addCommand(checkConnectionsCommand(terminal, done))
    .addCommand(realtimeStatusCommand(terminal, done))
    .addCommand(simulateCommand(terminal, done))
    .addCommand(migrateCommand(terminal, done))
    .addCommand(createAdminCommand(terminal, done))
    .addCommand(nodesCommand(terminal, done))
    .addCommand(exportCommand(terminal, done))
    .addCommand(importCommand(terminal, done))
    .addCommand(backupCommand(terminal, done))
    .addCommand(restoreCommand(terminal, done))
    .addHelpText('after', '\nTry it: micwatch serve --demo')
  for (const command of addDevicesCommands(terminal, done)) program.addCommand(command)
  for (const command of followCommands(terminal, done)) program.addCommand(command)
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeOut: (text) => terminal.out(text.trimEnd()), writeErr: () => {} })
  }
  try {
    await program.parseAsync(withUnderscores(words), { from: 'user' })
    return code
  } catch (error) {
    return explain(error)
  }
}

/** Nothing of what is typed is shown. */
function askSecret(question: string): Promise<string | null> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return Promise.resolve(null)
  stderr.write(question)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  return new Promise((resolve) => {
    let typed = ''
    const end = (answer: string | null) => {
      stdin.off('data', take).setRawMode(false).pause()
      stderr.write('\n')
      resolve(answer)
    }
    const take = (text: string) => {
      for (const letter of text) {
        if (letter === '\r' || letter === '\n' || letter === '\u0004') return end(typed)
        if (letter === '\u0003') return end(null)
        if (letter === '\u007f' || letter === '\b') typed = [...typed].slice(0, -1).join('')
        else typed += letter
      }
    }
    stdin.on('data', take)
  })
}

/** `check-api-health` is `check_api_health`. */
function withUnderscores(words: readonly string[]): string[] {
  const at = words.findIndex((word) => !word.startsWith('-'))
  return words.map((word, index) => (index === at ? word.replaceAll('-', '_') : word))
}

/** One line on standard error, never a stack trace. */
function explain(error: unknown): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok
    // What was meant, if that can be guessed, stands in a second line.
    const sentence = error.message.replace(/^error: /, '').replace('\n', ' ')
    complain(error.code === 'commander.help' ? 'say which command; see micwatch --help' : sentence)
    return exitCodes.usage
  }
  const { message, code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (error instanceof UsageError || error instanceof ConfigError) {
    complain(message)
    return exitCodes.usage
  }
  const isTaken = code === 'EADDRINUSE'
  const sentence = isTaken ? `${address}:${port} is in use by another program; choose another with --port` : message
  complain(sentence.split('\n')[0])
  return exitCodes.failed
}

function complain(sentence: string | undefined): void {
  terminal.err(`micwatch: ${plain(sentence)}`)
}
