/** Moves the database and its snapshots aside, so that the next start begins with an empty database. Deletes nothing. */

import { rename, stat } from 'node:fs/promises'
import { moveHistoryAside } from '../history/levels/history-backup.ts'
import { StoreBusyError } from './errors.ts'
import { moveAside } from './repair.ts'
import { listSnapshots, type StorePaths, snapshotsFolder } from './snapshots.ts'
import { sqlitePath, toStamp } from './sqlite-file.ts'
import { takeExclusiveLock } from './sqlite-lock.ts'

export interface MovedAside {
  /** The new paths; null when there was nothing to move. */
  readonly database: string | null
  readonly snapshots: string | null
  readonly history: string | null
}

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
