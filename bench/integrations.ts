/**
 * Latency of a change, from the upstream's socket to the client's, while the counterparts of all integrations hang.
 * These are OSC targets over UDP and TCP, the MQTT broker, the receiver of remote write, and the sign-in provider.
 * Reference: Micwatch without integrations.
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { type AtEnd, type Bench, percentile, waitFor } from './harness.ts'
import { measureLatencies, openClient, toChanges, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'

const receivers = 100
const channelsPerReceiver = 4
const changesPerSecond = 100
/** Sign-ins that wait for the provider during a measurement. */
const signIns = 4

export const integrations = (nodeOptions: readonly string[]): Bench => ({
  name: 'integrations',
  runs: 3,
  async open(atEnd) {
    const hanging = await openHangingCounterparts(atEnd)
    const alone = await openMicwatch(atEnd, {}, nodeOptions)
    const integrated = await openMicwatch(atEnd, hanging.config, nodeOptions)
    const startSignIns = () => {
      const ended = new AbortController()
      for (let index = 0; index < signIns; index += 1) {
        void fetch(`${integrated.address}/api/auth/oidc/login`, { signal: ended.signal }).catch(() => {})
      }
      return ended
    }
    const first = startSignIns()
    await waitFor('every counterpart is waited for', () => hanging.unreached.size === 0, 60_000)
    first.abort()

    return {
      async measure() {
        const waiting = startSignIns()
        const ours = await integrated.measure()
        waiting.abort()
        const reference = await alone.measure()
        return [50, 99].map((percent) => ({
          name: `${changesPerSecond} changes/s while every counterpart hangs, p${percent}`,
          unit: 'ms',
          ours: percentile(ours, percent),
          reference: percentile(reference, percent),
        }))
      },
    }
  },
})

/** Starts Micwatch with an upstream and a client of its own. */
async function openMicwatch(atEnd: AtEnd, config: object, nodeOptions: readonly string[]) {
  const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
  const simulator = await startShureSimulator(options)
  atEnd(() => simulator.close())
  const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions, config })
  const client = await openClient(atEnd, `${micwatch.address.replace('http', 'ws')}/ws`)
  const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
  const measure = () =>
    measureLatencies(client, changes, changesPerSecond, (change, level) =>
      simulator.push.send(upstreamFrame(change, level)),
    )
  await measure()
  return { address: micwatch.address, measure }
}

/** Opens counterparts that accept connections and then neither read nor respond. */
async function openHangingCounterparts(atEnd: AtEnd) {
  const unreached = new Set(['OSC over UDP', 'OSC over TCP', 'MQTT', 'remote write', 'sign-in'])
  const udp = createSocket('udp4').on('message', () => unreached.delete('OSC over UDP'))
  atEnd(() => udp.close())
  await once(udp.bind(0, '127.0.0.1'), 'listening')
  const listenSilently = (name: string) =>
    listen(atEnd, (socket) =>
      socket.once('data', () => {
        unreached.delete(name)
        socket.pause()
      }),
    )
  const brokerPort = await listen(atEnd, (socket) =>
    socket.once('data', (connect) => {
      unreached.delete('MQTT')
      socket.write(toConnack(connect))
      socket.pause()
    }),
  )
  const targets = [
    { host: '127.0.0.1', port: udp.address().port },
    { host: '127.0.0.1', port: await listenSilently('OSC over TCP'), transport: 'tcp' },
  ]
  const writeUrl = `http://127.0.0.1:${await listenSilently('remote write')}/api/v1/write`
  const issuer = `http://127.0.0.1:${await listenSilently('sign-in')}`
  return {
    unreached,
    config: {
      osc: { targets },
      mqtt: { url: `mqtt://127.0.0.1:${brokerPort}` },
      history_remote_write: { url: writeUrl, interval_seconds: 2 },
      oidc: { issuer, client_id: 'micwatch', roles: { crew: 'operator' } },
    },
  }
}

async function listen(atEnd: AtEnd, onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  atEnd(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns the acceptance of an MQTT connection in the version of the request. */
function toConnack(connect: Buffer): Buffer {
  const version = connect[connect.indexOf('MQTT') + 4]
  return Buffer.from(version === 5 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0])
}
