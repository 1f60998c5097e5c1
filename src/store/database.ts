/** Opens a database, SQLite or PostgreSQL; everything above it is the same for both. */

import { access, constants, rm } from 'node:fs/promises'
import { uptime } from 'node:os'
import { dirname, resolve } from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import type { AuditRecord } from '../model/access.ts'
import type { StoreCondition } from '../model/health.ts'
import { StoreBusyError, StoreDamagedError, StoreDownError } from './errors.ts'
import { describeWriteError, makeFolder } from './folder.ts'
import { createPendingWrites, type PendingWrites } from './pending.ts'
import { createPostgresPool } from './postgres-pool.ts'
import type { Schema } from './schema.ts'
import { createSemaphore } from './semaphore.ts'
import { sqliteDialect, whenNotBusy } from './sqlite-dialect.ts'
import {
  connectFile,
  copyOpen,
  copyToMemory,
  createFile,
  findDamage,
  hasDiskTrouble,
  watchFiles,
} from './sqlite-file.ts'
import { lockFile, takeSharedLock } from './sqlite-lock.ts'
import { createSqliteLog } from './sqlite-log.ts'

export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** Not for writing: SQLite refuses it here. */
  readonly read: Reader
  /** All of `work` or nothing. Must not be called from within itself. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Transactions under way, and whatever else of a write its caller has to wait for. */
  readonly pending: PendingWrites
  /** As the last calls left it. */
  condition(): StoreCondition
  /** Looks for damage that no call has met yet. Holds the event loop for some milliseconds. */
  check(): void
  /** Looks whether its files are still those that were opened. */
  checkFiles(): Promise<void>
  /** A copy of what is open, even if its file was deleted; null on PostgreSQL. */
  readonly copyTo: ((file: string) => Promise<void>) | null
  /** Writes, for no other purpose than to see whether that works again. */
  probe(): Promise<void>
  /** Waits for transactions that are under way. */
  close(): Promise<void>
}

export interface Tx {
  readonly dialect: 'sqlite' | 'postgres'
  readonly query: Transaction<Schema>
  /** Called in order once the work is safe, never when it was rolled back. Must not throw. */
  afterCommit(run: () => void): void
  /** Says what was written to the audit log to whoever wants to hear it. */
  publishAudit(record: AuditRecord): void
}

/** `db.read`, or `tx.query` to see what the transaction itself has written. */
export type Reader = Kysely<Schema>

interface Options {
  /** `sqlite:<path>`, `postgres://…` or `postgresql://…` */
  readonly url: string
  /** The clock of leases on SQLite, the same for all processes on the machine; PostgreSQL always uses its own. */
  readonly now?: () => number
  /** PostgreSQL: the most connections. */
  readonly poolSize?: number
  /** How long a call waits for the database before it throws: for another process's lock, a connection, a statement. */
  readonly waitLimitMs?: number
  /** Hears what was written to the audit log, once it is safe. Must not throw. */
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
    return watched(await openDespiteFullDisk(path, options, open), fault, open)
  }
  if (/^postgres(ql)?:\/\//.test(options.url)) {
    const engine = openPostgres(options)
    return watched(engine, fault, async () => engine)
  }
  throw new Error('A database address begins with sqlite: or postgres://')
}

/** What makes the database unusable until it is opened again. */
interface Fault {
  found: 'damaged' | 'replaced' | null
}

type OnFault = (found: 'damaged' | 'replaced') => void

interface Engine extends Pick<Database, 'dialect' | 'read' | 'transaction' | 'checkFiles' | 'copyTo' | 'close'> {
  /** False: a copy in memory, because the disk has no room for the files of a database that is in use. */
  readonly isOnDisk: boolean
  /** What is wrong with its file, if anything. PostgreSQL sees to that itself. */
  findDamage(): string | null
}

/** Remembers how it fares. A fault stays for as long as it is open: nothing is written any more. */
function watched(first: Engine, fault: Fault, open: () => Promise<Engine>): Database {
  let engine = first
  let isWritable = engine.isOnDisk
  const pending = createPendingWrites()
  /** Replaces the copy in memory; whatever still reads from that ends first. */
  const reopen = async () => {
    const copy = engine
    engine = await open()
    await copy.close()
  }
  const transaction: Database['transaction'] = async (work) => {
    if (fault.found !== null) throw new StoreDamagedError(`The database is ${fault.found}.`)
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
    checkFiles: () => engine.checkFiles(),
    get copyTo() {
      return engine.copyTo
    },
    // The one proof that it can be written: another transaction may have had nothing to write. Another value every time,
    // for SQLite does not touch the disk for a row that stays as it is.
    async probe() {
      if (!engine.isOnDisk) await reopen()
      await transaction(async ({ query }) => {
        const risen = { value: sql<number>`meta.value + 1` }
        await query
          .insertInto('meta')
          .values({ key: 'probe', value: 1 })
          .onConflict((conflict) => conflict.column('key').doUpdateSet(risen))
          .execute()
      })
      isWritable = true
    },
  }
}

