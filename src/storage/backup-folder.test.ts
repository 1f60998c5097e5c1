import { appendFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTestFolder } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { BackupFolder } from './backup-folder.ts'
import { findBackupFault } from './inspect-backup.ts'

async function createFolder(): Promise<string> {
  const { path, drop } = await createTestFolder()
  onTestFinished(drop)
  return path
}

async function createSource() {
  const db = await openStore('sqlite')
  const logged: object[] = []
  const write = (fields: object) => void logged.push(fields)
  const log = { debug: write, info: write, warn: write, error: write }
  const { signal } = new AbortController()
  return { source: { db, database_url: db.url, with_history: false, signal, log }, logged }
}

// Conformance: C-26.11.
test('a backup is verified, and only unchanged files of the record are deleted', async () => {
  const path = await createFolder()
  const { source, logged } = await createSource()
  const folder = new BackupFolder(path, false)
  const write = (time: number) => folder.write('1', source, 2, time)
  await writeFile(join(path, 'micwatch-20200101T000000.000Z.db'), 'of a user')
  const first = await write(Date.UTC(2026, 0, 1))
  expect(findBackupFault(join(path, first.file))).toBeNull()
  const changed = await write(Date.UTC(2026, 0, 2))
  await utimes(join(path, first.file), new Date(), new Date(0))
  await appendFile(join(path, changed.file), 'of a user')
  await writeFile(join(path, `${changed.file}.0.tmp`), 'of a backup that did not end')
  await write(Date.UTC(2026, 0, 3))
  await write(Date.UTC(2026, 0, 4))
  await write(Date.UTC(2026, 0, 5))
  expect(logged).toEqual([{ file: join(path, changed.file) }])
  expect((await folder.list('1')).map(({ at }) => at)).toEqual([Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 4)])
  const names = (await readdir(path)).filter((name) => name.endsWith('.db'))
  expect(names.map((name) => name.slice(9, 17))).toEqual(['20200101', '20260102', '20260104', '20260105'])
  await expect(folder.list('2')).rejects.toThrow('contains the backups of another installation')
  await expect(new BackupFolder(path, false).write('2', source, 1, Date.UTC(2026, 0, 6))).rejects.toThrow('another')
})

// Conformance: C-26.11.
test('what a process that was killed left of a backup is removed before the next one', async () => {
  const path = await createFolder()
  const { source } = await createSource()
  const record = { installation: '1', pending: 'micwatch-a.db', verified: null, backups: [] }
  await writeFile(join(path, 'micwatch-backups.json'), JSON.stringify(record))
  await writeFile(join(path, 'micwatch-a.db'), '')
  await writeFile(join(path, 'micwatch-a.db.12345678.tmp'), 'half of a backup')
  await new BackupFolder(path, false).write('1', source, 1, Date.UTC(2026, 0, 1))
  expect(await readdir(path)).toEqual(['micwatch-20260101T000000.000Z.db', 'micwatch-backups.json'])
})

// Conformance: C-26.11.
test('a backup of a process that was killed before it was listed is listed and deleted like any other', async () => {
  const path = await createFolder()
  const { source } = await createSource()
  const folder = new BackupFolder(path, false)
  const entry = await folder.write('1', source, 1, Date.UTC(2026, 0, 1))
  const record = { installation: '1', pending: entry.file, verified: entry, backups: [] }
  await writeFile(join(path, 'micwatch-backups.json'), JSON.stringify(record))
  const next = await folder.write('1', source, 2, Date.UTC(2026, 0, 2))
  expect(await folder.list('1')).toEqual([next, entry])
  await folder.write('1', source, 1, Date.UTC(2026, 0, 3))
  expect(await readdir(path)).toEqual(['micwatch-20260103T000000.000Z.db', 'micwatch-backups.json'])
})

// Conformance: C-26.12.
test('a folder that is missing, a file, or has an unreadable record is named, and nothing is changed', async () => {
  const path = await createFolder()
  const check = (name: string, isCreated = false) => new BackupFolder(join(path, name), isCreated).check('sqlite:none')
  await writeFile(join(path, 'file'), '')
  await mkdir(join(path, 'folder'))
  await expect(check('none')).rejects.toThrow(`${path}/none does not exist; create it, or connect its disk`)
  await expect(check('none', true)).resolves.toBeUndefined()
  await expect(check('file')).rejects.toThrow(`${path}/file is not a folder; specify another one`)
  await expect(check('file/inner')).rejects.toThrow(`${path}/file/inner does not exist`)
  await expect(check('folder')).resolves.toBeUndefined()
  await writeFile(join(path, 'folder', 'micwatch-backups.json'), '{"backups": 1}')
  await expect(check('folder')).rejects.toThrow('micwatch-backups.json is not a list of backups; remove it')
  expect(await readFile(join(path, 'folder', 'micwatch-backups.json'), 'utf8')).toBe('{"backups": 1}')
})
