import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { createPostgresDatabase, startPostgres, type TestPostgres } from '../../test/support/store/postgres.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { type Database, openDatabase } from './database.ts'
import { StoreDownError } from './errors.ts'
import { migrate } from './migrate.ts'
import { currentRevision, nextRevision } from './revision.ts'

// A separate server, because these tests stop it.
let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

// Reliability: S7.
test('a restart closes idle and busy connections, not the process, and the next calls work', async () => {
  const db = await openSeparateDatabase()
  await Promise.all(Array.from({ length: 8 }, () => currentRevision(db.read)))

  const failed = db.transaction(async (tx) => {
    await nextRevision(tx)
    await server.restart()
    return nextRevision(tx)
  })
  await expect(failed).rejects.toThrow(StoreDownError)
  expect(await currentRevision(db.read)).toBe(0)
  expect(await db.transaction(nextRevision)).toBe(1)
})

test('while the server is down every call fails at once without the password in the message, and few connections are tried', async () => {
  const db = await openSeparateDatabase({ password: 'very-secret' })
  await server.halt()
  const startedAt = performance.now()
  for (let round = 0; round < 200; round += 1) {
    const error = await currentRevision(db.read).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreDownError)
    expect(String(error)).not.toContain('very-secret')
  }
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_000))
  await expect(db.transaction(nextRevision)).rejects.toThrow(StoreDownError)
  await server.restart()
  await eventually(() => db.transaction(nextRevision)).toBeGreaterThan(0)
})

// Reliability: S8.
test('a server that hangs results in a StoreDownError after the timeout, and calls work again once it resumes', async () => {
  const db = await openSeparateDatabase({ waitLimitMs: 1_000 })
  await server.signal('SIGSTOP')
  const startedAt = performance.now()
  const [read, write] = await Promise.allSettled([currentRevision(db.read), db.transaction(nextRevision)])
  await server.signal('SIGCONT')
  expect([read.status, write.status]).toEqual(['rejected', 'rejected'])
  expect(read.status === 'rejected' && read.reason).toBeInstanceOf(StoreDownError)
  expect(write.status === 'rejected' && write.reason).toBeInstanceOf(StoreDownError)
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_000))
  await eventually(() => db.transaction(nextRevision)).toBeGreaterThan(0)
})

test('more transactions than connections leave connections for readers', async () => {
  const db = await openStore('postgres')
  let isOpen = false
  const writers = Array.from({ length: 30 }, () =>
    db.transaction(async (tx) => {
      await nextRevision(tx)
      while (!isOpen) await pause(5)
    }),
  )
  await pause(50)
  expect(await currentRevision(db.read)).toBe(0)
  isOpen = true
  await Promise.all(writers)
  expect(await currentRevision(db.read)).toBe(30)
})

async function openSeparateDatabase(options: { password?: string; waitLimitMs?: number } = {}): Promise<Database> {
  const { url: href, drop } = await createPostgresDatabase(server.url)
  const url = new URL(href)
  url.password = options.password ?? ''
  const db = await openDatabase({ url: url.href, waitLimitMs: options.waitLimitMs })
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  await migrate(db)
  return db
}
