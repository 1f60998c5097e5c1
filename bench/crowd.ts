/**
 * 10,000 receivers in ten systems, each of which pushes its levels over one WebSocket; without a viewer, and with one
 * viewer of 100 channels. Measures the CPU time, the longest time for which the event loop was blocked, and the time
 * from a change in the system to the viewer's message. Reference: a process that receives and parses the same frames,
 * keeps the levels, and sends the levels of the same channels.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import {
  type AtEnd,
  type Bench,
  type Child,
  cpuMsPerSecond,
  createTempFolder,
  type Figure,
  longestHoldMs,
  percentile,
  watchEventLoop,
  withCleanup,
} from './harness.ts'
import { openClient } from './push.ts'
import {
  type Micwatch,
  openViewer,
  startMicwatch,
  startReference,
  startUpstream,
  type UpstreamProcess,
} from './servers.ts'
import type { Mark } from './upstream-types.ts'

const systems = 10
const receivers = 1_000
const channelsPerReceiver = 4
const pushesPerSecond = 2
const viewedReceivers = 25
const warmUpMs = 5_000
const seconds = 5

export const crowd = (nodeOptions: readonly string[]): Bench => ({
  name: 'crowd',
  runs: 1,
  async open() {
    return {
      async measure() {
        const steady = await measureScenario(nodeOptions, false)
        const fading = await measureScenario(nodeOptions, true)
        return [
          ...steady,
          ...fading.map((figure) => ({ ...figure, name: `${figure.name}, all channels fade together` })),
        ]
      },
    }
  },
})

function measureScenario(nodeOptions: readonly string[], fades: boolean): Promise<readonly Figure[]> {
  return withCleanup(async (atEnd) => {
    const upstream = await startUpstream(atEnd, {
      ...{ systems, receivers, channelsPerReceiver, pushesPerSecond },
      ...{ isSpread: true, marked: viewedReceivers, fades },
    })
    const marks = await openClient(atEnd, upstream.marks)
    const ours = await withCleanup((atRunEnd) => measureMicwatch(atRunEnd, upstream, marks, nodeOptions))
    const reference = await withCleanup((atRunEnd) => measureReference(atRunEnd, upstream, marks))
    return ours.map((figure, index): Figure => ({ ...figure, reference: reference[index]?.ours ?? null }))
  })
}

async function measureMicwatch(
  atEnd: AtEnd,
  upstream: UpstreamProcess,
  marks: WebSocket,
  nodeOptions: readonly string[],
): Promise<readonly Figure[]> {
  const options = { pollSeconds: 3600, nodeOptions: [...nodeOptions, ...watchEventLoop] }
  const micwatch = await startMicwatch(atEnd, upstream, options)
  const viewed = viewedOf(upstream, micwatch)
  const group = await createGroup(micwatch, [...viewed.values()])
  const channels = new Map([...viewed].map(([deviceId, receiver]) => [receiver.channels[0]?.id, deviceId]))
  return measureAll(micwatch, marks, async (atViewerEnd, onChanges) => {
    await openViewer(atViewerEnd, micwatch.address, {
      query: `?group=${group}`,
      onMessage: (text) => onChanges(readViewerMessage(text, channels)),
    })
  })
}

/** `channels`: the devices of the viewed channels. */
export function readViewerMessage(text: string, channels: ReadonlyMap<number | undefined, string>): readonly Change[] {
  const message: ViewerMessage = JSON.parse(text)
  if (message.type === 'levels') {
    const entries = message.values as readonly (readonly [number, number])[]
    return entries.map(([id, value]) => ({ type: 'level', deviceId: channels.get(id), value }))
  }
  const { type, id, transmitter } = message
  return type === 'channel' && transmitter
    ? [{ type: 'battery', deviceId: channels.get(id), value: transmitter.battery }]
    : []
}

async function measureReference(atEnd: AtEnd, upstream: UpstreamProcess, marks: WebSocket): Promise<readonly Figure[]> {
  const file = join(await createTempFolder(atEnd), 'systems.json')
  await writeFile(file, JSON.stringify(upstream.systems))
  const reference = await startReference(atEnd, { args: ['crowd', file], nodeOptions: watchEventLoop })
  const read = ({ type, values, device_id: deviceId, transmitters }: ReferenceMessage): readonly Change[] => {
    if (type === 'channel') return [{ type: 'battery', deviceId, value: transmitters?.[0]?.battery }]
    return (values ?? []).map(([key, [first]]) => ({
      type: 'level',
      deviceId: key.slice(key.indexOf(' ') + 1),
      value: first?.rf_level,
    }))
  }
  return measureAll(reference, marks, async (atViewerEnd, onChanges) => {
    const viewer = await openClient(atViewerEnd, reference.address)
    viewer.on('message', (data) => onChanges(read(JSON.parse(String(data)))))
  })
}

