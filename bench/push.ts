/**
 * Latency of a change, from the upstream's socket to the client's, with one upstream, many receivers and one client.
 * Reference: a minimal `ws` relay that forwards the frames that Micwatch's clients receive.
 */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import { type AtEnd, atRate, type Bench, type Figure, percentile, waitFor } from './harness.ts'
import { startMicwatch, startReference } from './servers.ts'

/** Enough that no receiver exceeds ten updates a second, the limit above which updates are delayed. */
const receivers = 500
const channelsPerReceiver = 4
const usualSeconds = 1.5
const rates = [100, 1_000]

export const push = (nodeOptions: readonly string[]): Bench => ({
  name: 'push',
  runs: 3,
  async open(atEnd) {
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    // No poll runs during the measurement; the benchmark `poll` measures how long a poll blocks the event loop.
    const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const client = await openClient(atEnd, `${micwatch.address.replace('http', 'ws')}/ws`)
    const relay = await openRelay(atEnd)
    const relayClient = await openClient(atEnd, relay.address)
    const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
    const sendUpstream = (change: Change, level: number) => simulator.push.send(upstreamFrame(change, level))
    const sendRelay = (change: Change, level: number) => relay.send(clientFrame(change, level))
    await measureLatencies(client, changes, 100, sendUpstream)
    await measureLatencies(relayClient, changes, 100, sendRelay)

    return {
      async measure() {
        const figures: Figure[] = []
        for (const rate of rates) {
          const ours = await measureLatencies(client, changes, rate, sendUpstream)
          const reference = await measureLatencies(relayClient, changes, rate, sendRelay)
          for (const percent of [50, 99]) {
            figures.push({
              name: `${rate.toLocaleString('en')} changes/s, p${percent}`,
              unit: 'ms',
              ours: percentile(ours, percent),
              reference: percentile(reference, percent),
            })
          }
        }
        return figures
      },
    }
  },
})

export interface Change {
  readonly deviceId: string
  readonly receiver: ReceiverInData
}

export function toChanges(
  devices: readonly { readonly device: { readonly id: string; readonly name: string } }[],
  shown: readonly ReceiverInData[],
): readonly Change[] {
  const byName = new Map(shown.map((receiver) => [receiver.name, receiver]))
  return devices.map(({ device }) => {
    const receiver = byName.get(device.name)
    if (receiver === undefined) throw new Error(`Micwatch does not show the device ${device.name}.`)
    return { deviceId: device.id, receiver }
  })
}

/** Returns the upstream's message about a new level on the first channel. */
export function upstreamFrame({ deviceId }: Pick<Change, 'deviceId'>, level: number): string {
  const levels = { channel: 1, audio_level: level, rf_level: level }
  return JSON.stringify({ type: 'device_update', device_id: deviceId, channels: [levels], transmitters: [levels] })
}

/** Returns the message that Micwatch sends to its clients for the same change. */
export function clientFrame({ receiver }: Change, level: number): string {
  const channels = receiver.channels.map((channel) =>
    channel.channel === 1 ? { ...channel, audio_level: level, rf_level: level } : channel,
  )
  const { id, manufacturer } = receiver
  return JSON.stringify({ type: 'device_update', manufacturer, receiver_id: id, data: { channels } })
}

export interface Relay {
  readonly pid: number
  readonly address: string
  send(text: string): void
}

/** Starts the minimal relay, with this process as its upstream. */
export async function openRelay(atEnd: AtEnd): Promise<Relay> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  atEnd(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { pid, address } = await startReference(atEnd, { args: ['relay', `ws://127.0.0.1:${port}`] })
  const send = (text: string) => {
    for (const socket of server.clients) socket.send(text)
  }
  return { pid, address, send }
}

export async function openClient(
  atEnd: AtEnd,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers })
  atEnd(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

/** Levels to send in turn, so that consecutive updates of a receiver differ. */
const levels = Array.from({ length: 60 }, (_, index) => -90 + index)
let round = 0

/**
 * Measures the latency of each change in ms, from before the write to the client's message event. If the service merged
 * two changes because they came within 100 ms of each other on a busy machine, only the later one is included. Throws
 * if the last change of a receiver does not arrive.
 */
export async function measureLatencies(
  client: WebSocket,
  changes: readonly Change[],
  perSecond: number,
  send: (change: Change, level: number) => void,
  seconds = usualSeconds,
): Promise<number[]> {
  const sent = new Map<number, { readonly level: number; readonly sentAt: number }[]>()
  const latencies: number[] = []
  const onMessage = (data: unknown) => {
    const { type, receiver_id, data: update } = JSON.parse(String(data))
    if (type !== 'device_update') return
    const pending = sent.get(receiver_id) ?? []
    const index = pending.findIndex(({ level }) => level === update.channels[0].rf_level)
    const change = pending[index]
    if (change === undefined) return
    latencies.push(performance.now() - change.sentAt)
    pending.splice(0, index + 1)
    if (pending.length === 0) sent.delete(receiver_id)
  }
  client.on('message', onMessage)
  await atRate(perSecond, seconds, (index) => {
    const change = changes[index % changes.length] as Change
    if (index % changes.length === 0) round += 1
    const level = levels[round % levels.length] as number
    const { id } = change.receiver
    sent.set(id, [...(sent.get(id) ?? []), { level, sentAt: performance.now() }])
    send(change, level)
  })
  await waitFor('every change arrives', () => sent.size === 0, 10_000)
  client.off('message', onMessage)
  await sleep(200)
  return latencies
}
