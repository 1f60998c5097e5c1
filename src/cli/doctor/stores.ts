/** Checks of the database, Redis and the last backup. The database is read, or copied, but never changed. */

import { existsSync } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { nextBackup } from '../../domain/backups.ts'
import { describeIncident } from '../../domain/equipment/health.ts'
import { buttonNames, pageNames } from '../../domain/pages.ts'
import type { Service } from '../../service.ts'
import { BackupFolder } from '../../storage/backup-folder.ts'
import { type Database, openDatabase } from '../../storage/database.ts'
import { findInstallationId, findLastBackup } from '../../storage/meta.ts'
import { appliedNames, findCreation, missingMigrations } from '../../storage/migrate.ts'
import { namesOf } from '../../storage/migrations/index.ts'
import { pingRedis } from '../../storage/redis.ts'
import { findIncident } from '../../storage/repair.ts'
import { listSnapshots } from '../../storage/snapshots.ts'
import { copySqlite, findDamage, sqlitePath } from '../../storage/sqlite-file.ts'
import { asServiceUser, type Finding, failed, isAccessDenied, passed, reasonOf, undetermined, within } from './check.ts'

/** A larger file takes too long to read completely. The history has files of its own. */
const maxCheckedBytes = 200_000_000
const connectMs = 4_000

/** The findings about the database, and its URL if it can be read without changes. */
export interface StoreReport {
  readonly finding: Finding
  /** A copy of a SQLite database, or the PostgreSQL database; null if neither can be used. */
  readonly url: string | null
}

/** Copies a SQLite database to `folder`, so that it can be opened. */
export async function checkDatabase(config: Config, folder: string): Promise<StoreReport> {
  const path = sqlitePath(config.database_url)
  try {
    if (path === null) return { ...(await readDatabase(config.database_url, connectMs)) }
    const missing = await checkMissingFile(path, config)
    if (missing !== null) return { finding: missing, url: null }
    const { size } = await stat(path)
    if (size > maxCheckedBytes) {
      const finding = undetermined(
        `${path} is too large to be checked here (${Math.round(size / 1e6)} MB). The service checks it at every start.`,
      )
      return { finding, url: null }
    }
    const copy = join(folder, 'micwatch.db')
    const damage = await copyAndCheck(path, copy)
    if (damage !== null) {
      const remedy =
        'Stop the service and start it again: it keeps the damaged file and restores the newest snapshot. Or restore a backup.'
      return { finding: failed(`The database ${path} is damaged (${damage}). ${remedy}`), url: null }
    }
    return await readDatabase(`sqlite:${copy}`, connectMs)
  } catch (error) {
    return { finding: describeFailure(error, path), url: null }
  }
}

function describeFailure(error: unknown, path: string | null): Finding {
  if (isAccessDenied(error)) return undetermined(`${path} cannot be read by this user. ${asServiceUser}`)
  const reason = reasonOf(error).replace(/\.$/, '')
  if (path !== null) return failed(`The database ${path} cannot be read: ${reason}.`)
  return failed(
    `The PostgreSQL database cannot be read: ${reason}. Check database_url, and that the server is running and accepts this user.`,
  )
}

async function checkMissingFile(path: string, config: Config): Promise<Finding | null> {
  if (existsSync(path)) return null
  const [newest] = await listSnapshots(config)
  if (newest === undefined) return undetermined(`There is no database at ${path} yet; the first start creates it.`)
  return failed(
    `The database ${path} is missing, but there is a snapshot: ${newest.path}. The next start restores it. To start with an empty database instead, run: micwatch restore --none`,
  )
}

/**
 * Copies the database and returns its damage, if any. A database that no process has open is copied directly, because
 * SQLite would create files beside it even for reading.
 */
