/** Regular copies of a SQLite database, used to restore a damaged file. */

import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Database } from './database.ts'
import { createFolder, isMissing } from './folder.ts'
import { migrate, missingMigrations } from './migrate.ts'
import { findDamage, fromStamp, readSqlite, toStamp } from './sqlite-file.ts'

export interface StorePaths {
  readonly database_url: string
  readonly data_dir: string
}

export interface Snapshot {
  readonly path: string
  readonly taken_at: number
}

const maxSnapshots = 3

/** Takes a snapshot and deletes the oldest ones. Resolves with null if the database is not a file. */
export async function takeSnapshot(db: Database, paths: StorePaths, now: number): Promise<Snapshot | null> {
  if (db.copyTo === null) return null
  const folder = snapshotsFolder(paths)
  await createFolder(resolve(folder))
  const snapshot = join(folder, snapshotName(now))
  await db.copyTo(snapshot)
  for (const { path: old } of (await listSnapshots(paths)).slice(maxSnapshots)) await rm(old, { force: true })
  return { path: snapshot, taken_at: now }
}

export async function listSnapshots(paths: StorePaths): Promise<Snapshot[]> {
  const folder = snapshotsFolder(paths)
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names
    .flatMap((name) => {
      const taken_at = fromStamp(/^micwatch-(\w+\.\d{3}Z)\.db$/.exec(name)?.[1] ?? '')
      return Number.isNaN(taken_at) ? [] : [{ path: join(folder, name), taken_at }]
    })
    .sort((a, b) => b.taken_at - a.taken_at)
}

export async function newestGoodSnapshot(paths: StorePaths): Promise<Snapshot | null> {
  for (const snapshot of await listSnapshots(paths)) if (isGood(snapshot.path)) return snapshot
  return null
}

/** Migrates the database. Takes a snapshot first, unless the database is new or up to date. */
export function migrateWithSnapshot(db: Database, paths: StorePaths): Promise<readonly string[]> {
  return migrate(db, () => takeSnapshot(db, paths, Date.now()))
}

function isGood(path: string): boolean {
  try {
    return findDamage(path) === null && missingMigrations(migrationsIn(path)) !== null
  } catch {
    return false
  }
}

/** Reads the names of the migrations applied to a snapshot. Throws if their table is missing. */
function migrationsIn(path: string): string[] {
  return readSqlite(path, (read) => read('migrations order by name', ['name'])).map(({ name }) => String(name))
}

export function snapshotName(taken_at: number): string {
  return `micwatch-${toStamp(taken_at)}.db`
}

export function snapshotsFolder({ data_dir }: StorePaths): string {
  return join(data_dir, 'snapshots')
}
