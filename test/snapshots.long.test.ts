/** SQLite databases with damaged files, and the snapshots that replace them. */

import { copyFile, cp, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { listSnapshots, takeSnapshot } from '../src/storage/snapshots.ts'
import { configFor, createInstallation, startApp, startShure, until, withoutPush } from './support/app.ts'
import { openShared } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { revertNewestMigration, withDatabase } from './support/store/databases.ts'
import { password, signIn } from './support/users.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>
type Service = Awaited<ReturnType<Installation['serve']>>

const databasePath = (installation: Installation) => join(installation.path, 'data', 'micwatch.db')

async function listData(installation: Installation): Promise<string[]> {
  return (await readdir(join(installation.path, 'data'))).sort()
}

async function listSnapshotNames(installation: Installation): Promise<string[]> {
  return (await readdir(join(installation.path, 'data', 'snapshots')).catch(() => [])).sort()
}

/** Overwrites the file with nonsense from this offset on; by default everything but the first page. */
async function overwriteWithGarbage(path: string, from = 4096): Promise<void> {
  const { size } = await stat(path)
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(size - from, 'nonsense '), 0, size - from, from)
  await file.close()
}

/** Headers with a token of an operator and of an administrator. */
type Tokens = Readonly<Record<'operator' | 'admin', Record<string, string>>>

/**
 * A working directory in which a service has created a group and two tokens and then shut down cleanly. The program
 * creates them, because this process might not close the database until garbage collection, and closing it would remove
 * the write-ahead log.
 */
let template: { readonly installation: Installation; readonly tokens: Tokens }

beforeAll(() =>
  openShared(async () => {
    const installation = await createInstallation({})
    const service = await installation.serve()
    expect((await service.post('/api/group/', { title: 'Main stage' })).status).toBe(201)
    const tokens = await createTokens(installation, service)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    template = { installation, tokens }
  }),
)

async function createTokens(installation: Installation, service: Service): Promise<Tokens> {
  await installation.run(['create_admin', '--username', 'root', '--password-stdin'], {}, `${password}\n`)
  const session = await signIn(service)
  const headersOf = async (role: 'operator' | 'admin') => {
    const { json } = await service.post('/api/admin/tokens/', { name: role, role }, session)
    return { authorization: `Bearer ${json.token}` }
  }
  return { admin: await headersOf('admin'), operator: await headersOf('operator') }
}

/** Creates a working directory with the state that a service left at a clean shutdown. */
async function createUsedInstallation(): Promise<Installation> {
  const installation = await createInstallation({})
  await cp(join(template.installation.path, 'data'), join(installation.path, 'data'), { recursive: true })
  return installation
}

