/** Opens a SQLite or PostgreSQL database; callers use both in the same way. */

import { access, constants, rm } from 'node:fs/promises'
import { uptime } from 'node:os'
import { dirname, resolve } from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import type { AuditRecord } from '../domain/access/access.ts'
import type { StoreCondition } from '../domain/equipment/health.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { describeWriteError } from '../platform/file-error.ts'
import { StoreBusyError, StoreDamagedError, StoreDownError } from './errors.ts'
import { createFolder } from './folder.ts'
import { countListChanges } from './list-changes.ts'
import { createPostgresPool } from './postgres-pool.ts'
import type { Schema } from './schema.ts'
import { sqliteDialect, whenNotBusy } from './sqlite-dialect.ts'
import {
  connectFile,
  copyOpen,
  copyToMemory,
  createFile,
  findDamage,
  isDiskError,
  lockFile,
  takeSharedLock,
  watchFiles,
} from './sqlite-file.ts'
import { createSqliteLog } from './sqlite-log.ts'

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** For reading only; SQLite rejects writes here. */
  readonly read: Reader
  /** Commits all of `work` or nothing. Must not be nested. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  readonly pending: PendingWrites
  /** The condition that earlier calls have revealed. */
  condition(): StoreCondition
  /** Looks for damage. Blocks the event loop for a few milliseconds. */
  check(): void
  checkFiles(): Promise<void>
  /** Changes when another process commits; always null on PostgreSQL. */
  foreignCommits(): number | null
  /** Copies the open database, even if its file has been deleted; null on PostgreSQL. */
  readonly copyTo: ((file: string) => Promise<void>) | null
  /** Writes a row to check whether the database is writable again. */
  probe(): Promise<void>
  close(): Promise<void>
}

export interface Tx {
  readonly dialect: 'sqlite' | 'postgres'
  readonly query: Transaction<Schema>
  /**
   * Registers a callback to run once the commit is durable, in the order of registration. It never runs after a
   * rollback, and must not throw.
   */
  afterCommit(run: () => void): void
  publishAudit(record: AuditRecord): void
}

/** `db.read`, or `tx.query` to read the transaction's own writes. */
export type Reader = Kysely<Schema>

interface Options {
  /** `sqlite:<path>`, `postgres://…` or `postgresql://…` */
  readonly url: string
  /** The clock of leases on SQLite, the same for all processes on the machine; PostgreSQL always uses its own. */
  readonly now?: () => number
  readonly poolSize?: number
  /** The limit of the wait for another process's lock, a free connection or a statement. */
  readonly waitLimitMs?: number
  /** Receives audit records once they are durable. Must not throw. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
}

export async function openDatabase(options: Options): Promise<Database> {
  const fault: Fault = { found: null }
  const onFault: OnFault = (found) => {
    fault.found ??= found
  }
  if (options.url.startsWith('sqlite:')) {
    const path = options.url.slice('sqlite:'.length)
    const open = () => openSqlite(path, options, onFault)
    return withCondition(await openDespiteFullDisk(path, options, open), fault, open)
  }
  if (/^postgres(ql)?:\/\//.test(options.url)) {
    const engine = openPostgres(options)
    return withCondition(engine, fault, async () => engine)
  }
  throw new Error('Invalid database URL: expected sqlite:<path> or postgres://…')
}

/** A state that makes the database unusable until it is reopened. */
interface Fault {
  found: 'damaged' | 'replaced' | null
}

const faultTexts = {
  damaged: 'The database is damaged.',
  replaced: 'The database file was deleted or replaced.',
} as const

type OnFault = (found: 'damaged' | 'replaced') => void

interface Engine
  extends Pick<Database, 'dialect' | 'read' | 'transaction' | 'foreignCommits' | 'checkFiles' | 'copyTo' | 'close'> {
  /** False for a copy in memory, which is used while the disk is too full to open the database. */
  readonly isOnDisk: boolean
  /**
   * Describes damage to the file; returns null if it is intact, and always on PostgreSQL, which checks its own files.
   */
  findDamage(): string | null
}

/** Tracks the condition of the database. After a fault, all writes are rejected until it is reopened. */
function withCondition(first: Engine, fault: Fault, open: () => Promise<Engine>): Database {
  let engine = first
  let isWritable = engine.isOnDisk
  const pending = createPendingWrites()
  /** Opens the database on disk to replace the copy in memory, which is closed once its last reader has finished. */
  const reopen = async () => {
    const copy = engine
    engine = await open()
    await copy.close()
  }
  const transaction: Database['transaction'] = async (work) => {
    if (fault.found !== null) throw new StoreDamagedError(faultTexts[fault.found])
    try {
      return await pending.track(engine.transaction(work))
    } catch (error) {
      if (error instanceof StoreDownError) isWritable = false
      throw error
    }
  }
  return {
    dialect: engine.dialect,
    get read() {
      return engine.read
    },
    transaction,
    pending,
    close: () => engine.close(),
    condition: () => fault.found ?? (isWritable ? 'ok' : 'unwritable'),
    check() {
      if (engine.findDamage() !== null) fault.found ??= 'damaged'
    },
    foreignCommits: () => engine.foreignCommits(),
    checkFiles: () => engine.checkFiles(),
    get copyTo() {
      return engine.copyTo
    },
    // Only this write shows that the database is writable, because any other transaction can succeed without writing
    // anything. The value changes every time, because SQLite does not write an unchanged row to disk.
    async probe() {
      if (!engine.isOnDisk) await reopen()
      await transaction(async ({ query }) => {
        const incremented = { value: sql<number>`meta.value + 1` }
        await query
          .insertInto('meta')
          .values({ key: 'probe', value: 1 })
          .onConflict((conflict) => conflict.column('key').doUpdateSet(incremented))
          .execute()
      })
      isWritable = true
    },
  }
}

/** Returns the time since the machine started, in milliseconds. Leases on SQLite use it, because it is monotonic. */
export const machineMs = createMachineClock()

/** Caches the uptime, because statements read it once per row. It is slow to read, and its resolution is only 10 ms. */
function createMachineClock(): () => number {
  const stepMs = 10
  let uptimeMs = 0
  let updatedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - updatedAt < stepMs) return uptimeMs
    updatedAt = now
    uptimeMs = uptime() * 1000
    return uptimeMs
  }
}

