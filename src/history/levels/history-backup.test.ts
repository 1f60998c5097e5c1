/** Backups with recorded levels, and what a restore does with the levels that exist. SQLite only. */

import { existsSync } from 'node:fs'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../../test/support/store/databases.ts'
import { writeBackup } from '../../storage/backup.ts'
import { openDatabase } from '../../storage/database.ts'
import { findBackupFault } from '../../storage/inspect-backup.ts'
import { migrate } from '../../storage/migrate.ts'
import { restoreBackup, startEmpty } from '../../storage/restore.ts'
import { SqliteTables } from './sqlite-tables.ts'

const actor = { kind: 'cli', id: null, name: 'ana', role: 'admin', address: null } as const
const now = Date.parse('2026-05-01T18:00:00Z')
const stamp = '20260501T180000.000Z'

/** Creates a database with one group and, unless `levels` is null, a history with one chunk that contains this text. */
async function createInstallation(title: string, levels: string | null) {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  const paths = { data_dir: path, database_url: `sqlite:${join(path, 'micwatch.db')}` }
  const db = await openDatabase({ url: paths.database_url })
  await migrate(db)
  await db.transaction((tx) =>
    tx.query.insertInto('groups').values({ title, slots: '[]', hide_charts: 0, version: 1 }).execute(),
  )
  const history = join(path, 'history.db')
  if (levels !== null) await addChunk(history, levels)
  const file = (name: string) => join(path, name)
  const backup = async (options: object = { withHistory: {} }) =>
    writeBackup(db, paths.database_url, file('backup'), { overwrite: true, ...options })
  return { path, paths, history, file, backup, close: () => db.close() }
}

async function addChunk(path: string, text: string): Promise<void> {
  const tables = await SqliteTables.open(path, () => {})
  await tables.transaction(async () => {
    await tables.writeChunks(1, [{ start: 600, group: 0, data: Buffer.from(text) }])
    await tables.writeChunks(3600, [{ start: 86_400, group: 2, data: Buffer.from(text) }])
    await tables.setPrunedUntil(1, 600)
  })
  await tables.addSlices([{ part: 0, from: 1200, count: 1, data: Buffer.from(text) }])
  await tables.close()
}

async function readHistory(path: string) {
  const tables = await SqliteTables.open(path, () => {})
  try {
    const all = { from: 0, to: 1_000_000 }
    const chunks = [...(await tables.readChunks(1, all, null)), ...(await tables.readChunks(3600, all, null))]
    const slices = await tables.listSlices()
    const slice = await tables.readSlice(slices[0]?.id ?? 0)
    return {
      chunks: chunks.map(({ start, group, data }) => [start, group, Buffer.from(data).toString()]),
      slices: slices.map(({ from, count }) => [from, count]),
      slice: slice && Buffer.from(slice).toString(),
      pruned: await tables.prunedUntil(1),
    }
  } finally {
    await tables.close()
  }
}

const contentOf = (text: string) => ({
  chunks: [
    [600, 0, text],
    [86_400, 2, text],
  ],
  slices: [[1200, 1]],
  slice: text,
  pruned: 600,
})

function readGroups(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare('select title from groups')
      .all()
      .map(({ title }) => title)
  } finally {
    database.close()
  }
}

function tablesIn(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map(({ name }) => name)
  } finally {
    database.close()
  }
}

const restore = (paths: { data_dir: string; database_url: string }, file: string) =>
  restoreBackup({ paths, file, isForced: true, actor, now: () => now })

// Conformance: C-12.67, C-12.68.
it('copies all recorded levels to the backup and back', async () => {
  const source = await createInstallation('Choir', 'levels of the source')
  expect(await source.backup()).toMatchObject({ history: true })
  expect(findBackupFault(source.file('backup'))).toBeNull()
  await source.close()
  const target = await createInstallation('Band', 'levels of the target')
  await target.close()
  const { paths, file, history } = target

  const restored = await restore(paths, source.file('backup'))
  expect(restored).toEqual({
    migrated: [],
    safety_copy: file(`micwatch.db.before-restore-${stamp}`),
    history: true,
    history_safety_copy: file(`history.db.before-restore-${stamp}`),
  })
  expect(await readHistory(history)).toEqual(contentOf('levels of the source'))
  expect(await readHistory(file(`history.db.before-restore-${stamp}`))).toEqual(contentOf('levels of the target'))
  expect(readGroups(file('micwatch.db'))).toEqual(['Choir'])
  expect(tablesIn(file('micwatch.db'))).not.toContain('slices')
  expect((await readdir(target.path)).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

it('backs up the levels while another process writes to them', async () => {
  const source = await createInstallation('Choir', 'levels')
  const writer = await SqliteTables.open(source.history, () => {})
  await writer.addSlices([{ part: 0, from: 1201, count: 1, data: Buffer.from('open') }])
  const backup = source.backup()
  await writer.addSlices([{ part: 0, from: 1202, count: 1, data: Buffer.from('later') }])
  expect(await backup).toMatchObject({ history: true })
  await writer.close()
  await source.close()
  expect(findBackupFault(source.file('backup'))).toBeNull()
})

it('leaves the levels out without the option, or if nothing was recorded', async () => {
  const source = await createInstallation('Choir', 'levels')
  expect(await source.backup({})).toMatchObject({ history: false })
  await source.close()
  expect(tablesIn(source.file('backup'))).not.toContain('slices')
  const empty = await createInstallation('Choir', null)
  expect(await empty.backup()).toMatchObject({ history: false })
  await empty.close()
  expect(existsSync(empty.history)).toBe(false)
})

it('changes nothing if the copying is interrupted', async () => {
  const source = await createInstallation('Choir', 'levels of the source')
  await source.backup()
  await source.close()
  const target = await createInstallation('Band', 'levels of the target')
  await target.close()
  // A hundred rows are copied before the signal is read.
  const large = new DatabaseSync(source.file('backup'))
  const insert = large.prepare('insert into levels_10 (id, data) values (?, ?)')
  for (let id = 0; id < 200; id++) insert.run(id, Buffer.from('x'))
  large.close()
  const interrupted = restoreBackup({
    paths: target.paths,
    file: source.file('backup'),
    isForced: true,
    actor,
    now: () => now,
    signal: AbortSignal.abort(new Error('Interrupted')),
  })
  await expect(interrupted).rejects.toThrow('Interrupted')
  expect(readGroups(target.file('micwatch.db'))).toEqual(['Band'])
  expect(await readHistory(target.history)).toEqual(contentOf('levels of the target'))
  expect((await readdir(target.path)).filter((name) => /tmp|before/.test(name))).toEqual([])
})

it.each([
  ['drop table levels_60', 'its table levels_60 is missing'],
  ['create trigger purge after insert on slices begin delete from users; end', 'its trigger purge was not created by'],
  ['drop table pruned; create view pruned as select 1 as name', 'its view pruned was not created by'],
])('rejects a backup after: %s', async (statement, reason) => {
  const source = await createInstallation('Choir', 'levels')
  await source.backup()
  await source.close()
  const file = source.file('changed')
  await copyFile(source.file('backup'), file)
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
  expect(findBackupFault(file)).toMatch(reason)
})

it('moves the levels aside when an installation starts empty', async () => {
  const source = await createInstallation('Choir', 'levels')
  await source.close()
  const aside = source.file(`history.db.before-restore-${stamp}`)
  expect(await startEmpty(source.paths, now)).toMatchObject({ history: aside })
  expect(await readHistory(aside)).toEqual(contentOf('levels'))
  expect(existsSync(source.history)).toBe(false)
})
