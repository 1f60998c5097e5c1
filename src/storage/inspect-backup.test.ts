/**
 * Reasons for `restore` to reject a file. Files that take practically forever to read are tested in
 * test/backup.long.test.ts.
 */

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  createTestDatabase,
  createTestFolder,
  engines,
  revertNewestMigration,
} from '../../test/support/store/databases.ts'
import { writeBackup } from './backup.ts'
import { openDatabase } from './database.ts'
import { findBackupFault } from './inspect-backup.ts'

let validBackup: string

async function createBackup(engine: (typeof engines)[number], path: string): Promise<void> {
  const { url, drop } = await createTestDatabase(engine)
  const db = await openDatabase({ url })
  try {
    await writeBackup(db, url, path, { overwrite: true })
  } finally {
    await db.close()
    await drop()
  }
}

beforeAll(async () => {
  const { path, drop } = await createTestFolder()
  validBackup = join(path, 'good')
  await createBackup('sqlite', validBackup)
  return drop
})

async function copyWithChange(change: (database: InstanceType<typeof DatabaseSync>) => void): Promise<string> {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const file = join(path, 'changed')
  await copyFile(validBackup, file)
  const database = new DatabaseSync(file)
  change(database)
  database.close()
  return file
}

test.each([
  ['create trigger purge after insert on audit begin delete from users; end', 'its trigger purge was not created by'],
  ['drop table performers; create view performers as select 1 as id', 'its view performers was not created by'],
  ['create table notes (x)', 'its table notes was not created by'],
  ['create index slow on users (length(hex(username)))', 'its index slow was not created by'],
  ['create virtual table search using fts5(x)', 'its table search was not created by'],
  ['alter table groups add column x text default (hex(randomblob(16)))', 'its table groups was not created by'],
  ['alter table groups add column x generated always as (hex(title))', 'its table groups was not created by'],
  ['drop table settings', 'its table settings is missing'],
  ['drop table migrations', 'it is not a Micwatch backup'],
  ['delete from migrations', 'it is empty'],
  ["insert into migrations values ('9999-far-ahead', 0)", 'newer version'],
])('rejects a backup after: %s', async (statement, reason) => {
  const file = await copyWithChange((database) => database.exec(statement))
  expect(findBackupFault(file)).toContain(reason)
})

// Reliability: 1.27.
test.each(engines)('accepts a backup of %s', async (engine) => {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  await createBackup(engine, join(path, 'backup'))
  expect(findBackupFault(join(path, 'backup'))).toBeNull()
})

// Reliability: 1.27.
test('accepts a backup from before a migration, and one with statistics', async () => {
  expect(findBackupFault(await copyWithChange((database) => void revertNewestMigration(database)))).toBeNull()
  expect(findBackupFault(await copyWithChange((database) => database.exec('analyze')))).toBeNull()
})
