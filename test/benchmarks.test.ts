/** Runs a benchmark that uses internal modules directly, to detect changes in these modules that break it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listBytes, openPollFixture } from '../bench/poll.ts'
import { onTestEnd } from './support/cleanup.ts'

it('measures a polling cycle from the bytes of the device list to the database', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-benches-'))
  onTestEnd(() => rm(folder, { recursive: true }))
  const polled = await openPollFixture(onTestEnd, folder)
  const [list, changed] = listBytes(5)
  await polled.poll(list)
  expect(polled.changedRows(5)).toMatchObject({ receivers: { length: 5 }, channels: { length: 20 } })
  await polled.poll(changed)
  const written = polled.changedRows(5)
  expect(written).toMatchObject({ receivers: { length: 5 }, channels: { length: 0 } })
  polled.writeReference(written)
})
