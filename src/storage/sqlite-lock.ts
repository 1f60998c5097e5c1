/**
 * Detects whether any process has a SQLite database open, even a damaged one. Every process that opens the database
 * holds a shared lock on a separate file, which the operating system releases when the process ends. Replacing a
 * database file that is in use would damage the new file.
 */

import { access, constants } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { describeWriteError } from '../platform/file-error.ts'
import { createFile } from './sqlite-file.ts'

export interface Lock {
  release(): void
}

/** Takes the shared lock. Throws SQLite's busy error while another process holds the exclusive lock. */
export function takeSharedLock(path: string): Lock {
  return lock(path, 'begin; select count(*) from sqlite_master')
}

/** Takes the exclusive lock. Returns null while any process has the database open. */
export async function takeExclusiveLock(path: string): Promise<Lock | null> {
  try {
    await createFile(lockFile(path))
    await access(lockFile(path), constants.W_OK)
    // Nothing is written to this file. The journal is kept in memory, so that it needs no space on a full disk.
    return lock(path, 'pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return null
    throw describeWriteError(path, error)
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
