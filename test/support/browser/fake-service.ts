/** A fake service with the data and failures that a test sets. Serves the built pages. */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Errors } from 'typebox/schema'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import type { ChannelBody, ChannelDetails, TransmitterBody } from '../../../src/contract/channels.ts'
import type { DataBody } from '../../../src/contract/data.ts'
import type { Group } from '../../../src/contract/groups.ts'
import type { HealthBody } from '../../../src/contract/health.ts'
import { type LiveMessage, LiveServerMessage } from '../../../src/contract/live-messages.ts'
import type { PlaceholderInData } from '../../../src/contract/placeholders.ts'
import type { ReceiverInData } from '../../../src/contract/receivers.ts'
import { defaultSettings } from '../../../src/contract/settings.ts'
import type { ShowBody } from '../../../src/contract/shows.ts'
import type { AnnouncedSiteBody } from '../../../src/contract/sites.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import type { UpstreamStatus } from '../../../src/contract/values.ts'
import { conditionTable } from '../../../src/domain/conditions/condition.ts'
import { noSources } from '../../../src/domain/equipment/health.ts'
import { pages } from '../../../src/domain/pages.ts'
import { createFakeHistory, type FakeHistory } from './fake-history.ts'

/** That of the built pages, which reload if the service has another one. */
const { version } = JSON.parse(readFileSync(new URL('../../../dist/sbom.cdx.json', import.meta.url), 'utf8')).metadata
  .component as { version: string }
const builtPages = fileURLToPath(new URL('../../../dist/web/', import.meta.url))
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    "object-src 'none'",
  'x-content-type-options': 'nosniff',
}
const pagePatterns = pages.map(({ path }) => new RegExp(`^${path.replace(':id', '[^/]+')}/?$`))
const types: Record<string, string> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

export interface FakeService {
  readonly url: string
  readonly data: FakeData
  /** Keeps connections open without sending data, as after a cable was unplugged. */
  isSilent: boolean
  /** Closes all connections and responds to no request. */
  isDown: boolean
  /** Sends a message to all clients, with the next number. */
  send(message: FakeMessage): void
  /** Messages received from the pages, except pings and acknowledgements. */
  readonly received: readonly unknown[]
  /** The number that a page last acknowledged. */
  readonly acknowledged: unknown
  /** The queries with which pages have connected. */
  readonly connections: readonly string[]
  /** The requests of the pages below `/api/`. */
  readonly requests: readonly FakeRequest[]
  close(): Promise<void>
}

export interface FakeRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly method: string
}

interface ClientMessage {
  readonly type: string
  readonly id?: unknown
  readonly seq?: unknown
}

type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'seq'> : never

/** A message without its number. */
export type FakeMessage = Unnumbered<LiveMessage>

export interface FakeData {
  receivers: ReceiverInData[]
  groups: Group[]
  /** A channel without a record has the names that its equipment reports. */
  slotRecords: SlotRecord[]
  alerts: AlertBody[]
  placeholders: PlaceholderInData[]
  shows: ShowBody[]
  sites: AnnouncedSiteBody[]
  /** Recorded levels, events and markers. */
  history: FakeHistory
  /** Responds to further requests; returns false if it does not. */
  handle: ((request: IncomingMessage, response: ServerResponse, mount: string) => boolean) | null
  /** Response bodies of other paths below `/api/`, or functions that return them; undefined is a 404. */
  responses: Record<string, unknown>
  /** Of the manufacturer Shure. */
  upstream: UpstreamStatus
  /** Names of other manufacturers. */
  healthyManufacturers: readonly string[]
  needsSignIn: boolean
  /** False if live updates are disabled in the settings. */
  isLive: boolean
  /** False on a line that is slower than its data. */
  answersPings: boolean
  version: string
}

/** The part of `GET /api/summary/` that the status line reads. */
export const noExceptions = { conflicts: { critical: 0, other: 0 }, queue_pending: 0, disconnected: 0 }

