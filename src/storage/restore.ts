/** Replaces the database with a backup, completely or not at all. No process may be using the database. */

import { randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Actor } from '../domain/access/access.ts'
import { describeProcess, type HeldLease, toNodes } from '../domain/nodes.ts'
import {
  type CopyOptions,
  containsHistory,
  copyWithoutHistory,
  extractHistory,
  moveHistoryAside,
  movePostgresHistoryAside,
} from '../history/levels/history-backup.ts'
import { historyPath } from '../history/levels/sqlite-tables.ts'
import { writeAudit } from './audit.ts'
import { writeBackup } from './backup.ts'
import { type Database, machineMs, openDatabase, type Tx } from './database.ts'
import { StoreBusyError } from './errors.ts'
import { createFolder } from './folder.ts'
import { isRunning, listHeldLeases } from './leases.ts'
import { restoredNumber } from './meta.ts'
import { migrate } from './migrate.ts'
import { copyIntoPostgres } from './postgres-copy.ts'
import { forgetIncident, moveAside } from './repair.ts'
import { contentTables, transientTables } from './schema.ts'
import { runSeparately } from './separate-process.ts'
import { listSnapshots, type StorePaths, snapshotsFolder } from './snapshots.ts'
import {
  connectFile,
  copySqlite,
  findDamage,
  readSqlite,
  removeSqlite,
  sqlitePath,
  takeExclusiveLock,
  toStamp,
} from './sqlite-file.ts'

export interface RestoreOptions extends CopyOptions {
  readonly paths: StorePaths
  readonly file: string
  readonly isForced: boolean
  readonly actor: Actor
  now(): number
  readonly readLimitMs?: number
}

export interface Restored {
  readonly migrated: readonly string[]
  /** The path of a copy of the previous database; null when that was empty. */
  readonly safety_copy: string | null
  readonly history: boolean
  /** The path, or with PostgreSQL the schema, of the previous recorded levels; null if there were none. */
  readonly history_safety_copy: string | null
}

/** Restores a backup. If that is not possible, throws an error with the reason, and nothing has changed. */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  await checkBackup(options.file, { limitMs: options.readLimitMs })
  const path = sqlitePath(options.paths.database_url)
  return path === null ? restorePostgres(options) : restoreSqlite(path, options)
}