async function copyAndCheck(path: string, copy: string): Promise<string | null> {
  if (existsSync(`${path}-shm`)) {
    const damage = findDamage(path, 'quick')
    if (damage === null) await copySqlite(path, copy, { overwrite: true, owner: 'process' })
    return damage
  }
  await copyFile(path, copy)
  if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`)
  return findDamage(copy, 'quick')
}

async function readDatabase(url: string, limitMs: number): Promise<StoreReport> {
  const db = await openDatabase({ url, waitLimitMs: limitMs })
  try {
    const names = await within(limitMs, appliedNames(db.dialect, db.read))
    if (names.length === 0)
      return { finding: undetermined('The database is empty; the first start creates its tables.'), url: null }
    const missing = namesOf(missingMigrations(names))
    const kind = db.dialect === 'sqlite' ? 'The database is intact' : 'PostgreSQL responds'
    if (missing.length > 0) {
      const finding = passed(`${kind}. The next start applies ${missing.length} migrations, after a snapshot.`)
      // A copy can be migrated.
      return { finding, url: db.dialect === 'sqlite' ? url : null }
    }
    const incident = await findIncident(db.read)
    if (incident !== null)
      return {
        finding: failed(
          `${describeIncident(incident)} Press ${buttonNames.acknowledge} on the page ${pageNames.overview}.`,
        ),
        url,
      }
    return { finding: passed(`${kind}, and has the tables of this version.`), url }
  } finally {
    await db.close()
  }
}

const dayMs = 24 * 3_600_000
const maxBackupDays = 30
/** A new installation needs no backup for this long. */
const firstBackupDays = 7

/** A scheduled backup may take this long. */
const overdueMs = 3_600_000

/** Checks the folder of the scheduled backups and when the last one was written. */
export async function checkBackup({ db, settings }: Service, config: Config, now: number): Promise<Finding> {
  const { backup } = config
  if (backup === null) return checkLastBackup(db, now)
  const folder = new BackupFolder(backup.folder, backup.isDefaultFolder)
  try {
    await folder.check(config.database_url)
    const [newest] = await folder.list((await findInstallationId(db.read)) ?? 'new')
    if (newest === undefined) {
      const text = `There is no scheduled backup in ${folder.path} yet. The service writes the first one when it starts.`
      return ((await isInstalledRecently(db, now)) ? passed : failed)(text)
    }
    const age = `The last scheduled backup was written ${new Date(newest.at).toISOString()}`
    const isRecent = newest.at > now - overdueMs
    if (isRecent || nextBackup(backup, settings.get(null).TIME_ZONE, newest.at, now - overdueMs) !== null)
      return passed(`${age}.`)
    return failed(`${age}, and another one was due since. Start the service; its log says why a backup fails.`)
  } catch (error) {
    const reason = `${reasonOf(error)}.`
    return isAccessDenied(error) ? undetermined(`${reason} ${asServiceUser}`) : failed(reason)
  }
}

/** Checks the time of the last `micwatch backup`. Other kinds of backup are not visible. */
async function checkLastBackup(db: Database, now: number): Promise<Finding> {
  const advice = 'Run micwatch backup, and keep the file and secret.key on another machine.'
  const time = await findLastBackup(db.read)
  if (time === null) {
    return ((await isInstalledRecently(db, now)) ? passed : failed)(`Micwatch has made no backup yet. ${advice}`)
  }
  const days = Math.max(0, Math.floor((now - time) / dayMs))
  const age = `The last backup was made ${days === 0 ? 'less than a day' : days === 1 ? '1 day' : `${days} days`} ago`
  return days > maxBackupDays ? failed(`${age}. ${advice}`) : passed(`${age}.`)
}

async function isInstalledRecently({ read }: Database, now: number): Promise<boolean> {
  return now - (await findCreation(read)) < firstBackupDays * dayMs
}

export async function checkRedis(url: string): Promise<Finding> {
  const problem = await pingRedis(url)
  if (problem === null) return passed('Redis responds.')
  return failed(
    `Redis does not respond: ${problem}. Check redis_url, and that the server is running. Without it, request limits apply per process.`,
  )
}
