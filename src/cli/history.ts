/** history: shows the recorded range, exports levels as CSV, and removes old levels. */

import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Command } from 'commander'
import type { Config } from '../config.ts'
import { RequestError } from '../domain/errors.ts'
import type {
  HistoryStats,
  LevelExport,
  LevelHistory,
  PrunedTier,
  RecordedRange,
} from '../domain/history/level-history.ts'
import { parseLevelExport, wasRecorded } from '../domain/history/query.ts'
import { toTimestamp } from '../domain/timestamp.ts'
import { openLevelHistory } from '../history/levels/open-level-history.ts'
import { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import { listReceivers } from '../storage/receivers.ts'
import { readTitles } from '../storage/slot-entries.ts'
import { writeAtomically } from '../storage/sqlite-file.ts'
import { createLog } from './log.ts'
import { actorOf, requireStore, withStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface ExportOptions extends CommonOptions {
  readonly channels: string
  readonly from: string
  readonly to: string
  readonly out?: string
  readonly step?: string
  readonly force?: boolean
}

interface PruneOptions extends CommonOptions {
  readonly dryRun?: boolean
}

/** Works with or without a running service, because all processes share the history. */
export function historyCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const stats = createCommand('stats', 'Show what is recorded, and how much disk space it uses').action(
    async (options: CommonOptions) => done(await printStats(options, terminal)),
  )
  const exportLevels = createCommand('export', 'Export recorded levels as CSV')
    .requiredOption('--channels <ids>', 'ids of channels, separated by commas, or all')
    .requiredOption('--from <time>', 'start of the range, with Z or an offset')
    .requiredOption('--to <time>', 'end of the range, exclusive')
    .option('--step <seconds>', 'length of a row: 1, 10, 60, 600 or 3600', '1')
    .option('--out <file>', 'file to write (default: standard output)')
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      '\nExample: micwatch history export --channels all --from 2026-05-01T18:00:00Z --to 2026-05-01T22:00:00Z --out show.csv',
    )
    .action(async (options: ExportOptions) => done(await runExport(options, terminal)))
  const prune = createCommand(
    'prune',
    'Remove the levels that the settings no longer keep; the service does so every hour',
  )
    .option('--dry-run', 'show what would be removed, without removing anything')
    .addHelpText('after', '\nExample: micwatch history prune --dry-run')
    .action(async (options: PruneOptions) => done(await runPrune(options, terminal)))
  return new Command('history')
    .description('Show, export and prune recorded levels')
    .addCommand(stats)
    .addCommand(exportLevels)
    .addCommand(prune)
}

async function printStats(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const stats = toStatsDocument(await withHistory(config, terminal, ({ levels }) => levels.stats()))
  if (options.json) printJson(terminal, stats)
  else {
    const { bytes, first, last, tiers, free_bytes } = stats
    if (first === null) terminal.out('Nothing is recorded yet.')
    else terminal.out(`Recorded from ${first} to ${last}.`)
    const free = free_bytes === null ? '' : `; ${toMegabytes(free_bytes)} free on the disk`
    terminal.out(`Disk space: ${toMegabytes(bytes)}${free}`)
    terminal.out(formatTiers(tiers))
  }
  return exitCodes.ok
}

function toStatsDocument({ bytes, range, tiers, freeBytes }: HistoryStats) {
  return {
    bytes,
    ...toTimes(range),
    tiers: tiers.map(toTierDocument),
    free_bytes: freeBytes,
  }
}

function toTierDocument({ step, bytes, range }: PrunedTier) {
  return { step_seconds: step, bytes, ...toTimes(range) }
}

function formatTiers(tiers: readonly ReturnType<typeof toTierDocument>[]): string {
  const rows = tiers.map(({ step_seconds, bytes, first, last }) => [step_seconds, toMegabytes(bytes), first, last])
  return formatTable(['step (s)', 'size', 'first', 'last'], rows)
}

