/** A database file that is damaged is put aside, and the newest good snapshot takes its place. */

import { rename, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { StoreIncident } from '../model/health.ts'
import type { Reader, Tx } from './database.ts'
import { StoreDamagedError } from './errors.ts'
import { listSnapshots, newestGoodSnapshot, type Place } from './snapshots.ts'
import { copySqlite, findDamage, sqlitePath, toStamp } from './sqlite-file.ts'
import { lockFile, takeWholeLock } from './sqlite-lock.ts'

export interface Mended extends StoreIncident {
  /** Where the damaged file lies now. */
  readonly corrupt: string
  readonly damage: string
}

/**
 * Before the database is opened. Null when there was nothing to mend, or when somebody else has it open, who has looked.
 * `isStrict`: throws instead.
 */
export async function mendStore(place: Place, now: number, isStrict: boolean): Promise<Mended | null> {
  const path = sqlitePath(place.database_url)
  if (path === null) return null
  const size = await sizeOf(path)
  if (size === null || !(await isOurs(path, place))) return null
  const lock = await takeWholeLock(path)
  if (lock === null) return null
  try {
    const damage = size > 0 ? findDamage(path) : (await listSnapshots(place)).length > 0 ? 'it is empty' : null
    if (damage === null) return null
    if (isStrict) {
      throw new StoreDamagedError(
        `The database ${path} is damaged (${damage}); with --strict it is left as it is. Start without --strict to go on with the newest snapshot, or restore a backup.`,
      )
    }
    const corrupt = `${path}.corrupt-${toStamp(now)}`
    await moveAside(path, corrupt)
    const snapshot = await newestGoodSnapshot(place)
    if (snapshot !== null) await copySqlite(snapshot.path, path, { overwrite: true })
    return { restored_at: now, snapshot_at: snapshot?.taken_at ?? null, corrupt, damage }
  } finally {
    lock.release()
  }
}

/** A file that was named by mistake must not be put aside for not being a database. */
async function isOurs(path: string, { data_dir }: Place): Promise<boolean> {
  return resolve(dirname(path)) === resolve(data_dir) || (await sizeOf(lockFile(path))) !== null
}

/** With its companions; the log of changes goes first, so that it can never be taken for that of another file. */
export async function moveAside(path: string, to: string): Promise<void> {
  for (const end of ['-wal', '-shm', '-journal', '']) {
    await rename(`${path}${end}`, `${to}${end}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const keys = { restored_at: 'store_restored_at', snapshot_at: 'store_restored_from' } as const

export async function saveIncident(tx: Tx, { restored_at, snapshot_at }: StoreIncident): Promise<void> {
  await forgetIncident(tx)
  const rows = [
    { key: keys.restored_at, value: restored_at },
    { key: keys.snapshot_at, value: snapshot_at ?? 0 },
  ]
  await tx.query.insertInto('meta').values(rows).execute()
}

export async function findIncident(reader: Reader): Promise<StoreIncident | null> {
  const rows = await reader.selectFrom('meta').selectAll().where('key', 'in', Object.values(keys)).execute()
  const restored = rows.find(({ key }) => key === keys.restored_at)
  if (restored === undefined) return null
  const snapshot = rows.find(({ key }) => key === keys.snapshot_at)
  return { restored_at: restored.value, snapshot_at: snapshot?.value || null }
}

export async function forgetIncident(tx: Tx): Promise<void> {
  await tx.query.deleteFrom('meta').where('key', 'in', Object.values(keys)).execute()
}
