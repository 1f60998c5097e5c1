/**
 * serve: runs pages, REST, WebSocket, polling and subscriptions in one process. Only the commands that use the server
 * and the simulators load them, because loading them would make all other commands start much more slowly.
 */

import { once } from 'node:events'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { FastifyBaseLogger } from 'fastify'
import type { Demo } from '../../simulators/demo.ts'
import type { Config } from '../config.ts'
import type { AuditRecord } from '../domain/access/access.ts'
import { commit, release } from '../platform/build.ts'
import { LogTail } from '../platform/log-tail.ts'
import { pause } from '../platform/wait.ts'
import type { Service } from '../service.ts'
import { createLog } from './log.ts'
import { listenForHangups } from './reload.ts'
import { ServiceManager } from './service-manager.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  installationFlags,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
  wholeOption,
  withTemporaryFolder,
} from './terminal.ts'
import { surviveExceptions } from './uncaught-exceptions.ts'

interface ServeOptions extends CommonOptions {
  readonly demo?: boolean
  readonly seed?: number
  readonly receivers?: number
  readonly poll: boolean
  readonly strict?: boolean
}

export function serveCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('serve', 'Run the service: pages, REST, WebSocket, polling and subscriptions')
    .option('--demo', 'add simulated systems, so that there is something to see')
    .addOption(wholeOption('--seed <n>', 'with --demo: seed of the simulation (default: 1)', 0, 2 ** 31 - 1))
    .addOption(wholeOption('--receivers <n>', 'with --demo: total number of receivers', 1, 20_000))
    .option('--no-poll', 'do not poll or subscribe; other processes do')
    .option('--strict', 'exit if the database is damaged, instead of continuing with its newest snapshot')
    .action(async (options: ServeOptions) => done(await serve(options, terminal)))
}

async function serve(options: ServeOptions, terminal: Terminal): Promise<ExitCode> {
  const { seed, receivers } = options
  if (!options.demo) {
    const flag = seed !== undefined ? '--seed' : receivers !== undefined ? '--receivers' : null
    if (flag !== null) throw new UsageError(`${flag} can only be used with --demo`)
    return run(readOptions(options, terminal), options, terminal, noDemo)
  }
  const isTemporary = !hasDataLocation(options, terminal)
  const config = readOptions(options, terminal, { isOffline: isTemporary })
  const { startDemo } = await import('../../simulators/demo.ts')
  const demo = await startDemo({ seed, receivers })
  try {
    if (!isTemporary) return await run(config, options, terminal, { demo, isTemporary })
    return await withTemporaryFolder('micwatch-demo-', terminal, (dataDir) => {
      const databaseUrl = `sqlite:${join(dataDir, 'micwatch.db')}`
      const temporary = { ...toDemoConfig(config), data_dir: dataDir, database_url: databaseUrl }
      return run(temporary, { ...options, dataDir, databaseUrl }, terminal, { demo, isTemporary })
    })
  } finally {
    await demo.close()
  }
}

/**
 * True if the user specified where to store data. If not, a demo uses a temporary folder, so that it leaves nothing
 * behind and changes no other data.
 */
function hasDataLocation({ dataDir, databaseUrl }: ServeOptions, { env }: Terminal): boolean {
  return (dataDir ?? databaseUrl ?? env.MICWATCH_DATA_DIR ?? env.MICWATCH_DATABASE_URL) !== undefined
}

/** Only simulated systems, with sound. */
function toDemoConfig(config: Config): Config {
  return { ...config, manufacturers: [], listening: true, audio_evidence: true }
}

interface DemoOptions {
  readonly demo: Demo | null
  /**
   * True if the data are in a temporary folder. The manufacturers in the configuration are then ignored, and visitors
   * on this machine may listen.
   */
  readonly isTemporary: boolean
}

const noDemo: DemoOptions = { demo: null, isTemporary: false }

