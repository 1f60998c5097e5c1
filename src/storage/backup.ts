/** Writes the whole database to one SQLite file while the database is in use, whether it is SQLite or PostgreSQL. */

import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { addHistory, type CopyOptions } from '../history/levels/history-backup.ts'
import { historyPath } from '../history/levels/sqlite-tables.ts'
import type { Database } from './database.ts'
import { copyFromPostgres } from './postgres-copy.ts'
import { copySqlite, sqlitePath, type WriteOptions, writeAtomically } from './sqlite-file.ts'

export interface Written {
  readonly file: string
  readonly bytes: number
  readonly history: boolean
}

interface BackupOptions extends WriteOptions {
  /** Includes recorded levels, which is only possible with SQLite. */
  readonly withHistory?: CopyOptions | undefined
}

export async function writeBackup(
  db: Database,
  database_url: string,
  file: string,
  { withHistory, ...options }: BackupOptions,
): Promise<Written> {
  const path = sqlitePath(database_url)
  const history = path !== null && withHistory !== undefined && existsSync(historyPath(path))
  await writeAtomically(file, options, async (draft) => {
    if (path === null) return copyFromPostgres(db, draft)
    await copySqlite(path, draft, { ...options, overwrite: true })
    if (history) await addHistory(draft, historyPath(path), withHistory)
  })
  return { file, bytes: (await stat(file)).size, history }
}
