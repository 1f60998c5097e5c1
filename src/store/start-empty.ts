/** The way back from a snapshot that was not wanted: the next start begins empty, and nothing is deleted. */

import { rename, stat } from 'node:fs/promises'
import { StoreBusyError } from './errors.ts'
import { moveAside } from './repair.ts'
import { listSnapshots, type StorePaths, snapshotsFolder } from './snapshots.ts'
import { sqlitePath, toStamp } from './sqlite-file.ts'
import { takeExclusiveLock } from './sqlite-lock.ts'

export interface PutAside {
  /** Where they are now; null: there was none. */
  readonly database: string | null
  readonly snapshots: string | null
}

export async function startEmpty(place: StorePaths, now: number): Promise<PutAside> {
  const path = sqlitePath(place.database_url)
  if (path === null) throw new Error('--none is for SQLite; PostgreSQL has no snapshots here: create an empty database')
  const hasDatabase = await stat(path).then(
    () => true,
    () => false,
  )
  const hasSnapshots = (await listSnapshots(place)).length > 0
  if (!hasDatabase && !hasSnapshots) return { database: null, snapshots: null }
  const lock = await takeExclusiveLock(path)
  if (lock === null) throw new StoreBusyError('Another process uses the database: stop it first')
  try {
    const end = `before-restore-${toStamp(now)}`
    const database = hasDatabase ? `${path}.${end}` : null
    const snapshots = hasSnapshots ? `${snapshotsFolder(place)}.${end}` : null
    // The snapshots go first: a database without them is kept, snapshots without a database would be restored.
    if (snapshots !== null) await rename(snapshotsFolder(place), snapshots)
    if (database !== null) await moveAside(path, database)
    return { database, snapshots }
  } finally {
    lock.release()
  }
}
