/** poll_devices: polls the sources without serving pages or the API. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { keepSavingLevels } from '../ingest/levels.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { ConfigReloader } from '../service/config-reload.ts'
import { Service } from '../service.ts'
import { createNodeId, LeaseManager } from '../sources/lease-manager.ts'
import { runPollLoop } from '../sources/poll-loop.ts'
import type { CycleReport, Poller } from '../sources/poller.ts'
import { Schedule } from '../sources/schedule.ts'
import { openDatabase } from '../storage/database.ts'
import { isUpToDate } from '../storage/migrate.ts'
import { requireNoLoss } from '../storage/repair.ts'
import { createLog } from './log.ts'
import { listenForHangups } from './reload.ts'
import { ServiceManager } from './service-manager.ts'
import { sourcesOf } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  createProgress,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
  wholeOption,
  withTemporaryFolder,
} from './terminal.ts'
import { surviveExceptions } from './uncaught-exceptions.ts'

interface PollOptions extends CommonOptions {
  readonly interval?: number
  readonly once?: boolean
  readonly manufacturer?: string
  readonly continuous?: boolean
  readonly dryRun?: boolean
}

/** The default without a flag or setting. */
const defaultIntervalSeconds = 5
const defaultLevel = 'error'

export function pollDevicesCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('poll_devices', 'Poll the manufacturers’ systems, and run their real-time subscriptions')
    .addOption(
      wholeOption(
        '--interval <seconds>',
        'polling interval; overrides the configured one (default: the configured interval, or 5)',
        1,
        3600,
      ),
    )
    .option('--once', 'poll once, then exit')
    .option('--manufacturer <code>', 'only this manufacturer')
    .option('--continuous', 'poll until stopped (the default)')
    .option('--dry-run', 'show what polls would change, without storing or publishing anything')
    .addHelpText('after', '\nWith --port, the process serves its own /healthz, /readyz and /metrics.')
    .action(async (options: PollOptions) => done(await pollDevices(options, terminal)))
}

async function pollDevices(options: PollOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.continuous && options.once) throw new UsageError('--continuous cannot be combined with --once')
  if (options.port !== undefined && (options.once || options.dryRun)) {
    throw new UsageError(`--port cannot be combined with ${options.once ? '--once' : '--dry-run'}`)
  }
  const config = readOptions(options, terminal)
  if (!options.dryRun) return poll(config, false, options, terminal)
  return withDatabaseToRead(config, terminal, (prepared, isReadOnly) => poll(prepared, isReadOnly, options, terminal))
}

async function poll(config: Config, isReadOnly: boolean, options: PollOptions, terminal: Terminal): Promise<ExitCode> {
  const hangups = listenForHangups(terminal)
  const log = createLog(terminal, config, defaultLevel)
  const service = await Service.open(config, {
    log,
    pid: terminal.pid,
    intervalSeconds: options.interval,
    defaultIntervalSeconds,
    isReadOnly,
  })
  try {
    const sources = sourcesOf(service, options.manufacturer)
    const pollers = service.monitor.pollers.filter(({ source }) => sources.includes(source))
    if (options.once) return await pollOnce(pollers, service, options, terminal)
    if (options.dryRun) return await previewContinuously(pollers, service, options, terminal)
    const fileOptions = { ...options, ...(config.file !== null && { config: config.file }) }
    const readAgain = () => readOptions(fileOptions, terminal)
    const reloader = new ConfigReloader(config)
    const apply = (changed: Config) => reloader.reload(changed, (next) => service.applyConfig(next))
    hangups.start({ log, logLevel: service.logLevel, defaultLevel, readAgain, apply })
    new ServiceManager(terminal.env, log).ready(() => service.monitor.isMoving)
    if (options.port === undefined) return await pollContinuously(service, options, terminal)
    const { serveProbes } = await import('../http/app/probes.ts')
    const { version, webRoot } = terminal
    const probes = await serveProbes(service, config, { version, webRoot })
    terminal.err(`Health and metrics of this process are at ${probes.address}`)
    try {
      return await pollContinuously(service, options, terminal)
    } finally {
      await probes.close()
    }
  } finally {
    await service.close()
  }
}

