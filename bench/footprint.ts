/**
 * The footprint of the whole service: its memory, the time from start to first response, and one viewer's bandwidth.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { liveProtocol } from '../src/live/routes/client-messages.ts'
import {
  type AtEnd,
  type Bench,
  createTempFolder,
  type Figure,
  residentMegabytes,
  startChild,
  withCleanup,
} from './harness.ts'
import { openRawWebSocket } from './raw-websocket.ts'
import { startMicwatch, startService } from './servers.ts'

const channelsPerReceiver = 4
const viewerReceivers = 25
const settleMs = 15_000
/** By the end of this time, every receiver has been sent in full once. */
const warmUpMs = 1_000
const measureMs = 2_000

export const footprint = (nodeOptions: readonly string[]): Bench => ({
  name: 'footprint',
  runs: 1,
  async open(atEnd) {
    return {
      async measure() {
        const reference = await measureNodeStart(atEnd)
        const empty = await measureFirstResponse(atEnd, await createTempFolder(atEnd), nodeOptions)
        const figures: Figure[] = [{ name: 'start to first response, empty', unit: 'ms', ours: empty, reference }]
        for (const receivers of [100, 10_000]) {
          const size = `${receivers.toLocaleString('en')} × ${channelsPerReceiver}`
          const folder = await createTempFolder(atEnd)
          const megabytes = await measureMemory(receivers, folder, nodeOptions)
          const name = `memory, ${size}, polled and pushed`
          if (megabytes !== null) figures.push({ name, unit: 'MB', ours: megabytes, reference: null })
          const ours = await measureFirstResponse(atEnd, folder, nodeOptions)
          figures.push({ name: `start to first response, ${size} in the database`, unit: 'ms', ours, reference })
        }
        const viewer = `a viewer of ${viewerReceivers * channelsPerReceiver} channels metering at 10 Hz`
        const { version2, version1 } = await measureTraffic(nodeOptions)
        figures.push({ name: `${viewer}, version 2`, unit: 'kB/s', ours: version2, reference: version1 })
        return figures
      },
    }
  },
})

/** Starts a Node process that only prints an empty object, as the reference. */
async function measureNodeStart(atEnd: AtEnd): Promise<number> {
  const startedAt = performance.now()
  await startChild(atEnd, ['-e', 'console.log("{}")'])
  return performance.now() - startedAt
}

async function measureFirstResponse(atEnd: AtEnd, folder: string, nodeOptions: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const { address } = await startService(atEnd, folder, { manufacturers: [], nodeOptions })
  await (await fetch(`${address}/api/data.json`)).arrayBuffer()
  return performance.now() - startedAt
}

/** Measures the resident memory in MB after several polling cycles; null on systems without `/proc`. */
async function measureMemory(
  receivers: number,
  folder: string,
  nodeOptions: readonly string[],
): Promise<number | null> {
  return withCleanup(async (atEnd) => {
    // At most 1,000 pushed changes per second in total.
    const pushesPerSecond = Math.min(10, 1_000 / receivers)
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    const { pid } = await startMicwatch(atEnd, simulator, { pollSeconds: 3, nodeOptions, folder })
    await sleep(settleMs)
    return residentMegabytes(pid)
  })
}

/** Measures the traffic to one client in kB per second, once with version 2 of the interface and once with version 1. */
async function measureTraffic(nodeOptions: readonly string[]): Promise<{ version2: number; version1: number }> {
  return withCleanup(async (atEnd) => {
    const options = { receivers: viewerReceivers, channelsPerReceiver, richList: true, story: false }
    const simulator = await startShureSimulator({ ...options, pushesPerSecond: 10 })
    atEnd(() => simulator.close())
    const { address } = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const [version2, version1] = await Promise.all([
      countBytes(`${address}/ws`, liveProtocol),
      countBytes(`${address}/ws`),
    ])
    for (const { socket } of [version2, version1]) atEnd(() => socket.destroy())
    await sleep(warmUpMs)
    const [before2, before1] = [version2.bytes(), version1.bytes()]
    await sleep(measureMs)
    return { version2: (version2.bytes() - before2) / measureMs, version1: (version1.bytes() - before1) / measureMs }
  })
}

async function countBytes(address: string, protocol?: string) {
  const socket = await openRawWebSocket(address, protocol)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  socket.resume()
  return { socket, bytes: () => bytes }
}
