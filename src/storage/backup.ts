/** Writes the whole database to one SQLite file while the database is in use, whether it is SQLite or PostgreSQL. */

import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { addHistory, type CopyOptions } from '../history/levels/history-backup.ts'
import { historyPath } from '../history/levels/sqlite-tables.ts'
import type { Database } from './database.ts'
import { copyFromPostgres } from './postgres-copy.ts'
import { runSeparately } from './separate-process.ts'
import { copySqlite, sqlitePath, type WriteOptions, writeAtomically } from './sqlite-file.ts'

export interface Written {
  readonly file: string
  readonly bytes: number
  readonly history: boolean
}

interface BackupOptions extends WriteOptions {
  /** Includes recorded levels, which is only possible with SQLite. */
  readonly withHistory?: CopyOptions | undefined
  /** Throws if the written file cannot be restored; it is then removed. */
  readonly verify?: (file: string, history: boolean) => Promise<void>
  /** Copies a SQLite database in a separate process until the signal aborts, because this one must not be blocked. */
  readonly separately?: AbortSignal
}

export async function writeBackup(
  db: Database,
  database_url: string,
  file: string,
  { withHistory, verify, separately, ...options }: BackupOptions,
): Promise<Written> {
  const path = sqlitePath(database_url)
  const history = path !== null && withHistory !== undefined && existsSync(historyPath(path))
  await writeAtomically(file, options, async (draft) => {
    if (path === null) await copyFromPostgres(db, draft)
    else if (separately === undefined) await copySqlite(path, draft, { ...options, overwrite: true })
    else await copySeparately(path, draft, separately)
    if (history) await addHistory(draft, historyPath(path), withHistory)
    await verify?.(draft, history)
  })
  return { file, bytes: (await stat(file)).size, history }
}

/** Longer than a slow disk needs for the largest database. */
const copyLimitMs = 3_600_000

async function copySeparately(from: string, to: string, signal: AbortSignal): Promise<void> {
  const source = new URL('./database-copier.ts', import.meta.url)
  const limits = { limitMs: copyLimitMs, signal }
  type Result = { readonly fault: { readonly message: string } | null }
  const { fault } = await runSeparately<Result>('copying the database', source, [resolve(from), resolve(to)], limits)
  if (fault !== null) throw Object.assign(new Error(), fault)
}
