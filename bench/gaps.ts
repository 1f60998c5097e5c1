/**
 * The regularity of meters. Measures the time between two updates of the same receiver at a viewer, while its system
 * pushes levels ten times a second and the service is under other load. Reference: a minimal `ws` relay that forwards a
 * frame at the same rate, on the same machine at the same time.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import type { DeviceUpdate } from '../src/contract/messages.ts'
import { type AtEnd, type Bench, type Figure, percentile, startChild, withCleanup } from './harness.ts'
import { openRelay, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'

const receivers = 25
const channelsPerReceiver = 4
const samplesPerSecond = 10
const unreachableReceivers = 40
const continuousReaders = 16
const saveEveryMs = 200
const warmUpMs = 1_000
const measureMs = 4_000

interface Disturbance {
  readonly name: string
  start(atEnd: AtEnd, address: string): Promise<unknown> | undefined
}

const disturbances: readonly Disturbance[] = [
  { name: 'no other load', start: () => undefined },
  { name: `${continuousReaders} clients reading data.json continuously`, start: startContinuousReaders },
  { name: 'a setting is saved five times a second', start: async (atEnd, address) => saveSettings(atEnd, address) },
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
    // Every sample differs from the last, because unchanged levels are not sent.
    const sampleTimer = setInterval(() => {
      samples += 1
      for (const { device } of devices)
        simulator.push.send(upstreamFrame({ deviceId: device.id }, -90 + (samples % 60)))
    }, 1000 / samplesPerSecond)
    atEnd(() => clearInterval(sampleTimer))
    const poll = { pollSeconds: 3, nodeOptions }
    return {
      async measure() {
        const figures: Figure[] = []
        await withCleanup(async (atRunEnd) => {
          const { address } = await startMicwatch(atRunEnd, simulator, poll)
          for (const { name, start } of disturbances) {
            figures.push(
              ...(await withCleanup(async (atCaseEnd) => {
                await start(atCaseEnd, address)
                return compare(atCaseEnd, address, name)
              })),
            )
          }
        })
        await withCleanup(async (atRunEnd) => {
          const manufacturers = await startUnreachableSystems(atRunEnd)
          const { address } = await startMicwatch(atRunEnd, simulator, { ...poll, manufacturers })
          figures.push(...(await compare(atRunEnd, address, `${unreachableReceivers} unreachable receivers`)))
        })
        return figures
      },
    }
  },
})

async function compare(atEnd: AtEnd, address: string, name: string): Promise<readonly Figure[]> {
  const relay = await openRelay(atEnd)
  const sendTimer = setInterval(() => relay.send('{}'), 1000 / samplesPerSecond)
  atEnd(() => clearInterval(sendTimer))
  const [ours, reference] = await Promise.all([
    watchUpdates(atEnd, `${address.replace('http', 'ws')}/ws`),
    watchUpdates(atEnd, relay.address),
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

/**
 * Collects the gaps between updates of the same receiver, in ms. The relay's frames, which contain no receiver, count
 * as updates of a single receiver.
 */
async function watchUpdates(atEnd: AtEnd, url: string): Promise<{ readonly gaps: number[] }> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  atEnd(() => socket.terminate())
  const gaps: number[] = []
  const updatedAt = new Map<number, number>()
  const recordUpdate = (id: number) => {
    const now = performance.now()
    const before = updatedAt.get(id)
    if (before !== undefined) gaps.push(now - before)
    updatedAt.set(id, now)
  }
  socket.on('message', (data: Buffer) => {
    const message: DeviceUpdate | { readonly type?: undefined } = JSON.parse(String(data))
    if (message.type === undefined) recordUpdate(0)
    if (message.type === 'device_update') recordUpdate(message.receiver_id)
  })
  await once(socket, 'open')
  return { gaps }
}

function startContinuousReaders(atEnd: AtEnd, address: string): Promise<unknown> {
  const program = fileURLToPath(new URL('http-load-process.ts', import.meta.url))
  return startChild(atEnd, ['--import', 'tsx', program, address, String(continuousReaders)])
}

function saveSettings(atEnd: AtEnd, address: string): void {
  let threshold = 20
  const saveTimer = setInterval(() => {
    threshold = threshold === 20 ? 21 : 20
    const body = JSON.stringify({ key: 'alert_battery_threshold', value: String(threshold) })
    const headers = { 'content-type': 'application/json' }
    void fetch(`${address}/api/config/`, { method: 'POST', headers, body }).then((response) => response.arrayBuffer())
  }, saveEveryMs)
  atEnd(() => clearInterval(saveTimer))
}

/** Starts systems that accept every connection and never send data; returns their configuration entries. */
async function startUnreachableSystems(atEnd: AtEnd): Promise<readonly unknown[]> {
  const server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<{ destroy(): unknown }>()
  server.on('connection', (socket) => sockets.add(socket))
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return Array.from({ length: unreachableReceivers }, (_, index) => ({
    code: `unreachable${index + 1}`,
    plugin: 'shure',
    config: { api_base_url: `http://127.0.0.1:${port}`, shared_key: 'none', poll_interval: 1, timeout: 2 },
  }))
}
