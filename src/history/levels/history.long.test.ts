/** The recorded levels on both databases, through the worker thread. */

import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { createEmptyDatabase, type Engine, engines } from '../../../test/support/store/databases.ts'
import { RequestError } from '../../domain/errors.ts'
import { columnNames, noValue, type RecordedSeconds, stateLetters } from '../../domain/history/columns.ts'
import type { LevelHistory, Retention } from '../../domain/history/level-history.ts'
import type { TierStep } from '../../domain/history/tiers.ts'
import { StoreDownError } from '../../storage/errors.ts'
import { openLevelHistory } from './open-level-history.ts'

/** 2026-05-01T18:00:00Z */
const base = 1_777_658_400

async function open(engine: Engine) {
  const database = await createEmptyDatabase(engine)
  const warnings: string[] = []
  const history = openLevelHistory({ url: database.url, onWarning: (message) => warnings.push(message) })
  onTestEnd(async () => {
    await history.close()
    await database.drop()
  })
  return { history, database, warnings }
}

type Values = Partial<Record<(typeof columnNames)[number], number>>

/** Seconds in which transmitters are on, with a level that is different for every second and channel. */
function seconds(
  from: number,
  count: number,
  channelIds: readonly number[],
  change: (time: number, id: number) => Values = () => ({}),
): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count * channelIds.length)]),
  ) as RecordedSeconds['columns']
  for (const [channel, id] of channelIds.entries()) {
    for (let index = 0; index < count; index++) {
      const values: Values = {
        state: stateLetters.indexOf('1'),
        rf_min: rfOf(from + index, id),
        rf_max: rfOf(from + index, id) + 3,
        audio_max: -20,
        audio_last: -32,
        quality_min: noValue,
        battery: 80,
        minutes: 300,
        ...change(from + index, id),
      }
      for (const name of columnNames) columns[name][channel * count + index] = values[name] ?? 0
    }
  }
  return { from, count, channelIds, columns }
}

const rfOf = (time: number, id: number) => -40 - ((time * 7 + id * 3) % 30)

const allSeries = ['rf', 'audio', 'quality', 'battery', 'minutes'] as const

