/** Parses the command line, runs one command and sets the exit code. */

import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import { listVariableWarnings, loadEnvironmentFile } from '../config/environment.ts'
import { ConfigError } from '../config.ts'
import { isBuilt, release, version } from '../platform/build.ts'
import { FileError } from '../platform/file-error.ts'
import { StoreDownError } from '../storage/errors.ts'
import { tokenCommand, userCommand } from './accounts.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { captureCommand } from './capture.ts'
import { configCommand } from './config-check.ts'
import { checkConnectionsCommand, realtimeStatusCommand } from './connections.ts'
import { createAdminCommand } from './create-admin.ts'
import { addDevicesCommands } from './devices.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand, importCommand } from './export-import.ts'
import { followCommands } from './follow.ts'
import { healthcheckCommand } from './healthcheck.ts'
import { historyCommand } from './history.ts'
import { migrateCommand, simulateCommand } from './maintenance.ts'
import { notifyCommand } from './notify.ts'
import { createOutput, escapeControls } from './output.ts'
import { pollDevicesCommand } from './poll-devices.ts'
import { scanCommand } from './scan.ts'
import { serveCommand } from './serve.ts'
import { checkApiHealthCommand, nodesCommand } from './status.ts'
import { supportCommand } from './support.ts'
import { type ExitCode, exitCodes, plain, type Terminal, UsageError } from './terminal.ts'

/** Under npm, Ctrl+C arrives twice: from the terminal and from npm. A second SIGINT within this time is ignored. */
const duplicateSignalMs = 200
/** After this time, a shutdown is treated as hanging; a normal one takes less. */
const forcedExitMs = 8000

const stop = new AbortController()
let interruptedAt: number | undefined
for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(name, () => {
    const at = performance.now()
    if (name === 'SIGINT' && interruptedAt !== undefined && at - interruptedAt < duplicateSignalMs) return
    if (name === 'SIGINT') interruptedAt ??= at
    requestStop(code, name === 'SIGTERM')
  })
}

// Determined at the start, because a closed terminal is no longer a TTY.
const hasTerminal = [0, 1, 2].some(isatty)
let onHangup = () => {}
// Without a listener, SIGHUP ends the process even under nohup, because Node.js restores the default signal handlers.
process.on('SIGHUP', () => {
  if (hasTerminal) requestStop(129)
  else onHangup()
})

let isStopRequested = false
let drain: (() => Promise<void>) | null = null
function requestStop(code: number, mayDrain = false): void {
  // A second signal ends the process immediately.
  if (isStopRequested) process.exit(code)
  isStopRequested = true
  if (mayDrain && drain !== null) void drain().finally(() => stop.abort())
  else stop.abort()
}
// Ends the process if the shutdown hangs, for example because of the database.
stop.signal.addEventListener('abort', () => {
  setTimeout(() => process.exit(hasGivenUp ? exitCodes.failed : process.exitCode), forcedExitMs).unref()
})

let hasGivenUp = false
let handleException: (error: unknown) => void = (error) => process.exit(reportError(error))
for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(name, (error: unknown) => handleException(error))
}

// Standard output has the larger buffer, so that the output of a command is complete. The log goes to standard error.
const out = createOutput(process.stdout, 16 * 1024 * 1024)
const err = createOutput(process.stderr, 1024 * 1024)

let isEnvironmentPrepared = false

