/** Recorded levels in PostgreSQL: how chunks are stored, and what version 1.0.0 has stored. */

import pg from 'pg'
import { expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { createEmptyDatabase } from '../../../test/support/store/databases.ts'
import { runSql } from '../../../test/support/store/postgres.ts'
import { columnNames, type RecordedSeconds } from '../../domain/history/columns.ts'
import { tierSteps } from '../../domain/history/tiers.ts'
import { HistoryStore } from './history-store.ts'
import { PostgresTables } from './postgres-tables.ts'
import { SqliteTables } from './sqlite-tables.ts'
import type { Chunk, HistoryTables } from './tables.ts'

/** 2026-05-01T18:00:00Z */
const base = 1_777_658_400
const daySeconds = 86_400
const keepAll = { secondsDays: 36_500, minutesDays: 36_500, maxBytes: 1e12, pinned: [], isDryRun: false }

async function createPostgres(): Promise<string> {
  const database = await createEmptyDatabase('postgres')
  onTestEnd(database.drop)
  return database.url
}

async function openPostgres(url: string): Promise<PostgresTables> {
  const tables = await PostgresTables.open(url)
  onTestEnd(() => tables.close())
  return tables
}

async function openSqlite(): Promise<SqliteTables> {
  const database = await createEmptyDatabase('sqlite')
  const tables = await SqliteTables.open(`${database.url.slice('sqlite:'.length)}-history`, () => {})
  onTestEnd(async () => {
    await tables.close()
    await database.drop()
  })
  return tables
}

async function select<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

function seconds(from: number, count: number, channelIds: readonly number[]): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name, column) => [
      name,
      Int16Array.from({ length: count * channelIds.length }, (_, index) =>
        name === 'state' ? 4 : -((index * 7919 + column * 31 + from) % (column * 20 + 5)),
      ),
    ]),
  ) as RecordedSeconds['columns']
  return { from, count, channelIds, columns }
}

const chunkOf = (group: number, length: number): Chunk => ({
  start: base,
  group,
  data: Buffer.from(Uint8Array.from({ length }, (_, index) => (group + index * 13) % 251)),
})

const toText = (chunks: readonly Chunk[]) =>
  chunks.map(({ group, data }) => `${group} ${Buffer.from(data).toString('hex')}`)

it('replaces chunks that are longer than a page by shorter ones, beside those of other groups', async () => {
  const url = await createPostgres()
  const tables = await openPostgres(url)
  const write = (chunks: readonly Chunk[]) => tables.transaction(() => tables.writeChunks(1, chunks))
  const read = async (groups: readonly number[] | null) =>
    toText(await tables.readChunks(1, { from: base, to: base + 1 }, groups))
  const count = async () =>
    (await select<{ count: number }>(url, 'select count(*)::integer as count from history_levels_recent'))[0]?.count
  await write([chunkOf(1, 50_000), chunkOf(3, 100), chunkOf(15, 20_000), chunkOf(16, 9000)])
  expect(await count()).toBe(11)
  await write([chunkOf(3, 70_000), chunkOf(1, 10)])
  expect(await read(null)).toEqual(toText([chunkOf(1, 10), chunkOf(3, 70_000), chunkOf(15, 20_000), chunkOf(16, 9000)]))
  await write([chunkOf(3, 20), chunkOf(15, 30)])
  expect(await count()).toBe(3)
  expect(await read([3])).toEqual(toText([chunkOf(3, 20)]))
  expect(await read([1, 16, 40])).toEqual(toText([chunkOf(1, 10), chunkOf(16, 9000)]))
  expect(await read([])).toEqual([])
})

it('stores all steps of a day in one table, without another for long values', async () => {
  const url = await createPostgres()
  const tables = await openPostgres(url)
  await new HistoryStore(tables).importSeconds(seconds(base, 600, [1, 300]))
  const names = await select<{ name: string; long: string }>(
    url,
    `select relname as name, reltoastrelid::text as long from pg_class
      where relkind = 'r' and relname like 'history\\_levels%' order by relname`,
  )
  expect(names).toEqual(['20260501', '20260502'].map((day) => ({ name: `history_levels_recent_${day}`, long: '0' })))
})

/** Stores the chunks and slices of `tables` as version 1.0.0 does, which has begun these days. */
async function storeAsFirstVersion(url: string, tables: HistoryTables, days: readonly number[]): Promise<void> {
  const hex = (data: Uint8Array) => `'\\x${Buffer.from(data).toString('hex')}'`
  const statements = [
    `create table if not exists history_slices
      (id bigserial primary key, from_s bigint not null, count integer not null, data bytea not null)`,
    'alter table history_slices add column if not exists part integer not null default 0',
    'create table if not exists history_pruned (name text primary key, until_s bigint not null)',
  ]
  for (const table of [1, 10, 60, 'pinned', 600, 3600] as const) {
    const name = `history_levels_${table}`
    statements.push(
      `create table if not exists ${name}
        (start_s bigint not null, channel_group integer not null, data bytea not null, primary key (start_s, channel_group))
        partition by range (start_s)`,
    )
    for (const day of table === 'pinned' ? [] : days) {
      const partition = `${name}_${new Date(day * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`
      statements.push(
        `create table ${partition} partition of ${name} for values from (${day}) to (${day + daySeconds})`,
        `alter table ${partition} alter column data set storage ${table === 1 ? 'external' : 'main'}`,
      )
    }
    for (const { start, group, data } of await tables.readChunks(table, { from: 0, to: 2e9 }, null))
      statements.push(`insert into ${name} values (${start}, ${group}, ${hex(data)})`)
  }
  for (const { id, part, from, count } of await tables.listSlices()) {
    const data = hex(await tables.readSlice(id))
    statements.push(
      `insert into history_slices (part, from_s, count, data) values (${part}, ${from}, ${count}, ${data})`,
    )
  }
  await runSql(url, statements.join(';\n'))
}

