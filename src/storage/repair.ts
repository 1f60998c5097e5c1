/**
 * Repairs a SQLite database before it is opened. A damaged file is renamed and replaced by the newest good snapshot;
 * a missing file is restored from it as well. When only the write-ahead log is damaged, its readable part is kept.
 */

import { copyFile, rename, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type IncidentCause, incidentCauses, type StoreIncident } from '../domain/equipment/health.ts'
import { describeReadError } from '../platform/file-error.ts'
import type { Reader, Tx } from './database.ts'
import { StoreDamagedError } from './errors.ts'
import { isMissing } from './folder.ts'
import { nextRevision } from './revision.ts'
import { listSnapshots, newestGoodSnapshot, type Snapshot, type StorePaths, snapshotName } from './snapshots.ts'
import {
  connectFile,
  copySqlite,
  findDamage,
  lockFile,
  readSqlite,
  sqlitePath,
  takeExclusiveLock,
  toStamp,
} from './sqlite-file.ts'
import { findLogDamage } from './sqlite-log-damage.ts'

export interface RepairedStore extends StoreIncident {
  readonly corrupt: string | null
  readonly damage: string
}

const companions = ['-wal', '-shm', '-journal', '-synced', ''] as const

interface StoreProblem {
  readonly cause: IncidentCause
  readonly damage: string
}

/**
 * Returns null if there is nothing to repair, or if another process has the database open and has therefore checked it.
 * With `isStrict`, throws instead of repairing.
 */
export function repairStore(paths: StorePaths, now: number, isStrict: boolean): Promise<RepairedStore | null> {
  return withExclusiveLock(paths, async (path) => {
    const problem = (await findLoss(path, paths)) ?? (await findDamagedFile(path, paths))
    if (problem === null) return null
    if (isStrict) throw strictError(path, problem)
    return repair(path, paths, problem, now)
  })
}

/** Without this check, a command that opens the database would make the loss permanent. */
export async function requireNoLoss(paths: StorePaths): Promise<void> {
  await withExclusiveLock(paths, async (path) => {
    const problem = await findLoss(path, paths)
    if (problem !== null) throw strictError(path, problem)
  })
}

async function withExclusiveLock<T>(paths: StorePaths, work: (path: string) => Promise<T>): Promise<T | null> {
  const path = sqlitePath(paths.database_url)
  if (path === null || !(await isManaged(path, paths))) return null
  if ((await sizeOf(path)) === null && (await listSnapshots(paths)).length === 0) return null
  const lock = await takeExclusiveLock(path)
  if (lock === null) return null
  try {
    return await work(path)
  } finally {
    lock.release()
  }
}

/** Finds losses that SQLite does not report: a missing file that has snapshots, or a damaged write-ahead log. */
async function findLoss(path: string, paths: StorePaths): Promise<StoreProblem | null> {
  if ((await sizeOf(path)) === null) {
    return (await listSnapshots(paths)).length === 0 ? null : { cause: 'missing', damage: 'it is missing' }
  }
  const damage = await findLogDamage(path)
  return damage === null ? null : { cause: 'log_damaged', damage }
}

async function findDamagedFile(path: string, paths: StorePaths): Promise<StoreProblem | null> {
  const isEmpty = (await sizeOf(path)) === 0
  const hasSnapshots = (await listSnapshots(paths)).length > 0
  const damage = !isEmpty ? findDamage(path) : hasSnapshots ? 'it is empty' : null
  return damage === null ? null : { cause: 'damaged', damage }
}

function strictError(path: string, { cause, damage }: StoreProblem): StoreDamagedError {
  if (cause === 'missing') {
    return new StoreDamagedError(
      `The database ${path} is missing, but it has snapshots. To restore the newest snapshot, run micwatch serve without --strict. To start with an empty database, run micwatch restore --none.`,
    )
  }
  const effect = cause === 'log_damaged' ? 'keep the readable data' : 'restore the newest snapshot'
  return new StoreDamagedError(
    `The database ${path} is damaged (${damage}) and was not changed. To ${effect}, run micwatch serve without --strict, or restore a backup.`,
  )
}

