/**
 * A Micwatch that is followed, as the simulator of the plugin kit: a real service with simulated equipment. Each
 * simulator is a front of that service, which injects faults.
 */

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ApiRequest, startDeviceApi } from '../../simulators/show/device-api.ts'
import type { ApiResponse } from '../../simulators/show/faults.ts'
import type { Simulator, SimulatorOptions } from '../../simulators/show/simulator.ts'
import { configFor, startApp, startShure, type TestApp, until } from './app.ts'
import { openLive } from './live-client.ts'
import { tokenHeaders } from './tokens.ts'

export interface MicwatchPeer {
  readonly app: TestApp
  startFront(options: SimulatorOptions): Promise<Simulator>
}

const receivers = 3

export async function startMicwatchPeer(): Promise<MicwatchPeer> {
  const shure = await startShure({ receivers, channelsPerReceiver: 2, story: false })
  const { config, ...record } = configFor(shure)
  // Polled rarely, so that the number of sockets in this process, which the kit counts, stays the same.
  const app = await startApp({ manufacturers: [{ ...record, config: { ...config, poll_interval: 300 } }] })
  await until('all receivers are known', async () => (await app.receivers()).length === receivers)
  // Messages are kept for a client that resumes, from the first one on, which takes a timer.
  const live = await openLive(app)
  live.close()
  const { authorization = '' } = await tokenHeaders(app, 'viewer')
  const token = authorization.replace('Bearer ', '')

  async function startFront(options: SimulatorOptions): Promise<Simulator> {
    const tunnels = new Set<Duplex>()
    const closeTunnels = () => {
      for (const socket of tunnels) socket.destroy()
    }
    const { show, elapsed } = shure
    const api = await startDeviceApi(
      {
        manufacturer: 'micwatch',
        show,
        elapsed,
        authorize: () => ({ ok: true }),
        handle: (apiRequest) => forward(app.url, apiRequest),
        upgrade(_, upgradeRequest, socket, head) {
          tunnels.add(socket)
          socket.on('close', () => tunnels.delete(socket))
          tunnel(app.port, upgradeRequest, socket, head)
          return true
        },
        dropConnections: closeTunnels,
      },
      options,
    )
    return {
      manufacturer: 'micwatch',
      baseUrl: api.baseUrl,
      config: { api_base_url: api.baseUrl, token },
      show,
      requests: api.requests,
      push: {
        ...shure.push,
        get connections() {
          return tunnels.size
        },
      },
      deviceCount: receivers,
      elapsed,
      setFault: api.setFault,
      async close() {
        closeTunnels()
        await api.close()
      },
    }
  }
  return { app, startFront }
}

/** Sends the request on, over a connection that is closed after the response. */
async function forward(url: string, { method, target, headers }: ApiRequest): Promise<ApiResponse> {
  const { authorization } = headers
  const sent = request(url + target, { method, agent: false, headers: authorization ? { authorization } : {} }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }
}

/** Sends the upgrade request on, and then everything in both directions. */
function tunnel(port: number, { url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
  const target = connect(port, '127.0.0.1')
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []))
  target.write(`GET ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  target.write(head)
  target.pipe(socket).pipe(target)
  for (const [from, to] of [
    [socket, target],
    [target, socket],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}
