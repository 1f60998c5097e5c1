/** The thread of the history ends unexpectedly. */

import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { createEmptyDatabase } from '../../../test/support/store/databases.ts'
import { columnNames, type RecordedSeconds, stateLetters } from '../../domain/history/columns.ts'
import { StoreDownError } from '../../storage/errors.ts'
import { openLevelHistory } from './open-level-history.ts'

const base = 1_777_658_400

/** Returns one second in which the transmitter of channel 7 is on. */
function secondAt(from: number): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, Int16Array.of(name === 'state' ? stateLetters.indexOf('1') : -50)]),
  ) as RecordedSeconds['columns']
  return { from, count: 1, channelIds: [7], columns }
}

// Conformance: C-12.103.
it('rejects what its thread was working on when it ended, and continues with a new thread', async () => {
  const database = await createEmptyDatabase('sqlite')
  const history = openLevelHistory({ url: database.url })
  onTestEnd(async () => {
    await history.close()
    await database.drop()
  })
  const threads: Worker[] = []
  const addThread = (thread: Worker) => threads.push(thread)
  process.on('worker', addThread)
  onTestEnd(() => void process.off('worker', addThread))

  await history.append(secondAt(base))
  // When this has responded, the thread has finished what follows an append. SQLite aborts the process if its thread is
  // terminated inside of a call.
  await history.range()
  const ended = threads[0]?.terminate()
  const running = [history.range(), history.append(secondAt(base + 1))]
  await ended
  for (const result of await Promise.allSettled(running))
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreDownError) })

  await history.append(secondAt(base + 2))
  expect(threads).toHaveLength(2)
  const { columns } = await history.read([7], base, base + 3, 1)
  const letters = Array.from(columns.state, (state) => stateLetters[state])
  // The second of the crash may be stored or not.
  expect([letters[0], letters[2]]).toEqual(['1', '1'])
})

// Reliability: 3.12.13.
it('refuses a client more than its share of reads, and reads for others in between', async () => {
  const database = await createEmptyDatabase('sqlite')
  const history = openLevelHistory({ url: database.url })
  onTestEnd(async () => {
    await history.close()
    await database.drop()
  })
  await history.append(secondAt(base))
  const [busy, other] = [history.ofClient('busy'), history.ofClient('other')]
  const order: string[] = []
  const reads = Array.from({ length: 64 }, () => busy.range().then(() => order.push('busy')))
  await expect(busy.range()).rejects.toMatchObject({ code: 'history_busy', status: 503, retryAfter: 5 })
  await other.range().then(() => order.push('other'))
  await Promise.all(reads)
  expect(order.indexOf('other')).toBeLessThan(5)
  // An export keeps its place until it ends, even if its reader leaves.
  const exports = Array.from({ length: 64 }, () =>
    busy.exportCsv({ channels: [{ id: 7, name: 'Zoe' }], from: base, to: base + 1, step: 1 })[Symbol.asyncIterator](),
  )
  await Promise.all(exports.map((one) => one.next()))
  await expect(busy.range()).rejects.toMatchObject({ code: 'history_busy' })
  await exports[0]?.return?.()
  expect(await busy.range()).toMatchObject({ first: base })
})
