/** Check Z1 of docs/reliability.md: random input to every interface. */

import { createTempFolder } from '../harness.ts'
import { atMost, type Check, expectNone } from './check.ts'
import { fuzz, startFuzzSystems, unusedAddress } from './fuzz/index.ts'
import { signInAsAdmin, startService } from './service.ts'

export const fuzzing: Check = {
  id: 'Z1',
  group: 'fuzz',
  description: 'random requests, messages, frames, upstream responses and streams: no internal errors, hangs or leaks',
  isQuick: true,
  async run(atEnd, { isQuick, seed, log }) {
    const counts = isQuick
      ? { requests: 2000, messages: 600, frames: 100, responses: 200, streams: 40 }
      : { requests: 20_000, messages: 5000, frames: 500, responses: 2000, streams: 500 }
    const systems = await startFuzzSystems(seed)
    atEnd(() => systems.close())
    const service = await startService(atEnd, await createTempFolder(atEnd), {
      manufacturers: systems.manufacturers,
      planning_center_url: unusedAddress,
    })
    const { headers, id } = await signInAsAdmin(service)
    const { address, pid } = service
    const report = await fuzz(seed, { address, headers, tokenId: id, pid }, systems, counts)
    const countTexts = [...report.counts].sort().map(([kind, count]) => `${kind}: ${count}`)
    log(`  seed ${seed}; ${countTexts.join(', ')}`)
    const loggedErrors = service
      .log()
      .split('\n')
      .filter((line) => line.includes('request failed') || line.includes('"level":60'))
    return [
      expectNone('problems', [...report.problems, ...loggedErrors], log),
      atMost('longest response', report.longestMs, 5000, 'ms'),
    ]
  },
}
