import { join } from 'node:path'
import type { Config } from '../config.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'

export interface StoredFiles {
  readonly dataFolder: string
  /** Null for PostgreSQL. */
  readonly database: string | null
  /** Null without TLS. */
  readonly certificate: string | null
}

export function storedFiles({ data_dir, database_url, tls }: Config): StoredFiles {
  const certificate = tls === 'auto' ? join(data_dir, 'tls.crt') : (tls?.cert ?? null)
  return { dataFolder: data_dir, database: sqlitePath(database_url), certificate }
}
