/** Processes that append to the same recorded levels, and are killed. */

import { dirname, join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { createEmptyDatabase, engines } from '../../../test/support/store/databases.ts'
import { startChild, waitForExit } from '../../../test/support/store/helpers.ts'
import { createPostgresDatabase, startPostgres } from '../../../test/support/store/postgres.ts'
import { StoreDownError } from '../../storage/errors.ts'
import { findDamage } from '../../storage/sqlite-file.ts'
import { openLevelHistory } from './open-level-history.ts'

/** 2026-05-01T18:00:00Z */
const start = 1_777_658_400

// Conformance: C-12.14.
it.each(engines)('loses no appended second on %s when the process is killed', async (engine) => {
  const database = await createEmptyDatabase(engine)
  onTestEnd(database.drop)
  let end = start
  for (let round = 0; round < 5; round++) {
    const child = startChild('history-child.ts', [database.url, '7', String(end), String(end + 86_400)])
    // At least one block is closed in each round.
    await vi.waitFor(() => expect(child.lines.length).toBeGreaterThan(150 + round), { timeout: 60_000, interval: 5 })
    child.process.kill('SIGKILL')
    await waitForExit(child.process)
    end = Number(child.lines.at(-1))
    const history = openLevelHistory({ url: database.url })
    const { count, columns } = await history.read([7], start, end, 1)
    expect(count).toBe(end - start)
    expect(columns.state.indexOf(0)).toBe(-1)
    expect(columns.rf_min.findIndex((value, index) => value !== -((start + index) % 97))).toBe(-1)
    await history.close()
  }
  if (engine === 'sqlite') {
    expect(findDamage(join(dirname(database.url.slice('sqlite:'.length)), 'history.db'))).toBeNull()
  }
})

// Conformance: C-12.15.
it.each(engines)('lets two processes append to and close the same blocks on %s', async (engine) => {
  const database = await createEmptyDatabase(engine)
  onTestEnd(database.drop)
  const end = start + 2000
  const children = ['7', '8'].map((id) =>
    startChild('history-child.ts', [database.url, id, String(start), String(end)]),
  )
  await Promise.all(children.map((child) => waitForExit(child.process)))
  const history = openLevelHistory({ url: database.url })
  onTestEnd(() => history.close())
  const { columns } = await history.read([7, 8], start, end, 1)
  expect(columns.state.indexOf(0)).toBe(-1)
  const wrong = columns.rf_min.findIndex((value, index) => value !== -((start + (index % 2000)) % 97))
  expect(wrong).toBe(-1)
  const coarse = await history.read([7, 8], start, start + 1800, 600)
  expect([...coarse.columns.rf_min]).toEqual([-96, -96, -96, -96, -96, -96])
})

it('does not wait for a thread whose database hangs when the history is closed, and says so', async () => {
  const server = await startPostgres()
  onTestEnd(server.stop)
  const { url } = await createPostgresDatabase(server.url)
  const warnings: string[] = []
  const history = openLevelHistory({ url, onWarning: (message) => warnings.push(message) })
  await history.range()
  await server.signal('SIGSTOP')
  onTestEnd(() => server.signal('SIGCONT'))
  const running = Promise.allSettled([history.range()])
  await history.close()
  expect(warnings).toEqual([expect.stringContaining('did not respond within 10 s')])
  expect(await running).toMatchObject([{ status: 'rejected', reason: expect.any(StoreDownError) }])
})
