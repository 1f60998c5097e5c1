/** A simulated system that responds to polls and subscriptions with data that is partly valid and partly broken. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type WebSocket, WebSocketServer } from 'ws'
import { createRandom, type Random } from './random.ts'

export interface HostileSystem {
  readonly url: string
  /** The number of hostile responses to polls so far. */
  readonly responses: number
  /** The number of hostile event streams and WebSocket connections so far. */
  readonly streams: number
  /** Makes the system send valid responses to all further polls. */
  recover(): void
  close(): Promise<void>
}

export async function startHostileSystem(seed: number, options: { isPollHostile: boolean }): Promise<HostileSystem> {
  let { isPollHostile } = options
  let responses = 0
  let streams = 0
  const server = createServer((request, response) => {
    request.resume()
    const { url = '' } = request
    if (url.endsWith('/subscriptions'))
      return sendHostileEvents(createRandom(seed + 50_000 + streams++), request, response)
    if (!isPollHostile || url.includes('/subscriptions/')) return sendList(response)
    return sendHostileResponse(createRandom(seed + responses++), response)
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) =>
      sendHostileFrames(createRandom(seed + 90_000 + streams++), client),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get responses() {
      return responses
    },
    get streams() {
      return streams
    },
    recover: () => {
      isPollHostile = false
    },
    async close() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const goodDevice = {
  id: 'one',
  name: 'Rack',
  model: 'ULXD4Q',
  device_type: 'ulxd',
  ip: '10.0.0.9',
  is_online: true,
  serial_number: 'S1',
  channels: [{ channel: 1, name: 'A', frequency: '540.000', rf_level: -60, audio_level: -20 }],
}

function sendList(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ devices: [goodDevice] }))
}

/** Returns a device with some fields replaced or added, or any JSON value. */
function hostileDevice(random: Random): unknown {
  if (random.chance(0.1)) return random.json(3)
  const fields = Object.entries({
    ...goodDevice,
    id: `d${random.integer(1, 30)}`,
    ip: `10.0.0.${random.integer(1, 40)}`,
  })
  const mutated = fields.map(([name, value]) => [name, random.chance(0.15) ? random.json(3) : value])
  return Object.fromEntries(random.chance(0.2) ? [...mutated, [random.text(10), random.json(4)]] : mutated)
}

function hostileBody(random: Random): string {
  const list = Array.from({ length: random.integer(0, 12) }, () => hostileDevice(random))
  const kind = random.integer(0, 7)
  if (kind <= 3) return JSON.stringify(kind === 0 ? list : { devices: list })
  if (kind === 4) return JSON.stringify({ devices: list }).slice(0, random.integer(0, 500))
  if (kind === 5) return JSON.stringify(random.json(5))
  if (kind === 6) return `${'['.repeat(random.integer(1, 3000))}1`
  return random.text(200)
}

function sendHostileResponse(random: Random, response: ServerResponse): void {
  const text = hostileBody(random)
  const kind = random.integer(0, 9)
  const type = random.pick(['application/json', 'application/json', 'text/html', 'application/octet-stream', ''])
  const headers = type === '' ? {} : { 'content-type': type }
  if (kind <= 4) return void response.writeHead(200, headers).end(text)
  if (kind === 5)
    return void response
      .writeHead(random.pick([201, 204, 301, 302, 400, 404, 500, 502]), { ...headers, location: 'http://127.0.0.1:9/' })
      .end(text)
  if (kind === 6)
    return void response
      .writeHead(200, { ...headers, 'content-encoding': 'gzip' })
      .end(random.chance(0.5) ? gzipSync(text) : text)
  if (kind === 7) {
    response.writeHead(200, { ...headers, 'content-length': text.length + 50 }).write(text)
    return void setTimeout(() => response.destroy(), 5)
  }
  if (kind === 8) return void response.socket?.end(random.bytes(random.integer(0, 200)))
  return void response.destroy()
}

function sendHostileEvents(random: Random, request: IncomingMessage, response: ServerResponse): void {
  const path = `${request.url}/abc`
  response.writeHead(200, { 'content-type': random.chance(0.9) ? 'text/event-stream' : 'text/html' })
  if (random.chance(0.8)) response.write(`event: open\ndata: {"path":"${path}","sessionUUID":"abc"}\n\n`)
  for (let events = random.integer(1, 12); events > 0; events--) {
    const kind = random.integer(0, 4)
    const change = {
      [`/api/v1/devices/${random.pick(['one', random.text(6)])}`]: random.chance(0.5)
        ? hostileDevice(random)
        : random.json(3),
    }
    if (kind <= 1) response.write(`event: message\ndata: ${JSON.stringify(change)}\n\n`)
    else if (kind === 2) response.write(`${random.text(60)}\n\n`)
    else if (kind === 3)
      response.write(
        `retry: ${random.pick(['0', '-1', '999999999', 'x'])}\nid: ${random.integer(0, 99)}\ndata: ${random.text(20)}\n\n`,
      )
    else response.write(random.bytes(random.integer(1, 300)))
  }
  setTimeout(() => (random.chance(0.5) ? response.end() : response.destroy()), random.integer(1, 30))
}

function sendHostileFrames(random: Random, client: WebSocket): void {
  client.on('error', () => {})
  for (let frames = random.integer(1, 12); frames > 0; frames--) {
    const kind = random.integer(0, 4)
    const type = random.pick(['device_update', 'status_update', 'device_removed', random.text(5)])
    const message = {
      type,
      device_id: random.pick(['one', random.text(6), 7, null]),
      ...(random.chance(0.5) ? (hostileDevice(random) as object) : {}),
    }
    if (kind <= 1) client.send(JSON.stringify(message))
    else if (kind === 2) client.send(JSON.stringify(random.json(4)))
    else if (kind === 3) client.send(random.bytes(random.integer(0, 300)), { binary: random.chance(0.5) })
    else client.send(random.text(100))
  }
  setTimeout(
    () => (random.chance(0.5) ? client.close(random.pick([1000, 1001, 1011, 4000])) : client.terminate()),
    random.integer(1, 30),
  )
}
