/**
 * A Kysely dialect for the node:sqlite API. Transactions acquire the write lock at the start, because upgrading a read
 * transaction can fail. They wait for the lock without blocking the event loop, unlike SQLite's own busy timeout.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseSync } from '@photostructure/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { LruMap } from '../platform/cache.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { StoreBusyError, StoreDamagedError, StoreDownError } from './errors.ts'
import { toStorable } from './numbers.ts'
import type { SqliteLog } from './sqlite-log.ts'

interface Options {
  /** Must have been opened with a timeout of 0. It is closed together with the dialect. */
  readonly database: InstanceType<typeof DatabaseSync>
  /** The limit of the wait for a lock that another process holds. */
  readonly waitLimitMs: number
  /** The write-ahead log; only for the writing connection. It is closed together with the dialect. */
  readonly log?: SqliteLog
  onDamage(): void
}

const retryEveryMs = 20
const cachedStatements = 256

export function sqliteDialect(options: Options): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * Repeats the call while another process holds the lock. Throws StoreBusyError after `deadline` (`performance.now()`).
 */
export async function whenNotBusy<T>(run: () => T, deadline: number): Promise<T> {
  for (;;) {
    try {
      return run()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= deadline) {
        throw new StoreBusyError('Another process has locked the database for too long.', { cause: error })
      }
      await pause(retryEveryMs)
    }
  }
}

function createDriver({ database, waitLimitMs, log, onDamage }: Options): Driver {
  const mutex = new Semaphore(1)
  const toError = (error: unknown) => toStoreError(error, onDamage)
  const connection = createConnection(database, waitLimitMs, toError)
  let requestedAt = 0
  return {
    init: async () => {},
    async acquireConnection() {
      const now = performance.now()
      await mutex.acquire()
      requestedAt = now
      return connection
    },
    beginTransaction: () => whenNotBusy(() => execute(database, 'begin immediate', toError), requestedAt + waitLimitMs),
    async commitTransaction() {
      execute(database, 'commit', toError)
      log?.recordCommit()
    },
    async rollbackTransaction() {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (database.isTransaction) database.exec('rollback')
    },
    releaseConnection: async () => mutex.release(),
    async destroy() {
      await mutex.acquire()
      await log?.close()
      database.close()
    },
  }
}

function createConnection(
  database: Options['database'],
  waitLimitMs: number,
  toError: (error: unknown) => unknown,
): DatabaseConnection {
  const statements = createStatementCache(database)
  function run<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    try {
      const { statement, returnsRows } = statements.get(sql)
      const values = parameters.map(toBindable)
      if (returnsRows) return { rows: statement.all(...values) }
      const { changes, lastInsertRowid } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      throw toError(error)
    }
  }
  return {
    async executeQuery<Row>(query: CompiledQuery) {
      if (database.isTransaction) return run<Row>(query)
      return whenNotBusy(() => run<Row>(query), performance.now() + waitLimitMs)
    },
    streamQuery() {
      throw new Error('Streaming is not supported.')
    },
  }
}

/** Caches prepared statements, which are expensive to prepare and to garbage-collect. */
function createStatementCache(database: Options['database']) {
  type Statement = ReturnType<typeof database.prepare>
  const cached = new LruMap<string, { readonly statement: Statement; readonly returnsRows: boolean }>(cachedStatements)
  return {
    get(sql: string) {
      const cachedEntry = cached.get(sql)
      if (cachedEntry !== undefined) return cachedEntry
      const statement = database.prepare(sql)
      const entry = { statement, returnsRows: statement.columns().length > 0 }
      cached.set(sql, entry)
      return entry
    },
  }
}

function execute(database: Options['database'], sql: string, toError: (error: unknown) => unknown): void {
  try {
    database.exec(sql)
  } catch (error) {
    throw toError(error)
  }
}

function toBindable(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value === undefined ? null : toStorable(value)
}

const unavailableCodes = new Map([
  [8, 'it is read-only; check its file system and permissions'],
  [10, 'the disk reports an error; see the system log'],
  [13, 'the disk is full; free some space'],
  [14, 'its file cannot be opened; check its folder and permissions'],
])
const damagedCodes = new Map([
  [11, 'it is damaged'],
  [26, 'it is not a database'],
])

function toStoreError(error: unknown, onDamage: () => void): unknown {
  const code = primaryCode(error)
  const damage = damagedCodes.get(code)
  if (damage !== undefined) {
    onDamage()
    return new StoreDamagedError(`The database cannot be used: ${damage}.`, { cause: error })
  }
  const reason = unavailableCodes.get(code)
  return reason === undefined ? error : new StoreDownError(`The database cannot be used: ${reason}.`, { cause: error })
}

/** SQLITE_PROTOCOL occurs after repeated races for the lock. */
function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 15
}

/** Returns SQLite's result code without its extension; 0 for any other error. */
function primaryCode(error: unknown): number {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' ? code & 0xff : 0
}
