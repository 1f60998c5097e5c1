/** `backup` while a service runs, and `restore`, on both engines and from one engine to the other. */

import { execFileSync } from 'node:child_process'
import { copyFile, readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Database } from '../src/storage/database.ts'
import { acquireLease } from '../src/storage/leases.ts'
import { getInstallationId } from '../src/storage/meta.ts'
import { restoreBackup } from '../src/storage/restore.ts'
import { currentRevision } from '../src/storage/revision.ts'
import { configFor, createInstallationOn, startShure, until, withoutPush } from './support/app.ts'
import { engines, revertNewestMigration, withDatabase } from './support/store/databases.ts'
import { makeEndless } from './support/store/endless-database.ts'
import { tokenHeaders } from './support/tokens.ts'

const createAdminArgs = ['create_admin', '--username', 'ana', '--password-stdin']

type Installation = Awaited<ReturnType<typeof createInstallationOn>>

const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/**
 * Fills the database with receivers and their channels, a group, nested locations, a performer with a wireless unit, an
 * administrator and a session.
 */
async function fillDatabase(installation: Installation) {
  const service = await installation.serve()
  await until('both receivers are known', async () => (await service.receivers()).length === 2)
  const headers = await tokenHeaders(installation, 'admin')
  await service.post('/api/group/', { title: 'Thrown away' })
  await service.post('/api/group/', { title: 'Chœur', slots: [1, 2] })
  await service.send('DELETE', '/api/groups/1/')
  const inner = await service.post('/api/admin/locations/', { name: 'Rack' }, headers)
  const outer = await service.post('/api/admin/locations/', { name: 'Hall' }, headers)
  await service.send('PATCH', `/api/admin/locations/${inner.json.id}/`, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ parent: outer.json.id }),
  })
  const ann = await service.post('/api/performers/', { name: 'Ann', picture: png })
  const [unit] = (await service.get('/api/units/')).json
  await service.post('/api/assignments/', { performer: ann.json.id, wireless_unit: unit.id })
  return { service, headers }
}

async function readState(service: Awaited<ReturnType<Installation['serve']>>, headers: Record<string, string>) {
  const paths = [
    'groups',
    'performers',
    'assignments',
    'admin/locations',
    'admin/receivers',
    'units',
    'admin/manufacturers',
  ]
  const responses = await Promise.all(paths.map((path) => service.get(`/api/${path}/`, headers)))
  // Readings change from poll to poll.
  const picture = await service.get(responses[1]?.json[0].picture)
  return [
    picture.bytes.toString('base64'),
    ...responses.map(({ status, json }) => [status, JSON.parse(JSON.stringify(json, withoutReadings))]),
  ]
}

const withoutReadings = (key: string, value: unknown) =>
  ['last_seen', 'audio_level', 'rf_level', 'battery', 'signal_quality', 'battery_percentage'].includes(key)
    ? undefined
    : value

/** Numbers that count nothing. */
async function readNumbers(db: Database): Promise<unknown> {
  const keys = ['highest_slot', 'history_max_bytes', 'last_backup']
  const rows = await db.read.selectFrom('meta').selectAll().where('key', 'in', keys).orderBy('key').execute()
  return [...rows, await getInstallationId(db)]
}