describe.concurrent('a database that is damaged when the service starts', () => {
  // Conformance: C-5.26.
  // Reliability: S3.
  it.each([
    ['random pages', (path: string) => overwriteWithGarbage(path)],
    ['a random header', (path: string) => overwriteWithGarbage(path, 0)],
    ['a truncated file', async (path: string) => truncate(path, Math.floor((await stat(path)).size / 2))],
    ['an empty file', (path: string) => truncate(path, 0)],
  ])(
    'is set aside (%s) and replaced by the newest snapshot; health is degraded until an administrator acknowledges it',
    async (_name, damage) => {
      const installation = await createUsedInstallation()
      const { admin: headers, operator } = template.tokens
      await writeFile(`${databasePath(installation)}-wal`, 'left behind')
      await damage(databasePath(installation))
      const damaged = await readFile(databasePath(installation))

      const service = await installation.serve()
      const [corrupt = ''] = (await listData(installation)).filter((name) =>
        /^micwatch\.db\.corrupt-\d{8}T[\d.]+Z$/.test(name),
      )
      expect((await readFile(join(installation.path, 'data', corrupt))).equals(damaged)).toBe(true)
      expect(await listData(installation)).toContain(`${corrupt}-wal`)
      expect((await service.get('/api/groups/')).json).toMatchObject([{ title: 'Main stage' }])
      const health = await service.get('/api/health/')
      expect([health.status, health.json]).toMatchObject([
        200,
        {
          status: 'degraded',
          store: {
            status: 'restored',
            details: expect.stringContaining('The database was replaced by the snapshot of'),
          },
        },
      ])
      await eventually(() => service.err()).toContain(corrupt)
      expect((await service.post('/api/admin/store/acknowledge', undefined, {})).status).toBe(401)
      expect((await service.post('/api/admin/store/acknowledge', undefined, operator)).status).toBe(403)
      const acknowledged = await service.post('/api/admin/store/acknowledge', undefined, headers)
      expect([acknowledged.status, acknowledged.json]).toMatchObject([200, { acknowledged: true }])
      expect((await service.get('/api/health/')).json).toMatchObject({ status: 'healthy', store: { details: null } })
      const again = await service.post('/api/admin/store/acknowledge', undefined, headers)
      expect([again.status, again.json]).toMatchObject([200, { acknowledged: false }])
      const audit = await service.get('/api/admin/audit/?action=store.', headers)
      expect(audit.json).toMatchObject([
        {
          action: 'store.acknowledge',
          actor: { kind: 'token' },
          details: { what: 'damaged database replaced' },
        },
        { action: 'store.repair', details: { what: 'damaged database replaced' } },
      ])
    },
  )

  // Reliability: S3.
  it('is replaced by the newest undamaged snapshot or an empty database; health stays degraded over restarts', async () => {
    const installation = await createUsedInstallation()
    const [oldest = ''] = await listSnapshotNames(installation)
    const folder = join(installation.path, 'data', 'snapshots')
    await copyFile(join(folder, oldest), join(folder, 'micwatch-20990101T000000.000Z.db'))
    await overwriteWithGarbage(join(folder, 'micwatch-20990101T000000.000Z.db'))
    await writeFile(join(folder, 'micwatch-20990102T000000.000Z.db'), 'no database')
    await overwriteWithGarbage(databasePath(installation))
    const service = await installation.serve()
    expect((await service.get('/api/groups/')).json).toMatchObject([{ title: 'Main stage' }])
    service.kill('SIGKILL')
    await service.ended
    const second = await installation.serve()
    expect((await second.get('/api/health/')).json.store.status).toBe('restored')
    second.kill('SIGKILL')
    await second.ended

    await rename(folder, `${folder}-away`)
    await overwriteWithGarbage(databasePath(installation), 0)
    const empty = await installation.serve()
    expect((await empty.get('/api/groups/')).json).toEqual([])
    const { json } = await empty.get('/api/health/')
    expect(json).toMatchObject({
      status: 'degraded',
      store: { details: expect.stringContaining('the new database is empty') },
    })
  })

  // Reliability: S3.
  it('stops the start with --strict, and is left unchanged', async () => {
    const installation = await createUsedInstallation()
    await overwriteWithGarbage(databasePath(installation))
    const before = await readFile(databasePath(installation))
    const { code, out, err } = await installation.run(['serve', '--strict', '--port', '0'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err.trim().split('\n')).toEqual([expect.stringContaining('data/micwatch.db is damaged')])
    expect((await readFile(databasePath(installation))).equals(before)).toBe(true)
    expect((await listData(installation)).filter((name) => name.includes('corrupt'))).toEqual([])
  })
})

describe.concurrent('a missing database with snapshots', () => {
  // Conformance: C-9.28, C-17.66.
  // Reliability: S3.
  it('is restored from the newest snapshot, as reported by health and at the start, until restore --none creates an empty one', async () => {
    const installation = await createUsedInstallation()
    await rm(databasePath(installation))
    const [snapshot = ''] = (await listSnapshotNames(installation)).toReversed()
    for (const args of [['migrate'], ['export'], ['import', '-'], ['backup', 'copy']]) {
      const { code, err } = await installation.run(args, {}, 'version: 1')
      expect([args, code, err.trim().split('\n')]).toEqual([args, 1, [expect.stringContaining('restore --none')]])
    }

    const service = await installation.serve()
    expect((await service.get('/api/groups/')).json).toMatchObject([{ title: 'Main stage' }])
    const { status, json } = await service.get('/api/health/')
    expect([status, json.status, json.store.status]).toEqual([200, 'degraded', 'restored'])
    for (const read of [() => json.store.details, service.err]) {
      for (const text of ['missing', snapshot, 'micwatch restore --none']) await eventually(read).toContain(text)
    }
    const early = await installation.run(['restore', '--none'])
    expect([early.code, early.err]).toEqual([1, expect.stringContaining('Stop it first')])
    service.kill('SIGTERM')
    await service.ended

    const restored = await installation.run(['restore', '--none', '--json'])
    expect([restored.code, restored.err]).toEqual([0, ''])
    const { database, snapshots } = restored.json()
    expect(await readdir(join(installation.path, snapshots))).toContain(snapshot)
    expect((await stat(join(installation.path, database))).size).toBeGreaterThan(0)
    const next = await installation.serve()
    expect((await next.get('/api/groups/')).json).toEqual([])
    expect((await next.get('/api/health/')).json).toMatchObject({ status: 'healthy', store: { details: null } })
  })

  it('stops the start with --strict', async () => {
    const installation = await createUsedInstallation()
    await rm(databasePath(installation))
    const { code, err } = await installation.run(['serve', '--strict', '--port', '0'])
    expect([code, err.trim().split('\n')]).toEqual([
      1,
      [expect.stringContaining('The database data/micwatch.db is missing')],
    ])
    expect(await listData(installation)).not.toContain('micwatch.db')
  })

  // Conformance: C-9.28.
  it('restore requires a file or --none', async () => {
    const installation = await createInstallation({})
    for (const args of [[], ['file', '--none']]) {
      const { code, err } = await installation.run(['restore', ...args])
      expect([code, err]).toEqual([2, expect.stringContaining('--none')])
    }
    const nothing = await installation.run(['restore', '--none', '--json'])
    expect([nothing.code, nothing.json()]).toEqual([0, { database: null, snapshots: null, history: null }])
  })
})

describe.concurrent('database files that are deleted or replaced while the service runs', () => {
  const names = ['', '-wal', '-shm']
  // Reliability: S4.
  it.each([
    ['deleted', (installation: Installation) => Promise.all(names.map((end) => rm(databasePath(installation) + end)))],
    ['without their log', (installation: Installation) => rm(`${databasePath(installation)}-wal`)],
    [
      'deleted with their folder',
      // The service may create a file in the folder meanwhile.
      (installation: Installation) => rm(join(installation.path, 'data'), { recursive: true, maxRetries: 10 }),
    ],
    [
      'replaced',
      async (installation: Installation) => {
        await writeFile(join(installation.path, 'other.db'), '')
        await rename(join(installation.path, 'other.db'), databasePath(installation))
      },
    ],
  ])('are detected (%s): writes are rejected, and the next start has all data stored before', async (_name, remove) => {
    const installation = await createUsedInstallation()
    const service = await installation.serve()
    await until('the start is complete', async () => (await service.get('/api/health/')).json.status === 'healthy')
    expect((await service.post('/api/group/', { title: 'Acknowledged' })).status).toBe(201)
    await remove(installation)
    const rejected = await service.post('/api/group/', { title: 'Refused' })
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, expect.any(String)])
    const { json } = await until(
      'health reports the failure',
      async () => {
        const health = await service.get('/api/health/')
        return health.json.store.status === 'damaged' && health
      },
      5000,
    )
    expect(json.store.details).toContain('deleted or replaced')
    await until(
      'the log reports the damage',
      () => (service.err() + service.out()).includes('deleted or replaced'),
      5000,
    )
    expect((await service.get('/api/groups/')).json.length).toBeGreaterThan(1)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)

    const next = await installation.serve()
    const titles = (await next.get('/api/groups/')).json.map(({ title }: { title: string }) => title)
    expect(titles).toEqual(expect.arrayContaining(['Main stage', 'Acknowledged']))
  })
})

