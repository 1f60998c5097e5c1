/** Damage to SQLite's write-ahead log. SQLite reports no error, but ignores everything after the damaged frame. */

import { cp, mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createInstallation, until } from '../../test/support/app.ts'
import { openShared } from '../../test/support/cleanup.ts'
import { eventually } from '../../test/support/eventually.ts'
import { createTestDatabase, createTestFolder } from '../../test/support/store/databases.ts'
import { addManufacturers, startChild, waitForExit } from '../../test/support/store/helpers.ts'
import { openDatabase } from './database.ts'
import { repairStore } from './repair.ts'
import { snapshotName } from './snapshots.ts'
import { copySqlite, readSqlite } from './sqlite-file.ts'
import { findLogDamage } from './sqlite-log-damage.ts'

const groupCount = 20
const headerBytes = 32
const frameBytes = 24 + 4096

/** The data folder of a service that was killed after it had acknowledged `groupCount` groups. */
let killedData = ''
let closeShared = async () => {}
beforeAll(async () => {
  closeShared = await openShared(async () => {
    const installation = await createInstallation({})
    const service = await installation.serve(['--no-poll'])
    for (let index = 1; index <= groupCount; index += 1) {
      expect((await service.post('/api/group/', { title: `Group ${index}` })).status).toBe(201)
    }
    service.kill('SIGKILL')
    await service.ended
    killedData = join(installation.path, 'data')
  })
})
afterAll(() => closeShared())

/** Copies the data of the killed service. */
async function copyData(path?: string) {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const data_dir = join(path ?? folder.path, 'data')
  await mkdir(data_dir, { mode: 0o700 })
  // Snapshots are not copied: whether the service took one before it was killed depends on the speed of the machine.
  await cp(killedData, data_dir, { recursive: true, filter: (from) => basename(from) !== 'snapshots' })
  const database = join(data_dir, 'micwatch.db')
  return { data_dir, database_url: `sqlite:${database}`, database, log: `${database}-wal`, count: `${database}-synced` }
}

async function write(path: string, offset: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, offset)
  await file.close()
}

const garbage = Buffer.alloc(600, 'nonsense ')
const countFrames = async (log: string) => Math.floor(((await stat(log)).size - headerBytes) / frameBytes)
const countGroups = (path: string) => readSqlite(path, (read) => read('groups', ['title'])).length

// Reliability: S3.
describe('a damaged write-ahead log', () => {
  it.each([
    ['its header', async () => 0],
    ['the first frame', async () => headerBytes + 100],
    ['the head of a frame in the middle', async (frames: number) => headerBytes + (frames >> 1) * frameBytes],
    ['a page in the middle', async (frames: number) => headerBytes + (frames >> 1) * frameBytes + 2000],
    ['the last frame', async (frames: number) => headerBytes + (frames - 1) * frameBytes + 2000],
  ])('at %s: the files are kept, and the readable part is used', async (_name, position) => {
    const data = await copyData()
    await write(data.log, await position(await countFrames(data.log)), garbage)
    const repaired = await repairStore(data, Date.now(), false)
    expect(repaired).toMatchObject({ damage: expect.stringContaining('log') })
    expect(await readdir(data.data_dir)).toEqual(
      expect.arrayContaining(['', '-wal'].map((end) => expect.stringMatching(new RegExp(`db\\.corrupt-[^-]+${end}$`)))),
    )
    expect(await repairStore(data, Date.now(), false)).toBeNull()
  })

  it('with a missing end is detected by the stored frame count', async () => {
    const data = await copyData()
    await truncate(data.log, headerBytes + ((await countFrames(data.log)) - 5) * frameBytes)
    expect(await repairStore(data, Date.now(), false)).toMatchObject({ cause: 'log_damaged' })
    expect(countGroups(data.database)).toBeGreaterThan(5)
    expect(countGroups(data.database)).toBeLessThan(groupCount)
  })

  it('is replaced by a snapshot that has more data than its readable part', async () => {
    const data = await copyData()
    await mkdir(join(data.data_dir, 'snapshots'), { recursive: true })
    await copySqlite(data.database, join(data.data_dir, 'snapshots', snapshotName(1)), { overwrite: true })
    await write(data.log, headerBytes + 100, garbage)
    expect(await repairStore(data, Date.now(), false)).toMatchObject({ snapshot: snapshotName(1), snapshot_at: 1 })
    expect(countGroups(data.database)).toBe(groupCount)
  })

  it('with damage in the middle is detected even without the stored frame count', async () => {
    const data = await copyData()
    await rm(data.count)
    await write(data.log, headerBytes + ((await countFrames(data.log)) >> 1) * frameBytes + 2000, garbage)
    expect(await findLogDamage(data.database)).toMatch(/can be read up to frame \d+ of \d+/)
  })

  it('makes commands and serve --strict fail; serve uses the readable part, and reports the damage in health', async () => {
    const installation = await createInstallation({})
    const data = await copyData(installation.path)
    // After the tables were created, while groups were added
    await write(data.log, headerBytes + Math.floor((await countFrames(data.log)) * 0.75) * frameBytes + 2000, garbage)
    for (const args of [['export'], ['backup', 'copy'], ['serve', '--strict']]) {
      const { code, err } = await installation.run(args)
      expect([args, code, err]).toEqual([args, 1, expect.stringContaining('is damaged (its log')])
    }
    const service = await installation.serve(['--no-poll'])
    const { status, json } = await service.get('/api/health/')
    expect([status, json.status, json.store.status]).toEqual([200, 'degraded', 'restored'])
    expect(json.store.details).toContain('The write-ahead log of the database was found damaged')
    await eventually(() => service.out() + service.err()).toMatch(/The damaged file is [^ ]*micwatch\.db\.corrupt-/)
    const groups = (await service.get('/api/groups/')).json.length
    expect(groups).toBeGreaterThan(0)
    expect(groups).toBeLessThan(groupCount)
    expect((await service.post('/api/group/', { title: 'New' })).status).toBe(201)
  })
})

