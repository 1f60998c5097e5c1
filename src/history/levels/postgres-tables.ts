/**
 * Recorded levels in PostgreSQL: tables that are partitioned by UTC day. The chunks of days that still have their seconds
 * are in one table, in pieces that fill its pages; small tables would need more for themselves than for their data. Before
 * the seconds of a day are deleted, its other chunks are moved to a table for each tier, which version 1.0.0 used for all
 * days.
 */

import { createHash } from 'node:crypto'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { decodeSteps, encodeSteps } from '../../domain/history/step-format.ts'
import { floorTo, joinSteps } from '../../domain/history/steps.ts'
import { type TierStep, tierSteps } from '../../domain/history/tiers.ts'
import { createPostgresPool } from '../../storage/postgres-pool.ts'
import { cutIntoPieces, joinPieces } from './chunk-pieces.ts'
import {
  blockSeconds,
  type Chunk,
  type ChunkTable,
  chunkSpans,
  chunkTables,
  groupsInPart,
  type HistoryTables,
  partOfGroup,
  type Slice,
  type StartRange,
  type StoredSlice,
  spanOf,
  tierOf,
} from './tables.ts'

const daySeconds = 86_400
/** Time limit of a statement. */
const waitLimitMs = 60_000

/** The table of the days that still have their seconds. */
const recentParent = 'history_levels_recent'

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
    .join('\n')}
  do $$ begin
    if to_regclass('${recentParent}') is null then
      create table ${recentParent}
        (start_s bigint not null, part integer not null, step smallint not null, piece smallint not null,
          first_group integer not null, last_group integer not null, data bytea not null,
          primary key (start_s, part, step, piece))
        partition by range (start_s);
      -- Its partitions then get no table for long values.
      alter table ${recentParent} alter column data set storage plain;
    end if;
  end $$;`

/** The key of the lock that a process holds during a transaction. */
const lockKey = createHash('sha256').update('micwatch history').digest().readInt32BE()

export class PostgresTables implements HistoryTables {
  readonly #pool: PostgresPool
  /** The connection of the running transaction. */
  #transaction: PostgresPoolClient | null = null
  /** Names of the partitions that are known to exist. */
  readonly #partitions = new Set<string>()
  /** Bytes that are free in the page that the running transaction wrote last, by partition. */
  readonly #room = new Map<string, number>()
  /** Names of tables in which rows were replaced or deleted since the last call of `freeReplaced`. */
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
    return this.#inTransaction('begin isolation level repeatable read read only', async () => {
      // Before the state to read is fixed: chunks that are moved afterwards would be found in neither table.
      await this.#query(`lock table only ${recentParent} in access share mode`)
      return work()
    })
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
      this.#room.clear()
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

  async readChunks(table: ChunkTable, range: StartRange, groups: readonly number[] | null) {
    const own = await this.#readOwn(table, range, groups)
    if (table === 'pinned') return own
    const recent = await this.#readRecent(table, range, groups)
    return mergeChunks([...own, ...recent], table).toSorted((a, b) => a.start - b.start)
  }

  async #readOwn(table: ChunkTable, { from, to }: StartRange, groups: readonly number[] | null) {
    const rows = await this.#query<{ start: number; group: number; data: Buffer }>(
      `select start_s as "start", channel_group as "group", data from ${parentOf(table)}
        where start_s >= $1 and start_s < $2 ${groups === null ? '' : 'and channel_group = any($3::integer[])'}
        order by start_s, channel_group`,
      groups === null ? [from, to] : [from, to, groups],
    )
    return rows satisfies Chunk[]
  }

  async #readRecent(step: TierStep, { from, to }: StartRange, groups: readonly number[] | null): Promise<Chunk[]> {
    if (groups?.length === 0) return []
    const parts = groups === null ? null : [...new Set(groups.map(partOfGroup))]
    const rows = await this.#query<{ start: number; part: number; data: Buffer }>(
      `select start_s as "start", part, data from ${recentParent} where start_s >= $1 and start_s < $2 and step = $3
        ${groups === null ? '' : 'and part = any($4::integer[]) and last_group >= $5 and first_group <= $6'}
        order by start_s, part, piece`,
      groups === null ? [from, to, step] : [from, to, step, parts, Math.min(...groups), Math.max(...groups)],
    )
    const sequences = new Map<string, { start: number; pieces: Buffer[] }>()
    for (const { start, part, data } of rows) {
      const sequence = sequences.get(`${start} ${part}`)
      if (sequence === undefined) sequences.set(`${start} ${part}`, { start, pieces: [data] })
      else sequence.pieces.push(data)
    }
    const chunks = [...sequences.values()].flatMap(({ start, pieces }) => joinPieces(pieces, start))
    return groups === null ? chunks : chunks.filter(({ group }) => groups.includes(group))
  }

  async writeChunks(table: ChunkTable, chunks: readonly Chunk[]): Promise<void> {
    for (const start of new Set(chunks.map((chunk) => chunk.start))) {
      const ofStart = chunks.filter((chunk) => chunk.start === start)
      if (table === 'pinned' || !(await this.#isRecent(start))) await this.#writeOwn(table, start, ofStart)
      else await this.#writeRecent(table, start, ofStart)
    }
    const newest = chunks.at(-1)
    // The next day's partition is created now, so that midnight is no special case.
    if (newest !== undefined && table !== 'pinned') await this.#isRecent(newest.start + daySeconds)
  }

  async #writeOwn(table: ChunkTable, start: number, chunks: readonly Chunk[]): Promise<void> {
    await this.#createOwnPartition(table, start)
    if (spanOf(table) > blockSeconds) this.#replaced.add(partitionOf(parentOf(table), start))
    await this.#query(
      `insert into ${parentOf(table)} (start_s, channel_group, data)
        select $1, * from unnest($2::integer[], $3::bytea[])
        on conflict (start_s, channel_group) do update set data = excluded.data`,
      [start, chunks.map(({ group }) => group), chunks.map(({ data }) => toBuffer(data))],
    )
  }

  /** Replaces chunks, and writes the others of their parts again. */
  async #writeRecent(step: TierStep, start: number, chunks: readonly Chunk[]): Promise<void> {
    const name = partitionOf(recentParent, start)
    for (const part of new Set(chunks.map(({ group }) => partOfGroup(group)))) {
      const groups = Array.from({ length: groupsInPart }, (_, index) => part * groupsInPart + index)
      const stored = await this.#readRecent(step, { from: start, to: start + 1 }, groups)
      if (stored.length > 0) {
        const deletion = `delete from ${name} where start_s = $1 and part = $2 and step = $3`
        await this.#query(deletion, [start, part, step])
        this.#replaced.add(name)
      }
      const merged = new Map([...stored, ...chunks].map((chunk) => [chunk.group, chunk]))
      const ofPart = groups.flatMap((group) => merged.get(group) ?? [])
      const { pieces, room } = cutIntoPieces(ofPart, this.#room.get(name) ?? 0)
      this.#room.set(name, room)
      await this.#query(
        `insert into ${name} (start_s, part, step, piece, first_group, last_group, data)
          select $1, $2, $3, * from unnest($4::smallint[], $5::integer[], $6::integer[], $7::bytea[])`,
        [
          start,
          part,
          step,
          pieces.map((_, index) => index),
          pieces.map(({ firstGroup }) => firstGroup),
          pieces.map(({ lastGroup }) => lastGroup),
          pieces.map(({ data }) => data),
        ],
      )
    }
  }

  /**
   * True if the chunks of a day are in the table of recent days, where its partition is then created. False for days
   * that version 1.0.0 began and for days whose seconds were deleted.
   */
  async #isRecent(time: number): Promise<boolean> {
    const from = floorTo(time, daySeconds)
    const name = partitionOf(recentParent, from)
    if (this.#partitions.has(name)) return true
    const own = tierSteps.map((step) => partitionOf(parentOf(step), from))
    if (own.some((partition) => this.#partitions.has(partition))) return false
    const found = await this.#query<{ name: string }>(
      'select relname as name from pg_class where relname = any($1::text[]) and relnamespace = current_schema()::regnamespace',
      [[name, ...own]],
    )
    const isRecent = found.length === 0 || found.some((partition) => partition.name === name)
    if (isRecent && found.length === 0) await this.#createPartition(recentParent, from)
    for (const partition of found) this.#partitions.add(partition.name)
    return isRecent
  }

  async #createOwnPartition(table: ChunkTable, time: number): Promise<void> {
    const name = partitionOf(parentOf(table), time)
    if (this.#partitions.has(name)) return
    await this.#createPartition(parentOf(table), time)
    // The chunks are already compressed. Those of longer steps are short enough to share a page.
    const storage = tierOf(table) === 1 ? 'external' : 'main'
    await this.#query(`alter table ${name} alter column data set storage ${storage}`)
  }

  async #createPartition(parent: string, time: number): Promise<void> {
    const from = floorTo(time, daySeconds)
    const name = partitionOf(parent, from)
    await this.#query(`create table if not exists ${name} partition of ${parent}
      for values from (${from}) to (${from + daySeconds})`)
    this.#partitions.add(name)
  }

  async findStarts(table: ChunkTable, range: StartRange) {
    const { first, last } = await this.#aggregate(table, range, '0')
    return first === null || last === null ? null : { first, last }
  }

  async sumChunks(table: ChunkTable, end: number) {
    const { bytes, first, last } = await this.#aggregate(table, { from: 0, to: end }, 'sum(length(data))')
    return { bytes, range: first === null || last === null ? null : { first, last } }
  }

  async #aggregate(table: ChunkTable, { from, to }: StartRange, bytes: '0' | 'sum(length(data))') {
    const [row] = await this.#query<{ bytes: number; first: number | null; last: number | null }>(
      `select coalesce(sum(bytes), 0)::bigint as bytes, min(first) as first, max(last) as last from (
        select ${bytes} as bytes, min(start_s) as first, max(start_s) as last from ${parentOf(table)}
          where start_s >= $1 and start_s < $2
        union all
        select ${bytes}, min(start_s), max(start_s) from ${recentParent}
          where start_s >= $1 and start_s < $2 and step = $3) as totals`,
      [from, to, table === 'pinned' ? 0 : table],
    )
    return row ?? { bytes: 0, first: null, last: null }
  }

  /** Drops whole partitions. */
  async deleteChunks(table: ChunkTable, end: number): Promise<void> {
    if (table !== 'pinned') await this.#dropRecent(table, end)
    const limit = partitionOf(parentOf(table), end)
    for (const name of await this.#listPartitions(parentOf(table)))
      if (name < limit) await this.#query(`drop table ${name}`)
    this.#partitions.clear()
    this.#replaced.clear()
  }

  /** Drops partitions of recent days, after the chunks of other tiers were moved to their own tables. */
  async #dropRecent(deleted: TierStep, end: number): Promise<void> {
    const limit = partitionOf(recentParent, end)
    for (const name of await this.#listPartitions(recentParent)) {
      if (name >= limit) continue
      const day = startOf(name)
      for (const step of tierSteps.filter((tier) => tier !== deleted)) {
        for (let from = day; from < day + daySeconds; from += chunkSpans[step]) {
          const chunks = await this.readChunks(step, { from, to: from + 1 }, null)
          if (chunks.length > 0) await this.#writeOwn(step, from, chunks)
        }
      }
      await this.#query(`drop table ${name}`)
    }
  }

  async #listPartitions(parent: string): Promise<string[]> {
    const rows = await this.#query<{ name: string }>(
      `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
        where inhparent = $1::regclass`,
      [parent],
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

  async freeReplaced(): Promise<void> {
    const replaced = [...this.#replaced]
    // Forgotten even if this fails, because another process may have dropped one of the partitions.
    this.#replaced.clear()
    if (replaced.length > 0) await this.#query(`vacuum (skip_locked) ${replaced.join(', ')}`)
  }

  /** Dropped partitions return their space at once. */
  shrink(): Promise<void> {
    return this.freeReplaced()
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
function partitionOf(parent: string, time: number): string {
  return `${parent}_${new Date(time * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Returns the start of the day of a partition. */
function startOf(partition: string): number {
  const [, year, month, day] = /(\d{4})(\d\d)(\d\d)$/.exec(partition) ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000
}

/** Merges chunks of one start and group: a process of version 1.0.0 may have stored some of a recent day in its own way. */
function mergeChunks(chunks: readonly Chunk[], step: TierStep): Chunk[] {
  const merged = new Map<string, Chunk>()
  for (const chunk of chunks) {
    const key = `${chunk.start} ${chunk.group}`
    const other = merged.get(key)
    merged.set(key, other === undefined ? chunk : mergeTwo(other, chunk, step))
  }
  return [...merged.values()]
}

function mergeTwo({ start, group, data }: Chunk, other: Chunk, step: TierStep): Chunk {
  const steps = joinSteps([decodeSteps(data, start), decodeSteps(other.data, start)], step)
  return { start, group, data: encodeSteps(steps) }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
