/** Creates databases for tests on both engines. */

import { statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from '@photostructure/sqlite'
import { inject } from 'vitest'
import { createPostgresDatabase } from './postgres.ts'

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates an empty database without a schema. Drop it after the last connection to it is closed. */
export async function createTestDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'postgres') return createPostgresDatabase(inject('postgresUrl'))
  const folder = await createTestFolder()
  return { url: `sqlite:${join(folder.path, 'micwatch.db')}`, drop: folder.drop }
}

const testRoot = findTestRoot()

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
  const { name } = database.prepare('select max(name) as name from migrations').get() as { name: string }
  database.exec('drop table channel_conditions')
  database.prepare('delete from migrations where name = ?').run(name)
  return name
}
