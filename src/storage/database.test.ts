import { access, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createEmptyDatabase, createTestFolder, type Engine, engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { type Database, openDatabase } from './database.ts'
import { SchemaTooNewError } from './errors.ts'
import { migrate } from './migrate.ts'
import { migrationNames as names } from './migrations/index.ts'
import { repairStore } from './repair.ts'
import { currentRevision, nextRevision } from './revision.ts'

describe.each(engines)('migrations on %s', (engine) => {
  test('are all applied to a fresh database, and none in a second run', async () => {
    const [db] = await openEmpty(engine, 1)
    expect(await migrate(db)).toEqual(names)
    expect(await migrate(db)).toEqual([])
    expect(await currentRevision(db.read)).toBe(0)
  })

  test('are applied by one of four processes that start together, and the others wait', async () => {
    const databases = await openEmpty(engine, 4)
    const applied = await Promise.all(databases.map((database) => migrate(database)))
    expect(applied.flat()).toEqual(names)
    for (const db of databases) expect(await currentRevision(db.read)).toBe(0)
  })

  // Reliability: S10.
  test('reject a newer schema and leave it unchanged', async () => {
    const db = await openStore(engine)
    await db.transaction((tx) =>
      tx.query.insertInto('migrations').values({ name: '9999-future', applied_at: 1 }).execute(),
    )
    const before = engine === 'sqlite' ? await readFile(pathOf(db.url)) : undefined
    const again = await openDatabase({ url: db.url })
    onTestFinished(() => again.close())
    await expect(migrate(again)).rejects.toThrow(SchemaTooNewError)
    if (before !== undefined) expect(await readFile(pathOf(db.url))).toEqual(before)
    expect(await db.read.selectFrom('migrations').selectAll().execute()).toHaveLength(names.length + 1)
  })

  test('leave nothing behind when one fails', async () => {
    const [db] = await openEmpty(engine, 1)
    await db.transaction((tx) => sql`create table leases (other integer)`.execute(tx.query))
    await expect(migrate(db)).rejects.toThrow(/leases/)
    await db.transaction((tx) => sql`drop table leases`.execute(tx.query))
    expect(await migrate(db)).toEqual(names)
  })
})

describe.each(engines)('transactions on %s', (engine) => {
  test('run hooks in order after the commit, when the data is visible to others', async () => {
    const db = await openStore(engine)
    const calls: string[] = []
    const reads: Promise<number>[] = []
    const result = await db.transaction(async (tx) => {
      tx.afterCommit(() => calls.push('first'))
      tx.afterCommit(() => calls.push('second'))
      tx.afterCommit(() => reads.push(currentRevision(db.read)))
      await nextRevision(tx)
      expect(await currentRevision(tx.query)).toBe(1)
      expect(await currentRevision(db.read)).toBe(0)
      expect(calls).toEqual([])
      return 'done'
    })
    expect(result).toBe('done')
    expect(calls).toEqual(['first', 'second'])
    expect(await Promise.all(reads)).toEqual([1])
  })

  test('roll back on a failure without hooks, and the next one works', async () => {
    const db = await openStore(engine)
    const calls: string[] = []
    const failing = db.transaction(async (tx) => {
      tx.afterCommit(() => calls.push('never'))
      await nextRevision(tx)
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    const wrongSql = db.transaction((tx) => sql`select * from nothing_here`.execute(tx.query))
    await expect(wrongSql).rejects.toThrow(/nothing_here/)
    expect(calls).toEqual([])
    expect(await db.transaction(nextRevision)).toBe(1)
  })

  test('have increasing revisions, also when they are concurrent', async () => {
    const db = await openStore(engine)
    const other = await openDatabase({ url: db.url })
    onTestFinished(() => other.close())
    const transactions = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? db : other).transaction(nextRevision),
    )
    const revisions = (await Promise.all(transactions)).sort((a, b) => a - b)
    expect(revisions).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    expect(await currentRevision(db.read)).toBe(40)
  })

  test('return numbers as numbers, and accept booleans as parameters', async () => {
    const db = await openStore(engine)
    const big = 1_795_000_000_000
    await db.transaction(async (tx) => {
      await sql`update meta set value = ${big}`.execute(tx.query)
      const flag = engine === 'sqlite' ? sql`${true} = 1` : sql`${true}::boolean`
      await sql`select ${flag}`.execute(tx.query)
    })
    expect(await currentRevision(db.read)).toBe(big)
    const { rows } = await sql<{ n: number }>`select count(*) as n from meta where key = 'revision'`.execute(db.read)
    expect(rows[0]?.n).toBe(1)
  })

  test('are pending until they end, even if they fail', async () => {
    const db = await openStore(engine)
    expect(db.pending.longestMs()).toBe(0)
    let fail = (_reason: Error) => {}
    const failing = new Promise<void>((_, reject) => {
      fail = reject
    })
    // On a busy machine, it may fail before the transaction waits for it.
    failing.catch(() => {})
    const running = db.transaction(() => failing)
    await eventually(() => db.pending.longestMs()).toBeGreaterThan(20)
    fail(new Error('on purpose'))
    await expect(running).rejects.toThrow('on purpose')
    expect(db.pending.longestMs()).toBe(0)
  })

  test('are finished before close resolves', async () => {
    const [db] = await openEmpty(engine, 1)
    await migrate(db)
    let begin = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const running = db.transaction(async (tx) => {
      begin()
      await new Promise((resolve) => setTimeout(resolve, 50))
      return nextRevision(tx)
    })
    await hasBegun
    await Promise.all([db.close(), expect(running).resolves.toBe(1)])
  })
})

describe('opening SQLite', () => {
  // Conformance: C-6.21.
  test('creates the folder and files readable by their owner only', async () => {
    const folder = await createTestFolder()
    const path = join(folder.path, 'new', 'data', 'micwatch.db')
    const db = await openDatabase({ url: `sqlite:${path}` })
    onTestFinished(async () => {
      await db.close()
      await folder.drop()
    })
    await migrate(db)
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder.path, 'new', 'data'))).mode & 0o777).toBe(0o700)
  })

  test('names a path that is not writable', async () => {
    const path = '/proc/micwatch/micwatch.db'
    await expect(openDatabase({ url: `sqlite:${path}` })).rejects.toThrow(path)
    await expect(access(path)).rejects.toThrow()
  })

  test('names a file that is not a database, and leaves it and its folder unchanged', async () => {
    const folder = await createTestFolder()
    onTestFinished(folder.drop)
    const path = join(folder.path, 'notes.txt')
    await writeFile(path, 'no database')
    const paths = { database_url: `sqlite:${path}`, data_dir: join(folder.path, 'data') }
    expect(await repairStore(paths, 0, false)).toBeNull()
    await expect(openDatabase({ url: paths.database_url })).rejects.toThrow(path)
    expect(await readFile(path, 'utf8')).toBe('no database')
    expect(await readdir(folder.path)).toEqual(['notes.txt'])
  })

  test('cannot write through reading connections', async () => {
    const db = await openStore('sqlite')
    await expect(db.read.deleteFrom('meta').execute()).rejects.toThrow(/read-only/)
  })

  test('rejects an unsupported kind of URL', async () => {
    await expect(openDatabase({ url: 'mysql://user:secret@host/db' })).rejects.toThrow(/^(?!.*secret).*sqlite:/)
  })
})

/** Opens this many connections to one database without a schema. */
async function openEmpty(engine: Engine, count: number): Promise<[Database, ...Database[]]> {
  const { url, drop } = await createEmptyDatabase(engine)
  const databases = await Promise.all(Array.from({ length: count }, () => openDatabase({ url })))
  onTestFinished(async () => {
    await Promise.all(databases.map((db) => db.close().catch(() => {})))
    await drop()
  })
  return databases as [Database, ...Database[]]
}

function pathOf(url: string): string {
  return url.slice('sqlite:'.length)
}
