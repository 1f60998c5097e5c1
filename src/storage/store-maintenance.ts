/** Maintains the database file: repairs it when it is opened, checks it regularly, and takes snapshots. */

import { type AuditRecord, serviceActor } from '../domain/access/access.ts'
import { describeIncident, repairDescriptions, storeFaults } from '../domain/equipment/health.ts'
import type { Log } from '../platform/log.ts'
import { writeAudit } from './audit.ts'
import { type Database, openDatabase } from './database.ts'
import { type RepairedStore, repairStore, saveIncident } from './repair.ts'
import { listSnapshots, migrateWithSnapshot, type StorePaths, takeSnapshot } from './snapshots.ts'
import { sqlitePath } from './sqlite-file.ts'

interface OpenOptions {
  readonly log: Log
  now(): number
  readonly isReadOnly: boolean
  readonly isStrict: boolean
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
}

/** Opens and migrates the database. A damaged file is replaced by the newest snapshot. */
export async function openRepairedStore(
  paths: StorePaths,
  { log, now, isReadOnly, isStrict, onAudit }: OpenOptions,
): Promise<{ readonly db: Database; readonly migrations: readonly string[] }> {
  const repaired = isReadOnly ? null : await repairStore(paths, now(), isStrict)
  const db = await openDatabase({ url: paths.database_url, onAudit })
  try {
    const migrations = isReadOnly ? [] : await migrateWithSnapshot(db, paths)
    if (repaired !== null) await recordRepair(db, repaired, log)
    if (db.condition() === 'unwritable') log.error({}, 'disk full: the database is read-only until there is free space')
    return { db, migrations }
  } catch (error) {
    await db.close()
    throw error
  }
}

async function recordRepair(db: Database, repaired: RepairedStore, log: Log): Promise<void> {
  const { cause, corrupt, damage, snapshot_at, snapshot } = repaired
  await db.transaction(async (tx) => {
    await saveIncident(tx, repaired)
    const details = { what: repairDescriptions[cause], corrupt, damage, snapshot_at, snapshot }
    await writeAudit(tx, { actor: serviceActor, action: 'store.repair', target: 'database', result: 'ok', details })
  })
  const backupNote = corrupt === null ? '' : ` The damaged file is ${corrupt}.`
  log.error({ corrupt, damage, snapshot }, `${describeIncident(repaired)}${backupNote}`)
}

export interface StoreMaintenance {
  run(): Promise<void>
  close(): Promise<void>
}

const snapshotEveryMs = 3_600_000
const checkSnapshotsEveryMs = 60_000
const checkEveryMs = 5_000
/** The maximum share of time spent on checks, which block the process and take long for a large database. */
const checkShare = 0.001

export function createStoreMaintenance(deps: {
  readonly db: Database
  readonly paths: StorePaths
  readonly log: Log
  now(): number
}): StoreMaintenance {
  const { db, paths, log, now } = deps
  const isFile = sqlitePath(paths.database_url) !== null
  let isFaultReported = false
  let checkAt = performance.now() + checkEveryMs
  let snapshotCheckAt = 0

  function check(): void {
    const startedAt = performance.now()
    try {
      db.check()
    } catch (error) {
      log.warn({ error: String(error) }, 'database check failed')
    }
    const endedAt = performance.now()
    checkAt = endedAt + Math.max(checkEveryMs, (endedAt - startedAt) / checkShare)
  }

  const hasFault = () => db.condition() === 'damaged' || db.condition() === 'replaced'

  async function checkFiles(): Promise<void> {
    try {
      await db.checkFiles()
    } catch (error) {
      log.warn({ error: String(error) }, 'check of the database files failed')
    }
  }

  async function snapshot(): Promise<void> {
    try {
      await takeSnapshot(db, paths, now())
    } catch (error) {
      log.warn({ error: String(error) }, 'database snapshot failed')
    }
  }

  async function snapshotWhenDue(): Promise<void> {
    snapshotCheckAt = performance.now() + checkSnapshotsEveryMs
    const [newest] = await listSnapshots(paths).catch(() => [])
    if (newest === undefined || now() - newest.taken_at >= snapshotEveryMs) await snapshot()
  }

  return {
    async run() {
      if (!isFile || isFaultReported) return
      await checkFiles()
      if (!hasFault() && performance.now() >= checkAt) check()
      if (!hasFault() && performance.now() >= snapshotCheckAt) await snapshotWhenDue()
      const condition = db.condition()
      if (condition !== 'damaged' && condition !== 'replaced') return
      isFaultReported = true
      log.error({}, storeFaults[condition])
      // The deleted or replaced file is still open and intact. Its contents are saved as a snapshot, which the next
      // start uses.
      if (condition === 'replaced') await snapshot()
    },
    async close() {
      if (!isFile) return
      await checkFiles()
      const condition = db.condition()
      if (condition === 'ok' || (condition === 'replaced' && !isFaultReported)) await snapshot()
    },
  }
}
