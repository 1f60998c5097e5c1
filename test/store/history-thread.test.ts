/** The thread of the history ends unexpectedly. */

import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { columnNames, type RecordedSeconds, stateLetters } from '../../src/domain/history/columns.ts'
import { StoreDownError } from '../../src/storage/errors.ts'
import { openLevelHistory } from '../../src/storage/history/open-level-history.ts'
import { onTestEnd } from '../cleanup.ts'
import { createEmptyDatabase } from '../databases.ts'

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
  // Whether the second of the crash was stored is not known.
  expect([letters[0], letters[2]]).toEqual(['1', '1'])
})