/** Runs or previews one polling cycle of each source. */
async function pollOnce(
  pollers: readonly Poller[],
  service: Service,
  options: PollOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const leases = new LeaseManager(service.db, createNodeId(terminal.pid, 'once'), service.log)
  const reports: SourceCycle[] = []
  const skipped: string[] = []
  await Promise.all(
    pollers.map(async (poller) => {
      const { source } = poller
      const intervalMs = service.settings.pollingIntervalMs(source.manufacturer)
      const progress = createProgress(terminal, plain(source.id))
      const cycle = { intervalMs, isComplete: true, onProgress: progress.show }
      if (options.dryRun) reports.push({ source, report: await poller.preview({ ...cycle, signal: terminal.signal }) })
      else {
        const hasPolled = await leases.runOnce(source.id, intervalMs, terminal.signal, async (lease) => {
          poller.takeOver(lease)
          reports.push({ source, report: await poller.poll({ ...cycle, ...lease }) })
        })
        if (!hasPolled) skipped.push(source.id)
      }
      progress.end()
    }),
  )
  const document = toDocument(reports)
  const { manufacturers } = document
  if (options.json) printJson(terminal, options.dryRun ? { dry_run: true, ...document } : document)
  else if (pollers.length === 0) terminal.out(nothingToPoll)
  else if (manufacturers.length > 0) printCycle(terminal, document, options.dryRun === true)
  for (const { code, error } of manufacturers) if (error !== null) terminal.err(`${code}: ${plain(error)}`)
  if (skipped.length > 0) {
    terminal.err(`Another process polls ${skipped.map(plain).join(', ')}; these sources were skipped.`)
    return exitCodes.tempFail
  }
  return manufacturers.some(({ error }) => error !== null) ? exitCodes.failed : exitCodes.ok
}

const nothingToPoll = 'No manufacturer is configured and enabled; there is nothing to poll.'

/**
 * Previews cycles until stopped and prints one line per cycle. Loads the changes by other processes before each cycle.
 */
async function previewContinuously(
  pollers: readonly Poller[],
  service: Service,
  options: PollOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { signal } = terminal
  surviveExceptions(terminal, service.log)
  if (!options.json)
    terminal.out(pollers.length === 0 ? nothingToPoll : 'Dry run: nothing is stored. Polls would find this:')
  else if (pollers.length === 0) printJson(terminal, { dry_run: true, manufacturers: [] })
  const schedule = new Schedule()
  await Promise.all(
    pollers.map((poller) => {
      const { source } = poller
      return runPollLoop(service, schedule, poller, {
        signal,
        isComplete: true,
        intervalMs: () => service.settings.pollingIntervalMs(source.manufacturer),
        async runCycle(cycle) {
          // If the database cannot be read, the preview uses the data that was loaded before.
          await service.ingest.catchUp().catch(() => {})
          return poller.preview(cycle)
        },
        onCycle: (report) => printLine({ source, report }, options, terminal),
      })
    }),
  )
  return exitCodes.ok
}

/** Runs cycles and subscriptions until stopped and prints one line per cycle. */
async function pollContinuously(service: Service, options: PollOptions, terminal: Terminal): Promise<ExitCode> {
  surviveExceptions(terminal, service.log)
  const background = Promise.all([
    service.follow(terminal.signal),
    service.heartbeat?.run(terminal.signal),
    keepSavingLevels(service, () => service.redis?.isUp !== true, terminal.signal),
  ])
  await service.monitor.run(
    terminal.signal,
    {
      onCycle: (source, report) => printLine({ source, report }, options, terminal),
      onStandBy: (source, holder) => terminal.err(`Standing by for ${plain(source.id)}: ${plain(holder)} polls it.`),
    },
    options.manufacturer,
  )
  await background
  return exitCodes.ok
}

interface SourceCycle {
  readonly source: MonitoredSource
  readonly report: CycleReport
}

type Cycle = Omit<CycleReport, 'repeated' | 'failed'>
type ManufacturerCycle = Cycle & { readonly code: string }

