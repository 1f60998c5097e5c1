/** Recorded levels in PostgreSQL: tables that are partitioned by UTC day. */

import { createHash } from 'node:crypto'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { createPostgresPool } from '../postgres-pool.ts'
import {
  blockSeconds,
  type Chunk,
  type ChunkTable,
  chunkTables,
  type HistoryTables,
  type Slice,
  type StartRange,
  type StoredSlice,
  spanOf,
  tierOf,
} from './tables.ts'

const daySeconds = 86_400
/** How long a statement may take. */
const waitLimitMs = 60_000

const parentOf = (table: ChunkTable) => `history_levels_${table}`

const schema = `
  create table if not exists history_slices
    (id bigserial primary key, from_s bigint not null, count integer not null, data bytea not null);
  alter table history_slices add column if not exists part integer not null default 0;
  create table if not exists history_pruned (name text primary key, until_s bigint not null);
  ${chunkTables
    .map(
      (table) => `create table if not exists ${parentOf(table)}
        (start_s bigint not null, channel_group integer not null, data bytea not null, primary key (start_s, channel_group))
        partition by range (start_s);`,
    )
    .join('\n')}`

/** The key of the lock that a process holds during a transaction. */
const lockKey = createHash('sha256').update('micwatch history').digest().readInt32BE()

export class PostgresTables implements HistoryTables {
  readonly #pool: PostgresPool
  /** The connection of the running transaction. */
  #transaction: PostgresPoolClient | null = null
  /** Names of the partitions that are known to exist. */
  readonly #partitions = new Set<string>()
  /** Names of tables in which rows were replaced or deleted since the last call of `shrink`. */
  readonly #replaced = new Set<string>()

  static async open(url: string): Promise<PostgresTables> {
    const tables = new PostgresTables(await createPostgresPool({ url, poolSize: 1, waitLimitMs }))
    try {
      await tables.transaction(() => tables.#query(schema))
      return tables
    } catch (error) {
      await tables.close()
      throw error
    }
  }

  private constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTransaction('begin', async () => {
      await this.#query('select pg_advisory_xact_lock($1)', [lockKey])
      return work()
    })
  }