async function repair(
  path: string,
  paths: StorePaths,
  { cause, damage }: StoreProblem,
  now: number,
): Promise<RepairedStore> {
  const corruptPath = `${path}.corrupt-${toStamp(now)}`
  const snapshot = await newestGoodSnapshot(paths)
  if (cause === 'log_damaged') {
    await copyAside(path, corruptPath)
    // The readable part of the log is kept only if it matches the pages already moved to the database file, and if the
    // snapshot is not newer.
    if (findDamage(path) === null && !isAhead(snapshot, path)) {
      checkpointLog(path)
      return { cause, restored_at: now, snapshot_at: null, snapshot: null, corrupt: corruptPath, damage }
    }
  }
  const sizes = await Promise.all(companions.map((suffix) => sizeOf(path + suffix)))
  const hasFiles = sizes.some((size) => size !== null)
  await moveAside(path, corruptPath)
  if (snapshot !== null) await copySqlite(snapshot.path, path, { overwrite: true })
  return {
    cause: cause === 'missing' ? cause : 'damaged',
    restored_at: now,
    snapshot_at: snapshot?.taken_at ?? null,
    snapshot: snapshot === null ? null : snapshotName(snapshot.taken_at),
    corrupt: hasFiles ? corruptPath : null,
    damage,
  }
}

function isAhead(snapshot: Snapshot | null, path: string): boolean {
  if (snapshot === null) return false
  const [taken, found] = [progressOf(snapshot.path), progressOf(path)]
  return taken.audit > found.audit || (taken.audit === found.audit && taken.revision > found.revision)
}

/** Reads the counters of audit records and of receiver changes, which only increase. */
function progressOf(path: string): { readonly audit: number; readonly revision: number } {
  return readSqlite(path, (read) => {
    const tables = read("sqlite_master where type = 'table'", ['name']).map(({ name }) => name)
    const numberIn = (table: string, from: string, column: string) =>
      tables.includes(table) ? Number(read(from, [column])[0]?.[column] ?? 0) : 0
    return {
      audit: numberIn('audit', "sqlite_sequence where name = 'audit'", 'seq'),
      revision: numberIn('meta', "meta where key = 'revision'", 'value'),
    }
  })
}

/** Makes SQLite move the readable part of the log to the database file and delete the log. */
function checkpointLog(path: string): void {
  const database = connectFile(path, { timeout: 1_000 })
  try {
    database.exec('pragma wal_checkpoint(truncate)')
  } finally {
    database.close()
  }
}

/** Only a file in the data folder, or with a lock file, may be moved. Any other may have been configured by mistake. */
async function isManaged(path: string, { data_dir }: StorePaths): Promise<boolean> {
  return resolve(dirname(path)) === resolve(data_dir) || (await sizeOf(lockFile(path))) !== null
}

/**
 * Moves the database with its companion files. The log is moved first, so that it can never be applied to another file.
 */
export async function moveAside(path: string, to: string): Promise<void> {
  for (const suffix of companions) await rename(`${path}${suffix}`, `${to}${suffix}`).catch(ignoreMissing)
}

async function copyAside(path: string, to: string): Promise<void> {
  for (const suffix of companions) await copyFile(`${path}${suffix}`, `${to}${suffix}`).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return null
    throw describeReadError(path, error)
  }
}

const keys = {
  restored_at: 'store_restored_at',
  snapshot_at: 'store_restored_from',
  /** The value stored under this key is an index into `incidentCauses`. */
  cause: 'store_incident_cause',
} as const

export async function saveIncident(tx: Tx, { cause, restored_at, snapshot_at }: StoreIncident): Promise<void> {
  await forgetIncident(tx)
  const rows = [
    { key: keys.restored_at, value: restored_at },
    { key: keys.snapshot_at, value: snapshot_at ?? 0 },
    { key: keys.cause, value: incidentCauses.indexOf(cause) },
  ]
  await tx.query.insertInto('meta').values(rows).execute()
}

export async function findIncident(reader: Reader): Promise<StoreIncident | null> {
  const rows = await reader.selectFrom('meta').selectAll().where('key', 'in', Object.values(keys)).execute()
  const stored = (name: string) => rows.find(({ key }) => key === name)?.value
  const restored_at = stored(keys.restored_at)
  if (restored_at === undefined) return null
  const snapshot_at = stored(keys.snapshot_at) || null
  return {
    cause: incidentCauses[stored(keys.cause) ?? 0] ?? 'damaged',
    restored_at,
    snapshot_at,
    snapshot: snapshot_at === null ? null : snapshotName(snapshot_at),
  }
}

export async function forgetIncident(tx: Tx): Promise<void> {
  // Changes to `meta` are not counted at the commit.
  await nextRevision(tx, 'lists')
  await tx.query.deleteFrom('meta').where('key', 'in', Object.values(keys)).execute()
}
