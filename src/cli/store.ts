/** What commands about the database share: opening it, and saying who else does. */

import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Actor } from '../model/access.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { requireNoLoss } from '../store/repair.ts'
import { migrateWithSnapshot } from '../store/snapshots.ts'
import { sqlitePath } from '../store/sqlite-file.ts'
import type { Terminal } from './terminal.ts'

/** Brought up to date. Looking at a database must not make one. */
export async function withStore<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  await requireStore(config)
  return withNewStore(config, work)
}

/** Brought up to date, and created where there is none. */
export async function withNewStore<T>(
  config: Config,
  work: (db: Database, migrations: readonly string[]) => Promise<T>,
): Promise<T> {
  await requireNoLoss(config)
  const db = await openDatabase({ url: config.database_url })
  try {
    return await work(db, await migrateWithSnapshot(db, config))
  } finally {
    await db.close()
  }
}

export async function requireStore(config: Config): Promise<void> {
  await requireNoLoss(config)
  const path = sqlitePath(config.database_url)
  if (path === null || existsSync(path)) return
  throw new Error(`There is no database at ${path}; say where it is with --data-dir or --database-url`)
}

/** Whoever sits at this terminal. */
export function actorAt({ env }: Pick<Terminal, 'env'>): Actor {
  return { kind: 'cli', id: null, name: env.USER ?? env.LOGNAME ?? 'cli', role: 'admin', address: null }
}
