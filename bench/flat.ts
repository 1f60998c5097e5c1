/** Memory over ten thousand polling cycles, or as many as a minute holds. Reference: after the first third. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Bench, makeFolder, using } from './harness.ts'
import { listBytes, openPolled } from './poll.ts'

const receivers = 50
const mostCycles = 10_000
const mostMs = 60_000

export const flat: Bench = {
  name: 'flat',
  runs: 1,
  open: async (atEnd) => ({
    measure: () =>
      using(async (end) => {
        const { poll } = await openPolled(end, await makeFolder(atEnd))
        const [quiet, moved] = listBytes(receivers, 10)
        setFlagsFromString('--expose-gc')
        const collect = runInNewContext('gc') as () => void
        const run = async (cycles: number, limitMs: number): Promise<number> => {
          const deadline = performance.now() + limitMs
          let done = 0
          for (; done < cycles && performance.now() < deadline; done += 1) await poll(done % 2 === 0 ? moved : quiet)
          return done
        }
        const used = () => {
          collect()
          const { heapUsed, external } = process.memoryUsage()
          return (heapUsed + external) / 1e6
        }
        const early = await run(mostCycles / 3, mostMs / 3)
        const reference = used()
        const late = await run(mostCycles - early, (mostMs * 2) / 3)
        const cycles = (early + late).toLocaleString('en')
        const first = early.toLocaleString('en')
        return [
          { name: `in use after ${cycles} cycles, and after the first ${first}`, unit: 'MB', ours: used(), reference },
        ]
      }),
  }),
}