describe.each(engines)('backup and restore on %s', (engine) => {
  // Conformance: C-9.20, C-12.67, C-12.68.
  it('backs up a running service and restores it on both engines', async () => {
    const shure = withoutPush(await startShure({ story: false }))
    const installation = await createInstallationOn(engine, [configFor(shure)])
    const { service, headers } = await fillDatabase(installation)
    const file = join(installation.path, 'venue.backup')
    const written = await installation.run(['backup', 'venue.backup', '--json'])
    expect([written.code, written.err, written.json()]).toEqual([
      0,
      '',
      { file: 'venue.backup', bytes: (await stat(file)).size, history: false, engine },
    ])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const raw = new DatabaseSync(file, { readOnly: true })
    expect(raw.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(raw.prepare('pragma foreign_key_check').all()).toEqual([])
    raw.close()
    const state = await readState(service, headers)

    const second = await installation.run(['backup', 'venue.backup'])
    expect([second.code, second.err]).toEqual([
      1,
      expect.stringMatching(/^micwatch: venue.backup already exists.*--force.*\n$/),
    ])
    const [channel] = (await service.receivers())[0]?.channels ?? []
    await until('a second is recorded', async () => {
      const time = (ago: number) => new Date(Date.now() - ago * 1000).toISOString()
      const range = `from=${time(30)}&to=${time(0)}`
      const { json } = await service.get(`/api/history/levels/?channels=${channel?.id}&${range}`, headers)
      return json.channels[0].state.includes('1')
    })
    const withoutHistory = await installation.run(['backup', 'venue.backup', '--force'])
    expect([withoutHistory.code, withoutHistory.err]).toEqual([
      0,
      expect.stringMatching(/does not contain the recorded levels(.|\n)*secret\.key/),
    ])
    const withHistory = await installation.run(['backup', 'venue.backup', '--force', '--with-history'])
    if (engine === 'postgres')
      expect([withHistory.code, withHistory.err]).toEqual([2, expect.stringMatching(/pg_dump/)])
    else expect([withHistory.code, withHistory.err]).toEqual([0, expect.not.stringContaining('recorded levels')])

    // A row that is created after the backup is lost when the backup is restored, but its id is not reused.
    expect((await service.post('/api/group/', { title: 'Later' })).json.id).toBe(3)
    const rejected = await installation.run(['restore', 'venue.backup', '--force'])
    expect([rejected.code, rejected.out]).toEqual([1, ''])
    expect(rejected.err).toMatch(new RegExp(`^micwatch: .*process ${service.pid} on .*Stop it first.*\\n$`))
    expect((await service.get('/api/groups/')).json).toHaveLength(2)
    service.kill('SIGTERM')
    await service.ended

    const unforced = await installation.run(['restore', 'venue.backup'])
    expect([unforced.code, unforced.err]).toEqual([1, expect.stringMatching(/not empty \(.*groups: 2.*--force/)])
    const before = await withDatabase(installation, (db) => currentRevision(db.read))
    const numbers = await withDatabase(installation, readNumbers)
    const restored = await installation.run(['restore', 'venue.backup', '--force', '--json'])
    expect([restored.code, restored.err]).toEqual([0, ''])
    const { safety_copy, history_safety_copy, ...report } = restored.json()
    const history = engine === 'sqlite'
    expect(report).toEqual({ file: 'venue.backup', migrated: [], history, credentials_unreadable: [] })
    expect(history_safety_copy).toMatch(history ? /history\.db\.before-restore-\d/ : /^history\.before-restore-\d/)
    const { first } = (await installation.run(['history', 'stats', '--json'])).json()
    expect(first !== null).toBe(history)
    expect(safety_copy).toMatch(/micwatch\.db\.before-restore-\d{8}T\d{6}\.\d{3}Z$/)
    const safetyCopy = new DatabaseSync(join(installation.path, safety_copy), { readOnly: true })
    expect(safetyCopy.prepare('select title from groups order by id').all()).toMatchObject([
      { title: 'Chœur' },
      { title: 'Later' },
    ])
    safetyCopy.close()
    await withDatabase(installation, async (db) => {
      expect(await currentRevision(db.read)).toBeGreaterThan(before)
      expect(await readNumbers(db)).toEqual(numbers)
      for (const table of ['sessions', 'polls', 'failed_tries'] as const) {
        expect(await db.read.selectFrom(table).selectAll().execute()).toEqual([])
      }
      const [entry] = await db.read.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).execute()
      expect(entry).toMatchObject({ action: 'store.restore', actor_kind: 'cli', result: 'ok' })
      const leases = await db.read.selectFrom('leases').selectAll().execute()
      expect(leases.filter(({ owner }) => owner !== null)).toEqual([])
    })
    const after = await installation.serve()
    expect(await readState(after, headers)).toEqual(state)
    expect((await after.post('/api/group/', { title: 'New' })).json.id).toBe(4)
    after.kill('SIGTERM')
    await after.ended

    const other = await createInstallationOn(engine === 'sqlite' ? 'postgres' : 'sqlite', [configFor(shure)])
    await copyFile(file, join(other.path, 'venue.backup'))
    const moved = await other.run(['restore', 'venue.backup'])
    expect([moved.code, moved.out]).toEqual([0, 'Restored venue.backup.\n'])
    // The key was not part of the backup.
    expect(moved.err).toMatch(/credentials of shure were encrypted with another key\. Copy the secret\.key .*\n$/)
    await copyFile(join(installation.path, 'data', 'secret.key'), join(other.path, 'data', 'secret.key'))
    const restoredService = await other.serve()
    expect(await readState(restoredService, headers)).toEqual(state)
    expect((await restoredService.post('/api/group/', { title: 'Newer' })).json.id).toBe(3)
  })
})

describe.each(engines)('restore on %s', (engine) => {
  // Conformance: C-9.20.
  it('is rejected from an invalid file, from a newer version, or while a process polls', async () => {
    const installation = await createInstallationOn(engine)
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(['backup', 'good'])).code).toBe(0)
    await writeFile(join(installation.path, 'text'), 'no database')
    await copyFile(join(installation.path, 'good'), join(installation.path, 'half'))
    await truncate(join(installation.path, 'half'), 40_960)
    for (const name of ['foreign', 'newer']) {
      if (name === 'newer') await copyFile(join(installation.path, 'good'), join(installation.path, name))
      const raw = new DatabaseSync(join(installation.path, name))
      if (name === 'newer') raw.exec("insert into migrations values ('9999-far-ahead', 0)")
      else raw.exec('create table songs (title text)')
      raw.close()
    }
    const reasons = {
      missing: 'missing does not exist',
      text: 'it is not a Micwatch backup',
      foreign: 'it is not a Micwatch backup',
      half: 'it is damaged',
      newer: 'newer version',
    }
    for (const [file, reason] of Object.entries(reasons)) {
      const { code, out, err } = await installation.run(['restore', file, '--force'])
      expect([file, code, out]).toEqual([file, 1, ''])
      expect(err.trim().split('\n')).toEqual([expect.stringContaining(reason)])
    }
    await withDatabase(installation, (db) =>
      db.transaction((tx) => acquireLease(tx, 'shure:http://a', 'console:77:ab', 55_000)),
    )
    const rejected = await installation.run(['restore', 'good', '--force'])
    expect([rejected.code, rejected.err]).toEqual([
      1,
      expect.stringMatching(/in use by process 77 on console.* \d+ s more/),
    ])
    const remaining = await readdir(join(installation.path, 'data')).catch(() => [])
    expect(remaining.filter((name) => /restore|tmp/.test(name))).toEqual([])
  })

  // Conformance: C-9.20.
  it('restores a backup from before a migration and migrates it', async () => {
    const installation = await createInstallationOn(engine)
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(['backup', 'old'])).code).toBe(0)
    const raw = new DatabaseSync(join(installation.path, 'old'))
    const name = revertNewestMigration(raw)
    raw.exec("insert into groups (title, slots, hide_charts) values ('Old', '[]', 0)")
    raw.close()
    const { code, err, json } = await installation.run(['restore', 'old', '--json'])
    expect([code, err]).toEqual([0, ''])
    expect(json()).toMatchObject({ migrated: [name], safety_copy: null })
    await withDatabase(installation, async (db) => {
      expect((await sql<{ title: string }>`select title from ${sql.table('groups')}`.execute(db.read)).rows).toEqual([
        { title: 'Old' },
      ])
      expect(await db.read.selectFrom('polls').selectAll().execute()).toEqual([])
    })
  })
})