/** Throws if a file cannot be restored. A separate process reads the whole file, before this process opens it. */
export async function checkBackup(
  file: string,
  { limitMs, signal }: { readonly limitMs?: number | undefined; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const limits = { limitMs: limitMs ?? (await timeLimitMs(file)), signal }
  const fault = (await findIrregularFile(file)) ?? (await readSeparately(file, limits))
  if (fault !== null) throw new Error(`${file} cannot be restored: ${fault}`)
}

async function readSeparately(file: string, limits: Parameters<typeof runSeparately>[3]): Promise<string | null> {
  const source = new URL('./backup-reader.ts', import.meta.url)
  try {
    return (await runSeparately<{ fault: string | null }>('reading it', source, [resolve(file)], limits)).fault
  } catch (error) {
    limits.signal?.throwIfAborted()
    return (error as Error).message
  }
}

/** Opening a named pipe, for example, would block. SQLite opens the companion files as well. */
async function findIrregularFile(file: string): Promise<string | null> {
  for (const suffix of ['', '-journal', '-wal', '-shm']) {
    const found = await stat(`${file}${suffix}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && suffix !== '') return null
      throw error
    })
    if (found !== null && !found.isFile()) return `${suffix === '' ? 'it' : `${file}${suffix}`} is not a regular file`
  }
  return null
}

/** Returns a time limit that is longer than a slow disk needs to read a file of this size several times. */
async function timeLimitMs(file: string): Promise<number> {
  const megabytes = (await stat(file)).size / (1024 * 1024)
  return 60_000 + Math.min(megabytes, 3600) * 1000
}

interface CarriedOver {
  readonly meta: readonly { readonly key: string; readonly value: number }[]
  /** The highest assigned ids, so that no id is reused. */
  readonly sequences: readonly { readonly name: string; readonly seq: number }[]
  readonly leases: readonly { readonly source: string; readonly epoch: number }[]
}

const nothingCarriedOver: CarriedOver = { meta: [], sequences: [], leases: [] }

type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'damaged' }
  | {
      readonly kind: 'stored'
      readonly carriedOver: CarriedOver
      readonly counts: Counts
      readonly held: readonly HeldLease[]
    }

type Counts = Readonly<Record<string, number>>

async function restoreSqlite(path: string, options: RestoreOptions): Promise<Restored> {
  await createFolder(dirname(resolve(path)))
  const lock = await takeExclusiveLock(path)
  try {
    const found = await inspect(path)
    const held = found.kind === 'stored' ? found.held : []
    if (lock === null || held.length > 0) throw inUse(held)
    const isEmpty = found.kind === 'nothing' || (found.kind === 'stored' && hasNoContent(found.counts))
    if (!isEmpty) requireForce(options, path, found.kind === 'stored' ? found.counts : null)
    const suffix = `before-restore-${toStamp(options.now())}`
    const safety_copy = isEmpty ? null : `${path}.${suffix}`
    const [draft, historyDraft] = [draftFor(path), draftFor(historyPath(path))]
    try {
      const migrated = await prepare(draft, options, found.kind === 'stored' ? found.carriedOver : nothingCarriedOver)
      const history = containsHistory(options.file)
      if (history) await extractHistory(options.file, historyDraft, options)
      await removeExisting(path, safety_copy, found.kind)
      // Copies the draft instead of renaming it, because this process may still have it open.
      await copySqlite(draft, path, { overwrite: true })
      const history_safety_copy = await moveHistoryAside(path, suffix)
      if (history) await rename(historyDraft, historyPath(path))
      return { migrated, safety_copy, history, history_safety_copy }
    } finally {
      await removeSqlite(draft)
      await removeSqlite(historyDraft)
    }
  } finally {
    lock?.release()
  }
}

function draftFor(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}.tmp`
}

async function inspect(path: string): Promise<Found> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size === 0) return { kind: 'nothing' }
  if (findDamage(path) !== null) return { kind: 'damaged' }
  return readSqlite(path, (read) => {
    const tables = read("sqlite_master where type = 'table'", ['name']).map(({ name }) => name)
    const readIfExists = <Item extends object>(table: string, columns: readonly (keyof Item & string)[]): Item[] =>
      tables.includes(table) ? (read(`"${table}"`, columns) as Item[]) : []
    const leases = readIfExists<StoredLease>('leases', ['source', 'owner', 'epoch', 'expires_at'])
    return {
      kind: 'stored',
      carriedOver: {
        meta: readIfExists<CarriedOver['meta'][number]>('meta', ['key', 'value']),
        sequences: readIfExists<CarriedOver['sequences'][number]>('sqlite_sequence', ['name', 'seq']),
        leases,
      },
      counts: Object.fromEntries(contentTables.map((table) => [table, readIfExists<object>(table, []).length])),
      held: leases.flatMap((lease) => toHeld(lease, machineMs())),
    }
  })
}

interface StoredLease {
  readonly source: string
  readonly owner: string | null
  readonly epoch: number
  readonly expires_at: number
}

function toHeld({ source, owner, epoch, expires_at }: StoredLease, now: number): HeldLease[] {
  if (owner === null || !isRunning(expires_at, now)) return []
  return [{ source, owner, epoch, seconds_left: Math.ceil((expires_at - now) / 1000) }]
}

/** Removes the log of the previous database, which SQLite would otherwise apply to the new file. */
async function removeExisting(path: string, safetyCopy: string | null, kind: Found['kind']): Promise<void> {
  if (kind === 'damaged' && safetyCopy !== null) return moveAside(path, safetyCopy)
  if (safetyCopy !== null) await copySqlite(path, safetyCopy, { overwrite: false })
  if (kind === 'stored') {
    // When its last connection is closed, SQLite moves the log to the database file and deletes the log.
    const database = connectFile(path, {})
    database.exec('select count(*) from sqlite_master')
    database.close()
  }
  for (const suffix of ['-wal', '-shm']) await rm(`${path}${suffix}`, { force: true })
}

async function restorePostgres(options: RestoreOptions): Promise<Restored> {
  const { paths, now } = options
  const db = await openDatabase({ url: paths.database_url })
  try {
    await migrate(db)
    const held = await listHeldLeases(db.read)
    if (held.length > 0) throw inUse(held)
    const counts = await countRows(db)
    if (!hasNoContent(counts)) requireForce(options, 'the PostgreSQL database', counts)
    await createFolder(resolve(paths.data_dir))
    const suffix = `before-restore-${toStamp(now())}`
    const safety_copy = hasNoContent(counts) ? null : join(paths.data_dir, `micwatch.db.${suffix}`)
    if (safety_copy !== null) await writeBackup(db, paths.database_url, safety_copy, { overwrite: false })
    const draft = join(paths.data_dir, `restore-${randomBytes(4).toString('hex')}.tmp`)
    try {
      const meta = await db.read.selectFrom('meta').selectAll().execute()
      const migrated = await prepare(draft, options, { ...nothingCarriedOver, meta })
      await db.transaction(async (tx) => {
        const active = await listHeldLeases(tx.query)
        if (active.length > 0) throw inUse(active)
        await copyIntoPostgres(tx, draft)
      })
      return { migrated, safety_copy, history: false, history_safety_copy: await movePostgresHistoryAside(db, suffix) }
    } finally {
      await removeSqlite(draft)
    }
  } finally {
    await db.close()
  }
}

async function countRows(db: Database): Promise<Counts> {
  const counts: Record<string, number> = {}
  for (const table of contentTables) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db.read)
    counts[table] = rows[0]?.count ?? 0
  }
  return counts
}

