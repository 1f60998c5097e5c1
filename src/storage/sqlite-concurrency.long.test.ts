import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createTestDatabase } from '../../test/support/store/databases.ts'
import { addManufacturers, openStore, startChild, waitForExit } from '../../test/support/store/helpers.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { openDatabase } from './database.ts'
import { StoreBusyError } from './errors.ts'
import { migrate } from './migrate.ts'
import { listReceivers } from './receivers.ts'
import { currentRevision, nextRevision } from './revision.ts'

test('while another process writes, reads continue, writes wait, and the event loop stays free', async () => {
  const db = await openStore('sqlite')
  const child = startChild('lock-child.ts', [db.url.slice('sqlite:'.length), '3000'])
  await eventually(() => child.lines).toEqual(['locked'])

  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const startedAt = performance.now()
  const written = db.transaction(nextRevision)
  const other = await openDatabase({ url: db.url })
  onTestFinished(() => other.close())
  expect(await migrate(other)).toEqual([])
  while (performance.now() - startedAt < 1_000) {
    expect(await currentRevision(db.read)).toBe(0)
    await pause(50)
  }
  expect(await written).toBe(1)
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  delay.disable()
  expect(delay.max / 1e6).toBeLessThan(timeLimit(200))
  await waitForExit(child.process)
})

test('a lock that is held too long results in a StoreBusyError for each waiting write, after its own timeout', async () => {
  const { url } = await openStore('sqlite')
  const db = await openDatabase({ url, waitLimitMs: 300 })
  onTestFinished(() => db.close())
  const holder = new DatabaseSync(url.slice('sqlite:'.length))
  holder.exec('begin immediate')
  const startedAt = performance.now()
  const waiting = Array.from({ length: 5 }, () => db.transaction(nextRevision))
  for (const write of waiting) await expect(write).rejects.toThrow(StoreBusyError)
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(900))
  holder.exec('rollback')
  holder.close()
  expect(await db.transaction(nextRevision)).toBe(1)
})

// Reliability: S5.
test('a writer killed at any moment loses no acknowledged write and leaves none incomplete', async () => {
  const { url, drop } = await createTestDatabase('sqlite')
  onTestFinished(drop)
  const setup = await openDatabase({ url })
  await addManufacturers(setup)
  await setup.close()

  const acknowledged: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const child = startChild('writer-child.ts', [url, String(round * 100_000)])
    await eventually(() => child.lines.length).toBeGreaterThan(2)
    await pause(7 + round * 31)
    child.process.kill('SIGKILL')
    await waitForExit(child.process)
    acknowledged.push(...child.lines.map(Number))
  }

  const db = await openDatabase({ url })
  const sizes = new Map<string, number>()
  for (const { name, channels } of await listReceivers(db.read)) {
    expect(channels).toHaveLength(2)
    sizes.set(name, (sizes.get(name) ?? 0) + 1)
  }
  await db.close()
  expect(new Set(sizes.values())).toEqual(new Set([20]))
  expect(acknowledged.filter((batch) => !sizes.has(`batch ${batch}`))).toEqual([])
  expect(sizes.size - acknowledged.length).toBeLessThanOrEqual(5)
  const raw = new DatabaseSync(url.slice('sqlite:'.length))
  expect(raw.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  raw.close()
})
