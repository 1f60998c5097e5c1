/**
 * SQLite's write-ahead log (`-wal`). Commits are appended to it and moved to the database file by a later checkpoint.
 * Both wait for the disk. SQLite would sync and checkpoint inside the commit, which would block the event loop and
 * delay all level meters, so this module does both asynchronously.
 */

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import type { DatabaseSync } from '@photostructure/sqlite'
import { startThread } from '../platform/thread.ts'
import { StoreDownError } from './errors.ts'
import { createFile } from './sqlite-file.ts'
import { formatSynced, logFile, logHeaderBytes, type SyncedLog, saltsOf, syncedFile } from './sqlite-log-damage.ts'

export interface SqliteLog {
  /** Records the length of the log. Called right after every commit, before the next transaction begins. */
  recordCommit(): void
  /** Resolves once all commits are durable, so that they survive a power failure. */
  secure(): Promise<void>
  /** Moves the log to the database file and closes it. */
  close(): Promise<void>
}

/** Size of the log that triggers a checkpoint. Each checkpoint starts a thread, so it must not run too often. */
const checkpointBytes = 16 * 1024 * 1024
const checkpointEveryMs = 10_000
/**
 * Size of the log at which SQLite itself runs a checkpoint inside a commit, in case the checkpoints of the thread fail.
 */
const maxLogPages = 16_384

export async function createSqliteLog(path: string, writer: InstanceType<typeof DatabaseSync>): Promise<SqliteLog> {
  writer.exec(
    `pragma synchronous = normal; pragma wal_autocheckpoint = ${maxLogPages};
     pragma journal_size_limit = ${checkpointBytes / 2}`,
  )
  const database = await realpath(path)
  let file: FileHandle | undefined
  const count = createSyncedCount(database, writer)
  /** After a failed sync, it is unknown how much of the log is on disk. */
  let hasSyncFailed = false
  let nextSync: Promise<void> | undefined
  let lastSync: Promise<void> = Promise.resolve()
  let checkpoint: Promise<void> | undefined
  let checkpointStartedAt = Number.NEGATIVE_INFINITY

  /** Syncs the log. Commits made during a running sync share the next one. */
  function sync(): Promise<void> {
    nextSync ??= lastSync
      .catch(() => {})
      .then(() => {
        nextSync = undefined
        lastSync = syncNow()
        return lastSync
      })
    return nextSync
  }

  async function syncNow(): Promise<void> {
    try {
      if (hasSyncFailed) checkpointNow()
      // The file exists from the first commit until the last process closes the database.
      file ??= await open(logFile(database), 'r+')
      const committed = count.committed()
      await file.datasync()
      await count.save(committed)
      const isDue = checkpoint === undefined && performance.now() - checkpointStartedAt >= checkpointEveryMs
      if (isDue && (await file.stat()).size >= checkpointBytes) startCheckpoint()
    } catch (error) {
      hasSyncFailed = true
      throw new StoreDownError(`The last writes may be lost: ${String(error)}`, { cause: error })
    }
  }

  /** Copies the whole log to the database file and empties the log, after which syncing the log is reliable again. */
  function checkpointNow(): void {
    const result = writer.prepare('pragma wal_checkpoint(truncate)').get() as { readonly busy: number }
    if (result.busy !== 0) throw new Error('the write-ahead log could not be copied to the database')
    hasSyncFailed = false
  }

  function startCheckpoint(): void {
    checkpointStartedAt = performance.now()
    checkpoint = new Promise<void>((resolve, reject) => {
      const thread = startThread(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: database })
      thread.once('error', reject)
      thread.once('exit', () => resolve())
    })
      // A failed checkpoint is retried by the next one.
      .catch(() => {})
      .finally(() => {
        checkpoint = undefined
      })
  }

  async function close(): Promise<void> {
    await checkpoint
    try {
      await sync()
      await file?.close()
      await count.close()
      writer.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // The next process that opens the database reads the log.
    }
  }

  let closing: Promise<void> | undefined
  return {
    recordCommit: count.note,
    secure: () => closing?.then(() => lastSync) ?? sync(),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Records how much of the log is synced to disk, so that damage is detected at the next start. */
function createSyncedCount(database: string, writer: InstanceType<typeof DatabaseSync>) {
  const walStatus = writer.prepare('pragma wal_checkpoint(noop)')
  const header = Buffer.alloc(logHeaderBytes)
  let log: number | undefined
  let latest: SyncedLog | null = null
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
        const { log: frames } = walStatus.get() as { readonly log: number }
        // Another process may restart the log at any time.
        latest = readSalts().equals(salts) ? { salts, frames } : null
      } catch {
        latest = null
      }
    },
    committed: () => latest,
    /** Saves the count. If it cannot be written, the earlier count stays, which is still valid. */
    async save(committed: SyncedLog | null): Promise<void> {
      if (committed === null) return
      try {
        file ??= await openCount(syncedFile(database))
        const bytes = formatSynced(committed)
        await file.write(bytes, 0, bytes.length, 0)
      } catch {
        // The disk may be full, for example. The log itself is synced.
      }
    },
    async close(): Promise<void> {
      if (log !== undefined) closeSync(log)
      await file?.close()
    },
  }
}

/** Opens the file of the synced count for writing. Creates it if necessary, owned by the owner of the data folder. */
async function openCount(path: string): Promise<FileHandle> {
  await createFile(path)
  return open(path, constants.O_WRONLY)
}
