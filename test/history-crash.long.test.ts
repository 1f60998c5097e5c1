/** Kills the service while it records. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openLevelHistory } from '../src/storage/history/open-level-history.ts'
import { configFor, createInstallation, startShure, until } from './app.ts'
import { type RecordedSecond, readSeconds } from './recorded-seconds.ts'

/** The most that may be lost, in seconds. */
const maxLost = 10
const cycles = 5

// Conformance: C-12.25.
it('loses at most 10 s when it is killed, and nothing else', async () => {
  const simulator = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(simulator)] })
  const read = async (channelId: number): Promise<RecordedSecond[]> => {
    const levels = openLevelHistory({ url: installation.databaseUrl })
    try {
      return await readSeconds(levels, channelId)
    } finally {
      await levels.close()
    }
  }
  let before: readonly RecordedSecond[] = []
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const service = await installation.serve()
    const channelId = await until('a device is known', async () => (await service.receivers())[0]?.channels[0]?.id)
    await until('seconds of this cycle are stored', async () => {
      const seconds = await read(channelId)
      return seconds.filter(({ letter }) => letter === '1').length >= (cycle + 1) * 5
    })
    await sleep(2000 + 1000 * cycle)
    const killedAt = Date.now() / 1000
    service.kill('SIGKILL')
    await service.ended
    const after = await read(channelId)
    expect(killedAt - (after.at(-1)?.time ?? 0)).toBeLessThan(maxLost)
    expect(after.slice(0, before.length)).toEqual(before)
    before = after
  }
}, 180_000)