describe.concurrent('damage that appears while the service runs', () => {
  // Conformance: C-5.26, C-11.12.
  // Reliability: S4.
  it('leaves the last state available, causes writes to be rejected, is logged once, and is repaired at the next start', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const first = await installation.serve()
    await until('both receivers are known', async () => (await first.receivers()).length === 2)
    first.kill('SIGTERM')
    await first.ended

    const service = await installation.serve()
    const socket = await service.socket()
    await until('the service polls', async () => (await service.get('/api/health/')).json.status === 'healthy')
    await overwriteWithGarbage(databasePath(installation))
    await until(
      'the damage is detected',
      async () => (await service.get('/api/health/')).json.store.status === 'damaged',
      20_000,
    )
    const health = await service.get('/api/health/')
    expect([health.status, health.json.status]).toEqual([200, 'degraded'])
    expect(await service.receivers()).toHaveLength(2)
    const rejected = await service.post('/api/group/', { title: 'Too late' })
    expect([rejected.status, rejected.json.error]).toEqual([503, expect.stringContaining('damaged')])
    expect(rejected.headers['retry-after']).toBeDefined()
    const alert = await socket.next(({ type }) => type === 'alert', 3000)
    expect(alert).toMatchObject({
      kind: 'storage_failing',
      severity: 'critical',
      state: 'raised',
      manufacturer: null,
    })
    const polls = shure.requests.count('/api/v1/devices')
    await until('polling continues', () => shure.requests.count('/api/v1/devices') > polls + 2)
    expect(socket.ofType('alert')).toHaveLength(1)
    const snapshots = await listSnapshotNames(installation)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    // A damaged database must not replace the snapshots from before the damage.
    expect(await listSnapshotNames(installation)).toEqual(snapshots)

    const next = await installation.serve()
    expect((await next.get('/api/health/')).json.store.status).toBe('restored')
    expect(await next.receivers()).toHaveLength(2)
  })
})

