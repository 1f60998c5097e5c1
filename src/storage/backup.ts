/** Writes the whole database to one SQLite file while the database is in use, whether it is SQLite or PostgreSQL. */

import { stat } from 'node:fs/promises'
import type { Database } from './database.ts'
import { copyFromPostgres } from './postgres-copy.ts'
import { copySqlite, sqlitePath, type WriteOptions, writeAtomically } from './sqlite-file.ts'

export interface Written {
  readonly file: string
  readonly bytes: number
}

/** Throws if the file exists and `overwrite` is false. */
export async function writeBackup(
  db: Database,
  database_url: string,
  file: string,
  options: WriteOptions,
): Promise<Written> {
  const path = sqlitePath(database_url)
  if (path !== null) await copySqlite(path, file, options)
  else await writeAtomically(file, options, (draft) => copyFromPostgres(db, draft))
  return { file, bytes: (await stat(file)).size }
}
