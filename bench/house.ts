/** What the whole service weighs: memory, the way from its start to its first answer, what a viewer's line carries. */

import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { levelsProtocol } from '../src/model/level-records.ts'
import { type AtEnd, type Bench, type Figure, makeFolder, residentMegabytes, startChild, using } from './harness.ts'
import { startMicwatch, startService } from './servers.ts'
import { openSocket } from './wire-socket.ts'

const channelsPerReceiver = 4
const viewerReceivers = 25
const settleMs = 15_000
/** Meanwhile every receiver is told whole once. */
const warmUpMs = 1_000
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
          const name = `memory, ${size}, polled and pushed`
          if (megabytes !== null) figures.push({ name, unit: 'MB', ours: megabytes, reference: null })
          const ours = await timeToAnswer(atEnd, folder, nodeOptions)
          figures.push({ name: `start to first answer, ${size} in the database`, unit: 'ms', ours, reference })
        }
        const viewer = `a viewer of ${viewerReceivers * channelsPerReceiver} channels metering at 10 Hz`
        const { records, json } = await linesOf(nodeOptions)
        figures.push({ name: `${viewer}, as our pages ask for it`, unit: 'kB/s', ours: records, reference: json })
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
    return residentMegabytes(pid)
  })
}

/** What one client is sent, in kB a second: in the subprotocol for levels, and as JSON. */
async function linesOf(nodeOptions: readonly string[]): Promise<{ records: number; json: number }> {
  return using(async (atEnd) => {
    const options = { receivers: viewerReceivers, channelsPerReceiver, richList: true, story: false }
    const simulator = await startShureSimulator({ ...options, pushesPerSecond: 10 })
    atEnd(() => simulator.close())
    const { address } = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const [records, json] = await Promise.all([
      countBytes(`${address}/ws`, levelsProtocol),
      countBytes(`${address}/ws`),
    ])
    for (const { socket } of [records, json]) atEnd(() => socket.destroy())
    await sleep(warmUpMs)
    const [fewBefore, manyBefore] = [records.bytes(), json.bytes()]
    await sleep(viewMs)
    return { records: (records.bytes() - fewBefore) / viewMs, json: (json.bytes() - manyBefore) / viewMs }
  })
}

async function countBytes(address: string, protocol?: string) {
  const socket = await openSocket(address, protocol)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  socket.resume()
  return { socket, bytes: () => bytes }
}
