/**
 * Migrates a database to the current schema. Migrations only go forward, and are applied in one transaction, by one
 * process at a time.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database, Reader, Tx } from './database.ts'
import { SchemaTooNewError, StoreBusyError } from './errors.ts'
import { migrationNames, migrations, namesOf } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

/** The limit of the wait for another process that is migrating. */
const waitLimitMs = 60_000
/** An arbitrary constant that identifies the lock. */
const advisoryLock = 7_241_900_113

/**
 * Applies the missing migrations and returns their names. Waits for another process that is migrating. Unless the
 * database is new or up to date, `prepare` is called first.
 */
export async function migrate(
  db: Database,
  prepare: () => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  const applied = await appliedNames(db.dialect, db.read)
  if (missingMigrations(applied).length === 0) return []
  if (applied.length > 0) await prepare()
  const deadline = performance.now() + waitLimitMs
  for (;;) {
    try {
      return await db.transaction(applyMissing)
    } catch (error) {
      if (!(error instanceof StoreBusyError) || performance.now() >= deadline) throw error
      await pause(50)
    }
  }
}

/** Throws SchemaTooNewError in the same cases as `migrate`. */
export async function isUpToDate(db: Database): Promise<boolean> {
  return missingMigrations(await appliedNames(db.dialect, db.read)).length === 0
}

async function applyMissing(tx: Tx): Promise<readonly string[]> {
  if (tx.dialect === 'postgres') await takeAdvisoryLock(tx.query)
  const missing = missingMigrations(await appliedNames(tx.dialect, tx.query))
  await sql`create table if not exists migrations (name text primary key, applied_at bigint not null)`.execute(tx.query)
  for (const { names, statements, convert } of missing) {
    for (const statement of statements(tx.dialect)) await sql.raw(statement).execute(tx.query)
    await convert?.(tx.query)
    const applied_at = Date.now()
    const rows = names.map((name) => ({ name, applied_at }))
    await tx.query.insertInto('migrations').values(rows).execute()
  }
  return namesOf(missing)
}

/** Leaves the table `migrations` empty. */
export function createSqliteSchema(database: { exec(statement: string): void }, names: readonly string[]): void {
  database.exec('create table migrations (name text primary key, applied_at bigint not null)')
  const missing = missingMigrations(names)
  for (const migration of migrations) {
    if (!missing.includes(migration)) for (const statement of migration.statements('sqlite')) database.exec(statement)
  }
}

/** Throws SchemaTooNewError for an unknown migration, and an error if a release is applied in part. */
export function missingMigrations(applied: readonly string[]): readonly Migration[] {
  const unknown = applied.find((name) => !migrationNames.includes(name))
  if (unknown !== undefined) {
    throw new SchemaTooNewError(
      `The database was created by a newer version of Micwatch (migration ${unknown}). Update Micwatch, or restore a backup.`,
    )
  }
  return migrations.filter(({ names }) => {
    const missing = names.filter((name) => !applied.includes(name))
    if (missing.length > 0 && missing.length < names.length) {
      throw new Error(
        `The database was created by a version between two releases (it lacks migration ${missing[0]}). Start Micwatch 1.0.0 with it once, then this version.`,
      )
    }
    return missing.length > 0
  })
}

export async function appliedNames(dialect: Database['dialect'], reader: Reader): Promise<readonly string[]> {
  const find =
    dialect === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table' and name = 'migrations'`
      : // `to_regclass` may not see what another process has just committed.
        sql`select 1 from pg_tables where tablename = 'migrations' and schemaname = any(current_schemas(false))`
  if ((await find.execute(reader)).rows.length === 0) return []
  const rows = await reader.selectFrom('migrations').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

export async function findCreation(reader: Reader): Promise<number> {
  const { first } = await reader
    .selectFrom('migrations')
    .select(({ fn }) => fn.min('applied_at').as('first'))
    .executeTakeFirstOrThrow()
  return Number(first)
}

/** Takes the lock without waiting for it, because a long wait would exceed the statement timeout. */
async function takeAdvisoryLock(reader: Reader): Promise<void> {
  const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${advisoryLock}) as taken`.execute(
    reader,
  )
  if (rows[0]?.taken !== true) throw new StoreBusyError('Another process is migrating the database.')
}
