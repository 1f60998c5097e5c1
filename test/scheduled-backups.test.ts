import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { findConfigProblems } from '../src/service/config-problems.ts'
import { startApp } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { createTestFolder } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const signal = new AbortController().signal

// Conformance: C-26.10, C-26.11, C-26.12.
it('makes up a missed backup at the start, and reports a folder that cannot be used until it can', async () => {
  const { path, drop } = await createTestFolder()
  onTestEnd(drop)
  const folder = join(path, 'backups')
  await writeFile(folder, 'not a folder')
  const app = await startApp({ config: { backup: { folder, keep: 2 } } })
  const alerts = async () => {
    const { json } = await app.get('/api/alerts/')
    return (json as { kind: string; message: string; state: string }[]).filter(({ state }) => state !== 'cleared')
  }
  await eventually(alerts).toMatchObject([
    { kind: 'backup_failed', message: expect.stringContaining(`${folder} is not a folder`) },
  ])
  const health = await app.get('/api/health/')
  expect(health.json).toMatchObject({ status: 'degraded', details: [expect.stringContaining(folder)] })
  await rm(folder)
  await mkdir(folder)
  await app.service.backups.backUp(signal)
  expect(await readdir(folder)).toHaveLength(2)
  await eventually(alerts).toEqual([])
  const metrics = String((await app.get('/metrics')).bytes)
  expect(metrics).toMatch(/^micwatch_backup_last_success_timestamp_seconds\{[^}]*\} 1[\d.]+/m)
})

// Conformance: C-26.10.
it('writes the first backup at the start, and none that is not due', async () => {
  const app = await startApp({ config: { backup: { keep: 2 } } })
  const folder = join(app.dataDir, 'backups')
  await eventually(() => app.service.backups.isUpToDate).toBe(true)
  await app.close()
  const files = await readdir(folder)
  expect(files).toHaveLength(2)
  const { databaseUrl, dataDir } = app
  const next = await startApp({ databaseUrl, dataDir, config: { backup: { keep: 2 } } })
  await eventually(() => next.service.backups.isUpToDate).toBe(true)
  expect(await readdir(folder)).toEqual(files)
})

// Conformance: C-26.42.
it('a folder with the backups of another installation is named by config check', async () => {
  const [first, second] = [await startApp({ config: { backup: { keep: 1 } } }), await startApp()]
  await eventually(() => first.service.backups.isUpToDate).toBe(true)
  const folder = join(first.dataDir, 'backups')
  for (const app of [first, second]) await app.close()
  const config = join(second.dataDir, 'micwatch.yaml')
  await writeFile(config, `backup: { folder: ${folder} }`)
  const problemsOf = (data_dir: string, database_url?: string) =>
    findConfigProblems(readConfig({ config, data_dir, database_url }, {}))
  const before = await readdir(first.dataDir)
  expect(await problemsOf(first.dataDir, first.databaseUrl)).toEqual([])
  expect(await readdir(first.dataDir)).toEqual(before)
  const other = { key: 'backup.folder', what: expect.stringContaining('contains the backups of another installation') }
  expect(await problemsOf(second.dataDir, second.databaseUrl)).toMatchObject([other])
  expect(await problemsOf(join(second.dataDir, 'new'))).toMatchObject([other])
})

const path = '/api/admin/backups/'

// Conformance: C-26.32.
it('an administrator lists the backups and writes one now, which is audited', async () => {
  const app = await startApp({ config: { backup: { keep: 3, at: '04:45', days: ['mon'] } } })
  const headers = await tokenHeaders(app, 'admin')
  const read = async () => (await app.get(path, headers)).json
  await eventually(async () => (await read()).backups).toHaveLength(1)
  expect((await app.post(path, undefined, headers)).status).toBe(202)
  await eventually(async () => (await read()).backups).toHaveLength(2)
  const folder = join(app.dataDir, 'backups')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.db')).sort()
  const listed = await read()
  expect(listed).toMatchObject({
    schedule: { folder, at: '04:45', days: ['mon'], keep: 3, with_history: false },
    next_at: expect.stringMatching(/T\d\d:45:00.000Z$/),
    writer: { pid: process.pid, responds: true },
    running_since: null,
    failure: null,
    folder_error: null,
  })
  expect(listed.backups.map(({ file }: { file: string }) => file)).toEqual(files.toReversed())
  expect(listed.last_at).toBe(listed.backups[0].written_at)
  expect(listed.free_bytes).toBeGreaterThan(listed.backups[0].bytes)
  const [audit] = (await app.get('/api/admin/audit/', headers)).json
  expect(audit).toMatchObject({ action: 'backup.create', target: 'backup', result: 'ok' })
  await appendFile(join(folder, files[0] ?? ''), 'of a user')
  await rm(join(folder, files[1] ?? ''))
  expect((await read()).backups).toMatchObject([{ state: 'missing' }, { state: 'changed' }])
  const operator = await tokenHeaders(app, 'operator')
  expect((await app.get(path, operator)).status).toBe(403)
  expect((await app.post(path, undefined, operator)).status).toBe(403)
})

// Conformance: C-26.32.
it('a requested backup that fails says why, and the next one succeeds', async () => {
  const { path: folder, drop } = await createTestFolder()
  onTestEnd(drop)
  const app = await startApp({ config: { backup: { folder } } })
  const headers = await tokenHeaders(app, 'admin')
  const read = async () => (await app.get(path, headers)).json
  await eventually(async () => (await read()).backups).toHaveLength(1)
  const record = join(folder, 'micwatch-backups.json')
  const text = await readFile(record, 'utf8')
  await writeFile(record, '{}')
  expect((await app.post(path, undefined, headers)).status).toBe(202)
  await eventually(read).toMatchObject({
    running_since: null,
    failure: { error: expect.stringContaining(`${record} is not a list of backups; remove it`) },
    folder_error: expect.stringContaining(record),
    backups: [],
  })
  await writeFile(record, text)
  expect((await app.post(path, undefined, headers)).status).toBe(202)
  await eventually(read).toMatchObject({ failure: null, folder_error: null, backups: [{}, {}] })
})

// Conformance: C-26.32.
it('a backup cannot be requested without a schedule, while one is written, or from a process that writes none', async () => {
  const none = await startApp()
  const config = { backup: { keep: 2 } }
  const first = await startApp({ config })
  const { databaseUrl, dataDir } = first
  const request = async (app: typeof first, headers: Record<string, string>) => {
    const { status, json } = await app.post(path, undefined, headers)
    return [status, json.error]
  }
  const elsewhere = await tokenHeaders(none, 'admin')
  expect(await request(none, elsewhere)).toEqual([
    409,
    expect.stringContaining('Add the section backup to the configuration'),
  ])
  expect((await none.get(path, elsewhere)).json).toMatchObject({ schedule: null, next_at: null, backups: [] })
  await eventually(() => first.service.backups.isUpToDate).toBe(true)
  const second = await startApp({ databaseUrl, dataDir, config })
  const headers = await tokenHeaders(first, 'admin')
  expect(await request(second, headers)).toEqual([
    409,
    expect.stringMatching(/^The backups are written by process \d+ on .+\. Send the request to that process\.$/),
  ])
  expect((await second.get(path, headers)).json).toMatchObject({
    writer: { responds: false },
    backups: [{ state: 'present' }],
  })
  const running = first.service.backups.backUp(signal)
  expect(await request(first, headers)).toEqual([409, 'A backup is already being written. Wait until it ends.'])
  await running
})
