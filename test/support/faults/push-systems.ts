/** Systems whose subscriptions fail in every way, all monitored by one service, and the statuses it shows for them. */

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebSocket } from 'ws'
import { startApp, type TestApp, until } from '../app.ts'
import { onTestEnd, openShared } from '../cleanup.ts'
import { tokenHeaders } from '../tokens.ts'
import { type Network, startNetwork } from './network.ts'
import {
  acceptUpgrade,
  device,
  type Responder,
  rejectUpgrade,
  respondError,
  respondJson,
  type System,
  startSystem,
  type UpgradeHandler,
} from './system.ts'

const streamPath = '/api/ssc/state/subscriptions'
const opened = `event: open\ndata: {"path":"${streamPath}/s1","sessionUUID":"s1"}\n\n`
const longText = 'x'.repeat(64 * 1024)

/** Accepts the handshake and sends these bytes; what the client sends afterwards is added to `received`. */
function sendFrame(frame: Buffer, received: Buffer[]): UpgradeHandler {
  return (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const acceptKey = createHash('sha1').update(key).digest('base64')
    socket.on('data', (bytes: Buffer) => received.push(bytes))
    socket.write(
      `HTTP/1.1 101 Go\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${acceptKey}\r\n\r\n`,
    )
    socket.write(frame)
  }
}

/** Returns the close code in the masked frame that a client sent. */
export function closeCode(received: readonly Buffer[]): number {
  const bytes = Buffer.concat(received)
  const offset = bytes.indexOf(0x88)
  const mask = bytes.subarray(offset + 2, offset + 6)
  return (((bytes[offset + 6] ?? 0) ^ (mask[0] ?? 0)) << 8) | ((bytes[offset + 7] ?? 0) ^ (mask[1] ?? 0))
}

