/** Single numbers that an installation keeps. */

import { randomInt } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import type { Database, Reader, Tx } from './database.ts'
import { connectFile } from './sqlite-file.ts'

type Key = 'last_backup' | 'remote_write' | 'house'

async function find(reader: Reader, key: Key): Promise<number | null> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}

async function save({ query }: Tx, key: Key, value: number): Promise<void> {
  await query
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

/** Returns when the service or `micwatch backup` last wrote a backup of this database; null if never. */
export function findLastBackup(reader: Reader): Promise<number | null> {
  return find(reader, 'last_backup')
}

export function saveLastBackup(tx: Tx, time: number): Promise<void> {
  return save(tx, 'last_backup', time)
}

/** Returns the end of the last interval that remote write has delivered, in epoch seconds; null if none. */
export function findAcknowledged(reader: Reader): Promise<number | null> {
  return find(reader, 'remote_write')
}

export function saveAcknowledged(tx: Tx, time: number): Promise<void> {
  return save(tx, 'remote_write', time)
}

/** Returns null if no service has run with this database. */
export async function findInstallationId(reader: Reader): Promise<string | null> {
  const id = await find(reader, 'house')
  return id === null ? null : String(id)
}

/**
 * As `findInstallationId`, from a file that is not opened as a database, because SQLite would create files beside it.
 * Also null if the id is still in the log of SQLite.
 */
export function readInstallationId(path: string): string | null {
  try {
    const file = connectFile(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true })
    try {
      const row = file.prepare("select value from meta where key = 'house'").get()
      return row?.value === undefined ? null : String(row.value)
    } finally {
      file.close()
    }
  } catch {
    return null
  }
}

/** Returns the id that distinguishes installations which share a Redis server. The first call creates it. */
export async function getInstallationId(db: Database): Promise<number> {
  // Reads first, because a full disk rejects every write.
  return (await find(db.read, 'house')) ?? db.transaction(createInstallationId)
}

async function createInstallationId(tx: Tx): Promise<number> {
  const created = { key: 'house', value: randomInt(2 ** 47) }
  // Another process may have created the id by now.
  await tx.query
    .insertInto('meta')
    .values(created)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return (await find(tx.query, 'house')) ?? created.value
}

/** The backup decides these: the id of the installation, and a setting. */
const ofBackup: readonly string[] = ['house', 'history_max_bytes']
/** These only increase. All others are counters, which readers compare to find changes. */
const increasing: readonly string[] = ['highest_slot', 'last_backup', 'remote_write']

/** Returns the value of a number after a restore. `previous` is that of the replaced database, or 0. */
export function restoredNumber(key: string, value: number, previous: number): number {
  if (ofBackup.includes(key)) return value
  const latest = Math.max(value, previous)
  return increasing.includes(key) ? latest : latest + 1
}

/** Locks the row of the counter until the commit. */
export async function incrementCounter(tx: Tx, key: 'people' | 'tries'): Promise<void> {
  await tx.query.updateTable('meta').set({ value: sql<number>`value + 1` }).where('key', '=', key).execute()
}