function toTimes(range: RecordedRange | null): { readonly first: string | null; readonly last: string | null } {
  if (range === null) return { first: null, last: null }
  return { first: toTimestamp(range.first * 1000), last: toTimestamp(range.last * 1000) }
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0)} MB`
}

async function runExport(options: ExportOptions, terminal: Terminal): Promise<ExitCode> {
  const { out, force: overwrite = false } = options
  if (out !== undefined && !overwrite && existsSync(out))
    throw new Error(`${out} already exists; use --force to replace it`)
  if (options.json && out === undefined) throw new UsageError('--json requires --out, because the rows are CSV')
  const config = readOptions(options, terminal, { isOffline: true })
  return withHistory(config, terminal, async ({ db, levels }) => {
    const request = await toLevelExport(options, db, levels)
    const rows = levels.exportCsv(request)
    if (out === undefined) {
      for await (const bytes of rows) if (terminal.signal.aborted || !(await terminal.write(bytes))) break
      return terminal.signal.aborted ? exitCodes.failed : exitCodes.ok
    }
    const bytes = await writeRows(rows, out, overwrite, terminal)
    if (options.json) printJson(terminal, { file: out, bytes, channels: request.channels.length })
    else terminal.out(`Wrote ${plain(out)} (${bytes} bytes).`)
    return exitCodes.ok
  })
}

async function toLevelExport(options: ExportOptions, db: Database, levels: LevelHistory): Promise<LevelExport> {
  const receivers = (await listReceivers(db.read)).filter(({ origin }) => origin === undefined)
  const titleOf = await readTitles(db.read)
  const names = new Map(
    receivers.flatMap((receiver) =>
      receiver.channels.map((channel) => [channel.id, titleOf(receiver, channel).title ?? ''] as const),
    ),
  )
  const all = options.channels === 'all' ? { channels: [...names.keys()].join(',') } : {}
  if (all.channels === '') throw new UsageError('--channels: there are no channels yet')
  const { channelIds, ...range } = parseOptions({ ...options, ...all })
  for (const id of channelIds) {
    if (!names.has(id) && !(await wasRecorded(levels, id)))
      throw new UsageError(`--channels: there is no channel ${id}`)
  }
  return { ...range, channels: channelIds.map((id) => ({ id, name: names.get(id) ?? '' })) }
}

function parseOptions(options: ExportOptions) {
  try {
    return parseLevelExport(options, Date.now(), Number.POSITIVE_INFINITY)
  } catch (error) {
    if (error instanceof RequestError) throw new UsageError(`--${error.details}`)
    throw error
  }
}

/** Writes the rows to a file, completely or not at all. Returns its size. */
async function writeRows(
  rows: AsyncIterable<Uint8Array>,
  path: string,
  overwrite: boolean,
  terminal: Terminal,
): Promise<number> {
  let size = 0
  await writeAtomically(path, { overwrite, owner: 'process' }, async (draft) => {
    const file = await open(draft, 'w')
    try {
      for await (const bytes of rows) {
        if (terminal.signal.aborted) throw new Error('Interrupted; nothing was written')
        await file.writeFile(bytes)
        size += bytes.length
        if (terminal.isInteractive) terminal.err(`\rExporting: ${toMegabytes(size)}\u001b[K`)
      }
    } finally {
      await file.close()
      if (terminal.isInteractive) terminal.err('\r\u001b[K')
    }
  })
  return size
}

async function runPrune({ dryRun: isDryRun = false, ...options }: PruneOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  await requireStore(config)
  const log = createLog(terminal, config)
  const service = await Service.open(config, { log, pid: terminal.pid, isReadOnly: isDryRun })
  try {
    const tiers = (await service.history.prune({ isDryRun })).map(toTierDocument)
    const bytes = tiers.reduce((sum, tier) => sum + tier.bytes, 0)
    if (!isDryRun) {
      const entry = { actor: actorOf(terminal), action: 'history.prune', target: 'history', result: 'ok' } as const
      await service.db.transaction((tx) => writeAudit(tx, { ...entry, details: { bytes } }))
    }
    if (options.json) printJson(terminal, { dry_run: isDryRun, bytes, tiers })
    else printPruned(terminal, isDryRun, tiers)
    return exitCodes.ok
  } finally {
    await service.close()
  }
}

function printPruned(terminal: Terminal, isDryRun: boolean, tiers: readonly ReturnType<typeof toTierDocument>[]): void {
  const removed = tiers.filter(({ bytes }) => bytes > 0)
  if (removed.length === 0) {
    terminal.out('There is nothing to remove.')
    return
  }
  terminal.out(isDryRun ? 'Dry run: nothing was removed. Without --dry-run, this would be removed:' : 'Removed:')
  terminal.out(formatTiers(removed))
}

async function withHistory<T>(
  config: Config,
  terminal: Terminal,
  work: (parts: { readonly db: Database; readonly levels: LevelHistory }) => Promise<T>,
): Promise<T> {
  return withStore(config, async (db) => {
    const levels = openLevelHistory({ url: config.database_url, onWarning: (message) => terminal.err(message) })
    try {
      return await work({ db, levels })
    } finally {
      await levels.close()
    }
  })
}
