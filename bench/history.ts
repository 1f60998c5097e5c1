/** Recorded levels: disk usage, duration of queries, and CPU time. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import type { RecordedSeconds } from '../src/domain/history/columns.ts'
import { type LevelHistory, levelSeries, type Retention } from '../src/domain/history/level-history.ts'
import { openLevelHistory } from '../src/history/levels/open-level-history.ts'
import { PostgresTables } from '../src/history/levels/postgres-tables.ts'
import { SqliteTables } from '../src/history/levels/sqlite-tables.ts'
import type { HistoryTables } from '../src/history/levels/tables.ts'
import { createPostgresDatabase, startPostgres } from '../test/support/store/postgres.ts'
import { type AtEnd, type Bench, createTempFolder, type Figure, withCleanup } from './harness.ts'
import { encodeTemplates, type Templates, writeDays } from './history-copies.ts'
import { measureDemo } from './history-demo.ts'
import { batchSeconds, channelIds, createHour, cut, daySeconds, hourSeconds, start } from './history-levels.ts'
import { measureFolding } from './history-recorder.ts'
import { fileSize, measureReference, percentileOfRuns, writtenBytes } from './history-reference.ts'

type Engine = 'sqlite' | 'postgres'

/** The number of different hours in the copied days. */
const templateHours = 3
const foldedSeconds = 600
/** The main thread is watched for this long beside a thread that only computes. */
const idleMs = 5000
const watchEveryMs = 1

interface Inputs {
  readonly on: RecordedSeconds
  readonly off: RecordedSeconds
  readonly reference: Awaited<ReturnType<typeof measureReference>>
  readonly onDays: Templates
  readonly offDays: Templates
  /** CPU time of the recorder for an hour, before its seconds are stored. */
  readonly foldMs: number
  /** The longest block of the main thread beside another computing thread. */
  readonly idleHoldMs: number
}

export const history = (days: number): Bench => ({
  name: 'history',
  runs: 1,
  open: async (atEnd) => ({
    async measure() {
      const on = createHour(true)
      const off = createHour(false)
      const others = Array.from({ length: templateHours - 1 }, () => createHour(true))
      const inputs: Inputs = {
        on,
        off,
        reference: await measureReference(atEnd, { on, off }),
        onDays: await encodeTemplates([on, ...others]),
        offDays: await encodeTemplates([off]),
        foldMs: (measureFolding(foldedSeconds) * hourSeconds) / foldedSeconds,
        idleHoldMs: await measureIdleHold(),
      }
      const figures: Figure[] = [
        { name: 'CPU for folding an hour at 10 Hz', unit: 'ms', ours: inputs.foldMs, reference: null },
      ]
      for (const engine of ['sqlite', 'postgres'] as const) figures.push(...(await measureEngine(engine, inputs, days)))
      return [...figures, ...(await measureDemoFigures())]
    },
  }),
})

