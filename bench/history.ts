/**
 * Recorded levels: what they need on the disk, how long queries take, and CPU time. The reference stores the same seconds
 * in a row for each channel and minute, as differences compressed with deflate, without coarser tiers.
 */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { type ColumnName, columnNames, noValue, type RecordedSeconds } from '../src/domain/history/columns.ts'
import { type LevelHistory, levelSeries, type Retention } from '../src/domain/history/level-history.ts'
import { openLevelHistory } from '../src/storage/history/open-level-history.ts'
import { createPostgresDatabase, startPostgres } from '../test/postgres.ts'
import { type AtEnd, type Bench, createTempFolder, type Figure, percentile } from './harness.ts'

const channelIds = Array.from({ length: 400 }, (_, index) => index + 1)
const hour = 3600
const day = 24 * hour
const batchSeconds = 5
/** 2026-05-01T00:00:00Z */
const start = 1_777_593_600
const queries = 40

export const history = (days: number): Bench => ({
  name: 'history',
  runs: 1,
  open: async (atEnd) => ({
    async measure() {
      const on = createHour(true)
      const off = createHour(false)
      const figures: Figure[] = []
      const reference = await measureReference(atEnd, { on, off })
      for (const engine of ['sqlite', 'postgres'] as const) {
        const recorded = await measureRecording(await openTarget(atEnd, engine), on)
        const silent = await measureRecording(await openTarget(atEnd, engine), off)
        const read = await measureQueries(await openTarget(atEnd, engine), on, days)
        const add = (name: string, unit: Figure['unit'], ours: number, compared: number | null) =>
          figures.push({ name: `${engine}, ${name}`, unit, ours, reference: compared })
        add('bytes per channel and second, on', 'B', recorded.bytes, reference.on.bytes)
        add('bytes per channel and second, off', 'B', silent.bytes, reference.off.bytes)
        add('written for each byte kept', '×', recorded.written, reference.on.written)
        add('CPU for an hour of 400 channels', 'ms', recorded.cpuMs, reference.on.cpuMs)
        add(`importing ${days} days of 400 channels`, 'ms', read.importMs, null)
        add(`bytes per channel and second, ${days} days`, 'B', read.bytes, reference.on.bytes)
        add('one channel, 24 h, p95', 'ms', read.dayMs, reference.dayMs)
        add('100 channels, 3 h in 600 points, p95', 'ms', read.threeHoursMs, reference.threeHoursMs)
        add('100,000 steps, p95', 'ms', read.stepsMs, null)
        add('all channels at one second, p95', 'ms', read.atMs, null)
        add('longest hold of the main thread by queries', 'ms', read.holdMs, null)
      }
      return figures
    },
  }),
})

// --- Levels ----------------------------------------------------------------------------------------------------------

/** An hour of all channels: random walks at ten samples a second, by 2 dB RF and 6 dB audio, or nothing but noise. */
function createHour(isOn: boolean): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(hour * channelIds.length).fill(name === 'rows' ? 0 : noValue)]),
  ) as Record<ColumnName, Int16Array>
  columns.state.fill(isOn ? 4 : 2)
  columns.weak_ms.fill(0)
  if (!isOn) columns.rf_min.fill(-99)
  if (!isOn) columns.rf_max.fill(-98)
  if (isOn) for (const channel of channelIds.keys()) fillChannel(columns, channel * hour)
  return { from: start, count: hour, channelIds, columns }
}

function fillChannel(columns: Record<ColumnName, Int16Array>, first: number): void {
  const random = (limit: number) => Math.floor(Math.random() * (2 * limit + 1)) - limit
  const reflect = (value: number, min: number, max: number) =>
    value < min ? 2 * min - value : value > max ? 2 * max - value : value
  let [rf, audio] = [-60, -30]
  for (let at = first; at < first + hour; at++) {
    let [rfMin, rfMax, audioMax] = [0, -200, -200]
    for (let sample = 0; sample < 10; sample++) {
      rf = reflect(rf + random(2), -90, -30)
      audio = reflect(audio + random(6), -60, 0)
      rfMin = Math.min(rfMin, rf)
      rfMax = Math.max(rfMax, rf)
      audioMax = Math.max(audioMax, audio)
    }
    columns.rf_min[at] = rfMin
    columns.rf_max[at] = rfMax
    columns.audio_max[at] = audioMax
    columns.audio_last[at] = audio - 11 + random(3)
    columns.battery[at] = 80
    columns.minutes[at] = 300
  }
}

/** Returns a part of the hour, which begins `shift` channels later, as if it began at `from`. */
function cut(levels: RecordedSeconds, second: number, count: number, from: number, shift = 0): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => {
      const values = new Int16Array(count * channelIds.length)
      for (const channel of channelIds.keys()) {
        const at = ((channel + shift) % channelIds.length) * hour + second
        values.set(levels.columns[name].subarray(at, at + count), channel * count)
      }
      return [name, values]
    }),
  ) as Record<ColumnName, Int16Array>
  return { from, count, channelIds, columns }
}

// --- Micwatch --------------------------------------------------------------------------------------------------------

interface Target {
  readonly history: LevelHistory
  /** Bytes on the disk, after the history was closed. */
  bytes(): Promise<number>
  /** All bytes written to the disk until now. */
  written(): Promise<number>
}

async function openTarget(atEnd: AtEnd, engine: 'sqlite' | 'postgres'): Promise<Target> {
  if (engine === 'sqlite') {
    const folder = await createTempFolder(atEnd)
    const levels = openLevelHistory({ url: `sqlite:${join(folder, 'micwatch.db')}` })
    atEnd(() => levels.close())
    return { history: levels, bytes: () => fileSize(join(folder, 'history.db')), written: writtenBytes }
  }
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
  // What is in the log is later written to the tables as well.
  const written = async () => (await ask("select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes")) + (await bytes())
  return { history: levels, bytes, written }
}

