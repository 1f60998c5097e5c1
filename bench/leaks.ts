/**
 * Memory in use after 10,000 polling cycles, or after all that fit into a minute. Reference: the memory after the first
 * third of these cycles.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Bench, createTempFolder, withCleanup } from './harness.ts'
import { listBytes, openPollFixture } from './poll.ts'

const receivers = 50
const maxCycles = 10_000
const maxMs = 60_000

export const leaks: Bench = {
  name: 'leaks',
  runs: 1,
  open: async (atEnd) => ({
    measure: () =>
      withCleanup(async (atRunEnd) => {
        const { poll } = await openPollFixture(atRunEnd, await createTempFolder(atEnd))
        const [original, changed] = listBytes(receivers, 10)
        setFlagsFromString('--expose-gc')
        const collectGarbage = runInNewContext('gc') as () => void
        const run = async (cycles: number, limitMs: number): Promise<number> => {
          const deadline = performance.now() + limitMs
          let done = 0
          for (; done < cycles && performance.now() < deadline; done += 1)
            await poll(done % 2 === 0 ? changed : original)
          return done
        }
        const usedMegabytes = () => {
          collectGarbage()
          const { heapUsed, external } = process.memoryUsage()
          return (heapUsed + external) / 1e6
        }
        const firstCycles = await run(maxCycles / 3, maxMs / 3)
        const reference = usedMegabytes()
        const remainingCycles = await run(maxCycles - firstCycles, (maxMs * 2) / 3)
        const cycles = (firstCycles + remainingCycles).toLocaleString('en')
        const first = firstCycles.toLocaleString('en')
        return [
          {
            name: `memory in use after ${cycles} cycles, and after the first ${first}`,
            unit: 'MB',
            ours: usedMegabytes(),
            reference,
          },
        ]
      }),
  }),
}
