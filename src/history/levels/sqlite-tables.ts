/** Recorded levels in a SQLite file of their own, `history.db` beside the database of the installation. */

import { renameSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { StoreBusyError, StoreDownError } from '../../storage/errors.ts'
import { createFolder } from '../../storage/folder.ts'
import { connectFile, createFile, describeDamage, isDiskError, toStamp } from '../../storage/sqlite-file.ts'
import {
  type Chunk,
  type ChunkTable,
  chunkTables,
  type HistoryTables,
  type Slice,
  type StartRange,
  type StoredSlice,
  spanOf,
} from './tables.ts'

/** Small pages, because at least one is written for every batch, and because long rows then fill theirs. */
const pageBytes = 1024
/** Length of the write-ahead log at which it is copied to the database. */
const logPages = 4096
const busyTimeoutMs = 30_000
const schemaVersion = 2

/** The row id of a chunk is its start times this number, plus its group. */
const groupLimit = 2 ** 20

const tableName = (table: ChunkTable) => `levels_${table}`

/** The end of the pruned range of each table. The other tables have rows with integer ids. */
export const prunedTable = 'pruned'
export const historyTables: readonly string[] = [prunedTable, 'slices', ...chunkTables.map(tableName)]

/** They have an effect only before the first table is created. */
const formatPragmas = `pragma page_size = ${pageBytes}; pragma auto_vacuum = incremental`

/** Creates the tables in an open database. */
export function createHistorySchema(file: SqliteFile): void {
  const chunks = chunkTables.map(
    (table) => `create table ${tableName(table)} (id integer primary key, data blob not null);`,
  )
  file.exec(`
    create table slices (id integer primary key autoincrement, from_s integer not null, count integer not null,
      data blob not null, part integer not null default 0);
    create table ${prunedTable} (name text primary key, until_s integer not null) without rowid;
    ${chunks.join('\n')}`)
}

/** Creates the tables in an empty file. */
export function initializeHistory(file: SqliteFile): void {
  file.exec(formatPragmas)
  createHistorySchema(file)
  file.exec(`pragma user_version = ${schemaVersion}`)
}

/** Returns the path of the file with the recorded levels of an installation. */
export function historyPath(databasePath: string): string {
  return join(dirname(resolve(databasePath)), 'history.db')
}

type SqliteFile = InstanceType<typeof DatabaseSync>
type Statement = ReturnType<SqliteFile['prepare']>

export class SqliteTables implements HistoryTables {
  readonly #path: string
  readonly #file: SqliteFile
  readonly #inode: number
  readonly #statements = new Map<string, Statement>()

  /** A damaged file is renamed, and a new one is created; `warn` is then called. */
  static async open(path: string, warn: (message: string) => void): Promise<SqliteTables> {
    for (;;) {
      await createPrivate(path)
      const inode = inodeOf(path)
      try {
        return new SqliteTables(path)
      } catch (error) {
        const damage = describeDamage(error)
        if (damage === null) throw toStoreError(error)
        setAside(path, inode, damage, warn)
      }
    }
  }

  private constructor(path: string) {
    this.#path = path
    this.#file = connectFile(path, { timeout: busyTimeoutMs })
    try {
      this.#file.exec(`${formatPragmas}; pragma journal_mode = wal;
        pragma synchronous = normal; pragma wal_autocheckpoint = ${logPages};
        pragma journal_size_limit = ${logPages * pageBytes}; pragma cache_size = -16000`)
      this.#createSchema()
      this.#inode = inodeOf(path)
    } catch (error) {
      this.#file.close()
      throw error
    }
  }

  #createSchema(): void {
    const read = () => (this.#file.prepare('pragma user_version').get() as { user_version: number }).user_version
    if (read() > schemaVersion) throw new StoreDownError(`${this.#path} was created by a newer version of Micwatch.`)
    if (read() === schemaVersion) return
    this.#file.exec('begin immediate')
    // Another process may have created it by now.
    if (read() === 0) initializeHistory(this.#file)
    if (read() === 1) {
      // Slices of the first version contain all channels. They are closed once, as those of part 0.
      this.#file.exec('alter table slices add column part integer not null default 0; pragma user_version = 2')
    }
    this.#file.exec('commit')
  }

  /** False after the file was deleted or replaced. */
  isInPlace(): boolean {
    return inodeOf(this.#path) === this.#inode
  }

  /** Renames the damaged file, unless another process has already done so, and closes it. */
  setAside(damage: string, warn: (message: string) => void): void {
    this.#closeQuietly()
    setAside(this.#path, this.#inode, damage, warn)
  }

  #closeQuietly(): void {
    try {
      this.#file.close()
    } catch {
      // A damaged file may fail to be copied from its log.
    }
  }

  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTransaction('begin immediate', work)
  }

  snapshot<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTransaction('begin deferred', work)
  }

  async #inTransaction<T>(begin: string, work: () => Promise<T>): Promise<T> {
    this.#run(() => this.#file.exec(begin))
    try {
      const result = await work()
      this.#run(() => this.#file.exec('commit'))
      return result
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.#file.isTransaction) this.#file.exec('rollback')
      throw error
    }
  }

  async addSlices(slices: readonly Slice[]): Promise<void> {
    const insert = 'insert into slices (part, from_s, count, data) values (?, ?, ?, ?)'
    for (const { part, from, count, data } of slices) this.#change(insert, part, from, count, data)
  }

  async listSlices() {
    return this.#all<StoredSlice>('select id, part, from_s as "from", count from slices order by id')
  }

  async readSlice(id: number) {
    const [row] = this.#all<{ data: Uint8Array }>('select data from slices where id = ?', id)
    if (row === undefined) throw new RangeError(`There is no slice ${id}.`)
    return row.data
  }

  async deleteSlices(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#change('delete from slices where id = ?', id)
  }

  async readChunks(table: ChunkTable, { from, to }: StartRange, groups: readonly number[] | null) {
    const rows = this.#all<{ id: number; data: Uint8Array }>(
      `select id, data from ${tableName(table)} where id >= ? and id < ?
        ${groups === null ? '' : `and id % ${groupLimit} in (select value from json_each(?))`} order by id`,
      from * groupLimit,
      to * groupLimit,
      ...(groups === null ? [] : [JSON.stringify(groups)]),
    )
    return rows.map(({ id, data }): Chunk => ({ start: Math.floor(id / groupLimit), group: id % groupLimit, data }))
  }

  async writeChunks(table: ChunkTable, chunks: readonly Chunk[]): Promise<void> {
    const insert = `insert or replace into ${tableName(table)} (id, data) values (?, ?)`
    for (const { start, group, data } of chunks) this.#change(insert, start * groupLimit + group, data)
  }

  async findStarts(table: ChunkTable, { from, to }: StartRange) {
    const find = (order: string) =>
      this.#all<{ id: number }>(
        `select id from ${tableName(table)} where id >= ? and id < ? order by id ${order} limit 1`,
        from * groupLimit,
        Math.min(to * groupLimit, Number.MAX_SAFE_INTEGER),
      )[0]
    const [first, last] = [find('asc'), find('desc')]
    if (first === undefined || last === undefined) return null
    return { first: Math.floor(first.id / groupLimit), last: Math.floor(last.id / groupLimit) }
  }

  async sumChunks(table: ChunkTable, end: number) {
    const [row] = this.#all<{ bytes: number | null; first: number | null; last: number | null }>(
      `select sum(length(data)) as bytes, min(id) as first, max(id) as last from ${tableName(table)} where id < ?`,
      Math.min(end * groupLimit, Number.MAX_SAFE_INTEGER),
    )
    const { bytes = null, first = null, last = null } = row ?? {}
    const range =
      first === null || last === null
        ? null
        : { first: Math.floor(first / groupLimit), last: Math.floor(last / groupLimit) }
    return { bytes: bytes ?? 0, range }
  }

  async deleteChunks(table: ChunkTable, end: number): Promise<void> {
    this.#change(`delete from ${tableName(table)} where id < ?`, end * groupLimit)
  }

  pruneUnit(table: ChunkTable): number {
    return spanOf(table)
  }

  async prunedUntil(table: ChunkTable): Promise<number> {
    const [row] = this.#all<{ until_s: number }>('select until_s from pruned where name = ?', tableName(table))
    return row?.until_s ?? 0
  }

  async setPrunedUntil(table: ChunkTable, time: number): Promise<void> {
    this.#change('insert or replace into pruned (name, until_s) values (?, ?)', tableName(table), time)
  }

  async usedBytes(): Promise<number> {
    return (this.#pragma('page_count') - this.#pragma('freelist_count')) * this.#pragma('page_size')
  }

  async totalBytes(): Promise<number> {
    const sizes = ['', '-wal'].map((suffix) => statSync(`${this.#path}${suffix}`, { throwIfNoEntry: false })?.size ?? 0)
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = statfsSync(dirname(this.#path))
    return bavail * bsize
  }

  async freeReplaced(): Promise<void> {
    // SQLite does this when it commits.
  }

  async shrink(): Promise<void> {
    this.#run(() => this.#file.exec('pragma incremental_vacuum; pragma wal_checkpoint(truncate)'))
  }

  async close(): Promise<void> {
    this.#closeQuietly()
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#all<Record<string, number>>(`pragma ${name}`)[0] ?? {})[0] ?? 0)
  }

  #all<Row>(sql: string, ...values: readonly (number | string | Uint8Array)[]): Row[] {
    return this.#run(() => this.#prepare(sql).all(...values) as Row[])
  }

  #change(sql: string, ...values: readonly (number | string | Uint8Array)[]): void {
    this.#run(() => this.#prepare(sql).run(...values))
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#file.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #run<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw toStoreError(error)
    }
  }
}