const terminal: Terminal = {
  env: process.env,
  prepareEnvironment() {
    if (isEnvironmentPrepared) return
    loadEnvironmentFile(process.env)
    isEnvironmentPrepared = true
    for (const warning of listVariableWarnings(process.env)) terminal.err(`micwatch: warning: ${warning}`)
  },
  pid: process.pid,
  version,
  nodeVersion: process.versions.node,
  webRoot: fileURLToPath(new URL(isBuilt ? './web' : '../../dist/web', import.meta.url)),
  signal: stop.signal,
  isInteractive: process.stderr.isTTY === true,
  onException(listener) {
    handleException = listener
  },
  onTerminate(listener) {
    drain = listener
  },
  onHangup(listener) {
    onHangup = listener
  },
  onExit: (work) => void process.once('exit', work),
  exitWithin(ms) {
    setTimeout(() => process.exit(), ms).unref()
  },
  giveUp() {
    hasGivenUp = true
    stop.abort()
  },
  get droppedLines() {
    return out.dropped + err.dropped
  },
  out: (text) => out.write(`${escapeControls(text)}\n`),
  // A progress line begins with a carriage return. It keeps its control characters, because it must redraw itself.
  err: (text) => err.write(text.startsWith('\r') ? text : `${escapeControls(text)}\n`),
  write: (text) =>
    out.writeAndWait(
      process.stdout.isTTY ? escapeControls(Buffer.from(text).toString().replaceAll('\r\n', '\n')) : text,
    ),
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

async function run(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok
  const done = (ended: ExitCode) => {
    code = ended
  }
  const program = new Command('micwatch')
    .description('Monitors every wireless microphone in a building in real time.')
    .version(release)
    .addCommand(serveCommand(terminal, done))
    .addCommand(pollDevicesCommand(terminal, done))
    .addCommand(checkApiHealthCommand(terminal, done))
    .addCommand(checkConnectionsCommand(terminal, done))
    .addCommand(realtimeStatusCommand(terminal, done))
    .addCommand(simulateCommand(terminal, done))
    .addCommand(migrateCommand(terminal, done))
    .addCommand(createAdminCommand(terminal, done))
    .addCommand(configCommand(terminal, done))
    .addCommand(userCommand(terminal, done))
    .addCommand(tokenCommand(terminal, done))
    .addCommand(doctorCommand(terminal, done))
    .addCommand(healthcheckCommand(terminal, done))
    .addCommand(nodesCommand(terminal, done))
    .addCommand(notifyCommand(terminal, done))
    .addCommand(exportCommand(terminal, done))
    .addCommand(importCommand(terminal, done))
    .addCommand(backupCommand(terminal, done))
    .addCommand(restoreCommand(terminal, done))
    .addCommand(supportCommand(terminal, done))
    .addCommand(captureCommand(terminal, done))
    .addCommand(scanCommand(terminal, done))
    .addCommand(historyCommand(terminal, done))
    .addHelpText('after', '\nTry it: micwatch serve --demo')
  for (const command of addDevicesCommands(terminal, done)) program.addCommand(command)
  for (const command of followCommands(terminal, done)) program.addCommand(command)
  const commands = program.commands.flatMap((command) => [command, ...command.commands])
  for (const command of [program, ...commands]) {
    command.exitOverride().configureOutput({ writeOut: (text) => terminal.out(text.trimEnd()), writeErr: () => {} })
  }
  try {
    await program.parseAsync(withUnderscores(args), { from: 'user' })
    return code
  } catch (error) {
    return reportError(error)
  }
}

/** Returns null without a terminal or after Ctrl+C. */
function askSecret(question: string): Promise<string | null> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return Promise.resolve(null)
  stderr.write(question)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  return new Promise((resolve) => {
    let typed = ''
    const end = (secret: string | null) => {
      stdin.off('data', onData).setRawMode(false).pause()
      stderr.write('\n')
      resolve(secret)
    }
    const onData = (text: string) => {
      for (const character of text) {
        if (character === '\r' || character === '\n' || character === '\u0004') return end(typed)
        if (character === '\u0003') return end(null)
        if (character === '\u007f' || character === '\b') typed = [...typed].slice(0, -1).join('')
        else typed += character
      }
    }
    stdin.on('data', onData)
  })
}

/** Accepts `check-api-health` for `check_api_health`. */
function withUnderscores(args: readonly string[]): string[] {
  const commandIndex = args.findIndex((word) => !word.startsWith('-'))
  return args.map((word, index) => (index === commandIndex ? word.replaceAll('-', '_') : word))
}

/** Prints one line on standard error, never a stack trace, and returns the exit code. */
function reportError(error: unknown): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok
    // Commander puts its suggestion on a second line.
    const text = error.message.replace(/^error: /, '').replace('\n', ' ')
    const isUnknown = error.code === 'commander.unknownCommand' && !text.includes('Did you mean')
    if (error.code === 'commander.help') printError('expected a command; see micwatch --help')
    else printError(isUnknown ? `${text}; see micwatch --help` : text)
    return exitCodes.usage
  }
  const { message, code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (error instanceof UsageError || error instanceof ConfigError) {
    printError(message)
    return exitCodes.usage
  }
  const isPortInUse = code === 'EADDRINUSE'
  const text = isPortInUse ? `${address}:${port} is in use by another program; choose another with --port` : message
  const [line = ''] = text.split('\n')
  const isAboutFiles = error instanceof FileError || error instanceof StoreDownError
  printError(isAboutFiles ? `${line.replace(/\.$/, '')}. micwatch doctor checks everything at once.` : line)
  return exitCodes.failed
}

function printError(text: string | undefined): void {
  terminal.err(`micwatch: ${plain(text)}`)
}