/** Starts the service; `webRoot` is the folder of the built pages. */
export async function startFakeService(mount: string, webRoot = builtPages): Promise<FakeService> {
  const data: FakeData = {
    receivers: [],
    groups: [],
    slotRecords: [],
    alerts: [],
    placeholders: [],
    shows: [],
    sites: [],
    history: createFakeHistory((message) => send(message)),
    handle: null,
    // Channel and receiver pages read cleared alerts, the monitor reads shows, and the status line reads the summary.
    responses: { '/api/alerts/': [], '/api/shows/': [], '/api/summary/': noExceptions },
    upstream: 'healthy',
    healthyManufacturers: [],
    needsSignIn: false,
    isLive: true,
    answersPings: true,
    version,
  }
  const sockets = new Set<Socket>()
  const clients = new Set<WebSocket>()
  const received: unknown[] = []
  const connections: string[] = []
  const requests: FakeRequest[] = []
  let seq = 0
  let isSilent = false
  let isDown = false
  let acknowledged: unknown = null

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    if (isDown) return response.destroy()
    const path = pathname.startsWith(mount) ? pathname.slice(mount.length) : ''
    const { method = '' } = request
    if (path.startsWith('/api/')) requests.push({ path, query: searchParams, method })
    const isFake = data.responses[path] !== undefined
    if (!data.needsSignIn && !isFake && data.history.handle(request, response, mount)) return
    if (!data.needsSignIn && data.handle?.(request, response, mount)) return
    handleRequest(response, path, searchParams)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const upgrades = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (isDown || data.needsSignIn || !data.isLive) return socket.destroy()
    upgrades.handleUpgrade(request, socket, head, (client) => {
      clients.add(client)
      client.on('close', () => clients.delete(client))
      client.on('message', (text) => receive(client, JSON.parse(String(text)) as ClientMessage))
      connections.push(request.url ?? '')
      if (!isSilent) client.send(encode({ type: 'snapshot', seq, epoch: 'fake', ...identity, data: snapshotOf(data) }))
    })
  })

  const ticks = setInterval(() => send({ type: 'tick', at: new Date().toISOString() }), 1000)

  function send(message: FakeMessage) {
    if (message.type !== 'tick') seq += 1
    const text = encode(message.type === 'tick' ? message : ({ ...message, seq } as LiveMessage))
    if (!isSilent) for (const client of clients) client.send(text)
  }

  function receive(client: WebSocket, message: ClientMessage) {
    if (message.type === 'ping') {
      const pong = { type: 'pong', id: message.id, timestamp: new Date().toISOString() } as const
      if (!isSilent && data.answersPings) client.send(encode(pong))
      return
    }
    if (message.type === 'ack') acknowledged = message.seq
    else received.push(message)
  }

  function handleRequest(response: ServerResponse, path: string, query: URLSearchParams) {
    const respond = (status: number, type: string, body: string | Buffer) =>
      response.writeHead(status, { ...headers, 'content-type': type }).end(body)
    const json = (body: unknown) => respond(200, 'application/json', JSON.stringify(body))
    if (path.startsWith('/assets/'))
      return respond(200, types[path.split('.').pop() ?? ''] ?? '', readFileSync(join(webRoot, path)))
    if (pagePatterns.some((pattern) => pattern.test(path))) {
      return respond(
        200,
        'text/html; charset=utf-8',
        readFileSync(join(webRoot, 'index.html'), 'utf8').replaceAll('="./', `="${mount}/`),
      )
    }
    if (data.needsSignIn) return respond(401, 'application/json', '{"error":"Sign in first."}')
    if (path === '/api/data.json') return json(dataOf(data))
    if (path === '/api/health/') return json(healthOf(data))
    const fake = data.responses[path]
    const body = typeof fake === 'function' ? fake(query) : fake
    if (body !== undefined) return json(body)
    if (path === '/api/shows/') return json(data.shows)
    return respond(404, 'application/json', '{"error":"Not found."}')
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${mount}`,
    data,
    send,
    received,
    get acknowledged() {
      return acknowledged
    },
    connections,
    requests,
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
      clearInterval(ticks)
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Creates a receiver with these channels; `null` is a channel without a transmitter. */
export function receiver(id: number, transmitters: readonly (Partial<TransmitterBody> | null)[]): ReceiverInData {
  const channels = transmitters.map((transmitter, index): ChannelBody => {
    const slot = (id - 1) * 4 + index + 1
    const name = transmitter?.name ?? `H${String(slot).padStart(2, '0')} Singer ${slot}`
    const levels = { battery: 90, forecast: null, audio_level: -20, rf_level: -50, frequency: '540.000' }
    const received = transmitter && { slot, upstream_slot: null, name, ...levels, ...transmitter }
    return {
      ...{ id: slot, channel: index + 1, slot, name, frequency: '540.000', audio_level: null, rf_level: null },
      transmitter: received,
      condition: conditionOf(received),
      not_now: null,
    }
  })
  const hardware = { name: `Rack ${id}`, device_type: 'ad', model: 'AD4Q', ip: `10.0.0.${id}`, manufacturer: 'shure' }
  return { id, ...hardware, site: null, is_active: true, channels }
}

const identity = { installation: '1', via: [] }

const since = '2026-11-22T19:00:00.000Z'

/** Returns a condition with the severity of its first row. Without rows, the channel is OK. */
export function condition(...rows: (typeof conditionTable)[number]['state'][]): ChannelBody['condition'] {
  const [row = null, ...flags] = conditionTable.filter(({ state }) => rows.includes(state))
  const beginning = { since, since_known: true }
  if (row === null) return { state: 'ok', severity: 'ok', attention: false, ...beginning, flags: [] }
  const names = flags.flatMap(({ state }) => (state === 'ok' || state === 'unmonitored' ? [] : [state]))
  return { state: row.state, severity: row.severity, attention: row.attention === true, ...beginning, flags: names }
}

/** Evaluates a transmitter as the service does with the default settings. */
function conditionOf(transmitter: TransmitterBody | null, details: ChannelDetails = {}): ChannelBody['condition'] {
  if (transmitter === null) return condition('tx_off')
  const { battery, rf_level, audio_level } = transmitter
  return condition(
    ...(details.encryption === 'error' ? ['encryption_error' as const] : []),
    ...(details.interference === true ? ['interference' as const] : []),
    ...(details.muted === true ? ['muted' as const] : []),
    ...(battery !== null && battery <= 10 ? ['battery_critical' as const] : []),
    ...(battery !== null && battery <= 20 ? ['battery_low' as const] : []),
    ...(battery !== null && battery <= 50 ? ['battery_replace_soon' as const] : []),
    ...(rf_level !== null && rf_level < -85 ? ['rf_weak' as const] : []),
    ...(audio_level !== null && audio_level >= -1 ? ['clipping' as const] : []),
  )
}

/** Returns the receiver with details for its channels, in order. */
export function withDetails(original: ReceiverInData, details: readonly ChannelDetails[]): ReceiverInData {
  const channels = original.channels.map((channel, index) => {
    const own = details[index]
    if (own === undefined) return channel
    return { ...channel, details: own, condition: conditionOf(channel.transmitter, own) }
  })
  return { ...original, channels }
}

/** Returns the receiver as it is when it went offline while it was in use. */
export function offline(original: ReceiverInData): ReceiverInData {
  const channels = original.channels.map((channel) => {
    const lost: ChannelBody['condition'] = { ...condition('receiver_offline'), attention: true }
    return { ...channel, condition: lost }
  })
  return { ...original, is_active: false, channels }
}

/** Sends changes of the transmitters of receiver 1. */
export function update(service: FakeService, transmitters: Parameters<typeof receiver>[1]): void {
  for (const { id, name, transmitter, condition } of receiver(1, transmitters).channels) {
    service.send({ type: 'channel', id, receiver_id: 1, name, transmitter, condition })
  }
}

/** Sends the levels of channel 1. */
export function sendLevels(service: FakeService, rf: number | null, audio: number | null, quality?: number): void {
  const values = [[1, rf, audio, ...(quality === undefined ? [] : [quality])]]
  service.send({ type: 'levels', at: new Date().toISOString(), values })
}

/** Serializes a message; throws if it does not match the contract. */
function encode(message: LiveMessage): string {
  const [isValid, errors] = Errors(LiveServerMessage, message)
  if (!isValid) throw new Error(`${message.type}: ${JSON.stringify(errors.slice(0, 3))}`)
  return JSON.stringify(message)
}

function snapshotOf(data: FakeData): Extract<LiveMessage, { type: 'snapshot' }>['data'] {
  const { alerts, shows, sites } = data
  const none = { sources: [], performers: [], silences: [], queue: { pending: 0 }, listeners: null }
  return { ...dataOf(data), ...none, alerts, shows, sites }
}

export function dataOf(data: FakeData): DataBody {
  const config = { ...defaultSettings, enable_websocket: data.isLive, version: 0 }
  const { receivers, groups, placeholders, slotRecords } = data
  return { receivers, discovered: [], config, groups, assignments: [], placeholders, slot_records: slotRecords }
}

function healthOf({ upstream, healthyManufacturers, version }: FakeData): HealthBody & { version: string } {
  const consecutive_failures = upstream === 'healthy' ? 0 : 3
  const upstreamStatus = { ...noSources, status: upstream, base_url: '', consecutive_failures }
  const others = healthyManufacturers.map((name) => ({
    ...upstreamStatus,
    code: name,
    name,
    status: 'healthy' as const,
  }))
  const manufacturers = [{ code: 'shure', name: 'Shure', ...upstreamStatus }, ...others]
  const store = { status: 'healthy', details: null } as const
  return {
    status: 'healthy',
    vendor_api: upstreamStatus,
    manufacturers,
    details: [],
    store,
    timestamp: '',
    version,
    commit: null,
    project_url: null,
    public_url: null,
    update: null,
  }
}
