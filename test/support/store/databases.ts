/** Creates databases for tests on both engines. */

import { statfsSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../../src/storage/database.ts'
import { migrate } from '../../../src/storage/migrate.ts'
import { migrations } from '../../../src/storage/migrations/index.ts'
import { createPostgresDatabase } from './postgres.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates an empty database without a schema. Drop it after the last connection to it is closed. */
export async function createEmptyDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'postgres') return createPostgresDatabase(inject('postgresUrl'))
  const folder = await createTestFolder()
  return { url: `sqlite:${join(folder.path, 'micwatch.db')}`, drop: folder.drop }
}

/** Creates a database with the current schema. Drop it after the last connection to it is closed. */
export async function createTestDatabase(engine: Engine): Promise<TestDatabase> {
  const templates = inject('templates')
  if (engine === 'postgres') return createPostgresDatabase(inject('postgresUrl'), templates.postgres)
  const database = await createEmptyDatabase(engine)
  const path = database.url.slice('sqlite:'.length)
  await copyFile(templates.sqlite, path)
  await chmod(path, 0o600)
  return database
}

/** Opens the database of a service as another process would, to read or change what no interface shows or changes. */
export async function withDatabase<T>(app: { databaseUrl: string }, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase({ url: app.databaseUrl })
  return work(db).finally(() => db.close())
}

/** Copied by `createTestDatabase`: the path of a SQLite database, and the name of a PostgreSQL database. */
export interface Templates {
  readonly sqlite: string
  readonly postgres: string
}

/** Migrates one database on each engine, because migrating the database of every test would take longer. */
export async function createTemplates(postgresUrl: string): Promise<{ templates: Templates; drop(): Promise<void> }> {
  const folder = await createTestFolder()
  const sqlite = join(folder.path, 'template.db')
  const postgres = await createPostgresDatabase(postgresUrl)
  for (const url of [`sqlite:${sqlite}`, postgres.url]) {
    const db = await openDatabase({ url })
    await migrate(db)
    await db.close()
  }
  return {
    templates: { sqlite, postgres: postgres.name },
    async drop() {
      await postgres.drop()
      await folder.drop()
    },
  }
}

export const testRoot = findTestRoot()

export async function createTestFolder(): Promise<{ path: string; drop(): Promise<void> }> {
  const path = await mkdtemp(join(testRoot, 'micwatch-test-'))
  return { path, drop: () => rm(path, { recursive: true, force: true }) }
}

/**
 * Returns a folder in memory if enough memory is free: on a disk, SQLite waits at every commit, and no test depends on
 * that.
 */
function findTestRoot(): string {
  const inMemory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize > 4 * 1024 ** 3 ? inMemory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Reverts the newest migration, so that the database is like one of an older version. Returns the migration's name. */
export function revertNewestMigration(database: InstanceType<typeof DatabaseSync>): string {
  const newest = migrations.at(-1)
  if (newest === undefined) throw new Error('There are no migrations.')
  for (const statement of newest.statements('sqlite').toReversed()) database.exec(toReverse(statement))
  const [name = ''] = newest.names
  database.prepare('delete from migrations where name = ?').run(name)
  return name
}

/** Returns the statement that reverts a statement of a migration. */
function toReverse(statement: string): string {
  const [, kind, name] = /^create (?:unique )?(table|index) (\w+)/.exec(statement) ?? []
  if (kind !== undefined) return `drop ${kind} ${name}`
  const [, table, column] = /^alter table (\w+) add column (\w+)/.exec(statement) ?? []
  if (table !== undefined) return `alter table ${table} drop column ${column}`
  const [, key] = /^insert into meta \(key, value\) (?:values \(|select )'(\w+)'/.exec(statement) ?? []
  if (key !== undefined) return `delete from meta where key = '${key}'`
  const [, prefix] = /^insert into meta \(key, value\) select '(\w+:)' \|\|/.exec(statement) ?? []
  if (prefix !== undefined) return `delete from meta where key like '${prefix}%'`
  // What an update replaced is not restored; the migration does the same again.
  if (statement.startsWith('update ')) return 'select 1'
  throw new Error(`This statement cannot be reverted: ${statement}`)
}