const fileSize = async (path: string) => (await stat(path)).size

async function writtenBytes(): Promise<number> {
  const text = await readFile('/proc/self/io', 'utf8').catch(() => '')
  return Number(/^write_bytes: (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}

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
  for (let second = 0; second < hour; second += batchSeconds) {
    await history.append(cut(levels, second, batchSeconds, start + second))
  }
  await history.prune({ ...keepAll, now: start + hour + 60 })
  const { user, system } = process.cpuUsage(cpuBefore)
  await history.close()
  const [kept, writtenAfter] = [await bytes(), await written()]
  return {
    bytes: kept / hour / channelIds.length,
    written: (writtenAfter - writtenBefore) / kept,
    cpuMs: (user + system) / 1000,
  }
}

async function measureQueries({ history, bytes }: Target, levels: RecordedSeconds, days: number) {
  const startedAt = performance.now()
  for (let index = 0; index < days * 24; index++) {
    await history.importSeconds(cut(levels, 0, hour, start + index * hour, index * 7))
  }
  const importMs = performance.now() - startedAt
  await history.prune({ ...keepAll, now: start + days * day })
  const end = start + days * day
  const measure = (run: (index: number) => Promise<unknown>) => percentileOfRuns(run)
  const ask = (ids: readonly number[], from: number, to: number, maxPoints: number) =>
    history.query({ channelIds: ids, from, to, maxPoints, series: levelSeries })
  const at = (index: number, length: number) => start + ((index * 7919) % Math.max(1, end - start - length))
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const times = {
    dayMs: await measure((index) => ask([1 + ((index * 37) % 400)], at(index, day), at(index, day) + day, 600)),
    threeHoursMs: await measure((index) =>
      ask(channelIds.slice(index * 7, index * 7 + 100), at(index, 3 * hour), at(index, 3 * hour) + 3 * hour, 600),
    ),
    stepsMs: await measure((index) => ask(channelIds.slice(0, 100), at(index, 1000), at(index, 1000) + 1000, 1000)),
    atMs: await measure((index) => history.at(at(index, 1))),
  }
  delays.disable()
  await history.close()
  return { importMs, ...times, holdMs: delays.max / 1e6, bytes: (await bytes()) / days / day / channelIds.length }
}

/** Returns the 95th percentile of the times of several calls, without the first ones. */
async function percentileOfRuns(run: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < queries + 5; index++) {
    const startedAt = performance.now()
    await run(index)
    if (index >= 5) times.push(performance.now() - startedAt)
  }
  return percentile(times, 95)
}

// --- Reference -------------------------------------------------------------------------------------------------------

/** The database for queries contains fewer channels, because it would take longest to fill. */
const referenceChannels = 100

async function measureReference(
  atEnd: AtEnd,
  { on, off }: { readonly on: RecordedSeconds; readonly off: RecordedSeconds },
) {
  const record = async (levels: RecordedSeconds) => {
    const reference = await openReference(atEnd)
    const [writtenBefore, cpuBefore] = [await writtenBytes(), process.cpuUsage()]
    for (let second = 0; second < hour; second += 60) reference.write(cut(levels, second, 60, start + second))
    const { user, system } = process.cpuUsage(cpuBefore)
    reference.close()
    const kept = await fileSize(reference.path)
    return {
      bytes: kept / hour / channelIds.length,
      written: ((await writtenBytes()) - writtenBefore) / kept,
      cpuMs: (user + system) / 1000,
    }
  }
  const full = await openReference(atEnd)
  for (let index = 0; index < 24; index++) {
    for (let second = 0; second < hour; second += 60)
      full.write(cut(on, second, 60, start + index * hour + second, index * 7), referenceChannels)
  }
  const dayMs = await percentileOfRuns(async (index) => full.read(1 + (index % referenceChannels), start, day))
  const threeHoursMs = await percentileOfRuns(async () => {
    for (let id = 1; id <= referenceChannels; id++) full.read(id, start, 3 * hour)
  })
  full.close()
  return { on: await record(on), off: await record(off), dayMs, threeHoursMs }
}

async function openReference(atEnd: AtEnd) {
  const path = join(await createTempFolder(atEnd), 'reference.db')
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; pragma synchronous = normal;
    create table minutes (channel integer, minute integer, data blob, primary key (channel, minute)) without rowid`)
  const insert = database.prepare('insert into minutes values (?, ?, ?)')
  const select = database.prepare('select data from minutes where channel = ? and minute >= ? and minute < ?')
  return {
    path,
    write(levels: RecordedSeconds, count = channelIds.length) {
      database.exec('begin')
      for (const [channel, id] of channelIds.slice(0, count).entries()) {
        const differences = columnNames.flatMap((name) => {
          const values = levels.columns[name].subarray(channel * levels.count, (channel + 1) * levels.count)
          return Array.from(values, (value, index) => value - (values[index - 1] ?? 0))
        })
        insert.run(id, levels.from / 60, deflateRawSync(Int16Array.from(differences)))
      }
      database.exec('commit')
    },
    /** Reads the lowest RF level of each minute as JSON. */
    read(channel: number, from: number, length: number) {
      const rows = select.all(channel, from / 60, (from + length) / 60) as { data: Uint8Array }[]
      return JSON.stringify(
        rows.map(({ data }) => {
          const bytes = inflateRawSync(data)
          const differences = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
          let [value, lowest] = [0, 0]
          const first = columnNames.indexOf('rf_min') * 60
          for (let index = first; index < first + 60; index++) {
            value += differences[index] ?? 0
            lowest = Math.min(lowest, value)
          }
          return lowest
        }),
      )
    },
    close: () => database.close(),
  }
}