/** Expects that both stores contain the same in the hours that begin at these times. */
async function expectSame(
  [expected, found]: readonly [HistoryStore, HistoryStore],
  ids: readonly number[],
  hours: readonly number[],
): Promise<void> {
  for (const step of tierSteps) {
    for (const from of hours) {
      const read = async (store: HistoryStore) => JSON.stringify(await store.read(ids, from, from + 3600, step))
      expect(await read(found)).toBe(await read(expected))
    }
  }
  expect(await found.range()).toEqual(await expected.range())
}

it('reads, continues, moves and deletes what version 1.0.0 has stored', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => index * 30 + 1)
  const today = base - (base % daySeconds)
  const sqlite = await openSqlite()
  const first = new HistoryStore(sqlite)
  await first.importSeconds(seconds(today - 7200, 1800, ids))
  await first.importSeconds(seconds(base, 700, ids))
  await first.append(seconds(base + 1200, 30, ids))
  const url = await createPostgres()
  await storeAsFirstVersion(url, sqlite, [today - daySeconds, today, today + daySeconds])
  const stores = [first, new HistoryStore(await openPostgres(url))] as const

  const compare = () => expectSame(stores, ids, [today - 7200, base, today + daySeconds, today + 2 * daySeconds])

  await compare()
  const onBoth = async (run: (store: HistoryStore) => Promise<unknown>) => {
    for (const store of stores) await run(store)
  }
  // The running hour and day continue in the tables of version 1.0.0, days that it has not begun do not.
  for (let at = base + 1230; at < base + 3600; at += 30) await onBoth((store) => store.append(seconds(at, 30, ids)))
  await onBoth((store) => store.importSeconds(seconds(today + daySeconds + 600, 600, ids)))
  await onBoth((store) => store.importSeconds(seconds(today + 2 * daySeconds + 600, 600, ids)))
  await onBoth((store) => store.prune({ ...keepAll, now: base + 3700 }))
  await compare()
  const partitions = async () =>
    (
      await select<{ name: string }>(
        url,
        `select relname as name from pg_class where relkind = 'r'
          and (relname like 'history\\_levels\\_1\\_%' or relname like 'history\\_levels\\_60\\_%'
            or relname like 'history\\_levels\\_recent\\_%') order by relname`,
      )
    ).map(({ name }) => name.slice('history_levels_'.length))
  const recent = ['recent_20260503', 'recent_20260504']
  const own = (...days: readonly string[]) => ['1', '60'].flatMap((step) => days.map((day) => `${step}_${day}`))
  expect(await partitions()).toEqual([...own('20260430', '20260501', '20260502'), ...recent])
  // The seconds of all of these days but the last are deleted, then those of the last, then the minutes.
  const prune = async (secondsDays: number, minutesDays: number) => {
    const now = today + 10 * daySeconds
    for (const [store, unit] of [
      [stores[0], 'sqlite'],
      [stores[1], 'postgres'],
    ] as const) {
      const pruned = await store.prune({ ...keepAll, secondsDays, minutesDays, now })
      expect(pruned[0]?.bytes, unit).toBeGreaterThan(0)
    }
    await compare()
  }
  await prune(8, 100)
  expect(await partitions()).toEqual(['60_20260430', '60_20260501', '60_20260502', ...recent])
  await prune(7, 100)
  expect(await partitions()).toEqual(['60_20260430', '60_20260501', '60_20260502', '60_20260503', 'recent_20260504'])
})

it('merges what a process of version 1.0.0 stores in a recent day', async () => {
  const url = await createPostgres()
  const stores = [new HistoryStore(await openSqlite()), new HistoryStore(await openPostgres(url))] as const
  const compare = () => expectSame(stores, [1, 2], [base])
  for (const store of stores) await store.importSeconds(seconds(base, 600, [1]))
  // Channel 2 is in the same group.
  const others = await openSqlite()
  await new HistoryStore(others).importSeconds(seconds(base, 600, [2]))
  await storeAsFirstVersion(url, others, [base - (base % daySeconds)])
  await stores[0].importSeconds(seconds(base, 600, [2]))
  await compare()
  for (const store of stores) await store.importSeconds(seconds(base + 600, 600, [1]))
  await compare()
  const pinned = [1, 2].map((channelId) => ({ channelId, from: base, to: base + 600 }))
  for (const store of stores) await store.prune({ ...keepAll, secondsDays: 1, pinned, now: base + 3 * daySeconds })
  for (const [step, length] of [
    [1, 600],
    [10, 3600],
    [60, 3600],
    [600, 7200],
    [3600, 7200],
  ] as const) {
    const read = async (store: HistoryStore) => JSON.stringify(await store.read([1, 2], base, base + length, step))
    expect(await read(stores[1])).toBe(await read(stores[0]))
  }
})
