/**
 * The reference of the benchmark of the history: the same seconds in one row per channel and minute, as differences
 * compressed with deflate, without coarser tiers.
 */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { columnNames, type RecordedSeconds } from '../src/domain/history/columns.ts'
import { type AtEnd, createTempFolder, percentile } from './harness.ts'
import { channelIds, cut, daySeconds, hourSeconds, start } from './history-levels.ts'

/** The database for queries contains fewer channels, because it takes longest to fill. */
const referenceChannels = 100
const queries = 40

export const fileSize = async (path: string) => (await stat(path)).size

/** All bytes that this process has written to the disk. */
export async function writtenBytes(): Promise<number> {
  const text = await readFile('/proc/self/io', 'utf8').catch(() => '')
  return Number(/^write_bytes: (\d+)/m.exec(text)?.[1] ?? Number.NaN)
}

/** Returns the 95th percentile of the times of several calls, without the first ones. */
export async function percentileOfRuns(run: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < queries + 5; index++) {
    const startedAt = performance.now()
    await run(index)
    if (index >= 5) times.push(performance.now() - startedAt)
  }
  return percentile(times, 95)
}

export async function measureReference(
  atEnd: AtEnd,
  { on, off }: { readonly on: RecordedSeconds; readonly off: RecordedSeconds },
) {
  const full = await openReference(atEnd)
  for (let index = 0; index < 24; index++) {
    for (let second = 0; second < hourSeconds; second += 60)
      full.write(cut(on, second, 60, start + index * hourSeconds + second, index * 7), referenceChannels)
  }
  const dayMs = await percentileOfRuns(async (index) => full.read(1 + (index % referenceChannels), start, daySeconds))
  const threeHoursMs = await percentileOfRuns(async () => {
    for (let id = 1; id <= referenceChannels; id++) full.read(id, start, 3 * hourSeconds)
  })
  full.close()
  return { on: await recordHour(atEnd, on), off: await recordHour(atEnd, off), dayMs, threeHoursMs }
}

async function recordHour(atEnd: AtEnd, levels: RecordedSeconds) {
  const reference = await openReference(atEnd)
  const [writtenBefore, cpuBefore] = [await writtenBytes(), process.cpuUsage()]
  for (let second = 0; second < hourSeconds; second += 60) reference.write(cut(levels, second, 60, start + second))
  const { user, system } = process.cpuUsage(cpuBefore)
  reference.close()
  const kept = await fileSize(reference.path)
  return {
    bytes: kept / hourSeconds / channelIds.length,
    written: ((await writtenBytes()) - writtenBefore) / kept,
    cpuMs: (user + system) / 1000,
  }
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
      return JSON.stringify(rows.map(({ data }) => lowestRf(data)))
    },
    close: () => database.close(),
  }
}

function lowestRf(data: Uint8Array): number {
  const bytes = inflateRawSync(data)
  const differences = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
  let [value, lowest] = [0, 0]
  const first = columnNames.indexOf('rf_min') * 60
  for (let index = first; index < first + 60; index++) {
    value += differences[index] ?? 0
    lowest = Math.min(lowest, value)
  }
  return lowest
}