// Reliability: 1.27.
describe('a hostile backup', () => {
  const endless = 'with recursive n(x) as (select 1 union all select x + 1 from n) select x as id, x as name from n'
  const changes: Readonly<Record<string, readonly [sql: string, reason: string]>> = {
    trigger: [
      'create trigger purge after insert on audit begin delete from users; end',
      'its trigger purge was not created by Micwatch',
    ],
    view: [
      `drop table performers; create view performers as ${endless}`,
      'its view performers was not created by Micwatch',
    ],
    names: [
      `drop table migrations; create view migrations as ${endless}`,
      'its view migrations was not created by Micwatch',
    ],
  }

  it('is rejected with a reason, and none of its SQL is executed', async () => {
    const installation = await createInstallationOn('sqlite')
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(createAdminArgs, {}, 'correct horse battery\n')).code).toBe(0)
    expect((await installation.run(['backup', 'good'])).code).toBe(0)
    for (const [name, [statements, reason]] of Object.entries(changes)) {
      const file = join(installation.path, name)
      await copyFile(join(installation.path, 'good'), file)
      const raw = new DatabaseSync(file)
      raw.exec(statements)
      raw.close()
      const { code, out, err } = await installation.run(['restore', name, '--force'])
      expect([name, code, out, err]).toEqual([name, 1, '', expect.stringContaining(`cannot be restored: ${reason}`)])
    }
    await withDatabase(installation, async (db) => {
      expect(await db.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'ana' }])
    })
  })

  it('is rejected if it, or a file that SQLite would open beside it, is not a regular file', async () => {
    const installation = await createInstallationOn('sqlite')
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(['backup', 'good'])).code).toBe(0)
    execFileSync('mkfifo', ['pipe', 'good-wal'], { cwd: installation.path })
    for (const [file, reason] of [
      ['pipe', 'pipe cannot be restored: it is not a regular file'],
      ['data', 'data cannot be restored: it is not a regular file'],
      ['/dev/zero', 'it is not a regular file'],
      ['good', 'good cannot be restored: good-wal is not a regular file'],
    ] as const) {
      const { code, out, err } = await installation.run(['restore', file, '--force'])
      expect([file, code, out, err]).toEqual([file, 1, '', expect.stringContaining(reason)])
    }
  })

  it('is aborted after a timeout when reading it does not end', async () => {
    const installation = await createInstallationOn('sqlite')
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(['backup', 'good'])).code).toBe(0)
    const file = join(installation.path, 'good')
    await makeEndless(file)
    const paths = { database_url: installation.databaseUrl, data_dir: join(installation.path, 'data') }
    const actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null } as const
    const startedAt = performance.now()
    const restored = restoreBackup({ paths, file, isForced: true, actor, now: Date.now, readLimitMs: 2000 })
    await expect(restored).rejects.toThrow('reading it took longer than 2 s')
    expect(performance.now() - startedAt).toBeGreaterThan(1900)
  })
})

