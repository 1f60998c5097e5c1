/**
 * How time and memory grow with the house and with its viewers. The lines that end in "ten times the …" compare the two
 * largest sizes; their reference is the growth itself: a ratio of 1 is linear, above it grows faster. What many clients
 * cost is measured of a bare relay too.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { levelsProtocol } from '../src/model/level-records.ts'
import { deliver } from './fan-out.ts'
import { type AtEnd, type Bench, type Figure, makeFolder, residentMegabytes, using } from './harness.ts'
import { cpuMs, listBytes, openPolled } from './poll.ts'
import { openRelay, toChanges, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'
import { openSocket } from './wire-socket.ts'

const houses = [10, 100, 1_000, 10_000]
const crowds = [1, 10, 100, 1_000, 5_000]
const cycles = 6
const settleMs = 4_000
const viewedReceivers = 10
/** Few enough that each is told by itself, to five thousand: what comes while a turn is busy would go out together. */
const changesPerSecond = 6

export const growth = (nodeOptions: readonly string[]): Bench => ({
  name: 'growth',
  runs: 1,
  open: async (atEnd) => ({
    async measure() {
      const cpu: Point[] = []
      const memory: Point[] = []
      for (const size of houses) {
        cpu.push({ size, value: await using(async (end) => pollCpu(end, await makeFolder(atEnd), size)) })
        memory.push({ size, value: await using((end) => pollMemory(end, size, nodeOptions)) })
      }
      const viewers = await using((end) => measureCrowds(end, nodeOptions))
      return [
        ...toFigures(cpu, 'receivers', 'CPU of a cycle, 10 % changed', 'ms'),
        ...toFigures(memory, 'receivers', 'memory, polled and pushed', 'MB'),
        ...toFigures(viewers.cpu, 'clients', 'CPU of one change told to all', 'ms', viewers.bareCpu),
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
  of: string,
  name: string,
  unit: 'ms' | 'MB',
  references: readonly Point[] = [],
): Figure[] {
  const figures = points.map(({ size, value }, at): Figure => {
    const reference = references[at]?.value ?? null
    return { name: `${size.toLocaleString('en')} ${of}, ${name}`, unit, ours: value, reference }
  })
  const [before, last] = points.slice(-2)
  if (before === undefined || last === undefined) return figures
  const times = last.size / before.size
  const slope = { name: `${name}, ${times} times the ${of}`, unit: '×', ours: last.value / before.value } as const
  return [...figures, { ...slope, reference: times }]
}

/** The median cycle, in ms. */
async function pollCpu(atEnd: AtEnd, folder: string, receivers: number): Promise<number> {
  const { poll } = await openPolled(atEnd, folder)
  const [quiet, moved] = listBytes(receivers, 10)
  await poll(quiet)
  const taken: number[] = []
  for (let nth = 0; nth < cycles; nth += 1) taken.push(await cpuMs(() => poll(nth % 2 === 0 ? moved : quiet)))
  return taken.sort((a, b) => a - b)[cycles / 2] ?? 0
}

async function pollMemory(atEnd: AtEnd, receivers: number, nodeOptions: readonly string[]): Promise<number> {
  const options = { receivers, channelsPerReceiver: 4, richList: true, story: false }
  const simulator = await startShureSimulator({ ...options, pushesPerSecond: Math.min(10, 1_000 / receivers) })
  atEnd(() => simulator.close())
  const { pid } = await startMicwatch(atEnd, simulator, { pollSeconds: 2, nodeOptions })
  await sleep(settleMs)
  return (await residentMegabytes(pid)) ?? 0
}

/** Clients as our pages are, on a small house; beside them as many of a bare relay that is handed the same record. */
async function measureCrowds(atEnd: AtEnd, nodeOptions: readonly string[]) {
  const options = { receivers: viewedReceivers, channelsPerReceiver: 4, richList: true, story: false }
  const simulator = await startShureSimulator({ ...options, pushesPerSecond: 0 })
  atEnd(() => simulator.close())
  const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
  const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
  const relay = await openRelay(atEnd)
  const [cpu, bareCpu, memory]: [Point[], Point[], Point[]] = [[], [], []]
  for (const clients of crowds) {
    const crowd = { clients, updates: changesPerSecond, open: (url: string) => openSocket(url, levelsProtocol) }
    const told = await deliver(`${micwatch.address}/ws`, micwatch.pid, crowd, changes, (change, level) =>
      simulator.push.send(upstreamFrame(change, level)),
    )
    const bare = await deliver(relay.address, relay.pid, { ...crowd, open: openSocket }, changes, (_, level) =>
      relay.send(recordOf(level)),
    )
    cpu.push({ size: clients, value: told.cpuMsPerChange ?? 0 })
    bareCpu.push({ size: clients, value: bare.cpuMsPerChange ?? 0 })
    memory.push({ size: clients, value: told.megabytes ?? 0 })
  }
  return { cpu, bareCpu, memory }
}

/** As long as the record of a receiver of four channels. */
const recordOf = (level: number) => String(level).padEnd(26)