  snapshot<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTransaction('begin isolation level repeatable read read only', work)
  }

  async #inTransaction<T>(begin: string, work: () => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    this.#transaction = client
    try {
      await client.query(begin, [])
      const result = await work()
      await client.query('commit', [])
      return result
    } catch (error) {
      // A partition that was created in this transaction no longer exists.
      this.#partitions.clear()
      await client.query('rollback', []).catch(() => {})
      throw error
    } finally {
      this.#transaction = null
      client.release()
    }
  }

  async addSlices(slices: readonly Slice[]): Promise<void> {
    const rows = slices.map((_, index) => `(${[1, 2, 3, 4].map((column) => `$${index * 4 + column}`).join(', ')})`)
    const values = slices.flatMap(({ part, from, count, data }) => [part, from, count, toBuffer(data)])
    await this.#query(`insert into history_slices (part, from_s, count, data) values ${rows.join(', ')}`, values)
  }

  async listSlices() {
    return this.#query<StoredSlice>('select id, part, from_s as "from", count from history_slices order by id')
  }

  async readSlice(id: number) {
    const [row] = await this.#query<{ data: Buffer }>('select data from history_slices where id = $1', [id])
    if (row === undefined) throw new RangeError(`There is no slice ${id}.`)
    return row.data
  }

  async deleteSlices(ids: readonly number[]): Promise<void> {
    await this.#query('delete from history_slices where id = any($1::bigint[])', [ids])
    this.#replaced.add('history_slices')
  }

  async readChunks(table: ChunkTable, { from, to }: StartRange, groups: readonly number[] | null) {
    const rows = await this.#query<{ start: number; group: number; data: Buffer }>(
      `select start_s as "start", channel_group as "group", data from ${parentOf(table)}
        where start_s >= $1 and start_s < $2 ${groups === null ? '' : 'and channel_group = any($3::integer[])'}
        order by start_s, channel_group`,
      groups === null ? [from, to] : [from, to, groups],
    )
    return rows satisfies Chunk[]
  }

  async writeChunks(table: ChunkTable, chunks: readonly Chunk[]): Promise<void> {
    for (const { start } of chunks) {
      await this.#createPartition(table, start)
      if (spanOf(table) > blockSeconds) this.#replaced.add(partitionOf(table, start))
    }
    await this.#query(
      `insert into ${parentOf(table)} (start_s, channel_group, data)
        select * from unnest($1::bigint[], $2::integer[], $3::bytea[])
        on conflict (start_s, channel_group) do update set data = excluded.data`,
      [chunks.map(({ start }) => start), chunks.map(({ group }) => group), chunks.map(({ data }) => toBuffer(data))],
    )
    const newest = chunks.at(-1)
    // The next day's partition is created now, so that midnight is no special case.
    if (newest !== undefined && table !== 'pinned') await this.#createPartition(table, newest.start + daySeconds)
  }

  async #createPartition(table: ChunkTable, time: number): Promise<void> {
    const from = Math.floor(time / daySeconds) * daySeconds
    const name = partitionOf(table, from)
    if (this.#partitions.has(name)) return
    await this.#query(`create table if not exists ${name} partition of ${parentOf(table)}
      for values from (${from}) to (${from + daySeconds})`)
    // The chunks are already compressed. Those of longer steps are short enough to share a page.
    const storage = tierOf(table) === 1 ? 'external' : 'main'
    await this.#query(`alter table ${name} alter column data set storage ${storage}`)
    this.#partitions.add(name)
  }

  async findStarts(table: ChunkTable, { from, to }: StartRange) {
    const [row] = await this.#query<{ first: number | null; last: number | null }>(
      `select min(start_s) as first, max(start_s) as last from ${parentOf(table)} where start_s >= $1 and start_s < $2`,
      [from, to],
    )
    return row === undefined || row.first === null || row.last === null ? null : { first: row.first, last: row.last }
  }

  async sumChunks(table: ChunkTable, end: number) {
    const [row] = await this.#query<{ bytes: number; first: number | null; last: number | null }>(
      `select coalesce(sum(length(data)), 0)::bigint as bytes, min(start_s) as first, max(start_s) as last
        from ${parentOf(table)} where start_s < $1`,
      [end],
    )
    const { bytes = 0, first = null, last = null } = row ?? {}
    return { bytes, range: first === null || last === null ? null : { first, last } }
  }

  /** Drops whole partitions. */
  async deleteChunks(table: ChunkTable, end: number): Promise<void> {
    const limit = partitionOf(table, end)
    for (const name of await this.#listPartitions(table)) if (name < limit) await this.#query(`drop table ${name}`)
    this.#partitions.clear()
    this.#replaced.clear()
  }

  async #listPartitions(table: ChunkTable): Promise<string[]> {
    const rows = await this.#query<{ name: string }>(
      `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
        where inhparent = $1::regclass`,
      [parentOf(table)],
    )
    return rows.map(({ name }) => name)
  }

  pruneUnit(): number {
    return daySeconds
  }

  async prunedUntil(table: ChunkTable): Promise<number> {
    const [row] = await this.#query<{ until_s: number }>('select until_s from history_pruned where name = $1', [
      parentOf(table),
    ])
    return row?.until_s ?? 0
  }

  async setPrunedUntil(table: ChunkTable, time: number): Promise<void> {
    await this.#query(
      `insert into history_pruned (name, until_s) values ($1, $2)
        on conflict (name) do update set until_s = excluded.until_s`,
      [parentOf(table), time],
    )
  }

  async usedBytes(): Promise<number> {
    const [row] = await this.#query<{ bytes: number }>(
      `select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as bytes from pg_class
        where relkind = 'r' and relname like 'history\\_%' and relnamespace = current_schema()::regnamespace`,
    )
    return row?.bytes ?? 0
  }

  totalBytes(): Promise<number> {
    return this.usedBytes()
  }

  async freeBytes(): Promise<null> {
    return null
  }

  async shrink(): Promise<void> {
    // Dropped partitions return their space at once. That of replaced rows is used for new ones.
    const replaced = [...this.#replaced]
    // Forgotten even if this fails, because another process may have dropped one of the partitions.
    this.#replaced.clear()
    if (replaced.length > 0) await this.#query(`vacuum (skip_locked) ${replaced.join(', ')}`)
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #query<Row = unknown>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const run = async (client: PostgresPoolClient) => (await client.query<Row>(text, values)).rows
    if (this.#transaction !== null) return run(this.#transaction)
    const client = await this.#pool.connect()
    try {
      return await run(client)
    } finally {
      client.release()
    }
  }
}

/** Names are ordered by time. */
function partitionOf(table: ChunkTable, time: number): string {
  return `${parentOf(table)}_${new Date(time * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