describe('a damaged SQLite database', () => {
  it('is replaced by a backup, and its file is kept', async () => {
    const installation = await createInstallationOn('sqlite')
    expect((await installation.run(['migrate'])).code).toBe(0)
    expect((await installation.run(['backup', 'good'])).code).toBe(0)
    await writeFile(join(installation.path, 'data', 'micwatch.db'), 'nonsense')
    expect((await installation.run(['restore', 'good'])).err).toMatch(/is damaged.*--force/)
    const { code, json } = await installation.run(['restore', 'good', '--force', '--json'])
    expect(code).toBe(0)
    expect((await stat(join(installation.path, json().safety_copy))).size).toBe('nonsense'.length)
    expect((await installation.run(['migrate', '--json'])).json()).toEqual({ applied: [] })
  })
})

describe('nodes', () => {
  // Conformance: C-9.21.
  it.each(engines)('lists the lease of each source on %s, with its process and its remaining time', async (engine) => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallationOn(engine, [configFor(shure)])
    expect((await installation.run(['migrate'])).code).toBe(0)
    const empty = await installation.run(['nodes'])
    expect([empty.code, empty.out]).toEqual([0, 'No sources are being polled.\n'])
    expect((await installation.run(['nodes', '--json'])).json()).toEqual({ nodes: [], processes: [] })
    const service = await installation.serve()
    const screen = await installation.serve(['--no-poll'])
    const found = await until(
      'both processes are listed',
      async () => {
        const { json } = await installation.run(['nodes', '--json'])
        const { nodes, processes } = json()
        return nodes.length > 0 && processes.length === 2 && { nodes, processes }
      },
      30_000,
    )
    const node = found.nodes.find(({ work }: { work: string }) => work === 'polling')
    expect(node).toEqual({
      owner: expect.stringContaining(`:${service.pid}:`),
      host: expect.any(String),
      pid: service.pid,
      work: 'polling',
      source: `shure:${shure.baseUrl}`,
      manufacturer: 'shure',
      epoch: 1,
      seconds_left: expect.any(Number),
    })
    expect(node.seconds_left).toBeGreaterThan(0)
    expect(node.seconds_left).toBeLessThanOrEqual(15)
    expect(found.processes.map(({ pid }: { pid: number }) => pid).sort()).toEqual([service.pid, screen.pid].sort())
    const table = await installation.run(['nodes'])
    expect(table.out).toContain(String(service.pid))
    expect(table.out).toContain(`Running without a source: process ${screen.pid}`)
    const viewer = await tokenHeaders(installation, 'viewer')
    expect((await service.get('/api/admin/nodes/')).status).toBe(401)
    const { status, json } = await service.get('/api/admin/nodes/', viewer)
    expect([status, json.nodes[0].pid, json.processes.length]).toEqual([200, service.pid, 2])
    for (const process of [service, screen]) {
      process.kill('SIGTERM')
      await process.ended
    }
    expect((await installation.run(['nodes', '--json'])).json()).toEqual({ nodes: [], processes: [] })
  })
})
