import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Actor } from '../domain/access/access.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { FileError } from '../platform/file-error.ts'
import type { Service } from '../service.ts'
import { type Database, openDatabase } from '../storage/database.ts'
import { requireNoLoss } from '../storage/repair.ts'
import { migrateWithSnapshot } from '../storage/snapshots.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'
import { type Terminal, UsageError } from './terminal.ts'

/** Opens and migrates an existing database. Throws if it does not exist, because reading must not create one. */
export async function withStore<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  await requireStore(config)
  return withNewStore(config, work)
}

/** Opens and migrates the database. Creates it if it does not exist. */
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
  throw new FileError(path, `There is no database at ${path}; specify its location with --data-dir or --database-url`)
}

/** Returns the user of this terminal, for the audit log. */
export function actorOf({ env }: Terminal): Actor {
  return { kind: 'cli', id: null, name: env.USER ?? env.LOGNAME ?? 'cli', role: 'admin', address: null }
}

/**
 * Returns the sources of the named manufacturer, or all. Throws a UsageError if the manufacturer is unknown or
 * disabled.
 */
export function sourcesOf(service: Service, manufacturer: string | undefined): readonly MonitoredSource[] {
  if (manufacturer === undefined) return service.sourceRegistry.sources()
  const known = service.sourceRegistry.manufacturers()
  const named = known.find(({ code }) => code === manufacturer)
  if (named === undefined) {
    const codes = known.map(({ code }) => code).join(', ')
    throw new UsageError(`unknown manufacturer ${manufacturer}; configured: ${codes === '' ? 'none' : codes}`)
  }
  if (!named.isEnabled) throw new UsageError(`manufacturer ${manufacturer} is disabled`)
  return service.sourceRegistry.sources().filter((source) => source.manufacturer === manufacturer)
}
