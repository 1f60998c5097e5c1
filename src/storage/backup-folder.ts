/**
 * The folder of scheduled backups. A record in it lists the files that this installation has written; no other file is ever
 * deleted.
 */

import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { access, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { BackupState } from '../contract/values.ts'
import { parseJson } from '../domain/json.ts'
import { describeReadError, describeWriteError, FileError } from '../platform/file-error.ts'
import type { Log } from '../platform/log.ts'
import { writeBackup } from './backup.ts'
import type { Database } from './database.ts'
import { createFolder, isMissing } from './folder.ts'
import { checkBackup } from './restore.ts'
import { sqlitePath, toStamp, writeText } from './sqlite-file.ts'

const FileName = Type.String({ pattern: '^[^/\\\\]+$' })

const Entry = Type.Object({
  /** The name of the file in the folder. */
  file: FileName,
  /** Epoch milliseconds. */
  at: Type.Number(),
  bytes: Type.Number(),
  /** A file with another content belongs to its user. Copying a file may change its times, but not this. */
  sha256: Type.String(),
  with_history: Type.Boolean(),
  duration_ms: Type.Number(),
})
export type BackupEntry = Type.Static<typeof Entry>

const BackupRecord = Type.Object({
  /** The id of the installation. */
  installation: Type.String(),
  /** The file that is being written. */
  pending: Type.Union([FileName, Type.Null()]),
  /** The pending file once it is verified. It is renamed next, and then listed in `backups`. */
  verified: Type.Union([Entry, Type.Null()]),
  /** The newest first. */
  backups: Type.Array(Entry),
})
type BackupRecord = Type.Static<typeof BackupRecord>

const recordName = 'micwatch-backups.json'

export interface BackupSource {
  readonly db: Database
  readonly database_url: string
  readonly with_history: boolean
  readonly signal: AbortSignal
  readonly log: Log
}

export class BackupFolder {
  readonly path: string
  readonly #isCreated: boolean

  /** Creates the folder when it is used, if `isCreated`. A missing folder of a user may be a disk that is not connected. */
  constructor(path: string, isCreated: boolean) {
    this.path = resolve(path)
    this.#isCreated = isCreated
  }

  /** Throws a FileError if the folder cannot be used, or has no space for a copy of the database. Changes nothing. */
  async check(database_url: string): Promise<void> {
    const { path } = this
    try {
      if (!(await stat(path)).isDirectory()) throw new FileError(path, `${path} is not a folder; specify another one`)
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
      if ((await freeBytesAt(path)) <= (await sizeOf(database_url)))
        throw new FileError(
          path,
          `${path} has too little space for a backup; free some space, or specify another folder`,
        )
    } catch (error) {
      if (!isMissing(error)) throw describeWriteError(path, error)
      if (this.#isCreated) return
      throw new FileError(path, `${path} does not exist; create it, or connect its disk`, { cause: error })
    }
    await this.#readRecord()
  }

  /** Lists the backups that this installation has written, the newest first. Throws a FileError if that is unknown. */
  async list(installation: string): Promise<readonly BackupEntry[]> {
    return (await this.#read(installation)).backups
  }

  /** Compares the sizes; another content of the same size is not noticed. */
  async stateOf({ file, bytes }: BackupEntry): Promise<BackupState> {
    try {
      const found = await stat(join(this.path, file))
      return found.isFile() && found.size === bytes ? 'present' : 'changed'
    } catch (error) {
      if (isMissing(error)) return 'missing'
      throw error
    }
  }

  /** Returns null if the folder cannot be read. */
  async freeBytes(): Promise<number | null> {
    return freeBytesAt(this.path).catch(() => null)
  }

  /** Writes a backup, verifies it by reading it, and deletes the oldest of its own so that `keep` are left. */
  async write(installation: string, source: BackupSource, keep: number, now: number): Promise<BackupEntry> {
    const { db, database_url, with_history, signal } = source
    const startedAt = performance.now()
    if (this.#isCreated) await createFolder(this.path)
    await this.check(database_url)
    const known = await this.#recover(await this.#read(installation), signal)
    const file = `micwatch-${toStamp(now)}.db`
    await this.#save({ ...known, pending: file })
    const withHistory = with_history ? { onProgress: () => {}, signal } : undefined
    let entry: BackupEntry | undefined
    const verify = async (draft: string, history: boolean) => {
      await checkBackup(draft, { signal })
      const { size } = await stat(draft)
      const sha256 = await hashFile(draft, signal)
      const duration_ms = Math.round(performance.now() - startedAt)
      entry = { file, at: now, bytes: size, sha256, with_history: history, duration_ms }
      await this.#save({ ...known, pending: file, verified: entry })
    }
    const options = { overwrite: false, owner: 'process', withHistory, verify, separately: signal } as const
    await writeBackup(db, database_url, join(this.path, file), options)
    if (entry === undefined) throw new Error(`${file} was not verified`)
    const record = { ...known, backups: [entry, ...known.backups] }
    await this.#save(record)
    await this.#prune(record, keep, source)
    return entry
  }

  async #prune(record: BackupRecord, keep: number, { signal, log }: BackupSource): Promise<void> {
    const excess = record.backups.slice(keep)
    if (excess.length === 0) return
    const undeleted: BackupEntry[] = []
    for (const entry of excess) {
      const path = join(this.path, entry.file)
      try {
        const state = await this.#compare(entry, signal)
        if (state === 'present') await rm(path)
        else if (state === 'changed') log.warn({ file: path }, 'an old backup is kept, because it was changed')
      } catch (error) {
        if (signal.aborted) throw error
        log.warn({ file: path, error: String(error) }, 'an old backup could not be deleted; the next one tries again')
        undeleted.push(entry)
      }
    }
    await this.#save({ ...record, backups: [...record.backups.slice(0, keep), ...undeleted] })
  }

  async #compare(entry: BackupEntry, signal: AbortSignal): Promise<BackupState> {
    const state = await this.stateOf(entry)
    if (state !== 'present') return state
    return (await hashFile(join(this.path, entry.file), signal)) === entry.sha256 ? 'present' : 'changed'
  }

  /** Lists the backup that a process verified and renamed before it was killed, and removes what it left otherwise. */
  async #recover({ pending, verified, ...record }: BackupRecord, signal: AbortSignal): Promise<BackupRecord> {
    const isWritten = verified !== null && (await this.#compare(verified, signal)) === 'present'
    if (pending !== null) await this.#removeDrafts(pending)
    const backups = isWritten ? [verified, ...record.backups] : record.backups
    return { ...record, pending: null, verified: null, backups }
  }

  async #removeDrafts(pending: string): Promise<void> {
    // The name of the backup is reserved with an empty file.
    const reserved = await stat(join(this.path, pending)).catch(() => null)
    if (reserved?.isFile() && reserved.size === 0) await rm(join(this.path, pending), { force: true })
    const names = (await readdir(this.path)).filter((name) => name.startsWith(`${pending}.`) && name.includes('.tmp'))
    for (const name of names) await rm(join(this.path, name), { force: true })
  }

  async #read(installation: string): Promise<BackupRecord> {
    const record = (await this.#readRecord()) ?? { installation, pending: null, verified: null, backups: [] }
    if (record.installation === installation) return record
    throw new FileError(
      this.path,
      `${this.path} contains the backups of another installation; specify another folder, or remove ${recordName} from it`,
    )
  }

  /** Returns null if there is none. */
  async #readRecord(): Promise<BackupRecord | null> {
    const path = join(this.path, recordName)
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return null
      throw describeReadError(path, error)
    }
    const record = parseJson(text)
    if (Value.Check(BackupRecord, record)) return record
    throw new FileError(
      path,
      `${path} is not a list of backups; remove it. The backups stay, but are no longer deleted`,
    )
  }

  #save(record: BackupRecord): Promise<void> {
    return writeText(join(this.path, recordName), `${JSON.stringify(record, null, 2)}\n`)
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  return hash.digest('hex')
}

async function freeBytesAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

/** The size of a SQLite database; 0 for PostgreSQL, whose size is not the size of its backup. */
async function sizeOf(database_url: string): Promise<number> {
  const path = sqlitePath(database_url)
  return path === null ? 0 : ((await stat(path).catch(() => null))?.size ?? 0)
}