/** Prepares the draft, with counters beyond those in the previous database. */
async function prepare(draft: string, options: RestoreOptions, carriedOver: CarriedOver): Promise<readonly string[]> {
  const { file, actor, paths } = options
  await copyWithoutHistory(file, draft)
  const db = await openDatabase({ url: `sqlite:${draft}` })
  try {
    const migrated = await migrate(db)
    await db.transaction(async (tx) => {
      for (const table of ['leases', ...transientTables] as const) await tx.query.deleteFrom(table).execute()
      await forgetIncident(tx)
      await carryOver(tx, carriedOver)
      const details = { file, migrated }
      const target = sqlitePath(paths.database_url) ?? 'PostgreSQL'
      await writeAudit(tx, { actor, action: 'store.restore', target, result: 'ok', details })
    })
    return migrated
  } finally {
    await db.close()
  }
}

async function carryOver(tx: Tx, { meta, sequences, leases }: CarriedOver): Promise<void> {
  for (const { key, value } of await tx.query.selectFrom('meta').selectAll().execute()) {
    const previous = meta.find((entry) => entry.key === key)?.value ?? 0
    await tx.query
      .updateTable('meta')
      .set({ value: restoredNumber(key, value, previous) })
      .where('key', '=', key)
      .execute()
  }
  for (const { name, seq } of sequences) {
    await sql`update sqlite_sequence set seq = max(seq, ${seq}) where name = ${name}`.execute(tx.query)
    await sql`insert into sqlite_sequence (name, seq) select ${name}, ${seq}
      where not exists (select 1 from sqlite_sequence where name = ${name})`.execute(tx.query)
  }
  for (const { source, epoch } of leases) {
    await tx.query.insertInto('leases').values({ source, owner: null, epoch, expires_at: 0 }).execute()
  }
}

function hasNoContent(counts: Counts): boolean {
  return Object.values(counts).every((count) => count === 0)
}

function requireForce({ isForced }: RestoreOptions, target: string, counts: Counts | null): void {
  if (isForced) return
  const filled = Object.entries(counts ?? {}).filter(([, count]) => count > 0)
  const found =
    counts === null ? 'damaged' : `not empty (${filled.map(([name, count]) => `${name}: ${count}`).join(', ')})`
  throw new Error(`${target} is ${found}. Use --force to replace it; a copy of it is kept`)
}

function inUse(held: readonly HeldLease[]): StoreBusyError {
  const users = toNodes(held).processes.map(describeProcess).join(', ')
  const seconds = Math.max(0, ...held.map(({ seconds_left }) => seconds_left))
  const subject = users === '' ? 'Another process uses the database' : `The database is in use by ${users}`
  const hint = held.length > 0 ? `; a process that was killed is treated as running for ${seconds} s more` : ''
  return new StoreBusyError(`${subject}. Stop it first${hint}`)
}

export interface MovedAside {
  readonly database: string | null
  readonly snapshots: string | null
  readonly history: string | null
}

/** Moves the database and its snapshots aside, so that the next start creates an empty database. Deletes nothing. */
export async function startEmpty(paths: StorePaths, now: number): Promise<MovedAside> {
  const path = sqlitePath(paths.database_url)
  if (path === null) throw new Error('--none requires SQLite. For PostgreSQL, create an empty database instead')
  const hasDatabase = await stat(path).then(
    () => true,
    () => false,
  )
  const hasSnapshots = (await listSnapshots(paths)).length > 0
  if (!hasDatabase && !hasSnapshots) return { database: null, snapshots: null, history: null }
  const lock = await takeExclusiveLock(path)
  if (lock === null) throw new StoreBusyError('Another process uses the database. Stop it first')
  try {
    const suffix = `before-restore-${toStamp(now)}`
    const database = hasDatabase ? `${path}.${suffix}` : null
    const snapshots = hasSnapshots ? `${snapshotsFolder(paths)}.${suffix}` : null
    // The snapshots are moved first, because the next start restores a snapshot if it finds no database.
    if (snapshots !== null) await rename(snapshotsFolder(paths), snapshots)
    if (database !== null) await moveAside(path, database)
    return { database, snapshots, history: await moveHistoryAside(path, suffix) }
  } finally {
    lock.release()
  }
}
