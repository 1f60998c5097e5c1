/**
 * SQLite's log, the file that ends in `-wal`: what is committed stands there first, and is moved to the database later.
 * Both wait for the disk. SQLite would do so in the middle of a commit, and every meter would wait with it.
 */

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import type { DatabaseSync } from '@photostructure/sqlite'
import { startThread } from '../thread.ts'
import { StoreDownError } from './errors.ts'
import { createFile } from './sqlite-file.ts'
import { formatSynced, logFile, logHeaderBytes, type SyncedLog, saltsOf, syncedFile } from './sqlite-log-damage.ts'

export interface SqliteLog {
  /** Called right after a commit, before the next transaction begins. */
  noteCommit(): void
  /** Resolves once what is committed would survive a power failure. */
  secure(): Promise<void>
  /** Moves what it holds. */
  close(): Promise<void>
}

/** The log is moved once it has grown to this. A thread is started for it, so not for every bit, and not all the time. */
const moveAtBytes = 16 * 1024 * 1024
const moveEveryMs = 10_000
/** Should no thread get to it, SQLite sees to it within a commit after all. */
const moveAnywayAtPages = 16_384

/** Of the connection that writes, which leaves securing and moving to us from now on. */
export async function createSqliteLog(path: string, writer: InstanceType<typeof DatabaseSync>): Promise<SqliteLog> {
  writer.exec(
    `pragma synchronous = normal; pragma wal_autocheckpoint = ${moveAnywayAtPages};
     pragma journal_size_limit = ${moveAtBytes / 2}`,
  )
  const database = await realpath(path)
  let file: FileHandle | undefined
  const count = createSyncedCount(database, writer)
  /** The disk refused once: nothing says how much of the log is on it. */
  let isDoubtful = false
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()
  let moving: Promise<void> | undefined
  let movedAt = Number.NEGATIVE_INFINITY

  /** Whoever commits while one is under way shares the next. */
  function sync(): Promise<void> {
    next ??= last
      .catch(() => {})
      .then(() => {
        next = undefined
        last = syncNow()
        return last
      })
    return next
  }

  async function syncNow(): Promise<void> {
    try {
      if (isDoubtful) moveAll()
      // There since the first commit, and for as long as anybody has the database open.
      file ??= await open(logFile(database), 'r+')
      const committed = count.committed()
      await file.datasync()
      await count.save(committed)
      const isDue = moving === undefined && performance.now() - movedAt >= moveEveryMs
      if (isDue && (await file.stat()).size >= moveAtBytes) move()
    } catch (error) {
      isDoubtful = true
      throw new StoreDownError(`What was written may be lost: ${String(error)}`, { cause: error })
    }
  }

  /** Writes everything once more, to the database itself: only then is the log to be trusted again. */
  function moveAll(): void {
    const told = writer.prepare('pragma wal_checkpoint(truncate)').get() as { readonly busy: number }
    if (told.busy !== 0) throw new Error('the log could not be moved')
    isDoubtful = false
  }

  function move(): void {
    movedAt = performance.now()
    moving = new Promise<void>((resolve, reject) => {
      const thread = startThread('checkpoint-worker', { workerData: database })
      thread.once('error', reject)
      thread.once('exit', () => resolve())
    })
      // What it could not do the next one does.
      .catch(() => {})
      .finally(() => {
        moving = undefined
      })
  }

  async function close(): Promise<void> {
    await moving
    try {
      await sync()
      await file?.close()
      await count.close()
      writer.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // Whoever opens the database next reads the log, too.
    }
  }

  let closing: Promise<void> | undefined
  return {
    noteCommit: count.note,
    secure: () => closing?.then(() => last) ?? sync(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Keeps beside the log how much of it is safe on the disk, so that damage to it is noticed at the next start. */
function createSyncedCount(database: string, writer: InstanceType<typeof DatabaseSync>) {
  const look = writer.prepare('pragma wal_checkpoint(noop)')
  const header = Buffer.alloc(logHeaderBytes)
  let log: number | undefined
  let noted: SyncedLog | null = null
  let file: FileHandle | undefined

  function readSalts(): Buffer {
    log ??= openSync(logFile(database), 'r')
    readSync(log, header, 0, header.length, 0)
    return Buffer.from(saltsOf(header))
  }

  return {
    note(): void {
      try {
        const salts = readSalts()
        const { log: frames } = look.get() as { readonly log: number }
        // Another process may begin the log anew at any time.
        noted = readSalts().equals(salts) ? { salts, frames } : null
      } catch {
        noted = null
      }
    },
    committed: () => noted,
    /** A count that cannot be written leaves an earlier one, which is true as well. */
    async save(committed: SyncedLog | null): Promise<void> {
      if (committed === null) return
      try {
        file ??= await openCount(syncedFile(database))
        const bytes = formatSynced(committed)
        await file.write(bytes, 0, bytes.length, 0)
      } catch {
        // The disk is full, say; the log itself is safe.
      }
    },
    async close(): Promise<void> {
      if (log !== undefined) closeSync(log)
      await file?.close()
    },
  }
}

/** Opens the file for writing; creates it where it is missing, with the owner of the data folder. */
async function openCount(path: string): Promise<FileHandle> {
  await createFile(path)
  return open(path, constants.O_WRONLY)
}
