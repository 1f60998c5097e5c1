import { rm, stat } from 'node:fs/promises'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createTestDatabase } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { type Database, openDatabase } from './database.ts'
import { StoreDownError } from './errors.ts'

const megabyte = 1024 * 1024

describe('SQLite’s write-ahead log', () => {
  test('is checkpointed by a thread once it has grown, and is small again afterwards', async () => {
    const db = await openStore('sqlite')
    const path = db.url.slice('sqlite:'.length)
    await write(db, 24)
    expect(await fileSize(`${path}-wal`)).toBeGreaterThan(24 * megabyte)
    await eventually(() => fileSize(path)).toBeGreaterThan(24 * megabyte)
    // The next commit writes to the log from its beginning again.
    await eventually(() => write(db, 0).then(() => fileSize(`${path}-wal`))).toBeLessThan(12 * megabyte)
    const { rows } = await sql<{ bytes: number }>`select sum(length(value)) as bytes from heap`.execute(db.read)
    expect(rows[0]?.bytes).toBe(24 * megabyte)
  })

  test('is not checkpointed while it is small', async () => {
    const db = await openStore('sqlite')
    const path = db.url.slice('sqlite:'.length)
    const before = await fileSize(path)
    for (let index = 0; index < 6; index += 1) await write(db, 1)
    expect(await fileSize(path)).toBe(before)
    expect(await fileSize(`${path}-wal`)).toBeGreaterThan(6 * megabyte)
  })

  test('is empty once the database is closed, even if a checkpoint was running', async () => {
    const { url, drop } = await createTestDatabase('sqlite')
    onTestFinished(drop)
    const path = url.slice('sqlite:'.length)
    const db = await openDatabase({ url })
    await write(db, 20)
    await db.close()
    expect(await fileSize(`${path}-wal`).catch(() => 0)).toBe(0)
    expect(await fileSize(path)).toBeGreaterThan(20 * megabyte)
  })

  test('that was deleted is reported: the commit fails, and so do further writes', async () => {
    const { url, drop } = await createTestDatabase('sqlite')
    onTestFinished(drop)
    const db = await openDatabase({ url })
    onTestFinished(() => db.close())
    const failing = db.transaction(async ({ query }) => {
      await sql`create table kept (value integer)`.execute(query)
      await rm(`${url.slice('sqlite:'.length)}-wal`)
    })
    await expect(failing).rejects.toThrow(StoreDownError)
    expect(db.condition()).toBe('unwritable')
    await expect(db.transaction(({ query }) => sql`insert into kept values (1)`.execute(query))).rejects.toThrow(
      /ENOENT/,
    )
  })
})

/** Writes this many megabytes, each in a separate row. */
async function write(db: Database, megabytes: number): Promise<void> {
  await db.transaction(async ({ query }) => {
    await sql`create table if not exists heap (value blob)`.execute(query)
    await sql`update meta set value = value + 1`.execute(query)
    for (let index = 0; index < megabytes; index += 1)
      await sql`insert into heap values (zeroblob(${megabyte}))`.execute(query)
  })
}

async function fileSize(path: string): Promise<number> {
  return (await stat(path)).size
}
