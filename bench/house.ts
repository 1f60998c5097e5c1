/** What the whole service weighs: memory, the way from its start to its first answer, what a viewer's line carries. */

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { type AtEnd, type Bench, type Figure, makeFolder, startChild, until, using } from './harness.ts'
import { startMicwatch, startService } from './servers.ts'
import { openSocket } from './wire-socket.ts'

const channelsPerReceiver = 4
const viewerReceivers = 25
const settleMs = 15_000
const viewMs = 2_000

export const house = (nodeOptions: readonly string[]): Bench => ({
  name: 'house',
  runs: 1,
  async open(atEnd) {
    return {
      async measure() {
        const reference = await timeToEnd(atEnd)
        const empty = await timeToAnswer(atEnd, await makeFolder(atEnd), nodeOptions)
        const figures: Figure[] = [{ name: 'start to first answer, empty', unit: 'ms', ours: empty, reference }]
        for (const receivers of [100, 10_000]) {
          const size = `${receivers.toLocaleString('en')} × ${channelsPerReceiver}`
          const folder = await makeFolder(atEnd)
          const megabytes = await memoryOf(receivers, folder, nodeOptions)
          if (megabytes !== null) {
            figures.push({ name: `memory, ${size}, polled and pushed`, unit: 'MB', ours: megabytes, reference: null })
          }
          const ours = await timeToAnswer(atEnd, folder, nodeOptions)
          figures.push({ name: `start to first answer, ${size} in the database`, unit: 'ms', ours, reference })
        }
        const ours = await lineOf(nodeOptions)
        const name = `a viewer of ${viewerReceivers * channelsPerReceiver} channels metering at 10 Hz`
        figures.push({ name, unit: 'kB/s', ours, reference: null })
        return figures
      },
    }
  },
})

/** Node itself, from its start to its end. */
async function timeToEnd(atEnd: AtEnd): Promise<number> {
  const startedAt = performance.now()
  await startChild(atEnd, ['-e', 'console.log("{}")'])
  return performance.now() - startedAt
}

async function timeToAnswer(atEnd: AtEnd, folder: string, nodeOptions: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const { address } = await startService(atEnd, folder, { manufacturers: [], nodeOptions })
  await (await fetch(`${address}/api/data.json`)).arrayBuffer()
  return performance.now() - startedAt
}

/** Resident, in MB, after some cycles; null where the system does not tell. */
async function memoryOf(receivers: number, folder: string, nodeOptions: readonly string[]): Promise<number | null> {
  return using(async (atEnd) => {
    // A thousand pushed changes a second, however many receivers share them.
    const pushesPerSecond = Math.min(10, 1_000 / receivers)
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    const { pid } = await startMicwatch(atEnd, simulator, { pollSeconds: 3, nodeOptions, folder })
    await sleep(settleMs)
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) / 1000
  })
}

/** What one client is sent, in kB a second. */
async function lineOf(nodeOptions: readonly string[]): Promise<number> {
  return using(async (atEnd) => {
    const options = { receivers: viewerReceivers, channelsPerReceiver, richList: true, story: false }
    const simulator = await startShureSimulator({ ...options, pushesPerSecond: 10 })
    atEnd(() => simulator.close())
    const { address } = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const socket = await openSocket(`${address}/ws`)
    atEnd(() => socket.destroy())
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    socket.resume()
    await until('something is pushed', () => bytes > 0)
    bytes = 0
    await sleep(viewMs)
    return bytes / viewMs
  })
}