async function createPrivate(path: string): Promise<void> {
  try {
    await createFolder(dirname(path))
    await createFile(path)
  } catch (error) {
    throw new StoreDownError(`The history cannot be created: ${(error as Error).message}`, { cause: error })
  }
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0
}

/** Renames a damaged file and its companions, if it is still the one with this inode. */
function setAside(path: string, inode: number, damage: string, warn: (message: string) => void): void {
  if (inodeOf(path) !== inode || inode === 0) return
  const aside = `${path.replace(/\.db$/, '')}-damaged-${toStamp(Date.now())}.db`
  renameSync(path, aside)
  for (const suffix of ['-wal', '-shm']) {
    if (inodeOf(`${path}${suffix}`) !== 0) renameSync(`${path}${suffix}`, `${aside}${suffix}`)
  }
  warn(
    `The recorded levels in ${path} are damaged (${damage}). The file was renamed to ${aside}; recording continues in a new one.`,
  )
}

/** Converts errors of a full or failing disk and of locks. The error of a damaged file is returned unchanged. */
function toStoreError(error: unknown): unknown {
  if (error instanceof StoreDownError || describeDamage(error) !== null) return error
  const { errcode = 0, message } = error as Error & { readonly errcode?: number }
  if ((errcode & 0xff) === 5) return new StoreBusyError(`The history is locked: ${message}`, { cause: error })
  const isDown = isDiskError(error) || (errcode & 0xff) === 8 || 'syscall' in (error as object)
  return isDown ? new StoreDownError(`The history cannot be written: ${message}`, { cause: error }) : error
}
