/** Opens a database, SQLite or PostgreSQL; everything above it is the same for both. */

import { access, constants, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { StoreBusyError, StoreDownError } from './errors.ts'
import { makeFolder } from './folder.ts'
import { createPostgresPool } from './postgres-pool.ts'
import type { Schema } from './schema.ts'
import { sqliteDialect, whenNotBusy } from './sqlite-dialect.ts'
import { createTurns } from './turns.ts'

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** Not for writing: SQLite refuses it here. */
  readonly read: Reader
  /** All of `work` or nothing. Must not be called from within itself. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Waits for transactions that are under way. */
  close(): Promise<void>
}

export interface Tx {
  readonly dialect: 'sqlite' | 'postgres'
  readonly query: Transaction<Schema>
  /** Called in order once the work is safe, never when it was rolled back. Must not throw. */
  afterCommit(run: () => void): void
}

/** `db.read`, or `tx.query` to see what the transaction itself has written. */
export type Reader = Kysely<Schema>

interface Options {
  /** `sqlite:<path>`, `postgres://…` or `postgresql://…` */
  readonly url: string
  /** The clock of leases on SQLite; PostgreSQL always uses its own. */
  readonly now?: () => number
  /** PostgreSQL: the most connections. */
  readonly poolSize?: number
  /** How long a call waits for the database before it throws: for another process's lock, a connection, a statement. */
  readonly waitLimitMs?: number
}

export async function openDatabase(options: Options): Promise<Database> {
  if (options.url.startsWith('sqlite:')) return openSqlite(options.url.slice('sqlite:'.length), options)
  if (/^postgres(ql)?:\/\//.test(options.url)) return openPostgres(options)
  throw new Error('A database address begins with sqlite: or postgres://')
}

async function openSqlite(path: string, { now = Date.now, waitLimitMs = 5_000 }: Options): Promise<Database> {
  const { writer, reader } = await openConnections(path, now, waitLimitMs).catch((error: unknown) => {
    if (error instanceof StoreBusyError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreDownError(`Cannot open the database ${path}: ${reason}`, { cause: error })
  })
  const write = new Kysely<Schema>({ dialect: sqliteDialect({ database: writer, waitLimitMs }) })
  const read = new Kysely<Schema>({ dialect: sqliteDialect({ database: reader, waitLimitMs }) })
  // Kysely closes only what it has used before.
  await Promise.all([sql`select 1`.execute(write), sql`select 1`.execute(read)])
  return {
    dialect: 'sqlite',
    read,
    transaction: (work) => runTransaction('sqlite', write, work),
    async close() {
      await read.destroy()
      await write.destroy()
    },
  }
}

async function openConnections(path: string, now: () => number, waitLimitMs: number) {
  await makeFolder(dirname(resolve(path)))
  await createFile(path)
  await access(path, constants.W_OK)
  await access(dirname(path), constants.W_OK)
  const deadline = performance.now() + waitLimitMs
  // The writer comes first: it makes the files the reader needs.
  const writer = await whenNotBusy(() => connectSqlite(path, now, { readOnly: false }), deadline)
  try {
    return { writer, reader: await whenNotBusy(() => connectSqlite(path, now, { readOnly: true }), deadline) }
  } catch (error) {
    writer.close()
    throw error
  }
}

/** SQLite itself would make it readable for everybody; its companions (-wal, -shm) take over the file's mode. */
async function createFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
  } catch (error) {
    // Not opened when it is there: closing it again would drop the locks this process may hold on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function connectSqlite(path: string, now: () => number, { readOnly }: { readOnly: boolean }) {
  const database = new DatabaseSync(path, { readOnly, timeout: 0, enableForeignKeyConstraints: true })
  try {
    database.function('epoch_ms', () => BigInt(Math.floor(now())))
    database.exec(
      readOnly ? 'select count(*) from sqlite_master' : 'pragma journal_mode = wal; pragma synchronous = full',
    )
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

async function openPostgres({ url, poolSize = 10, waitLimitMs = 5_000 }: Options): Promise<Database> {
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: createPostgresPool({ url, poolSize, waitLimitMs }) }),
  })
  // Writers wait for each other (`revision.ts`); some connections are kept free of them, for readers.
  const turns = createTurns(Math.max(1, Math.floor(poolSize / 2)))
  return {
    dialect: 'postgres',
    read: db,
    async transaction(work) {
      await turns.take()
      try {
        return await runTransaction('postgres', db, work)
      } finally {
        turns.give()
      }
    },
    close: () => db.destroy(),
  }
}

async function runTransaction<T>(
  dialect: Database['dialect'],
  db: Kysely<Schema>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const hooks: (() => void)[] = []
  const result = await db
    .transaction()
    .execute((query) => work({ dialect, query, afterCommit: (run) => hooks.push(run) }))
  for (const run of hooks) run()
  return result
}
