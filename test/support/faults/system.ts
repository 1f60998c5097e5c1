/** A minimal manufacturer's system with scripted responses that records requests. */

import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { onTestEnd } from '../cleanup.ts'
import { serveHttp } from '../plugins/plugin-kit-server.ts'

export interface RecordedRequest {
  /** When the request arrived, as a `performance.now()` time. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** When the response was sent or the request was aborted; undefined while the request is running. */
  endedAt?: number
}

export type Responder = (request: IncomingMessage, response: ServerResponse) => unknown
/** Handles a WebSocket upgrade; the default responds with 404. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown

export interface System {
  readonly url: string
  /** Returns the system's entry in the configuration, with one poll a second. */
  entry(code: string, more?: object, plugin?: string): { code: string; plugin: string; config: object }
  readonly requests: readonly RecordedRequest[]
  /** WebSocket upgrade requests. */
  readonly upgrades: readonly RecordedRequest[]
  /** Number of open connections. */
  readonly open: number
  /** The highest number of concurrent requests so far. */
  readonly maxConcurrent: number
  /** Replaces the response to later requests. */
  respondWith(next: Responder): void
  handleUpgrades(next: UpgradeHandler): void
}

export async function startSystem(
  first: Responder,
  firstUpgrade: UpgradeHandler = rejectUpgrade(404),
): Promise<System> {
  const requests: RecordedRequest[] = []
  const upgrades: RecordedRequest[] = []
  let onUpgrade = firstUpgrade
  let respond = first
  let running = 0
  let maxConcurrent = 0
  const server = await serveHttp({
    onRequest(request, response) {
      const { method = '', url: path = '', headers } = request
      const entry: RecordedRequest = { at: performance.now(), method, path, headers }
      requests.push(entry)
      running += 1
      maxConcurrent = Math.max(maxConcurrent, running)
      response.on('close', () => {
        running -= 1
        entry.endedAt = performance.now()
      })
      return respond(request, response)
    },
    onUpgrade(request, socket, head) {
      upgrades.push({ at: performance.now(), method: 'GET', path: request.url ?? '', headers: request.headers })
      return onUpgrade(request, socket, head)
    },
  })
  onTestEnd(() => server.close())
  const rate = { timeout: 20, poll_interval: 1, calls_per_second: 1000, burst: 1000 }
  return {
    url: server.url,
    entry: (code, more = {}, plugin = 'shure') => ({
      code,
      plugin,
      config: { api_base_url: server.url, password: 'the key', ...rate, ...more },
    }),
    requests,
    upgrades,
    get open() {
      return server.connections
    },
    get maxConcurrent() {
      return maxConcurrent
    },
    respondWith: (next) => {
      respond = next
    },
    handleUpgrades: (next) => {
      onUpgrade = next
    },
  }
}

// --- Responses -------------------------------------------------------------------------------------------------------

/** Responds with JSON, by default with status 200. */
export function respondJson(body: unknown, status = 200, headers: OutgoingHttpHeaders = {}): Responder {
  return (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function respondError(status: number, headers: OutgoingHttpHeaders = {}): Responder {
  return respondJson({ error: 'refused' }, status, headers)
}

/** Sends these bytes instead of a response; the connection stays open unless `then` closes it. */
export function sendBytes(bytes: string, then: (socket: Socket) => unknown = () => {}): Responder {
  return ({ socket }) => socket.write(bytes, () => then(socket))
}

/** Sends the head of a response, then these bytes of its body repeatedly. */
export function drip(body: string, everyMs: number): Responder {
  return ({ socket }, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).flushHeaders()
    const timer = setInterval(() => response.write(body), everyMs)
    socket.on('close', () => clearInterval(timer))
  }
}

export function rejectUpgrade(status: number, headers = '', body = ''): UpgradeHandler {
  const head = `HTTP/1.1 ${status} No\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n`
  return (_request, socket) => socket.end(head + body)
}

/** Accepts a WebSocket and passes it to `onConnection`. */
export function acceptUpgrade(onConnection: (socket: WebSocket) => unknown): UpgradeHandler {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  return (request, socket, head) => server.handleUpgrade(request, socket, head, onConnection)
}

/** Makes the system accept WebSockets; `send` sends frames to the first one. */
export function acceptSubscription(system: System): { readonly isUp: boolean; send(frame: object): void } {
  const sockets: WebSocket[] = []
  system.handleUpgrades(acceptUpgrade((socket) => sockets.push(socket)))
  return {
    get isUp() {
      return sockets.length > 0
    },
    send: (frame) => sockets[0]?.send(JSON.stringify(frame)),
  }
}

/** Creates a device whose list entry is complete, so that a poll needs only one request. */
export function device(number: number, more: object = {}): Record<string, unknown> {
  const hex = number.toString(16).padStart(4, '0')
  return {
    device_id: `d${number}`,
    device_name: `Rack ${number}`,
    device_type: 'receiver',
    model: 'ULXD4',
    status: 'online',
    battery_percentage: 80,
    rf_level: -60,
    serial_number: `S${number}`,
    mac_address: `00:0E:DD:00:${hex.slice(0, 2)}:${hex.slice(2)}`,
    ip: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
    channels: [{ channel: 1, name: `Voice ${number}`, frequency: 540.25, audio_level: -20, rf_level: -60 }],
    transmitters: [{ channel: 1, slot: 1, name: `Pack ${number}`, battery: 80, audio_level: -20, rf_level: -60 }],
    ...more,
  }
}