/** Responds like a system with an event stream; `stream` writes to each stream that is opened. */
function streams(
  devices: readonly object[],
  stream: (response: ServerResponse, request: IncomingMessage) => unknown,
  headers: Record<string, string> = {},
): Responder {
  return (request, response) => {
    if (request.url === '/api/v1/devices') return respondJson({ devices })(request, response)
    if (request.method !== 'GET') return respondJson([])(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders()
    return stream(response, request)
  }
}

export const streamRequests = (system: System) =>
  system.requests.filter(({ path, method }) => path === streamPath && method === 'GET')

// --- Cases -----------------------------------------------------------------------------------------------------------

export const badFrames = [
  ['oversized', Buffer.from([0x81, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 1]), 1009],
  ['not-utf8', Buffer.from([0x81, 0x02, 0xc3, 0x28]), 1007],
  ['compressed', Buffer.from([0xc1, 0x01, 0x61]), 1002],
] as const
export const closings = [1000, 1001, 1011, 1006] as const
export const handshakes = [
  ['refused-401', rejectUpgrade(401), /credentials rejected/],
  ['refused-403', rejectUpgrade(403), /API access is disabled/],
  ['refused-404', rejectUpgrade(404), /status 404/],
  ['a-page', rejectUpgrade(200, 'content-type: text/html\r\n', '<h1>Hello</h1>'), /status 200/],
  ['never', () => {}, /no response .* within 10 s/],
] as const
export const hostileStreams = [
  ['long-line', (response: ServerResponse) => response.write(`${opened}data: ${longText.repeat(5)}`)],
  ['no-line-end', (response: ServerResponse) => response.write(longText.repeat(5))],
] as const

interface Status {
  readonly status: string
  readonly at: number
  readonly error: string | null
}

export class PushSystems {
  readonly systems = new Map<string, System>()
  /** Bytes that the systems with a bad frame received. */
  readonly closeFrames = new Map<string, Buffer[]>()
  /** A host to which other systems refer. */
  otherHost!: System
  network!: Network
  app!: TestApp
  admin!: Record<string, string>
  startedAt = 0
  commentStreams = 0
  readonly #entries: object[] = []
  /** The statuses of each manufacturer's subscription, with times. */
  readonly #history = new Map<string, Status[]>()
  #isStopped = false

  /** Starts the systems and the service, and blocks the network of one system. Returns a function that closes them. */
  async open(): Promise<() => Promise<void>> {
    const end = await openShared(async () => {
      this.otherHost = await startSystem(respondError(404))
      await this.#addWebSockets()
      await this.#addHalfOpen()
      await this.#addSlowStreams()
      await this.#addHostileStreams()
      this.app = await startApp({ manufacturers: this.#entries })
      this.admin = await tokenHeaders(this.app, 'admin')
      this.startedAt = performance.now()
    })
    const recording = this.#record()
    await until('the half-open subscription is connected', () =>
      this.statuses('half-open').some(({ status }) => status === 'connected'),
    )
    this.network.blackhole()
    return async () => {
      this.#isStopped = true
      await recording
      await end()
    }
  }

  system(code: string): System {
    return this.systems.get(code) as System
  }

  statuses(code: string): readonly Status[] {
    return this.#history.get(code) ?? []
  }

  waitForStatus(code: string, status: string, withinMs = 20_000): Promise<Status> {
    const find = () => this.statuses(code).find((entry) => entry.status === status)
    return until(`${code} is ${status}`, find, withinMs)
  }

  async #addWebSockets(): Promise<void> {
    for (const code of closings) {
      const close = (socket: WebSocket) =>
        void setTimeout(() => (code === 1006 ? socket.terminate() : socket.close(code)), 200)
      await this.#add(`closed-${code}`, acceptUpgrade(close))
    }
    for (const [code, frame] of badFrames) {
      const received: Buffer[] = []
      this.closeFrames.set(code, received)
      await this.#add(code, sendFrame(frame, received))
    }
    for (const [code, upgrade] of handshakes) await this.#add(code, upgrade)
    await this.#add(
      'nonsense',
      acceptUpgrade((socket) => {
        for (const text of ['{', '{"type":"device_update","device_id":"nobody"}', '{"type":"sing"}']) socket.send(text)
        // Sent repeatedly, because every poll replaces the pushed name with the one in the device list.
        const message = '{"type":"device_update","device_id":"d13","device_name":"Pushed"}'
        const timer = setInterval(() => socket.send(message), 200)
        socket.on('close', () => clearInterval(timer))
      }),
    )
  }

  async #addHalfOpen(): Promise<void> {
    const system = await startSystem(
      respondJson({ devices: [device(this.systems.size + 1)] }),
      acceptUpgrade(() => {}),
    )
    this.network = await startNetwork(onTestEnd, system.url)
    this.systems.set('half-open', system)
    const websocket_url = `${this.network.url.replace('http', 'ws')}/ws`
    this.#entries.push(system.entry('half-open', { websocket_url }))
  }

  /** Adds event streams that send little or end early. */
  async #addSlowStreams(): Promise<void> {
    const stream_timeout = 2
    await this.#addStream('mute', (devices) => streams(devices, (response) => response.write(opened)), {
      stream_timeout,
    })
    const comment = (response: ServerResponse) => {
      this.commentStreams += 1
      response.write(opened)
      const timer = setInterval(() => response.write(':\n'), 300)
      response.on('close', () => clearInterval(timer))
    }
    await this.#addStream('commented', (devices) => streams(devices, comment), { stream_timeout })
    await this.#addStream('never-opens', (devices) => streams(devices, (response) => response.write(':\n')))
    for (const [code, retry] of [
      ['hasty', 0],
      ['patient', 999_999_999],
    ] as const) {
      const text = `retry: ${retry}\nid: 41\n${opened}id: 42\ndata: {}\n\n`
      await this.#addStream(code, (devices) => streams(devices, (response) => response.end(text)))
    }
  }

  async #addHostileStreams(): Promise<void> {
    const { url } = this.otherHost
    for (const [code, write] of hostileStreams) await this.#addStream(code, (devices) => streams(devices, write))
    await this.#addStream('a-web-page', (devices) =>
      streams(devices, (response) => response.end('<h1>'), { 'content-type': 'text/html' }),
    )
    await this.#addStream('abroad', (devices) =>
      streams(devices, (response) => response.write(opened), { 'content-location': `${url}/s1` }),
    )
    await this.#addStream('abroad-inside', (devices) =>
      streams(devices, (response) => response.write(`event: open\ndata: {"path":"${url}/s1","sessionUUID":"s1"}\n\n`)),
    )
  }

  async #add(code: string, upgrade: UpgradeHandler): Promise<void> {
    const system = await startSystem(respondJson({ devices: [device(this.systems.size + 1)] }), upgrade)
    this.systems.set(code, system)
    this.#entries.push(system.entry(code))
  }

  async #addStream(code: string, createResponder: (devices: object[]) => Responder, more: object = {}): Promise<void> {
    const system = await startSystem(createResponder([device(this.systems.size + 1)]))
    this.systems.set(code, system)
    this.#entries.push(system.entry(code, more, 'sennheiser'))
  }

  async #record(): Promise<void> {
    for (; !this.#isStopped; await new Promise((resolve) => setTimeout(resolve, 50))) await this.#recordStatuses()
  }

  async #recordStatuses(): Promise<void> {
    const { json } = await this.app.get('/api/admin/realtime-connections/', this.admin)
    for (const { manufacturer, status, error_message: error } of json) {
      const history = this.#history.get(manufacturer) ?? []
      this.#history.set(manufacturer, history)
      const isNotTriedYet = history.length === 0 && status === 'disconnected' && error === null
      if (!isNotTriedYet && history.at(-1)?.status !== status) history.push({ status, at: performance.now(), error })
    }
  }
}
