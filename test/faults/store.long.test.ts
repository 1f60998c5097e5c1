/**
 * The service while its SQLite file is locked, cannot grow, is not writable or is too new, and after it was killed
 * in the middle of a write.
 */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { migrations } from '../../src/storage/migrations/index.ts'
import { channelOf, configFor, createInstallation, startApp, startShure, until, withoutPush } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { killCycles } from '../support/faults/kill-cycles.ts'
import { longestGapMs, monitorResponsiveness } from '../support/faults/responsiveness.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { holdTransaction } from '../support/internals.ts'
import { startChild } from '../support/store/helpers.ts'
import { timeLimit } from '../support/time-limit.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const elapsedSince = (startedAt: number) => performance.now() - startedAt
const level = (rf_level: number) =>
  respondJson({
    devices: [device(1, { transmitters: [{ channel: 1, slot: 1, name: 'Pack', battery: 80, rf_level }] })],
  })
const readLevel = async (service: { receivers(): Promise<Parameters<typeof channelOf>[0][]> }) => {
  const [receiver] = await service.receivers()
  return receiver && channelOf(receiver).transmitter?.rf_level
}

// Reliability: S12.
it('a write that waits for more than 5 s makes health degraded until it ends', async () => {
  const app = await startApp()
  const store = async () => (await app.get('/api/health/')).json.store
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const blocked = holdTransaction(app, finished)
  await until('the failure is detected', async () => (await store()).status === 'not_writable', 8000)
  expect(await store()).toMatchObject({ details: expect.stringContaining('waiting for more than 5 s') })
  expect((await app.get('/api/health/')).json.status).toBe('degraded')
  finish()
  await blocked
  await until('the status is healthy again', async () => (await store()).status === 'healthy')
})

describe('a write lock that another process holds', () => {
  // Reliability: S1.
  it('delays no reader, no pong and no poll; a write waits up to 5 s and then fails', async () => {
    const system = await startSystem(level(-60))
    const app = await startApp({ manufacturers: [system.entry('shure')] })
    await until('the system is polled', async () => (await app.receivers()).length === 1)
    const pulse = await monitorResponsiveness(app)
    const polls = system.requests.length
    const lockProcess = startChild('lock-child.ts', [app.databaseUrl.slice('sqlite:'.length), '9000'])
    await until('the database is locked', () => lockProcess.lines.includes('locked'), 20_000)
    const lockedAt = performance.now()
    system.respondWith(level(-41))

    const early = app.post('/api/group/', { title: 'early' })
    await until('levels are served while the database is locked', async () => (await readLevel(app)) === -41, 4000)
    await until('a while has passed', () => elapsedSince(lockedAt) > 6000)
    const late = app.post('/api/group/', { title: 'late' })

    const rejected = await early
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '5'])
    expect(elapsedSince(lockedAt)).toBeGreaterThan(4500)
    expect(elapsedSince(lockedAt)).toBeLessThan(timeLimit(7400))
    expect((await late).status).toBe(201)
    expect(elapsedSince(lockedAt)).toBeGreaterThan(7000)
    expect((await app.get('/api/groups/')).json).toMatchObject([{ title: 'late' }])
    await until('polls are stored again', () => readReadings(app.databaseUrl).includes('-41'))
    // If the event loop waited for the lock, there would be no pong for seconds.
    expect(await pulse.longestMs()).toBeLessThan(timeLimit(500))
    expect(longestGapMs(system.requests.slice(polls))).toBeLessThan(timeLimit(1500))
  })
})

describe('a disk that is full', () => {
  // Reliability: S2.
  it('stops neither reads nor polling; writes are rejected until there is space again', async () => {
    const system = await startSystem(level(-60))
    const installation = await createInstallation({ manufacturers: [system.entry('shure')] })
    const service = await installation.serve()
    await until('the system is polled', async () => (await service.receivers()).length === 1)
    limitFileSize(service.pid, '1')
    const fullAt = performance.now()
    const rejected = await service.post('/api/group/', { title: 'lost' })
    expect([rejected.status, rejected.headers['retry-after'], rejected.json.status]).toEqual([503, '5', 503])
    const health = await service.get('/api/health/')
    expect([health.status, health.json.status]).toEqual([200, 'degraded'])
    expect(health.json.details).toEqual([expect.stringMatching(/^The database cannot be written. Check the disk/)])

    // The service cannot renew its lease on a full disk. Waits until the lease has expired.
    await until('a lease has expired', () => elapsedSince(fullAt) > 16_000, 20_000)
    const polls = system.requests.length
    system.respondWith(level(-41))
    await until('polling continues in memory', async () => (await readLevel(service)) === -41)
    await until('polling continues', () => system.requests.length > polls + 2)
    expect((await service.post('/api/config/', { key: 'polling_interval', value: '7' })).status).toBe(503)
    expect((await service.get('/api/config/')).json.polling_interval).not.toBe(7)
    expect((await service.get('/api/groups/')).json).toEqual([])

    limitFileSize(service.pid, 'unlimited')
    const freedAt = performance.now()
    await until('health is healthy again', async () => (await service.get('/api/health/')).json.status === 'healthy')
    expect((await service.post('/api/group/', { title: 'kept' })).status).toBe(201)
    expect(elapsedSince(freedAt)).toBeLessThan(timeLimit(10_000))
    // Levels are stored once a minute, and when the service stops.
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(readReadings(installation.databaseUrl)).toContain('-41')
    expect(checkIntegrity(installation.databaseUrl)).toEqual([{ integrity_check: 'ok' }])
  })
})

