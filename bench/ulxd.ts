/**
 * The CPU time for 100 ULX-D channels that each send meter values ten times a second, without and with one viewer.
 * Reference: a process that opens plain sockets to the same receivers and discards the data.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import {
  type Bench,
  cpuMsPerSecond,
  createTempFolder,
  type Figure,
  startChild,
  waitFor,
  withCleanup,
} from './harness.ts'
import { openViewer, startReference, startService } from './servers.ts'

const receivers = 25
const channelsPerReceiver = 4
const warmUpMs = 5_000
const seconds = 8

export const ulxd = (nodeOptions: readonly string[]): Bench => ({
  name: 'ulxd',
  runs: 1,
  async open(atEnd) {
    const program = fileURLToPath(new URL('ulxd-rack.ts', import.meta.url))
    const { output } = await startChild(atEnd, ['--import', 'tsx', program, String(receivers)])
    const ports = output.ports as readonly number[]
    const folder = await createTempFolder(atEnd)
    const config = { devices: ports.map((port) => `tcp://127.0.0.1:${port}`), timeout: 30 }
    const micwatch = await startService(atEnd, folder, { manufacturers: [{ code: 'shure', config }], nodeOptions })
    await waitFor('Micwatch shows the levels of every channel', async () => {
      const response = await fetch(`${micwatch.address}/api/data.json`)
      const { receivers: all } = (await response.json()) as { receivers: ReceiverInData[] }
      return all.flatMap(({ channels }) => channels).filter(({ rf_level }) => rf_level !== null).length === channels
    })
    const file = join(folder, 'ports.json')
    await writeFile(file, JSON.stringify(ports))
    const reference = await startReference(atEnd, { args: ['receivers', file] })
    await sleep(warmUpMs)
    const measureCpu = async (name: string): Promise<Figure> => {
      const rates = await cpuMsPerSecond([micwatch.pid, reference.pid], seconds)
      const [ours = 0, bare = 0] = rates.map((msPerSecond) => msPerSecond / 10)
      return {
        name: `${channels} channels metering at 10 Hz, ${name}, CPU of a core`,
        unit: '%',
        ours,
        reference: bare,
      }
    }
    return {
      async measure() {
        const without = await measureCpu('no viewer')
        const withViewer = await withCleanup(async (atViewerEnd) => {
          await openViewer(atViewerEnd, micwatch.address)
          await sleep(warmUpMs)
          return measureCpu('one viewer')
        })
        return [without, withViewer]
      },
    }
  },
})

const channels = receivers * channelsPerReceiver