/** Falls back to a read-only copy in memory, so that the service can show stored data while the disk is full. */
async function openDespiteFullDisk(
  path: string,
  { now = machineMs }: Options,
  open: () => Promise<Engine>,
): Promise<Engine> {
  try {
    return await open()
  } catch (error) {
    const { cause } = error as Error
    if (!(error instanceof StoreDownError) || !isDiskError(cause)) throw error
    return openCopy(path, now).catch(() => Promise.reject(error))
  }
}

async function openCopy(path: string, now: () => number): Promise<Engine> {
  const lock = takeSharedLock(path)
  try {
    const database = copyToMemory(path)
    defineClock(database, now)
    const read = new Kysely<Schema>({ dialect: sqliteDialect({ database, waitLimitMs: 0, onDamage: () => {} }) })
    await sql`select 1`.execute(read)
    return {
      dialect: 'sqlite',
      isOnDisk: false,
      read,
      transaction: () => Promise.reject(new StoreDownError('The database cannot be written: the disk is full.')),
      findDamage: () => null,
      foreignCommits: () => null,
      checkFiles: async () => {},
      copyTo: (file) => copyOpen(database, file),
      async close() {
        await read.destroy()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openSqlite(path: string, options: Options, onFault: OnFault): Promise<Engine> {
  const { now = machineMs, waitLimitMs = 5_000, onAudit } = options
  const { lock, writer, reader, log, files } = await openConnections(path, now, waitLimitMs).catch((error: unknown) => {
    if (error instanceof StoreBusyError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreDownError(`Cannot open the database ${path}: ${reason}`, { cause: error })
  })
  const onDamage = () => onFault('damaged')
  const write = new Kysely<Schema>({
    dialect: countListChanges(sqliteDialect({ database: writer, waitLimitMs, log, onDamage })),
  })
  const read = new Kysely<Schema>({ dialect: sqliteDialect({ database: reader, waitLimitMs, onDamage }) })
  // Kysely closes only connections that it has used.
  await Promise.all([sql`select 1`.execute(write), sql`select 1`.execute(read)])
  async function checkFiles(): Promise<void> {
    if (!files.areInPlace()) onFault('replaced')
  }
  /** Syncs the commit to disk. Throws if the file was deleted or replaced, because the data is then lost. */
  async function makeDurable(): Promise<void> {
    await log.secure()
    if (files.areInPlace()) return
    onFault('replaced')
    throw new StoreDamagedError(faultTexts.replaced)
  }
  return {
    dialect: 'sqlite',
    isOnDisk: true,
    read,
    transaction: (work) => runTransaction('sqlite', write, work, { onAudit, makeDurable }),
    findDamage: () => findDamage(path, 'quick'),
    foreignCommits: () => countForeignCommits(writer),
    checkFiles,
    copyTo: (file) => copyOpen(reader, file),
    async close() {
      await read.destroy()
      await write.destroy()
      lock.release()
    },
  }
}

/** Returns SQLite's data version, which changes when another connection than `writer` commits. */
function countForeignCommits(writer: ReturnType<typeof connectFile>): number | null {
  const row = writer.prepare('pragma data_version').get() as { readonly data_version: number } | undefined
  return row?.data_version ?? null
}

async function openConnections(path: string, now: () => number, waitLimitMs: number) {
  await createFolder(dirname(resolve(path)))
  try {
    await createFile(path)
    await access(path, constants.W_OK)
    await access(dirname(path), constants.W_OK)
  } catch (error) {
    throw describeWriteError(path, error)
  }
  const isNew = await createFile(lockFile(path))
  const deadline = performance.now() + waitLimitMs
  const lock = await whenNotBusy(() => takeSharedLock(path), deadline)
  try {
    // The writer is opened first, because it creates the files that the reader needs.
    const writer = await whenNotBusy(() => connectSqlite(path, now, { readOnly: false }), deadline)
    try {
      const log = await createSqliteLog(path, writer)
      const reader = await whenNotBusy(() => connectSqlite(path, now, { readOnly: true }), deadline)
      return { lock, writer, reader, log, files: watchFiles(path) }
    } catch (error) {
      writer.close()
      throw error
    }
  } catch (error) {
    lock.release()
    // A new lock file is removed again, because the file at `path` may not be a Micwatch database.
    if (isNew) await rm(lockFile(path), { force: true })
    throw error
  }
}

function connectSqlite(path: string, now: () => number, { readOnly }: { readOnly: boolean }) {
  const database = connectFile(path, { readOnly, timeout: 0, enableForeignKeyConstraints: true })
  try {
    defineClock(database, now)
    database.exec(readOnly ? 'select count(*) from sqlite_master' : 'pragma journal_mode = wal')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function defineClock(database: ReturnType<typeof connectFile>, now: () => number): void {
  database.function('epoch_ms', () => BigInt(Math.floor(now())))
}

function openPostgres({ url, poolSize = 10, waitLimitMs = 5_000, onAudit }: Options): Engine {
  const db = new Kysely<Schema>({
    dialect: countListChanges(new PostgresDialect({ pool: () => createPostgresPool({ url, poolSize, waitLimitMs }) })),
  })
  // Writers block each other (`revision.ts`), so half of the connections are reserved for readers.
  const writeSlots = new Semaphore(Math.max(1, Math.floor(poolSize / 2)))
  return {
    dialect: 'postgres',
    isOnDisk: true,
    read: db,
    async transaction(work) {
      const queuedAt = performance.now()
      return writeSlots.run(async () => {
        if (performance.now() - queuedAt > waitLimitMs)
          throw new StoreBusyError('Too many transactions are waiting to write.')
        return runTransaction('postgres', db, work, { onAudit })
      })
    },
    findDamage: () => null,
    foreignCommits: () => null,
    checkFiles: async () => {},
    copyTo: null,
    close: () => db.destroy(),
  }
}

async function runTransaction<T>(
  dialect: Database['dialect'],
  db: Kysely<Schema>,
  work: (tx: Tx) => Promise<T>,
  options: { readonly onAudit?: Options['onAudit']; readonly makeDurable?: () => Promise<void> },
): Promise<T> {
  const { onAudit: publishAudit = () => {}, makeDurable } = options
  const hooks: (() => void)[] = []
  const result = await db
    .transaction()
    .execute((query) => work({ dialect, query, afterCommit: (run) => hooks.push(run), publishAudit }))
  // The next transaction may start during the sync.
  await makeDurable?.()
  for (const run of hooks) run()
  return result
}

export interface PendingWrites {
  track<T>(write: Promise<T>): Promise<T>
  longestMs(): number
}

export function createPendingWrites(now: () => number = () => performance.now()): PendingWrites {
  const startedAt = new Map<Promise<unknown>, number>()
  return {
    async track(write) {
      startedAt.set(write, now())
      try {
        return await write
      } finally {
        startedAt.delete(write)
      }
    },
    longestMs() {
      // A map keeps its insertion order, so the first entry is the oldest.
      const [oldest] = startedAt.values()
      return oldest === undefined ? 0 : now() - oldest
    },
  }
}
