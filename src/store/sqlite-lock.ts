/**
 * Whether anybody has a SQLite database open, whatever state it is in: everybody who opens it shares a lock on a file
 * beside it, which the operating system takes back when a process ends. Putting another file in the database's place
 * under a process that uses it would damage the new one.
 */

import { DatabaseSync } from '@photostructure/sqlite'
import { createFile } from './sqlite-file.ts'

export interface Lock {
  release(): void
}

/** Throws SQLite's busy error while somebody has the database to himself. */
export function takeSharedLock(path: string): Lock {
  return lock(path, 'begin; select count(*) from sqlite_master')
}

/** Null while anybody has the database open. */
export async function takeExclusiveLock(path: string): Promise<Lock | null> {
  await createFile(lockFile(path))
  try {
    // Nothing is ever written to the file, and its journal must not need room on a full disk.
    return lock(path, 'pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return null
    throw error
  }
}

export function lockFile(path: string): string {
  return `${path}-lock`
}

const busy = 5

function lock(path: string, statement: string): Lock {
  const database = new DatabaseSync(lockFile(path), { timeout: 0 })
  try {
    database.exec(statement)
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}
