/** Z1: nonsense of every kind, in the numbers the papers ask for. */

import { makeFolder } from '../harness.ts'
import { atMost, type Check, none } from './check.ts'
import { fuzz, startFuzzSystems } from './fuzz/index.ts'
import { becomeAdmin, startService } from './service.ts'

export const fuzzing: Check = {
  id: 'Z1',
  what: 'requests, messages, frames, answers and streams at random: no bug answers, nothing hangs, nothing leaks',
  isQuick: true,
  async run(atEnd, { isQuick, seed, say }) {
    const counts = isQuick
      ? { requests: 2000, messages: 600, frames: 100, answers: 200, streams: 40 }
      : { requests: 20_000, messages: 5000, frames: 500, answers: 2000, streams: 500 }
    const systems = await startFuzzSystems(seed)
    atEnd(() => systems.close())
    const service = await startService(atEnd, await makeFolder(atEnd), { manufacturers: systems.manufacturers })
    const { headers, id } = await becomeAdmin(service)
    const { address, pid } = service
    const report = await fuzz(seed, { address, headers, ownToken: id, pid }, systems, counts)
    const told = [...report.counts].sort().map(([kind, count]) => `${kind}: ${count}`)
    say(`  seed ${seed}; ${told.join(', ')}`)
    const bugs = service
      .log()
      .split('\n')
      .filter((line) => line.includes('request failed') || line.includes('"level":60'))
    return [
      none('things that must not happen', [...report.troubles, ...bugs], say),
      atMost('longest answer', report.longestMs, 5000, 'ms'),
    ]
  },
}
