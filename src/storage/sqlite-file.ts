/** SQLite database files: paths, damage checks and copies. */

import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { access, constants, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync, type DatabaseSyncOptions } from '@photostructure/sqlite'
import { describeWriteError, FileError } from '../platform/file-error.ts'
import { createPrivateFile, type FileOwner } from './folder.ts'

/** Returns the path of a SQLite database; null for any other database. */
export function sqlitePath(url: string): string | null {
  return url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null
}

/**
 * Returns true if it was created. SQLite itself would make it readable by all users. The companion files (-wal, -shm)
 * inherit its mode.
 */
export async function createFile(path: string, owner?: FileOwner): Promise<boolean> {
  try {
    const file = await createPrivateFile(path, owner)
    await file.close()
    return true
  } catch (error) {
    // An existing file is not opened, because closing it would release locks that this process holds on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Opens a database file. Prevents unsafe SQL functions in the schema of an untrusted database from running. */
export function connectFile(path: string, options: DatabaseSyncOptions): SqliteFile {
  const database = new DatabaseSync(path, options)
  try {
    database.exec('pragma trusted_schema = off')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

type SqliteFile = InstanceType<typeof DatabaseSync>

export function findDamage(path: string, depth: 'quick' | 'full' = 'full'): string | null {
  const check = depth === 'quick' ? 'quick_check' : 'integrity_check'
  try {
    const [found] = readSqlite(path, (read) => read(`pragma_${check}`, [check]))
    const message = String(found?.[check])
    return message === 'ok' ? null : message.replace(/\s+/g, ' ').trim()
  } catch (error) {
    const damage = describeDamage(error)
    if (damage === null) throw error
    return damage
  }
}

export function describeDamage(error: unknown): string | null {
  const { errcode = 0, message } = error as Error & { errcode?: number }
  return damagedCodes.has(errcode & 0xff) ? message : null
}

const damagedCodes: ReadonlySet<number> = new Set([11, 26])

export type StoredRow = Readonly<Record<string, string | number | null>>
export type Read = (from: string, columns: readonly string[]) => StoredRow[]

/**
 * Passes the rows to a user-defined function, because a prepared statement would keep the file open until it is
 * garbage-collected, and the file could not be replaced safely until then.
 */
export function readSqlite<T>(path: string, run: (read: Read) => T): T {
  const database = openForReading(path)
  let rows: StoredRow[] = []
  try {
    database.function('emit_row', (json: string) => {
      rows.push(JSON.parse(json))
      return null
    })
    return run((from, columns) => {
      rows = []
      const fields = columns.map((name) => `'${name}', "${name}"`)
      database.exec(`select emit_row(json_object(${fields.join(', ')})) from ${from}`)
      return rows
    })
  } finally {
    database.close()
  }
}

/** Copies a consistent state of a database to one file, atomically, even while other processes write to it. */
export async function copySqlite(from: string, to: string, options: WriteOptions): Promise<void> {
  await writeAtomically(to, options, async (draft) => {
    const database = openForReading(from)
    try {
      vacuumInto(database, draft)
    } finally {
      database.close()
    }
  })
}

export function copyOpen(database: InstanceType<typeof DatabaseSync>, to: string): Promise<void> {
  return writeAtomically(to, { overwrite: true }, async (draft) => vacuumInto(database, draft))
}

function vacuumInto(database: InstanceType<typeof DatabaseSync>, to: string): void {
  database.exec(`vacuum into '${to.replaceAll("'", "''")}'`)
}

/** Creates a read-only copy in memory, which exists until it is closed. */
export function copyToMemory(path: string): InstanceType<typeof DatabaseSync> {
  const address = `file:/micwatch-${randomBytes(8).toString('hex')}?vfs=memdb`
  const copy = new DatabaseSync(address)
  try {
    const database = openForReading(path)
    try {
      vacuumInto(database, address)
    } finally {
      database.close()
    }
    copy.exec('pragma query_only = on')
    return copy
  } catch (error) {
    copy.close()
    throw error
  }
}

/**
 * Even a reader needs disk space for the index of the log (-shm), unless another process has created it. Without space,
 * the database is opened exclusively, so that SQLite keeps the index in memory.
 */
function openForReading(path: string): InstanceType<typeof DatabaseSync> {
  const statement = 'select count(*) from sqlite_master'
  try {
    return openAndRun(path, { readOnly: true }, statement)
  } catch (error) {
    if (!isDiskError(error)) throw error
    return openAndRun(path, {}, `pragma locking_mode = exclusive; ${statement}`)
  }
}

function openAndRun(path: string, options: { readonly readOnly?: boolean }, statements: string) {
  const database = connectFile(path, { ...options, timeout: 1_000 })
  try {
    database.exec(statements)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const diskErrorCodes: ReadonlySet<number> = new Set([10, 13, 14])

/** True if the disk is full or fails, or a file cannot be opened. */
export function isDiskError(error: unknown): boolean {
  const { errcode = 0 } = error as { readonly errcode?: number }
  return diskErrorCodes.has(errcode & 0xff)
}

/** Synchronous, like SQLite itself: a thread would take longer to wake up. */
export function watchFiles(path: string): { areInPlace(): boolean } {
  const identify = () => [path, `${path}-wal`, `${path}-shm`].map(identityOf)
  const opened = identify()
  return { areInPlace: () => identify().every((identity, index) => identity === opened[index]) }
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

export async function removeSqlite(path: string): Promise<void> {
  for (const suffix of ['', '-journal', '-wal', '-shm', '-synced', '-lock'])
    await rm(`${path}${suffix}`, { force: true })
}

export interface WriteOptions {
  readonly overwrite: boolean
  /** `process` for a path that a user specified: the file may contain secrets that the folder's owner must not read. */
  readonly owner?: FileOwner
}

/** `write` fills a private draft file, which is renamed to `path` once it is synced to disk. */
export async function writeAtomically(
  path: string,
  { overwrite, owner }: WriteOptions,
  write: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}.tmp`
  // The file itself is created first, so that it cannot replace one that another process creates.
  if (!overwrite) await reserveName(path)
  try {
    await createFile(draft, owner)
    await write(draft)
    await syncFile(draft)
    await rename(draft, path)
    await syncFolder(dirname(path))
  } catch (error) {
    if (!overwrite) await rm(path, { force: true })
    // The error names the user's path, not that of the draft.
    throw describeWriteError(path, error instanceof FileError && error.path === draft ? error.cause : error)
  } finally {
    await removeSqlite(draft)
  }
}

async function reserveName(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    throw describeWriteError(path, error)
  }
}

export function writeText(path: string, text: string): Promise<void> {
  return writeAtomically(path, { overwrite: true, owner: 'process' }, (draft) => writeFile(draft, text))
}

async function syncFile(path: string): Promise<void> {
  // Windows can sync only files that are open for writing.
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    if (!withoutFolderSync.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Error codes of Windows and some network shares, which cannot sync folders. */
const withoutFolderSync: ReadonlySet<string> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'])

/** Formats a time for file names: `20260501T180000.000Z`. */
export function toStamp(time: number): string {
  return new Date(time).toISOString().replace(/[-:]/g, '')
}

export function fromStamp(stamp: string): number {
  return Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:'))
}

// Detects whether any process has a SQLite database open, even a damaged one. Every process that opens the database
// holds a shared lock on a separate file, which the operating system releases when the process ends. Replacing a
// database file that is in use would damage the new file.

export interface Lock {
  release(): void
}

/** Takes the shared lock. Throws SQLite's busy error while another process holds the exclusive lock. */
export function takeSharedLock(path: string): Lock {
  return lock(path, 'begin; select count(*) from sqlite_master')
}

/** Takes the exclusive lock. Returns null while any process has the database open. */
export async function takeExclusiveLock(path: string): Promise<Lock | null> {
  try {
    await createFile(lockFile(path))
    await access(lockFile(path), constants.W_OK)
    // Nothing is written to this file. The journal is kept in memory, so that it needs no space on a full disk.
    return lock(path, 'pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return null
    throw describeWriteError(path, error)
  }
}

export function lockFile(path: string): string {
  return `${path}-lock`
}

const busy = 5

function lock(path: string, statement: string): Lock {
  const database = new DatabaseSync(lockFile(path), { timeout: 0 })
  try {
    database.exec(statement)
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}
