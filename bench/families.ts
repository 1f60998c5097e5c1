/**
 * 500 individual devices of all families at once: TCP, UDP and HTTP, pushed and polled. Reference: the process that
 * simulates them.
 */

import { fileURLToPath } from 'node:url'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import { type Bench, cpuMsPerSecond, createTempFolder, residentMegabytes, startChild, waitFor } from './harness.ts'
import { startService } from './servers.ts'

const program = fileURLToPath(new URL('families-process.ts', import.meta.url))
const seconds = 10

interface Manufacturer {
  readonly code: string
  readonly config: { readonly devices: readonly unknown[] }
}

export const families = (nodeOptions: readonly string[]): Bench => ({
  name: 'families',
  runs: 3,
  async open(atEnd) {
    const simulated = await startChild(atEnd, ['--import', 'tsx', program])
    const manufacturers = simulated.output.manufacturers as readonly Manufacturer[]
    const devices = manufacturers.reduce((sum, { config }) => sum + config.devices.length, 0)
    const startedAt = performance.now()
    const folder = await createTempFolder(atEnd)
    const micwatch = await startService(atEnd, folder, { manufacturers, nodeOptions })
    const read = async (path: string) => (await fetch(`${micwatch.address}${path}`)).json()
    const countReceived = async () => {
      const { receivers } = (await read('/api/data.json')) as { receivers: readonly ReceiverInData[] }
      return receivers.filter(({ is_active }) => is_active).length
    }
    await waitFor('every device is received', async () => (await countReceived()) === devices, 120_000)
    const startMs = performance.now() - startedAt
    return {
      async measure() {
        const pids = [micwatch.pid, simulated.pid]
        const [ours = 0, reference = 0] = await cpuMsPerSecond(pids, seconds)
        const received = await countReceived()
        if (received !== devices) throw new Error(`Only ${received} of ${devices} devices are received.`)
        const [megabytes, simulatedMegabytes] = await Promise.all(pids.map(residentMegabytes))
        const size = `${devices} devices of all families`
        return [
          { name: `${size}, CPU`, unit: 'ms/s', ours, reference },
          { name: `${size}, from the start until all are received`, unit: 'ms', ours: startMs, reference: null },
          { name: `${size}, memory`, unit: 'MB', ours: megabytes ?? 0, reference: simulatedMegabytes ?? null },
        ]
      },
    }
  },
})
