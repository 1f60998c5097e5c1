/** Looks after the database as a thing on a disk: mended when it is opened, watched, and copied for a bad day. */

import type { Feed } from '../live/feed.ts'
import type { Actor, AuditRecord } from '../model/access.ts'
import { describeIncident, type IncidentCause } from '../model/health.ts'
import { writeAudit } from '../store/audit.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { type RepairedStore, repairStore, saveIncident } from '../store/repair.ts'
import { listSnapshots, migrateWithSnapshot, type StorePaths, takeSnapshot } from '../store/snapshots.ts'
import { sqlitePath } from '../store/sqlite-file.ts'
import type { Log } from './log.ts'

interface OpenOptions {
  readonly log: Log
  now(): number
  readonly isReadOnly: boolean
  readonly isStrict: boolean
  /** Hears what is written to the audit log. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
}

/** Brought up to date, and where its file was damaged with the newest snapshot in its place. */
export async function openRepairedStore(
  place: StorePaths,
  { log, now, isReadOnly, isStrict, onAudit }: OpenOptions,
): Promise<{ readonly db: Database; readonly migrations: readonly string[] }> {
  const mended = isReadOnly ? null : await repairStore(place, now(), isStrict)
  const db = await openDatabase({ url: place.database_url, onAudit })
  try {
    const migrations = isReadOnly ? [] : await migrateWithSnapshot(db, place)
    if (mended !== null) await noteMended(db, mended, log)
    if (db.condition() === 'unwritable') log.error({}, 'the disk is full: what is stored is shown, nothing is written')
    return { db, migrations }
  } catch (error) {
    await db.close()
    throw error
  }
}

const self: Actor = { kind: 'cli', id: null, name: 'micwatch', role: 'admin', address: null }

async function noteMended(db: Database, mended: RepairedStore, log: Log): Promise<void> {
  const { cause, corrupt, damage, snapshot_at, snapshot } = mended
  await db.transaction(async (tx) => {
    await saveIncident(tx, mended)
    const details = { what: mendedWhat[cause], corrupt, damage, snapshot_at, snapshot }
    await writeAudit(tx, { actor: self, action: 'store.mend', target: 'database', result: 'ok', details })
  })
  const aside = corrupt === null ? '' : ` The damaged file is ${corrupt}.`
  log.error({ corrupt, damage, snapshot }, `${describeIncident(mended)}${aside}`)
}

const mendedWhat: Readonly<Record<IncidentCause, string>> = {
  damaged: 'corrupt store restored',
  missing: 'missing store restored',
  log_damaged: 'corrupt log read up to its damage',
}

export interface StoreMaintenance {
  /** Called again and again while the process runs. Never throws. */
  run(): Promise<void>
  /** The last snapshot. */
  close(): Promise<void>
}

const snapshotEveryMs = 3_600_000
const lookForSnapshotsEveryMs = 60_000
const checkEveryMs = 5_000
/** A check of a large database takes its time, in which nothing else is done: it may take this part of all time. */
const checkShare = 0.001

export function createStoreMaintenance(deps: {
  readonly db: Database
  readonly place: StorePaths
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  now(): number
}): StoreMaintenance {
  const { db, place, feed, log, now } = deps
  const isFile = sqlitePath(place.database_url) !== null
  let isTold = false
  let checkAt = performance.now() + checkEveryMs
  let lookAt = 0

  function check(): void {
    const startedAt = performance.now()
    try {
      db.check()
    } catch (error) {
      log.warn({ error: String(error) }, 'the database could not be checked')
    }
    const endedAt = performance.now()
    checkAt = endedAt + Math.max(checkEveryMs, (endedAt - startedAt) / checkShare)
  }

  /** Nothing of it can be stored, so it is said this once and has no number. */
  function announce(fault: 'damaged' | 'replaced'): void {
    isTold = true
    const what = fault === 'damaged' ? 'The database is damaged' : 'The file of the database was deleted or replaced'
    const message = `${what}; nothing is stored until the service is restarted`
    log.error({}, message)
    const about = { manufacturer: null, channel_id: null, id: 0, kind: 'store_damaged' } as const
    feed.publish({ type: 'alert', ...about, state: 'raised', severity: 'critical', message })
  }

  const hasFault = () => db.condition() === 'damaged' || db.condition() === 'replaced'

  async function checkFiles(): Promise<void> {
    try {
      await db.checkFiles()
    } catch (error) {
      log.warn({ error: String(error) }, 'the files of the database could not be looked at')
    }
  }

  async function snapshot(): Promise<void> {
    try {
      await takeSnapshot(db, place, now())
    } catch (error) {
      log.warn({ error: String(error) }, 'no snapshot of the database could be taken')
    }
  }

  async function snapshotWhenDue(): Promise<void> {
    lookAt = performance.now() + lookForSnapshotsEveryMs
    const [newest] = await listSnapshots(place).catch(() => [])
    if (newest === undefined || now() - newest.taken_at >= snapshotEveryMs) await snapshot()
  }

  return {
    async run() {
      if (!isFile || isTold) return
      await checkFiles()
      if (!hasFault() && performance.now() >= checkAt) check()
      if (!hasFault() && performance.now() >= lookAt) await snapshotWhenDue()
      const condition = db.condition()
      if (condition !== 'damaged' && condition !== 'replaced') return
      announce(condition)
      // What is open is whole: the next start goes on with it.
      if (condition === 'replaced') await snapshot()
    },
    async close() {
      if (!isFile) return
      await checkFiles()
      const condition = db.condition()
      if (condition === 'ok' || (condition === 'replaced' && !isTold)) await snapshot()
    },
  }
}