/** Since the machine was started: nobody sets this clock. Leases on SQLite run on it. */
export const machineMs = createMachineClock()

/** Told in hundredths of a second and slow to ask for, and a statement asks for every row it looks at. */
function createMachineClock(): () => number {
  const stepMs = 10
  let uptimeMs = 0
  let askedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - askedAt < stepMs) return uptimeMs
    askedAt = now
    uptimeMs = uptime() * 1000
    return uptimeMs
  }
}

/** A full disk must not keep the service from showing what is stored. */
async function openDespiteFullDisk(
  path: string,
  { now = machineMs }: Options,
  open: () => Promise<Engine>,
): Promise<Engine> {
  try {
    return await open()
  } catch (error) {
    const { cause } = error as Error
    if (!(error instanceof StoreDownError) || !hasDiskTrouble(cause)) throw error
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
      transaction: () => Promise.reject(new StoreDownError('The database cannot be written: its disk has no room.')),
      findDamage: () => null,
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
    dialect: sqliteDialect({ database: writer, waitLimitMs, log, onDamage }),
  })
  const read = new Kysely<Schema>({ dialect: sqliteDialect({ database: reader, waitLimitMs, onDamage }) })
  // Kysely closes only what it has used before.
  await Promise.all([sql`select 1`.execute(write), sql`select 1`.execute(read)])
  async function checkFiles(): Promise<void> {
    if (!(await files.areInPlace())) onFault('replaced')
  }
  /** What is written to a file that nobody finds any more is not stored. */
  async function secure(): Promise<void> {
    await log.secure()
    if (await files.areInPlace()) return
    onFault('replaced')
    throw new StoreDamagedError('The file of the database was deleted or replaced.')
  }
  return {
    dialect: 'sqlite',
    isOnDisk: true,
    read,
    transaction: (work) => runTransaction('sqlite', write, work, { onAudit, secure }),
    findDamage: () => findDamage(path, 'quick'),
    checkFiles,
    copyTo: (file) => copyOpen(reader, file),
    async close() {
      await read.destroy()
      await write.destroy()
      lock.release()
    },
  }
}

async function openConnections(path: string, now: () => number, waitLimitMs: number) {
  await makeFolder(dirname(resolve(path)))
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
    // The writer comes first: it makes the files the reader needs.
    const writer = await whenNotBusy(() => connectSqlite(path, now, { readOnly: false }), deadline)
    try {
      const log = await createSqliteLog(path, writer)
      const reader = await whenNotBusy(() => connectSqlite(path, now, { readOnly: true }), deadline)
      return { lock, writer, reader, log, files: await watchFiles(path) }
    } catch (error) {
      writer.close()
      throw error
    }
  } catch (error) {
    lock.release()
    // What is no database of ours is left without a trace.
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
    dialect: new PostgresDialect({ pool: () => createPostgresPool({ url, poolSize, waitLimitMs }) }),
  })
  // Writers wait for each other (`revision.ts`); some connections are kept free of them, for readers.
  const turns = createSemaphore(Math.max(1, Math.floor(poolSize / 2)))
  return {
    dialect: 'postgres',
    isOnDisk: true,
    read: db,
    async transaction(work) {
      const askedAt = performance.now()
      await turns.acquire()
      try {
        if (performance.now() - askedAt > waitLimitMs) throw new StoreBusyError('Too many are waiting to write.')
        return await runTransaction('postgres', db, work, { onAudit })
      } finally {
        turns.release()
      }
    },
    findDamage: () => null,
    checkFiles: async () => {},
    copyTo: null,
    close: () => db.destroy(),
  }
}

async function runTransaction<T>(
  dialect: Database['dialect'],
  db: Kysely<Schema>,
  work: (tx: Tx) => Promise<T>,
  about: { readonly onAudit?: Options['onAudit']; readonly secure?: () => Promise<void> },
): Promise<T> {
  const { onAudit: publishAudit = () => {}, secure } = about
  const hooks: (() => void)[] = []
  const result = await db
    .transaction()
    .execute((query) => work({ dialect, query, afterCommit: (run) => hooks.push(run), publishAudit }))
  // The next one may begin meanwhile.
  await secure?.()
  for (const run of hooks) run()
  return result
}