async function query(history: LevelHistory, channelIds: readonly number[], from: number, to: number, maxPoints = 600) {
  const bytes = await history.query({ channelIds, from, to, maxPoints, series: allSeries })
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** Records in batches of five seconds. */
async function record(history: LevelHistory, ...[from, count, ids, change]: Parameters<typeof seconds>) {
  for (let at = from; at < from + count; at += 5) {
    await history.append(seconds(at, Math.min(5, from + count - at), ids, change))
  }
}

describe.each(engines)('history on %s', (engine) => {
  // Conformance: C-12.4.
  it('returns a second as soon as it is appended', async () => {
    const { history } = await open(engine)
    expect(await history.range()).toBeNull()
    expect(await history.at(base)).toBeNull()
    await history.append(seconds(base, 5, [500, 3]))
    expect(await query(history, [500, 3], base, base + 6)).toEqual({
      from: '2026-05-01T18:00:00.000Z',
      to: '2026-05-01T18:00:06.000Z',
      step_seconds: 1,
      channels: [500, 3].map((id) => ({
        id,
        state: '11111-',
        rf: {
          min: [...[0, 1, 2, 3, 4].map((second) => rfOf(base + second, id)), null],
          max: [...[0, 1, 2, 3, 4].map((second) => rfOf(base + second, id) + 3), null],
        },
        audio: { max: [-20, -20, -20, -20, -20, null], last: [-32, -32, -32, -32, -32, null] },
        quality: { min: [null, null, null, null, null, null] },
        battery: { last: [80, 80, 80, 80, 80, null] },
        minutes: { last: [300, 300, 300, 300, 300, null] },
        weak_ms: [0, 0, 0, 0, 0, null],
      })),
    })
    expect(await history.range()).toEqual({ first: base, last: base + 5 })
    const found = await history.at(base + 4)
    expect(found).toMatchObject({ isRecorded: true, stepSeconds: 1 })
    expect(found?.steps.channelIds).toEqual([3, 500])
    expect(found?.steps.columns.rf_min).toEqual(Int32Array.of(rfOf(base + 4, 3), rfOf(base + 4, 500)))
  })

  it('closes the parts of a block one after the other while it answers', async () => {
    const { history } = await open(engine)
    const ids = [1, 300, 301, 5000]
    await record(history, base, 600, ids)
    const before = await history.read(ids, base, base + 600, 10)
    await record(history, base + 600, 30, ids)
    for (let round = 0; round < ids.length; round++) {
      const { columns } = await history.read(ids, base, base + 600, 10)
      for (const name of columnNames) expect(columns[name]).toEqual(before.columns[name])
    }
    await history.prune({ ...keepAll, now: base + 630 })
    const { columns } = await history.read(ids, base, base + 600, 10)
    for (const name of columnNames) expect(columns[name]).toEqual(before.columns[name])
    expect((await history.stats()).tiers.map(({ bytes }) => bytes > 0)).toEqual([true, true, true, true, true])
  })

  it('returns the same before and after blocks are closed', async () => {
    const { history } = await open(engine)
    await record(history, base + 3, 600, [1, 2, 40])
    const open1 = await history.read([1, 40], base, base + 610, 1)
    const open60 = await history.read([1, 40], base, base + 660, 60)
    await record(history, base + 603, 70, [1, 2, 40])
    const { columns, ...rest } = await history.read([1, 40], base, base + 600, 1)
    expect(rest).toEqual({ from: base, count: 600, channelIds: [1, 40] })
    for (const name of columnNames) expect(columns[name].subarray(0, 600)).toEqual(open1.columns[name].subarray(0, 600))
    const closed60 = await history.read([1, 40], base, base + 600, 60)
    expect(closed60.columns.rf_min.subarray(0, 10)).toEqual(open60.columns.rf_min.subarray(0, 10))
  })

  // Conformance: C-12.6.
  it('finds a dropout of 200 ms at every zoom from ten seconds to a week', async () => {
    const { history } = await open(engine)
    const day = base - (base % 86_400)
    const dropout = day + 3 * 86_400 + 40_007
    const change = (time: number) => (time === dropout ? { weak_ms: 200, rf_min: -97 } : {})
    await history.importSeconds(seconds(dropout - 3607, 7200, [1, 2], (time, id) => (id === 1 ? change(time) : {})))
    for (const length of [10, 60, 600, 3600, 6 * 3600, 86_400, 7 * 86_400]) {
      const from = Math.max(day, dropout - Math.floor(length / 2))
      const { channels } = await query(history, [1, 2], from, from + length, 12)
      expect(channels.map(({ rf }: { rf: { min: number[] } }) => rf.min.includes(-97))).toEqual([true, false])
      expect(channels.map(({ weak_ms }: { weak_ms: number[] }) => Math.max(...weak_ms))).toEqual([200, 0])
    }
  })

  // Conformance: C-12.5.
  it('answers for the running hour with what it has', async () => {
    const { history } = await open(engine)
    const change = (time: number) => ({ state: stateLetters.indexOf(time < base + 700 ? '1' : 'm'), weak_ms: 100 })
    await record(history, base, 640, [1], change)
    await history.append(seconds(base + 640, 100, [1], change))
    expect(await query(history, [1], base, base + 3600, 1)).toMatchObject({
      step_seconds: 3600,
      channels: [{ state: '1', weak_ms: [74_000] }],
    })
    await history.append(seconds(base + 740, 700, [1], change))
    expect(await query(history, [1], base, base + 3600, 1)).toMatchObject({
      channels: [{ state: 'm', weak_ms: [144_000] }],
    })
  })

  // Conformance: C-12.2.
  it('merges seconds that are recorded again after the clock was set back', async () => {
    const { history } = await open(engine)
    await record(history, base, 625, [1], () => ({ rf_min: -50, rf_max: -40, weak_ms: 300 }))
    await history.append(seconds(base + 10, 1, [1], () => ({ rf_min: -60, rf_max: -45, weak_ms: 400, audio_last: -7 })))
    const expected = { rf_min: -60, rf_max: -40, weak_ms: 700, audio_last: -7 }
    const read = async () => {
      const { columns } = await history.read([1], base + 10, base + 11, 1)
      return Object.fromEntries(Object.keys(expected).map((name) => [name, columns[name as 'rf_min'][0]]))
    }
    expect(await read()).toEqual(expected)
    await history.append(seconds(base + 1225, 5, [1]))
    expect(await read()).toEqual(expected)
    // Blocks are closed after the reply, one after the other.
    await history.prune({ ...keepAll, now: base + 1230 })
    const { columns } = await history.read([1], base, base + 60, 60)
    expect([columns.rf_min[0], columns.weak_ms[0]]).toEqual([-60, 60 * 300 + 400])
  })

  // Conformance: C-12.3, C-12.8.
  it('returns the last states without levels in a gap, and coarser steps where seconds are deleted', async () => {
    const { history } = await open(engine)
    const day = 86_400
    const today = base - (base % day)
    const change = () => ({ state: stateLetters.indexOf('m') })
    await history.importSeconds(seconds(today - 3 * day, 600, [1, 20], change))
    await history.importSeconds(seconds(today + 100, 800, [1, 20]))
    expect((await history.at(today + 50))?.steps.columns.state).toEqual(Int32Array.of(3, 3))
    expect(await history.at(today - 3 * day - 1)).toBeNull()
    const gap = await history.at(today - 2 * day)
    expect(gap).toMatchObject({ isRecorded: false, stepSeconds: 1, steps: { channelIds: [1, 20], count: 1 } })
    expect([...(gap?.steps.columns.state ?? [])]).toEqual([3, 3])
    expect([...(gap?.steps.columns.rf_min ?? [])]).toEqual([noValue, noValue])
    await history.prune({ ...keepAll, secondsDays: 1, now: today + day })
    expect(await history.at(today - 3 * day + 5)).toMatchObject({ isRecorded: true, stepSeconds: 10 })
    expect(await history.at(today - 2 * day)).toMatchObject({ isRecorded: false })
    expect(await history.at(today + 105)).toMatchObject({ isRecorded: true, stepSeconds: 1 })
    expect(await query(history, [1], today - 3 * day, today - 3 * day + 10)).toMatchObject({ step_seconds: 10 })
  })

  // Conformance: C-12.7.
  it('rejects a response with more than 100,000 steps', async () => {
    const { history } = await open(engine)
    const channelIds = Array.from({ length: 100 }, (_, index) => index + 1)
    const request = { channelIds, from: base, to: base + 1001, series: allSeries }
    await expect(history.query({ ...request, maxPoints: 1001 })).rejects.toThrow(RequestError)
    expect(await history.query({ ...request, maxPoints: 1000 })).toBeInstanceOf(Uint8Array)
  })

  // Conformance: C-12.9.
  it('exports each step of each channel as CSV', async () => {
    const { history } = await open(engine)
    await record(history, base, 600, [1, 2])
    const parts: Uint8Array[] = []
    const channels = [
      { id: 2, name: '=SUM(A1)' },
      { id: 1, name: 'Aurelio' },
    ]
    const request = { channels, from: base + 5, to: base + 20_000, step: 1 } as const
    for await (const part of history.exportCsv(request)) parts.push(part)
    expect(parts.length).toBeGreaterThan(1)
    const lines = Buffer.concat(parts).toString().split('\r\n')
    expect(lines.length).toBe(1 + 2 * 19_995 + 1)
    expect(lines[0]).toMatch(/^\uFEFFtime,/)
    expect(lines.slice(1, 3)).toEqual([
      `2026-05-01T18:00:05.000Z,2,'=SUM(A1),1,${rfOf(base + 5, 2)},${rfOf(base + 5, 2) + 3},-20,-32,,80,300,0`,
      `2026-05-01T18:00:05.000Z,1,Aurelio,1,${rfOf(base + 5, 1)},${rfOf(base + 5, 1) + 3},-20,-32,,80,300,0`,
    ])
    expect(lines.at(-2)).toBe('2026-05-01T23:33:19.000Z,1,Aurelio,,,,,,,,,')
  })

  // Conformance: C-12.10.
  it('deletes seconds and minutes by age, but not pinned seconds', async () => {
    const { history } = await open(engine)
    const day = 86_400
    const today = base - (base % day)
    for (let days = 4; days >= 0; days--) await history.importSeconds(seconds(today - days * day, 600, [1, 2, 20]))
    const retention = {
      ...keepAll,
      secondsDays: 1,
      minutesDays: 3,
      now: today + day,
      pinned: [{ channelId: 2, from: today - 2 * day + 100, to: today - 2 * day + 200 }],
    }
    const planned = await history.prune({ ...retention, isDryRun: true })
    expect((await history.stats()).tiers[0]?.range?.first).toBe(today - 4 * day)
    expect(await history.prune(retention)).toEqual(planned)
    expect(planned.map(({ step, range }) => [step, range?.first])).toEqual([
      [1, today - 4 * day],
      [10, today - 4 * day],
      [60, today - 4 * day],
      [600, undefined],
      [3600, undefined],
    ])
    const recorded = async (step: TierStep, days: number) => {
      const from = today - days * day
      const { columns } = await history.read([1, 2, 20], from, from + step, step)
      return [...columns.state].map((state) => stateLetters[state]).join('')
    }
    expect([await recorded(1, 0), await recorded(1, 1), await recorded(1, 2)]).toEqual(['111', '---', '-1-'])
    expect([await recorded(10, 2), await recorded(60, 3), await recorded(600, 4)]).toEqual(['111', '---', '111'])
    expect((await history.stats()).tiers.map(({ range }) => range?.first)).toEqual([
      today - 2 * day,
      today - 2 * day,
      today - 2 * day,
      today - 4 * day,
      today - 4 * day,
    ])
    await history.prune({ ...retention, minutesDays: 1, secondsDays: 1 })
    expect(await recorded(1, 2)).toBe('---')
  })

  // Conformance: C-12.3, C-12.8, C-12.11.
  it('keeps pinned seconds as long as minutes, without hiding other channels behind them', async () => {
    const { history } = await open(engine)
    const ids = Array.from({ length: 32 }, (_, index) => index + 1)
    const first = base - (base % 86_400)
    await history.importSeconds(seconds(first, 600, ids, jumpy))
    const pinned = [{ channelId: 2, from: first + 100, to: first + 200 }]
    const retention = { ...keepAll, secondsDays: 1, now: first + 3 * 86_400, pinned }
    const at = async (time: number) => {
      const found = await history.at(time)
      const recorded = found?.steps.channelIds.filter((_, index) => found.steps.columns.state[index] !== 0)
      return [found?.isRecorded, found?.stepSeconds, recorded]
    }

    await history.prune(retention)
    expect(await at(first + 150)).toEqual([true, 10, ids])
    // The last state before a gap is known of every channel, not only of the pinned one.
    expect(await at(first + 1000)).toEqual([false, 10, ids])
    const stepOf = async (...channelIds: number[]) =>
      (await query(history, channelIds, first + 100, first + 160)).step_seconds
    expect([await stepOf(1), await stepOf(2), await stepOf(20), await stepOf(1, 2)]).toEqual([10, 1, 10, 1])

    const { bytes } = await history.stats()
    const pruned = await history.prune({ ...retention, maxBytes: bytes - 1 })
    expect(pruned.map(({ range }) => range?.first)).toEqual([undefined, first, undefined, undefined, undefined])
    expect(await stepOf(2)).toBe(1)
  })

  it('returns pinned seconds if those of all channels are pinned', async () => {
    const { history } = await open(engine)
    await history.importSeconds(seconds(base, 600, [1, 20]))
    const pinned = [1, 20].map((channelId) => ({ channelId, from: base, to: base + 10 }))
    await history.prune({ ...keepAll, pinned, secondsDays: 1, now: base + 3 * 86_400 })
    expect(await history.at(base + 500)).toMatchObject({ isRecorded: true, stepSeconds: 1 })
  })

  // Conformance: C-12.11.
  it('deletes the oldest data of the finest tier until the limit is met', async () => {
    const { history } = await open(engine)
    const day = 86_400
    const ids = Array.from({ length: 32 }, (_, index) => index + 1)
    const today = base - (base % day)
    for (let days = 3; days >= 0; days--) await history.importSeconds(seconds(today - days * day, 3600, ids, jumpy))
    await history.append(seconds(today + 3600, 5, ids))
    const before = await history.stats()
    const pruned = await history.prune({ ...keepAll, maxBytes: before.bytes - 100_000, now: today + 3605 })
    expect(pruned[0]).toMatchObject({ step: 1, range: { first: today - 3 * day } })
    expect(pruned.slice(1).every(({ range }) => range === null)).toBe(true)
    const after = await history.stats()
    expect(after.bytes).toBeLessThanOrEqual(before.bytes - 100_000)
    expect(after.tiers[0]?.range?.last).toBe(today + 3605)
    const tiny = await history.prune({ ...keepAll, maxBytes: 10_000, now: today + 3605 })
    expect(tiny.map(({ bytes }) => bytes > 0)).toEqual([true, true, true, true, true])
    expect((await history.stats()).bytes).toBeLessThan(engine === 'sqlite' ? 40_000 : 1_000_000)
    expect(await history.range()).toEqual({ first: today + 3600, last: today + 3605 })
    await record(history, today + 3605, 10, ids)
    expect(await query(history, [1], today + 3600, today + 3615)).toMatchObject({
      channels: [{ state: '1'.repeat(15) }],
    })
  })

  // Conformance: C-12.15.
  it('lets two connections append to and close the same blocks', async () => {
    const { history, database } = await open(engine)
    const other = openLevelHistory({ url: database.url })
    onTestEnd(() => other.close())
    for (let at = base; at < base + 1300; at += 10) {
      await Promise.all([history.append(seconds(at, 10, [1, 2])), other.append(seconds(at, 10, [3]))])
    }
    const { columns } = await history.read([1, 2, 3], base, base + 1300, 1)
    expect(columns.state.every((state) => state === stateLetters.indexOf('1'))).toBe(true)
    expect(columns.weak_ms.every((ms) => ms === 0)).toBe(true)
  })
})

const keepAll: Retention = {
  secondsDays: 36_500,
  minutesDays: 36_500,
  maxBytes: 1e12,
  pinned: [],
  now: base,
  isDryRun: false,
}

/** Levels that cannot be compressed. */
function jumpy(time: number, id: number): Values {
  const random = Math.imul(time ^ (id << 20), 0x2c1b3c6d) >>> 8
  return {
    rf_min: -90 + (random % 30),
    rf_max: -60 + (random % 31),
    audio_max: -(random % 29),
    audio_last: -40 - (random % 37),
  }
}

describe('history.db', () => {
  // Conformance: C-12.13.
  it('is private, and replaced by a new one if it is damaged', async () => {
    const { history, database, warnings } = await open('sqlite')
    const folder = dirname(database.url.slice('sqlite:'.length))
    const path = join(folder, 'history.db')
    await history.importSeconds(seconds(base, 600, [1, 2], jumpy))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await history.close()
    const file = await openFile(path, 'r+')
    await file.write(Buffer.alloc(statSync(path).size - 1024, 0x55), 0, undefined, 1024)
    await file.close()
    const next = openLevelHistory({ url: database.url, onWarning: (message) => warnings.push(message) })
    onTestEnd(() => next.close())
    await next.append(seconds(base + 600, 5, [1]))
    expect(await next.range()).toEqual({ first: base + 600, last: base + 605 })
    expect(warnings).toEqual([expect.stringContaining('recording continues in a new one')])
    expect(readdirSync(folder).filter((name) => /^history-damaged-.*\.db$/.test(name))).toHaveLength(1)
  })

  it('is replaced if it is not a database', async () => {
    const { history, database, warnings } = await open('sqlite')
    writeFileSync(
      join(dirname(database.url.slice('sqlite:'.length)), 'history.db'),
      'This is text, not a database.'.repeat(99),
    )
    await history.append(seconds(base, 5, [1]))
    expect(await history.range()).toEqual({ first: base, last: base + 5 })
    expect(warnings).toHaveLength(1)
  })

  it('is created again if it was deleted', async () => {
    const { history, database } = await open('sqlite')
    await history.append(seconds(base, 5, [1]))
    const path = join(dirname(database.url.slice('sqlite:'.length)), 'history.db')
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`)
    await history.append(seconds(base + 5, 5, [1]))
    expect(await history.range()).toEqual({ first: base + 5, last: base + 10 })
  })

  it('keeps what the first version appended', async () => {
    const { history, database } = await open('sqlite')
    await record(history, base, 300, [1, 400])
    await history.close()
    const file = new DatabaseSync(join(dirname(database.url.slice('sqlite:'.length)), 'history.db'))
    file.exec('delete from slices where part = 1; alter table slices drop column part; pragma user_version = 1')
    file.close()
    const next = openLevelHistory({ url: database.url })
    onTestEnd(() => next.close())
    await record(next, base + 300, 330, [1, 400])
    await next.prune({ ...keepAll, now: base + 630 })
    expect(await query(next, [1, 400], base + 290, base + 310)).toMatchObject({
      channels: [{ state: '1'.repeat(20) }, { state: '-'.repeat(10) + '1'.repeat(10) }],
    })
  })

  it('rejects calls with a StoreDownError if it cannot be created', async () => {
    const history = openLevelHistory({ url: 'sqlite:/proc/micwatch/micwatch.db' })
    onTestEnd(() => history.close())
    await expect(history.append(seconds(base, 5, [1]))).rejects.toThrow(StoreDownError)
  })
})

// Conformance: C-12.12.
it('has a partition for each day in PostgreSQL, and drops it as a whole', async () => {
  const { history, database } = await open('postgres')
  const day = 86_400
  const today = base - (base % day)
  await history.importSeconds(seconds(today - day, 600, [1]))
  await history.importSeconds(seconds(today, 600, [1]))
  const names = async () => {
    const rows = await select(
      database.url,
      `select relname from pg_class where relkind = 'r' and relname like 'history_levels\\_%' order by relname`,
    )
    return rows.map(({ relname }) => relname.slice('history_levels_'.length))
  }
  expect(await names()).toEqual(['recent_20260430', 'recent_20260501', 'recent_20260502'])
  // Longer steps are kept in partitions of their own.
  await history.prune({ ...keepAll, secondsDays: 1, now: today + day + 100 })
  const hours = ['3600_20260430', '600_20260430']
  expect(await names()).toEqual(
    ['10_20260430', '60_20260430', ...hours, 'recent_20260501', 'recent_20260502'].toSorted(),
  )
  await history.prune({ ...keepAll, secondsDays: 1, minutesDays: 1, now: today + day + 100 })
  expect(await names()).toEqual([...hours, 'recent_20260501', 'recent_20260502'])
})

it('returns the space of closed slices in PostgreSQL', async () => {
  const { history, database } = await open('postgres')
  await record(history, base, 600, [1, 300])
  const size = async () => (await select(database.url, "select pg_relation_size('history_slices') as bytes"))[0]?.bytes
  expect(Number(await size())).toBeGreaterThan(0)
  await history.prune({ ...keepAll, now: base + 660 })
  expect(Number(await size())).toBe(0)
})

async function select(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}
