/**
 * The growth of CPU time and memory with the number of receivers and of clients. A row that ends in "10 times the …" is
 * the figure for the largest size divided by that for the second largest. Its reference is the ratio of the two sizes,
 * so a ratio of 1 means linear growth, and more than 1 means faster growth. The CPU time for many clients is also
 * measured for a minimal relay.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { measureDelivery } from './fan-out.ts'
import { type AtEnd, type Bench, createTempFolder, type Figure, residentMegabytes, withCleanup } from './harness.ts'
import { listBytes, measureCpuMs, openPollFixture } from './poll.ts'
import { openRelay, toChanges, upstreamFrame } from './push.ts'
import { openRawWebSocket } from './raw-websocket.ts'
import { startMicwatch } from './servers.ts'

const receiverCounts = [10, 100, 1_000, 10_000]
const clientCounts = [1, 10, 100, 1_000, 5_000]
const cycles = 6
const settleMs = 4_000
const viewedReceivers = 10
/** Low enough that each change is sent separately to 5,000 clients; changes in the same event loop turn are batched. */
const changesPerSecond = 6

export const growth = (nodeOptions: readonly string[]): Bench => ({
  name: 'growth',
  runs: 1,
  open: async (atEnd) => ({
    async measure() {
      const cpu: Point[] = []
      const memory: Point[] = []
      for (const size of receiverCounts) {
        cpu.push({
          size,
          value: await withCleanup(async (atRunEnd) => measurePollCpu(atRunEnd, await createTempFolder(atEnd), size)),
        })
        memory.push({ size, value: await withCleanup((atRunEnd) => measurePollMemory(atRunEnd, size, nodeOptions)) })
      }
      const viewers = await withCleanup((atRunEnd) => measureClientCounts(atRunEnd, nodeOptions))
      return [
        ...toFigures(cpu, 'receivers', 'CPU of a cycle, 10 % changed', 'ms'),
        ...toFigures(memory, 'receivers', 'memory, polled and pushed', 'MB'),
        ...toFigures(viewers.cpu, 'clients', 'CPU of one change sent to all', 'ms', viewers.bareCpu),
        ...toFigures(viewers.memory, 'clients', 'memory', 'MB'),
      ]
    },
  }),
})

interface Point {
  readonly size: number
  readonly value: number
}

function toFigures(
  points: readonly Point[],
  subject: string,
  name: string,
  unit: 'ms' | 'MB',
  references: readonly Point[] = [],
): Figure[] {
  const figures = points.map(({ size, value }, index): Figure => {
    const reference = references[index]?.value ?? null
    return { name: `${size.toLocaleString('en')} ${subject}, ${name}`, unit, ours: value, reference }
  })
  const [before, last] = points.slice(-2)
  if (before === undefined || last === undefined) return figures
  const times = last.size / before.size
  const slope = { name: `${name}, ${times} times the ${subject}`, unit: '×', ours: last.value / before.value } as const
  return [...figures, { ...slope, reference: times }]
}

/** Measures the CPU time of the median cycle, in ms. */
async function measurePollCpu(atEnd: AtEnd, folder: string, receivers: number): Promise<number> {
  const { poll } = await openPollFixture(atEnd, folder)
  const [original, changed] = listBytes(receivers, 10)
  await poll(original)
  const durations: number[] = []
  for (let cycle = 0; cycle < cycles; cycle += 1)
    durations.push(await measureCpuMs(() => poll(cycle % 2 === 0 ? changed : original)))
  return durations.sort((a, b) => a - b)[cycles / 2] ?? 0
}

async function measurePollMemory(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<number> {
  const options = { receivers, channelsPerReceiver: 4, richList: true, story: false }
  const simulator = await startShureSimulator({ ...options, pushesPerSecond: Math.min(10, 1_000 / receivers) })
  atEnd(() => simulator.close())
  const { pid } = await startMicwatch(atEnd, simulator, { pollSeconds: 2, nodeOptions })
  await sleep(settleMs)
  return (await residentMegabytes(pid)) ?? 0
}

/**
 * Measures many clients with only a few receivers. For comparison, also measures the same number of clients of a
 * minimal relay that forwards a frame of the same size.
 */
async function measureClientCounts(atEnd: AtEnd, nodeOptions: readonly string[]) {
  const options = { receivers: viewedReceivers, channelsPerReceiver: 4, richList: true, story: false }
  const simulator = await startShureSimulator({ ...options, pushesPerSecond: 0 })
  atEnd(() => simulator.close())
  const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
  const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
  const relay = await openRelay(atEnd)
  const [cpu, bareCpu, memory]: [Point[], Point[], Point[]] = [[], [], []]
  for (const clients of clientCounts) {
    const load = { clients, updates: changesPerSecond, open: openRawWebSocket }
    const ours = await measureDelivery(`${micwatch.address}/ws`, micwatch.pid, load, changes, (change, level) =>
      simulator.push.send(upstreamFrame(change, level)),
    )
    const bare = await measureDelivery(relay.address, relay.pid, load, changes, (_, level) =>
      relay.send(relayFrame(level)),
    )
    cpu.push({ size: clients, value: ours.cpuMsPerChange ?? 0 })
    bareCpu.push({ size: clients, value: bare.cpuMsPerChange ?? 0 })
    memory.push({ size: clients, value: ours.megabytes ?? 0 })
  }
  return { cpu, bareCpu, memory }
}

/** Creates a frame that is about as long as the update of a receiver with four channels. */
const relayFrame = (level: number) => String(level).padEnd(1_000)
