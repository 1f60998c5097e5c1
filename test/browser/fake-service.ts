/** A service that says what a test wants the page to hear, and fails when told to. Serves the built pages. */

import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ChannelBody, DataBody, Group, HealthBody, ReceiverInData, TransmitterBody } from '../../src/model/api.ts'
import type { ChannelDetails } from '../../src/model/details.ts'
import { noSources, type UpstreamStatus } from '../../src/model/health.ts'
import type { DeviceUpdate, ServerMessage } from '../../src/model/messages.ts'
import { findPage } from '../../src/model/pages.ts'

const shipped = fileURLToPath(new URL('../../dist/web/', import.meta.url))
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    "object-src 'none'",
  'x-content-type-options': 'nosniff',
}
const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }

export interface FakeService {
  readonly url: string
  readonly house: FakeHouse
  /** Connections stay open, and nothing comes through them any more: a pulled cable. */
  isSilent: boolean
  /** Nothing is answered, and what is open is cut. */
  isDown: boolean
  say(message: ServerMessage): void
  close(): Promise<void>
}

export interface FakeHouse {
  receivers: ReceiverInData[]
  groups: Group[]
  /** What further paths below `/api/` answer. */
  answers: Record<string, unknown>
  upstream: UpstreamStatus
  needsSignIn: boolean
}

/** `webRoot`: where its pages lie. */
export async function startFakeService(mount: string, webRoot = shipped): Promise<FakeService> {
  const house: FakeHouse = {
    receivers: [],
    groups: [],
    answers: { '/api/assignments/': [] },
    upstream: 'healthy',
    needsSignIn: false,
  }
  const sockets = new Set<Socket>()
  const clients = new Set<WebSocket>()
  let isSilent = false
  let isDown = false

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    if (isDown) return response.destroy()
    answer(response, pathname.startsWith(mount) ? pathname.slice(mount.length) : '')
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const upgrades = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (isDown || house.needsSignIn) return socket.destroy()
    upgrades.handleUpgrade(request, socket, head, (client) => {
      clients.add(client)
      client.on('close', () => clients.delete(client))
      client.on('message', () => say({ type: 'pong', timestamp: new Date().toISOString() }))
      say({ type: 'status', message: 'Connected' })
    })
  })

  function say(message: ServerMessage) {
    if (!isSilent) for (const client of clients) client.send(JSON.stringify(message))
  }

  function answer(response: ServerResponse, path: string) {
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { ...headers, 'content-type': type }).end(body)
    const json = (body: unknown) => send(200, 'application/json', JSON.stringify(body))
    if (path.startsWith('/assets/'))
      return send(200, types[path.split('.').pop() ?? ''] ?? '', readFileSync(join(webRoot, path), 'utf8'))
    if (findPage(path) !== null) {
      return send(
        200,
        'text/html; charset=utf-8',
        readFileSync(join(webRoot, 'index.html'), 'utf8').replaceAll('="./', `="${mount}/`),
      )
    }
    if (house.needsSignIn) return send(401, 'application/json', '{"error":"Sign in first."}')
    if (path === '/api/data.json') return json(dataOf(house))
    if (path === '/api/health/') return json(healthOf(house))
    if (house.answers[path] !== undefined) return json(house.answers[path])
    return send(404, 'application/json', '{"error":"Not found."}')
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${mount}`,
    house,
    say,
    get isSilent() {
      return isSilent
    },
    set isSilent(value) {
      isSilent = value
    },
    get isDown() {
      return isDown
    },
    set isDown(value) {
      isDown = value
      if (value) for (const socket of sockets) socket.destroy()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A receiver with these channels; `null` is a channel without a transmitter. */
export function receiver(id: number, told: readonly (Partial<TransmitterBody> | null)[]): ReceiverInData {
  const channels = told.map((one, at): ChannelBody => {
    const slot = (id - 1) * 4 + at + 1
    const name = `H${String(slot).padStart(2, '0')} Singer ${slot}`
    const levels = { battery: 90, audio_level: -20, rf_level: -50, frequency: '540.000' }
    return {
      ...{ id: slot, channel: at + 1, slot, name, frequency: '540.000', audio_level: null, rf_level: null },
      transmitter: one && { slot, upstream_slot: null, name, ...levels, ...one },
    }
  })
  const last_seen = new Date().toISOString()
  const hardware = { name: `Rack ${id}`, device_type: 'ad', model: 'AD4Q', ip: `10.0.0.${id}`, manufacturer: 'shure' }
  return { id, ...hardware, is_active: true, last_seen, channels }
}

/** The same receiver, which tells these of its channels besides, from the first on. */
export function withDetails(of: ReceiverInData, told: readonly ChannelDetails[]): ReceiverInData {
  const channels = of.channels.map((channel, at) => ({ ...channel, ...(told[at] && { details: told[at] }) }))
  return { ...of, channels }
}

/** Says that the first of them has these channels now. */
export function update(told: Parameters<typeof receiver>[1]): DeviceUpdate {
  const { channels } = receiver(1, told)
  return { type: 'device_update', manufacturer: 'shure', receiver_id: 1, data: { channels } }
}

function dataOf(house: FakeHouse): DataBody {
  const config = { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true }
  return { receivers: house.receivers, discovered: [], config, groups: house.groups }
}

function healthOf({ upstream }: FakeHouse): HealthBody & { version: string } {
  const consecutive_failures = upstream === 'healthy' ? 0 : 3
  const fares = { ...noSources, status: upstream, base_url: '', consecutive_failures }
  const manufacturers = [{ code: 'shure', ...fares }]
  const store = { status: 'healthy', details: null } as const
  return { status: 'healthy', vendor_api: fares, manufacturers, details: [], store, timestamp: '', version: '9.9.9' }
}