// Reliability: S3.
describe('a write-ahead log after a crash', () => {
  it('is complete: every group is stored, and nothing is reported', async () => {
    const data = await copyData()
    expect(await repairStore(data, Date.now(), false)).toBeNull()
    expect(countGroups(data.database)).toBe(groupCount)
    await rm(data.count)
    expect(await findLogDamage(data.database)).toBeNull()
  })

  it.each([
    ['half a frame', frameBytes >> 1],
    ['the head of a frame', 24],
    ['a frame whose page was not written', frameBytes],
  ])('with %s at its end is not damaged', async (_name, bytes) => {
    const data = await copyData()
    const frames = await countFrames(data.log)
    const log = await open(data.log, 'r+')
    const frame = Buffer.alloc(frameBytes)
    await log.read(frame, 0, frameBytes, headerBytes + (frames - 1) * frameBytes)
    await log.write(frame, 0, bytes, headerBytes + frames * frameBytes)
    await log.close()
    expect(await findLogDamage(data.database)).toBeNull()
    await rm(data.count)
    expect(await findLogDamage(data.database)).toBeNull()
    expect(countGroups(data.database)).toBe(groupCount)
  })

  it('in the middle of a write is not damaged, repeatedly', async () => {
    const { url, drop } = await createTestDatabase('sqlite')
    onTestFinished(drop)
    const path = url.slice('sqlite:'.length)
    const setup = await openDatabase({ url })
    await addManufacturers(setup)
    await setup.close()
    for (let round = 0; round < 4; round += 1) {
      const child = startChild('writer-child.ts', [url, String(round * 100_000)])
      await until('the process writes', () => child.lines.length > 2 + round)
      child.process.kill('SIGKILL')
      await waitForExit(child.process)
      expect(await findLogDamage(path)).toBeNull()
    }
  })

  it('after a large transaction was rolled back is not damaged', async () => {
    const { url, drop } = await createTestDatabase('sqlite')
    onTestFinished(drop)
    const path = url.slice('sqlite:'.length)
    const db = await openDatabase({ url })
    await db.transaction(({ query }) => sql`create table heap (value blob)`.execute(query))
    const insert = sql`insert into heap values (zeroblob(1048576))`
    const rolledBack = db.transaction(async ({ query }) => {
      // Writes more than SQLite's cache holds, so that some of it is in the log before the rollback.
      for (let index = 0; index < 8; index += 1) await insert.execute(query)
      throw new Error('changed my mind')
    })
    await expect(rolledBack).rejects.toThrow('changed my mind')
    await db.transaction(({ query }) => sql`insert into heap values (1)`.execute(query))
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(1_048_576)
    expect(await findLogDamage(path)).toBeNull()
    await rm(`${path}-synced`)
    expect(await findLogDamage(path)).toBeNull()
    await db.close()
  })
})
