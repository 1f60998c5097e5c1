import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Returns the size in bytes, with the write-ahead log. `path` is the file of a SQLite database; null for PostgreSQL. */
export async function databaseSize(db: Database, path: string | null): Promise<number> {
  if (path !== null) {
    const log = await stat(`${path}-wal`).catch(() => null)
    return (await stat(path)).size + (log?.size ?? 0)
  }
  const { rows } = await sql<{ size: string }>`select pg_database_size(current_database()) as size`.execute(db.read)
  return Number(rows[0]?.size)
}