/** Adds up the results of the sources' cycles by manufacturer. */
function toDocument(reports: readonly SourceCycle[]): { readonly manufacturers: ManufacturerCycle[] } {
  const byCode = new Map<string, ManufacturerCycle>()
  for (const { source, report } of reports) {
    const { repeated, failed, ...cycle } = report
    const code = source.manufacturer
    const before = byCode.get(code)
    byCode.set(code, before === undefined ? { code, ...cycle } : addCycles(before, cycle))
  }
  return { manufacturers: [...byCode.values()].sort((a, b) => (a.code < b.code ? -1 : 1)) }
}

function addCycles(a: ManufacturerCycle, b: Cycle): ManufacturerCycle {
  return {
    code: a.code,
    devices: a.devices + b.devices,
    created: a.created + b.created,
    updated: a.updated + b.updated,
    moved: a.moved + b.moved,
    duplicates: a.duplicates + b.duplicates,
    conflicts: a.conflicts + b.conflicts,
    errors: a.errors + b.errors,
    error: joinErrors(a.error, b.error),
    duration_ms: Math.max(a.duration_ms, b.duration_ms),
  }
}

/** Joins the distinct errors of the failed sources. */
function joinErrors(a: string | null, b: string | null): string | null {
  if (a === null || b === null || a.split('; ').includes(b)) return a ?? b
  return `${a}; ${b}`
}

function printLine(sourceCycle: SourceCycle, { json, dryRun }: PollOptions, terminal: Terminal): void {
  const document = toDocument([sourceCycle])
  if (json) terminal.out(JSON.stringify(dryRun ? { dry_run: true, ...document } : document))
  else for (const cycle of document.manufacturers) terminal.out(`${new Date().toISOString()} ${describe(cycle)}`)
}

function printCycle(
  terminal: Terminal,
  { manufacturers }: { manufacturers: ManufacturerCycle[] },
  isDryRun: boolean,
): void {
  if (isDryRun) terminal.out('Dry run: nothing was stored. A poll would find this:')
  // The column for `duplicates` (reports of known receivers at an unchanged address) is called `known`, because in the
  // review queue a duplicate is something else.
  const head = ['manufacturer', 'devices', 'new', 'updated', 'moved', 'known', 'conflicts', 'unreadable', 'ms']
  const rows = manufacturers.map((cycle) => [
    cycle.code,
    cycle.devices,
    cycle.created,
    cycle.updated,
    cycle.moved,
    cycle.duplicates,
    cycle.conflicts,
    cycle.errors,
    cycle.duration_ms,
  ])
  terminal.out(formatTable(head, rows))
}

function describe(cycle: ManufacturerCycle): string {
  const { code, devices, created, updated, moved, conflicts, duration_ms, error } = cycle
  if (error !== null) return `${code}: ${plain(error)}`
  return `${code}: ${devices} devices, ${created} new, ${updated} updated, ${moved} moved, ${conflicts} conflicts, ${duration_ms} ms`
}

/**
 * Provides a database to a dry run, which must write nothing. It is the existing one if it has the schema of this
 * version, otherwise an empty one in a temporary folder.
 */
async function withDatabaseToRead<T>(
  config: Config,
  terminal: Terminal,
  work: (config: Config, isReadOnly: boolean) => Promise<T>,
): Promise<T> {
  const hasKey = config.secret_key !== null || existsSync(join(config.data_dir, 'secret.key'))
  if (hasKey && (await hasDatabase(config))) return work(config, true)
  return withTemporaryFolder('micwatch-dry-run-', terminal, (data_dir) =>
    work({ ...config, data_dir, database_url: `sqlite:${join(data_dir, 'micwatch.db')}` }, false),
  )
}

async function hasDatabase(config: Config): Promise<boolean> {
  const { database_url } = config
  // Opening a missing SQLite file would create it.
  if (database_url.startsWith('sqlite:') && !existsSync(database_url.slice('sqlite:'.length))) return false
  await requireNoLoss(config)
  const db = await openDatabase({ url: database_url })
  try {
    return await isUpToDate(db)
  } finally {
    await db.close()
  }
}