describe.concurrent('snapshots', () => {
  // Reliability: S3.
  it('are created at a clean stop and when the last one is an hour old; three are kept', async () => {
    const app = await startApp()
    const options = { data_dir: app.dataDir, database_url: app.databaseUrl }
    await until('the first snapshot exists', async () => (await listSnapshots(options)).length === 1)
    await withDatabase(app, async (db) => {
      for (const hour of [3, 2, 1]) await takeSnapshot(db, options, Date.UTC(2026, 0, 1, hour))
    })
    expect((await listSnapshots(options)).map(({ taken_at }) => new Date(taken_at).getUTCHours()).slice(1)).toEqual([
      3, 2,
    ])
    await app.close()
    const remaining = await listSnapshots(options)
    expect(remaining).toHaveLength(3)
    expect(now() - (remaining[0]?.taken_at ?? 0)).toBeLessThan(60_000)
    const { mode } = await stat(remaining[0]?.path ?? '')
    expect(mode & 0o777).toBe(0o600)

    const unchanged = await startApp({ dataDir: app.dataDir, databaseUrl: app.databaseUrl })
    expect(await listSnapshots(options)).toEqual(remaining)
    await unchanged.close()
    for (const { path } of await listSnapshots(options)) {
      const day = path.replace(/micwatch-\d{8}/, 'micwatch-20260101')
      await rename(path, day)
    }
    await startApp({ dataDir: app.dataDir, databaseUrl: app.databaseUrl })
    await until('a new snapshot exists', async () => {
      const [newest] = await listSnapshots(options)
      return now() - (newest?.taken_at ?? 0) < 60_000
    })
  })

  // Reliability: S11.
  it('are created before a migration, with the data as it was before', async () => {
    const installation = await createUsedInstallation()
    const path = databasePath(installation)
    const raw = new DatabaseSync(path)
    const name = revertNewestMigration(raw)
    raw.close()
    const before = await listSnapshotNames(installation)
    const { code, json } = await installation.run(['migrate', '--json'])
    expect([code, json()]).toEqual([0, { applied: [name] }])
    const [added = ''] = (await listSnapshotNames(installation)).filter(
      (snapshotName) => !before.includes(snapshotName),
    )
    const snapshot = new DatabaseSync(join(installation.path, 'data', 'snapshots', added), { readOnly: true })
    const names = snapshot.prepare('select name from migrations').all() as { name: string }[]
    snapshot.close()
    expect(names.map((name) => name.name)).not.toContain(name)
    expect(names.length).toBeGreaterThan(1)
  })
})