async function run(
  config: Config,
  options: ServeOptions,
  terminal: Terminal,
  { demo, isTemporary }: DemoOptions,
): Promise<ExitCode> {
  const { pid, version, webRoot, signal } = terminal
  const defaultLevel = options.demo ? 'error' : 'info'
  const tail = new LogTail()
  const log = createLog(terminal, config, defaultLevel, tail)
  const print = (line: string) => terminal.err(line)
  /** Prints one line per action. With --json, standard output must contain only one document, so actions are logged. */
  const onAudit = ({ at, count, last_at, ...record }: AuditRecord) => {
    const repeated = last_at === null ? {} : { count, last_at: new Date(last_at).toISOString() }
    const audit = { ...record, at: new Date(at).toISOString(), ...repeated }
    if (options.json) log.info({ audit }, 'audit')
    else terminal.out(JSON.stringify({ audit }))
  }
  surviveExceptions(terminal, log)
  const readAgain = () => {
    const fileOptions = { ...options, ...(config.file !== null && { config: config.file }) }
    const changed = readOptions(fileOptions, terminal, { isOffline: isTemporary })
    return isTemporary ? toDemoConfig(changed) : changed
  }
  const hangups = listenForHangups(terminal)
  const output = { log, print, onAudit, droppedLines: () => terminal.droppedLines }
  const { createApp } = await import('../http/app.ts')
  const app = await createApp(config, {
    ...output,
    pid,
    version,
    webRoot,
    manufacturers: demo?.manufacturers ?? [],
    recentLog: () => tail.lines,
    servesOnly: !options.poll,
    hasVisitor: isTemporary,
    failsOnDamage: options.strict === true,
    createAdmin: `micwatch create_admin --username <name>${installationFlags(options, terminal.env)}`,
  })
  hangups.start({ log, logLevel: app.service.logLevel, defaultLevel, readAgain, apply: app.reload })
  const manager = new ServiceManager(terminal.env, log)
  manager.ready(() => app.service.monitor.isMoving)
  const { address } = app
  const { drain_seconds } = config.server
  if (drain_seconds > 0) {
    terminal.onTerminate(async () => {
      log.info({ seconds: drain_seconds }, 'SIGTERM received: other processes take over; responding until the end')
      app.drain()
      await pause(drain_seconds * 1000, signal)
    })
  }
  if (options.json) printJson(terminal, { address, pid, version, commit })
  else terminal.out(`Micwatch ${release} ${options.demo ? 'shows a simulated venue' : 'is listening'} at ${address}`)
  const filled = demo === null ? Promise.resolve() : fillHistory(app.service, demo.venue, { log, signal })
  const played = demo !== null && isTemporary ? playSound(app.service, demo, { log, signal, filled }) : null
  if (!signal.aborted) await once(signal, 'abort')
  manager.stopping()
  await filled
  await played
  await app.close()
  return exitCodes.ok
}

/** Fills the history with the day before the demo, unless something was recorded before. */
async function fillHistory(
  service: Service,
  venue: Demo['venue'],
  { log, signal }: { readonly log: FastifyBaseLogger; readonly signal: AbortSignal },
): Promise<void> {
  try {
    if (!service.settings.get(null).HISTORY || (await service.history.levels.range()) !== null) return
    const [{ playDay }, { createDayTarget }] = await Promise.all([
      import('../../simulators/demo-day.ts'),
      import('./demo-history.ts'),
    ])
    await playDay(venue, createDayTarget(service), signal)
  } catch (error) {
    log.error({ error: String(error) }, 'the history of the demo could not be filled')
  }
}

interface SoundOptions {
  readonly log: FastifyBaseLogger
  readonly signal: AbortSignal
  /** Resolves when the history is filled. */
  readonly filled: Promise<void>
}

/** Plays the voices of the demo. Without UDP to this machine, the demo continues without sound. */
async function playSound(service: Service, demo: Demo, { log, signal, filled }: SoundOptions): Promise<void> {
  try {
    const { playVoices } = await import('./demo-sound.ts')
    await playVoices(service, demo, { filled, signal })
  } catch (error) {
    log.error({ error: String(error) }, 'the demo has no sound')
  }
}
