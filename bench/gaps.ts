/**
 * How evenly meters move: the gaps between what a viewer is told of one receiver that pushes ten times a second, while
 * others make trouble. Reference: a bare `ws` relay that is handed a frame as often, on the same machine at the same time.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { createRecordReader, levelsProtocol } from '../src/model/level-records.ts'
import type { DeviceUpdate } from '../src/model/messages.ts'
import { type AtEnd, type Bench, type Figure, percentile, startChild, using } from './harness.ts'
import { openRelay, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'

const receivers = 25
const channelsPerReceiver = 4
const samplesPerSecond = 10
const silentReceivers = 40
const hungryReaders = 16
const saveEveryMs = 200
const warmUpMs = 1_000
const measureMs = 4_000

interface Trouble {
  readonly name: string
  make(atEnd: AtEnd, address: string): Promise<unknown> | undefined
}

const troubles: readonly Trouble[] = [
  { name: 'nothing else goes on', make: () => undefined },
  { name: `${hungryReaders} hungry readers of data.json`, make: startReaders },
  { name: 'a setting is saved five times a second', make: async (atEnd, address) => saveSettings(atEnd, address) },
]

export const gaps = (nodeOptions: readonly string[]): Bench => ({
  name: 'gaps',
  runs: 1,
  async open(atEnd) {
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    const devices = simulator.show.devicesAt(0, simulator.manufacturer)
    let samples = 0
    // Every sample differs from the last, so that there is something to tell each time.
    const sampling = setInterval(() => {
      samples += 1
      for (const { device } of devices)
        simulator.push.send(upstreamFrame({ deviceId: device.id }, -90 + (samples % 60)))
    }, 1000 / samplesPerSecond)
    atEnd(() => clearInterval(sampling))
    const poll = { pollSeconds: 3, nodeOptions }
    return {
      async measure() {
        const figures: Figure[] = []
        await using(async (end) => {
          const { address } = await startMicwatch(end, simulator, poll)
          for (const { name, make } of troubles) {
            figures.push(
              ...(await using(async (until) => {
                await make(until, address)
                return compare(until, address, name)
              })),
            )
          }
        })
        await using(async (end) => {
          const manufacturers = await openSilent(end)
          const { address } = await startMicwatch(end, simulator, { ...poll, manufacturers })
          figures.push(...(await compare(end, address, `${silentReceivers} receivers that do not answer`)))
        })
        return figures
      },
    }
  },
})

async function compare(atEnd: AtEnd, address: string, name: string): Promise<readonly Figure[]> {
  const relay = await openRelay(atEnd)
  const sending = setInterval(() => relay.send('{}'), 1000 / samplesPerSecond)
  atEnd(() => clearInterval(sending))
  const [ours, reference] = await Promise.all([
    watch(atEnd, `${address.replace('http', 'ws')}/ws`, levelsProtocol),
    watch(atEnd, relay.address),
  ])
  await sleep(warmUpMs)
  for (const { gaps } of [ours, reference]) gaps.length = 0
  await sleep(measureMs)
  return [99, 100].map((percent) => ({
    name: `${name}, ${percent === 100 ? 'longest gap' : `p${percent} of gaps`}`,
    unit: 'ms' as const,
    ours: percentile(ours.gaps, percent),
    reference: percentile(reference.gaps, percent),
  }))
}

/** Of each receiver's tellings, in ms; of frames that tell of none, those of the frames. */
async function watch(atEnd: AtEnd, url: string, protocol?: string): Promise<{ readonly gaps: number[] }> {
  const socket = new WebSocket(url, protocol === undefined ? [] : [protocol], { perMessageDeflate: false })
  atEnd(() => socket.terminate())
  const gaps: number[] = []
  const toldAt = new Map<number, number>()
  const records = createRecordReader()
  const note = (id: number) => {
    const now = performance.now()
    const before = toldAt.get(id)
    if (before !== undefined) gaps.push(now - before)
    toldAt.set(id, now)
  }
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) for (const { receiver_id } of records.read(new Uint8Array(data).buffer)) note(receiver_id)
    else {
      const message: DeviceUpdate | { readonly type?: undefined } = JSON.parse(String(data))
      if (message.type === undefined) note(0)
      if (message.type !== 'device_update') return
      records.remember(message)
      note(message.receiver_id)
    }
  })
  await once(socket, 'open')
  return { gaps }
}

function startReaders(atEnd: AtEnd, address: string): Promise<unknown> {
  const program = fileURLToPath(new URL('readers.ts', import.meta.url))
  return startChild(atEnd, ['--import', 'tsx', program, address, String(hungryReaders)])
}

function saveSettings(atEnd: AtEnd, address: string): void {
  let threshold = 20
  const saving = setInterval(() => {
    threshold = threshold === 20 ? 21 : 20
    const body = JSON.stringify({ key: 'alert_battery_threshold', value: String(threshold) })
    const headers = { 'content-type': 'application/json' }
    void fetch(`${address}/api/config/`, { method: 'POST', headers, body }).then((answer) => answer.arrayBuffer())
  }, saveEveryMs)
  atEnd(() => clearInterval(saving))
}

/** Systems of one receiver each that take every connection and never say a word, as entries of the configuration. */
async function openSilent(atEnd: AtEnd): Promise<readonly unknown[]> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<{ destroy(): unknown }>()
  server.on('connection', (socket) => sockets.add(socket))
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return Array.from({ length: silentReceivers }, (_, at) => ({
    code: `silent${at + 1}`,
    plugin: 'shure',
    config: { api_base_url: `http://127.0.0.1:${port}`, shared_key: 'none', poll_interval: 1, timeout: 2 },
  }))
}
