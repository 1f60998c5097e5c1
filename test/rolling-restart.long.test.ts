/** Two services behind a real Caddy or HAProxy are restarted one after the other, while clients send requests. */

import { once } from 'node:events'
import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../scripts/free-port.ts'
import { configFor, createInstallation, startShure, until } from './support/app.ts'
import { startCaddy } from './support/caddy.ts'
import { onTestEnd } from './support/cleanup.ts'
import { findProxy, startExample } from './support/proxy-examples.ts'

beforeAll(async () => {
  await findProxy('caddy')
  await findProxy('haproxy')
})

const name = 'micwatch.local'

/** Sends a request through the proxy and resolves with the status; with the error code if there is no response. */
function send(port: number, method: string, path: string, body?: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { host: name, 'content-type': 'application/json' }
    const options = { host: '127.0.0.1', port, method, path, servername: name, rejectUnauthorized: false, headers }
    const clientRequest = request(options, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    clientRequest.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    clientRequest.end(body)
  })
}

const proxies = [
  [
    'Caddy',
    (screens: readonly string[]) => startCaddy({ MICWATCH_PRIVATE_NAME: name, MICWATCH_SCREENS: screens.join(' ') }),
  ],
  [
    'HAProxy',
    async (services: readonly string[]) => {
      const httpsPort = await freePort()
      await startExample('haproxy', { name, httpsPort, services })
      return { httpsPort }
    },
  ],
] as const

// Conformance: C-17.4.
it.each(proxies)(
  'a rolling restart behind %s loses no request, and pages reconnect to the other process',
  async (_, startProxy) => {
    const shure = await startShure()
    const ports = [await freePort(), await freePort()]
    const installation = await createInstallation({
      server: {
        host: '0.0.0.0',
        allowed_hosts: [name],
        trusted_proxies: ['127.0.0.0/8'],
        public_url: `https://${name}`,
        drain_seconds: 5,
      },
      public_read: true,
      manufacturers: [configFor(shure)],
    })
    const start = (port: number) => installation.serve(['--port', String(port)])
    const services = [await start(ports[0] ?? 0), await start(ports[1] ?? 0)]
    const { httpsPort } = await startProxy(ports.map((port) => `127.0.0.1:${port}`))
    await until('the proxy uses both services', async () => (await send(httpsPort, 'GET', '/healthz')) === 200)
    await pause(2500)

    const results = new Map<number | string, number>()
    const stop = new AbortController()
    const keepSending = async (method: string, path: string, body?: string) => {
      while (!stop.signal.aborted) {
        const status = await send(httpsPort, method, path, body)
        results.set(status, (results.get(status) ?? 0) + 1)
        await pause(10)
      }
    }
    const clients = [
      keepSending('GET', '/api/data.json'),
      keepSending('GET', '/'),
      keepSending('GET', '/api/receivers/'),
      // Refused, but by Micwatch: a proxy may not repeat such a request.
      keepSending('POST', '/api/refresh/', '{}'),
    ]
    const closeCodes = new Set<number>()
    const sockets = Array.from({ length: 4 }, () => keepConnected(httpsPort, closeCodes, stop.signal))

    for (const [index, port] of ports.entries()) {
      services[index]?.kill('SIGTERM')
      expect(await services[index]?.ended).toBe(0)
      services[index] = await start(port)
      await pause(3000)
    }
    stop.abort()
    await Promise.all(clients)
    // A page that has lost its process is connected to the other one.
    expect(await Promise.all(sockets)).toEqual([true, true, true, true])
    expect([...closeCodes]).toEqual([1001])
    expect([...results.keys()].sort()).toEqual([200, 401])
    expect(results.get(200)).toBeGreaterThan(100)
  },
  120_000,
)

/** Keeps a WebSocket open as a page does, until the signal aborts. Resolves with whether the last one was open. */
async function keepConnected(port: number, closeCodes: Set<number>, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const tls = { servername: name, rejectUnauthorized: false }
    const socket = new WebSocket(`wss://127.0.0.1:${port}/ws`, [], { headers: { host: name }, ...tls })
    onTestEnd(() => socket.terminate())
    await once(socket, 'open')
    const closed = once(socket, 'close').then(([code]) => code as number)
    const code = await Promise.race([closed, once(signal, 'abort').then(() => null)])
    if (code === null) return socket.readyState === WebSocket.OPEN
    closeCodes.add(code)
  }
}