describe('kill -9', () => {
  // Reliability: S5, P4.
  it('at any moment loses no acknowledged write, leaves none incomplete, and creates no duplicates', async () => {
    const shure = withoutPush(await startShure({ receivers: 5, story: true }))
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const seed = Date.now() % 100_000
    const report = await killCycles({ cycles: 20, start: () => installation.serve(), random: randomFrom(seed) })
    expect({ seed, lost: report.lost }).toEqual({ seed, lost: [] })
    expect(report.acknowledged).toBeGreaterThan(100)
    await until('all receivers are known', async () => (await report.last.receivers()).length === 5)
    report.last.kill('SIGTERM')
    await report.last.ended
    expect(checkIntegrity(installation.databaseUrl)).toEqual([{ integrity_check: 'ok' }])
    // The service never treated the database as damaged, so there is no `.corrupt` file.
    expect((await readdir(join(installation.path, 'data'))).filter((name) => name.includes('corrupt'))).toEqual([])
  })

  // Reliability: S11.
  it('during the migrations leaves none of them applied, and the next start applies them all', async () => {
    const installation = await createInstallation()
    await installation.write('die.mjs', killInMigration(migrations.length))
    const killed = installation.start(['serve', '--port', '0'], {
      NODE_OPTIONS: `--import=${join(installation.path, 'die.mjs')}`,
    })
    expect([await killed.ended, killed.err()]).toEqual([null, ''])
    expect(listTables(installation.databaseUrl)).toEqual([])
    const service = await installation.serve()
    expect((await service.get('/readyz')).status).toBe(200)
    expect(listTables(installation.databaseUrl)).toContain('migrations')
  })
})

describe('a start that cannot succeed', () => {
  // Reliability: S6.
  it.each(['a folder that cannot be written', 'a path below a file'])(
    'with %s exits with 1 and one line that names the path',
    async (kind) => {
      const installation = await createInstallation()
      await chmod(installation.path, 0o755)
      const folder = join(installation.path, 'data')
      if (kind === 'a path below a file') await writeFile(folder, 'in the way')
      else await mkdir(folder, { mode: 0o555 })
      const dataDir = kind === 'a path below a file' ? join(folder, 'below') : folder
      const startedAt = performance.now()
      const { code, err } = await runAsNobody(installation.path, ['serve', '--port', '0', '--data-dir', dataDir])
      expect([code, err.trimEnd().split('\n')]).toEqual([1, [expect.stringContaining(dataDir)]])
      expect(err).toMatch(
        /(belongs to user 0: run this as that user|is not a folder; specify another path).* micwatch doctor/,
      )
      expect(elapsedSince(startedAt)).toBeLessThan(timeLimit(3000))
    },
    30_000,
  )

  // Reliability: S10.
  it('with the schema of a newer program exits with 1 and one line, and leaves the file unchanged', async () => {
    const installation = await createInstallation()
    const first = await installation.serve()
    first.kill('SIGTERM')
    await first.ended
    const path = installation.databaseUrl.slice('sqlite:'.length)
    const database = new DatabaseSync(path)
    database.exec(
      `insert into migrations (name, applied_at) values ('9999-tomorrow', 1); pragma wal_checkpoint(truncate)`,
    )
    database.close()
    const before = await readFile(path)
    const { code, err } = await installation.run(['serve', '--port', '0'])
    expect([code, err.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(/newer.*9999-tomorrow/)]])
    expect((await readFile(path)).equals(before)).toBe(true)
  })
})

/** Makes every write beyond this offset in a file fail, as on a full disk. */
function limitFileSize(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

function withDatabase<T>(databaseUrl: string, read: (database: InstanceType<typeof DatabaseSync>) => T): T {
  const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length))
  try {
    return read(database)
  } finally {
    database.close()
  }
}

const checkIntegrity = (url: string) =>
  withDatabase(url, (database) => database.prepare('pragma integrity_check').all())
const listTables = (url: string) =>
  withDatabase(url, (database) => database.prepare(`select name from sqlite_master where type = 'table'`).all()).map(
    (row) => String(Object.values(row)[0]),
  )
const readReadings = (url: string) =>
  withDatabase(url, (database) => JSON.stringify(database.prepare('select readings from receivers').all()))

/**
 * Returns a module that is loaded before the program. It makes the process kill itself while it records the last of
 * `count` migrations.
 */
function killInMigration(count: number): string {
  return `
    const { now } = Date
    let made = 0
    Date.now = () => {
      if (/ applyMissing /.test(new Error().stack) && ++made === ${count}) process.kill(process.pid, 'SIGKILL')
      return now()
    }`
}

/** Runs the program as an unprivileged user, because root may write everywhere. */
async function runAsNobody(cwd: string, args: readonly string[]): Promise<{ code: number | null; err: string }> {
  const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const env = { PATH: process.env.PATH }
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env,
    ...unprivileged,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestEnd(() => child.kill('SIGKILL'))
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close')
  return { code, err }
}

/** Returns a small random number generator with a seed, so that a failure can be reproduced. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
