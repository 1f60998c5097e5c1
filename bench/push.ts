/**
 * How long a change takes from the upstream's socket to a client's: one upstream, many receivers, one client.
 * Reference: a bare `ws` relay that is handed the frames our clients get.
 */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import type { ReceiverInData } from '../src/model/api.ts'
import { type AtEnd, atRate, type Bench, type Figure, percentile, until } from './harness.ts'
import { startMicwatch, startReference } from './servers.ts'

/** So many that none is told of more than ten times a second, which would wait for its turn. */
const receivers = 500
const channelsPerReceiver = 4
const seconds = 1.5
const rates = [100, 1_000]

export const push = (nodeOptions: readonly string[]): Bench => ({
  name: 'push',
  runs: 3,
  async open(atEnd) {
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    // No poll within the measurement: what one holds up is told by `poll`.
    const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const client = await openClient(atEnd, `${micwatch.address.replace('http', 'ws')}/ws`)
    const relay = await openRelay(atEnd)
    const relayClient = await openClient(atEnd, relay.address)
    const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
    const sendUpstream = (change: Change, level: number) => simulator.push.send(upstreamFrame(change, level))
    const sendRelay = (change: Change, level: number) => relay.send(clientFrame(change, level))
    await latencies(client, changes, 100, sendUpstream)
    await latencies(relayClient, changes, 100, sendRelay)

    return {
      async measure() {
        const figures: Figure[] = []
        for (const rate of rates) {
          const ours = await latencies(client, changes, rate, sendUpstream)
          const reference = await latencies(relayClient, changes, rate, sendRelay)
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
    if (receiver === undefined) throw new Error(`Micwatch does not show ${device.name}`)
    return { deviceId: device.id, receiver }
  })
}

/** As the upstream tells that the first channel has another level. */
export function upstreamFrame({ deviceId }: Pick<Change, 'deviceId'>, level: number): string {
  const told = { channel: 1, audio_level: level, rf_level: level }
  return JSON.stringify({ type: 'device_update', device_id: deviceId, channels: [told], transmitters: [told] })
}

/** As our clients are told of it. */
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

/** The bare relay, with us as its upstream. */
export async function openRelay(atEnd: AtEnd): Promise<Relay> {
  const source = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  atEnd(() => {
    for (const socket of source.clients) socket.terminate()
    source.close()
  })
  await once(source, 'listening')
  const { port } = source.address() as AddressInfo
  const { pid, address } = await startReference(atEnd, 'relay', `ws://127.0.0.1:${port}`)
  const send = (text: string) => {
    for (const socket of source.clients) socket.send(text)
  }
  return { pid, address, send }
}

export async function openClient(atEnd: AtEnd, url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  atEnd(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

/** Levels go round, so that each sending of a receiver can be told from the last. */
const levels = Array.from({ length: 60 }, (_, at) => -90 + at)
let round = 0

/**
 * Of the changes, in ms, from before the write to the client's message event. Of two that a busy machine joined, since
 * they came within a tenth of a second, the later counts. Throws when a last state does not arrive.
 */
async function latencies(
  client: WebSocket,
  changes: readonly Change[],
  perSecond: number,
  send: (change: Change, level: number) => void,
): Promise<number[]> {
  const sent = new Map<number, { readonly level: number; readonly at: number }[]>()
  const taken: number[] = []
  const onMessage = (data: unknown) => {
    const { type, receiver_id, data: told } = JSON.parse(String(data))
    if (type !== 'device_update') return
    const own = sent.get(receiver_id) ?? []
    const nth = own.findIndex(({ level }) => level === told.channels[0].rf_level)
    const change = own[nth]
    if (change === undefined) return
    taken.push(performance.now() - change.at)
    own.splice(0, nth + 1)
    if (own.length === 0) sent.delete(receiver_id)
  }
  client.on('message', onMessage)
  await atRate(perSecond, seconds, (nth) => {
    const change = changes[nth % changes.length] as Change
    if (nth % changes.length === 0) round += 1
    const level = levels[round % levels.length] as number
    const { id } = change.receiver
    sent.set(id, [...(sent.get(id) ?? []), { level, at: performance.now() }])
    send(change, level)
  })
  await until('every change arrives', () => sent.size === 0, 10_000)
  client.off('message', onMessage)
  await sleep(200)
  return taken
}