interface ViewerMessage {
  readonly type: string
  readonly id?: number
  readonly values?: unknown
  readonly transmitter?: { readonly battery: number } | null
}

interface ReferenceMessage {
  readonly type: 'channel' | 'levels'
  readonly device_id?: string
  readonly transmitters?: readonly { readonly battery: number }[]
  readonly values?: readonly (readonly [string, readonly { readonly rf_level: number }[]])[]
}

/** A change of the first channel of a viewed receiver. */
interface Change {
  readonly type: Mark['type']
  readonly deviceId: string | undefined
  readonly value: number | undefined
}

type StartViewer = (atEnd: AtEnd, onChanges: (changes: readonly Change[]) => void) => Promise<void>

async function measureAll(
  target: Pick<Child, 'pid' | 'log'>,
  marks: WebSocket,
  startViewer: StartViewer,
): Promise<readonly Figure[]> {
  await sleep(warmUpMs)
  const figures = await measureLoad(target, 'no viewer')
  return withCleanup(async (atViewerEnd) => {
    const latencies = watchLatencies(atViewerEnd, marks)
    await startViewer(atViewerEnd, latencies.arrived)
    await sleep(warmUpMs)
    latencies.clear()
    const viewed = await measureLoad(target, 'one viewer')
    return [
      ...figures,
      ...viewed,
      ...[50, 99].flatMap((percent) => [
        latencyFigure(`battery to message, p${percent}`, percentile(latencies.of('battery'), percent)),
        latencyFigure(`level to message, every 100 ms, p${percent}`, percentile(latencies.of('level'), percent)),
      ]),
    ]
  })
}

const size = `${(systems * receivers).toLocaleString('en')} × ${channelsPerReceiver} at ${pushesPerSecond} Hz`

async function measureLoad(target: Pick<Child, 'pid' | 'log'>, name: string): Promise<Figure[]> {
  await longestHoldMs(target)
  const [msPerSecond = 0] = await cpuMsPerSecond([target.pid], seconds)
  const holdMs = await longestHoldMs(target)
  return [
    { name: `${size}, ${name}, CPU of a core`, unit: '%', ours: msPerSecond / 10, reference: null },
    { name: `${size}, ${name}, longest hold of the event loop`, unit: 'ms', ours: holdMs, reference: null },
  ]
}

function latencyFigure(name: string, ms: number): Figure {
  return { name: `${size}, one viewer, ${name}`, unit: 'ms', ours: ms, reference: null }
}

/** Collects the time from each announced change to its arrival at the viewer. */
export function watchLatencies(atEnd: AtEnd, marks: WebSocket) {
  const sentAt = new Map<string, number>()
  const arrivedAt = new Map<string, number>()
  const latencies: Readonly<Record<Mark['type'], number[]>> = { level: [], battery: [] }
  const keyOf = ({ type, deviceId, value }: Change) => `${type} ${deviceId} ${value}`
  const record = (change: Change) => {
    const key = keyOf(change)
    const [sent, arrived] = [sentAt.get(key), arrivedAt.get(key)]
    if (sent === undefined || arrived === undefined) return
    latencies[change.type].push(arrived - sent)
    sentAt.delete(key)
    arrivedAt.delete(key)
  }
  const onMark = (data: unknown) => {
    const mark: Mark = JSON.parse(String(data))
    sentAt.set(keyOf(mark), mark.at)
    record(mark)
  }
  marks.on('message', onMark)
  atEnd(() => marks.off('message', onMark))
  return {
    arrived(changes: readonly Change[]) {
      const now = Number(process.hrtime.bigint()) / 1e6
      for (const change of changes) {
        // A change may arrive before its announcement.
        arrivedAt.set(keyOf(change), now)
        record(change)
      }
    },
    clear() {
      latencies.level.length = 0
      latencies.battery.length = 0
    },
    of: (type: Mark['type']) => latencies[type],
  }
}

export function viewedOf(
  { systems }: UpstreamProcess,
  { receivers: shown }: Micwatch,
): ReadonlyMap<string, ReceiverInData> {
  const [system] = systems
  return new Map(
    (system?.marked ?? []).map(({ id, name }) => {
      const receiver = shown.find((candidate) => candidate.manufacturer === system?.code && candidate.name === name)
      if (receiver === undefined) throw new Error(`Micwatch does not show the device ${name}.`)
      return [id, receiver]
    }),
  )
}

export async function createGroup({ address }: Micwatch, members: readonly ReceiverInData[]): Promise<number> {
  const slots = members.flatMap(({ channels }) => channels.map(({ slot }) => slot))
  const response = await fetch(`${address}/api/group/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Viewed', slots }),
  })
  if (!response.ok) throw new Error(`The group was not created: ${await response.text()}`)
  const { id } = (await response.json()) as { id: number }
  return id
}