/** The demo may not fill its day on a busy machine; the other figures are still worth printing. */
async function measureDemoFigures(): Promise<Figure[]> {
  try {
    const demo = await measureDemo()
    return [
      { name: 'demo, the last hour is filled', unit: 'ms', ours: demo.hourMs, reference: null },
      { name: 'demo, the day is filled', unit: 'ms', ours: demo.dayMs, reference: null },
    ]
  } catch (error) {
    console.error(`The demo could not be measured: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}

async function measureEngine(engine: Engine, inputs: Inputs, days: number): Promise<Figure[]> {
  const { on, off, reference, onDays, offDays, foldMs, idleHoldMs } = inputs
  const inTarget = <T>(measure: (target: Target) => Promise<T>): Promise<T> =>
    withCleanup(async (atEnd) => measure(await openTarget(atEnd, engine)))
  const recorded = await inTarget((target) => measureRecording(target, on))
  const silent = await inTarget((target) => measureRecording(target, off))
  const silentDays = await inTarget((target) => measureDays(target, offDays, days))
  const read = await inTarget(async (target) => ({
    ...(await measureDays(target, onDays, days)),
    ...(await measureQueries(target, days)),
  }))
  const figure = (name: string, unit: Figure['unit'], ours: number, compared: number | null): Figure => ({
    name: `${engine}, ${name}`,
    unit,
    ours,
    reference: compared,
  })
  const bytes = 'bytes per channel and second'
  return [
    figure(`${bytes}, on, after an hour`, 'B', recorded.bytes, reference.on.bytes),
    figure(`${bytes}, on, after ${days} days`, 'B', read.bytes, reference.on.bytes),
    figure(`${bytes}, off, after an hour`, 'B', silent.bytes, reference.off.bytes),
    figure(`${bytes}, off, after ${days} days`, 'B', silentDays.bytes, reference.off.bytes),
    figure('written for each byte kept', '×', recorded.written, reference.on.written),
    figure('CPU for storing an hour', 'ms', recorded.cpuMs, reference.on.cpuMs),
    figure(
      'folding and storing, share of a core',
      '%',
      ((foldMs + recorded.cpuMs) / hourSeconds / 1000) * 100,
      (reference.on.cpuMs / hourSeconds / 1000) * 100,
    ),
    figure('one channel, 24 h, p95', 'ms', read.dayMs, reference.dayMs),
    figure('100 channels, 3 h in 600 points, p95', 'ms', read.threeHoursMs, reference.threeHoursMs),
    figure('100,000 steps, p95', 'ms', read.stepsMs, null),
    figure('all channels at one second, p95', 'ms', read.atMs, null),
    figure('longest hold of the main thread by queries', 'ms', read.holdMs, idleHoldMs),
  ]
}

// --- Targets ---------------------------------------------------------------------------------------------------------

interface Target {
  readonly history: LevelHistory
  /** Opens the tables without the thread of the history. */
  openTables(): Promise<HistoryTables>
  /** Bytes on the disk, after the history was closed. */
  bytes(): Promise<number>
  written(): Promise<number>
}

function openTarget(atEnd: AtEnd, engine: Engine): Promise<Target> {
  return engine === 'sqlite' ? openSqlite(atEnd) : openPostgres(atEnd)
}

async function openSqlite(atEnd: AtEnd): Promise<Target> {
  const folder = await createTempFolder(atEnd)
  const levels = openLevelHistory({ url: `sqlite:${join(folder, 'micwatch.db')}` })
  atEnd(() => levels.close())
  const path = join(folder, 'history.db')
  return {
    history: levels,
    openTables: () => SqliteTables.open(path, () => {}),
    bytes: () => fileSize(path),
    written: writtenBytes,
  }
}

async function openPostgres(atEnd: AtEnd): Promise<Target> {
  const server = await startPostgres()
  atEnd(() => server.stop())
  const { url } = await createPostgresDatabase(server.url)
  const levels = openLevelHistory({ url })
  atEnd(() => levels.close())
  const ask = async (sql: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(sql)
    await client.end()
    return Number(rows[0]?.bytes)
  }
  const bytes = () =>
    ask(`select sum(pg_total_relation_size(oid)) as bytes from pg_class
      where relkind = 'r' and relname like 'history\\_levels%'`)
  // Data in the log are later written to the tables as well.
  const written = async () => (await ask("select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes")) + (await bytes())
  return { history: levels, openTables: () => PostgresTables.open(url), bytes, written }
}

// --- Measurements ----------------------------------------------------------------------------------------------------

const keepAll: Omit<Retention, 'now'> = {
  secondsDays: 36_500,
  minutesDays: 36_500,
  maxBytes: 1e12,
  pinned: [],
  isDryRun: false,
}

/** Appends an hour in batches, and closes its blocks. */
async function measureRecording({ history, bytes, written }: Target, levels: RecordedSeconds) {
  await history.range()
  const [writtenBefore, cpuBefore] = [await written(), process.cpuUsage()]
  for (let second = 0; second < hourSeconds; second += batchSeconds) {
    await history.append(cut(levels, second, batchSeconds, start + second))
  }
  await history.prune({ ...keepAll, now: start + hourSeconds + 60 })
  const { user, system } = process.cpuUsage(cpuBefore)
  await history.close()
  const [kept, writtenAfter] = [await bytes(), await written()]
  return {
    bytes: kept / hourSeconds / channelIds.length,
    written: (writtenAfter - writtenBefore) / kept,
    cpuMs: (user + system) / 1000,
  }
}

/** Fills the history with days of levels. */
async function measureDays({ openTables, bytes }: Target, templates: Templates, days: number) {
  const tables = await openTables()
  await writeDays(tables, templates, days)
  await tables.shrink()
  await tables.close()
  return { bytes: (await bytes()) / days / daySeconds / channelIds.length }
}

async function measureQueries({ history }: Target, days: number) {
  const end = start + days * daySeconds
  const ask = (ids: readonly number[], from: number, length: number, maxPoints: number) =>
    history.query({ channelIds: ids, from, to: from + length, maxPoints, series: levelSeries })
  const at = (index: number, length: number) => start + ((index * 7919 * 37) % Math.max(1, end - start - length))
  const first = (index: number) => (index * 7) % (channelIds.length - 99)
  // The service starts the thread when it starts.
  await history.range()
  const stop = watchHolds()
  const times = {
    dayMs: await percentileOfRuns((index) => ask([1 + ((index * 37) % 400)], at(index, daySeconds), daySeconds, 600)),
    threeHoursMs: await percentileOfRuns((index) =>
      ask(channelIds.slice(first(index), first(index) + 100), at(index, 3 * hourSeconds), 3 * hourSeconds, 600),
    ),
    stepsMs: await percentileOfRuns((index) => ask(channelIds.slice(0, 100), at(index, 1000), 1000, 1000)),
    atMs: await percentileOfRuns((index) => history.at(at(index, 1))),
  }
  return { ...times, holdMs: stop() }
}

/**
 * Returns a function that returns the longest block of the main thread until then, in milliseconds. On Linux, waiting
 * for a processor does not count. A timer that the system fires late blocks nothing, so a block is at most as long as
 * the event loop was active.
 */
function watchHolds(): () => number {
  const read = () => ({
    at: performance.now(),
    waitedMs: waitedMs(),
    activeMs: performance.eventLoopUtilization().active,
  })
  let [longest, last] = [0, read()]
  const timer = setInterval(() => {
    const next = read()
    const late = next.at - last.at - (next.waitedMs - last.waitedMs) - watchEveryMs
    longest = Math.max(longest, Math.min(late, next.activeMs - last.activeMs))
    last = next
  }, watchEveryMs)
  return () => {
    clearInterval(timer)
    return longest
  }
}

/** Time in ms that the main thread has waited for a processor since it started; 0 on systems without `/proc`. */
function waitedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** The delay of the main thread by the machine alone, while another thread computes. */
async function measureIdleHold(): Promise<number> {
  const worker = new Worker('for (let sum = 0; ; ) sum = (sum * 31 + 7) % 1000003', { eval: true })
  const stop = watchHolds()
  await sleep(idleMs)
  await worker.terminate()
  return stop()
}
