/**
 * The upstream API of the interface specification (`/api/v1/devices …`) as a server: what both kinds of manufacturer
 * system answer alike, with the rate limit in front of it, a log of what was asked, and a handle for faults.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Bucket, fullBucket, type RateLimit, takeToken } from '../model/rate-limit.ts'
import { type Answer, concerns, type Fault, type FaultScope, send, strike } from './faults.ts'
import type { DeviceState, Show, ShowTransmitter } from './show.ts'

export interface ApiOptions {
  /** 0 (default): a free one. */
  readonly port?: number
  readonly host?: string
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer }
  /** Requests a client may make; 10 a second and a burst of 20 unless told. */
  readonly rateLimit?: RateLimit
  /** Epoch milliseconds; the show's time runs on it. */
  readonly now?: () => number
  /** List entries carry identity, channels and transmitters as well. */
  readonly richList?: boolean
}

export interface Asked {
  readonly method: string
  /** As it stands in the request line, with the query. */
  readonly target: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Verdict =
  | { readonly ok: true; readonly headers?: OutgoingHttpHeaders }
  | { readonly ok: false; readonly answer: Answer; readonly reason: string }

/** A stream stays open: it writes to the response itself. */
export type Reply = Answer | { readonly stream: (response: ServerResponse) => void }

/** What one kind of system adds to the common half. */
export interface ApiKind {
  readonly manufacturer: string
  readonly show: Show
  readonly elapsed: () => number
  /** Is asked once for every request that the rate limit lets through. */
  readonly authorize: (asked: Asked) => Verdict
  /** The kind's own addresses; undefined: not one of them. */
  readonly answer?: (asked: Asked) => Reply | undefined
  /** Takes over a WebSocket upgrade; false: there is none at this path. */
  readonly upgrade?: (asked: Asked, request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  readonly dropLinks: () => void
}

export interface LoggedRequest {
  /** Epoch milliseconds. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** Null while it is not answered. */
  status: number | null
  /** Why it was refused, as the system itself sees it: `no-credentials`, `replay`, `rate-limit` … */
  refusal: string | null
}

export interface RequestLog {
  /** The last ten thousand at least. */
  readonly entries: readonly LoggedRequest[]
  readonly total: number
  /** How many 429s were earned (not those of a fault). */
  readonly limited: number
  count(path?: string | RegExp, method?: string): number
  clear(): void
}

export interface DeviceApi {
  readonly baseUrl: string
  readonly requests: RequestLog
  readonly isSilent: () => boolean
  setFault(fault: Fault | null, scope?: FaultScope): void
  close(): Promise<void>
}

interface Admitted {
  readonly asked: Asked
  readonly entry: LoggedRequest
}

const maxBodyBytes = 1024 * 1024

export async function startDeviceApi(kind: ApiKind, options: ApiOptions = {}): Promise<DeviceApi> {
  const { host = '127.0.0.1', port = 0, tls, now = Date.now } = options
  const limit = createLimiter(options.rateLimit ?? { perSecond: 10, burst: 20 }, now)
  const { log, note } = createRequestLog(now)
  const faults = createFaultSwitch(kind.dropLinks)
  const sockets = new Set<Socket>()
  const server = tls === undefined ? createServer() : createTlsServer(tls)

  /** What every request goes through; undefined: an answer has been sent or withheld, and that is all. */
  const admit = (request: IncomingMessage, response: ServerResponse, body: string): Admitted | undefined => {
    const asked = toAsked(request, body)
    const entry = note(asked)
    response.on('finish', () => {
      entry.status = response.statusCode
    })
    const { headers, waitMs } = limit(request.socket.remoteAddress ?? '')
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (waitMs > 0) {
      entry.refusal = 'rate-limit'
      send(response, { status: 429, body: { error: 'rate limit exceeded', status: 429 } })
      return undefined
    }
    const verdict = kind.authorize(asked)
    if (!verdict.ok) {
      entry.refusal = verdict.reason
      send(response, verdict.answer)
      return undefined
    }
    for (const [name, value] of Object.entries(verdict.headers ?? {})) response.setHeader(name, value ?? '')
    return { asked, entry }
  }

  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request).catch(() => null)
    if (body === null) return void request.socket.destroy()
    const admitted = admit(request, response, body)
    if (admitted === undefined) return
    const { asked, entry } = admitted
    const reply = kind.answer?.(asked) ?? answerDevices(kind, options.richList ?? false, asked)
    const fault = faults.take(asked.path)
    if (fault !== null) strike(fault, request, response, 'stream' in reply ? { status: 200 } : reply)
    else if ('stream' in reply) {
      reply.stream(response)
      entry.status = 200
    } else send(response, reply)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const response = responseTo(request, socket)
    const admitted = admit(request, response, '')
    if (admitted === undefined) return
    const { asked, entry } = admitted
    const fault = faults.take(asked.path)
    if (fault !== null) return strike(fault, request, response, { status: 200 })
    response.detachSocket(socket)
    const isUpgraded = kind.upgrade?.(asked, request, socket, head) ?? false
    entry.status = isUpgraded ? 101 : 404
    if (!isUpgraded) send(responseTo(request, socket), notFound)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    baseUrl: `${tls === undefined ? 'http' : 'https'}://${host}:${address.port}`,
    requests: log,
    isSilent: () => faults.current()?.type === 'silent-links',
    setFault: faults.set,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

// --- The common half of the answers -----------------------------------------------------------------------------------

function toListItem(state: DeviceState) {
  const { device, online } = state
  const transmitters = toTransmitters(state)
  return {
    device_id: device.id,
    device_name: device.name,
    device_type: device.device_type,
    model: device.model,
    status: online ? 'online' : 'offline',
    battery_percentage: lowest(transmitters.map((one) => one.battery)),
    rf_level: lowest(transmitters.map((one) => one.rf_level)),
  }
}

export function toDetail(state: DeviceState) {
  const { id, manufacturer, name, device_type, model, ...network } = state.device
  return { ...toListItem(state), ...network }
}

export function toChannels(state: DeviceState) {
  return state.channels.map(({ transmitter, ...channel }) => channel)
}

export function toTransmitters(state: DeviceState): (ShowTransmitter & { channel: number })[] {
  return state.channels.flatMap(({ channel, transmitter }) =>
    transmitter === null ? [] : [{ channel, ...transmitter }],
  )
}

const notFound: Answer = { status: 404, body: { error: 'not found', status: 404 } }

function answerDevices(kind: ApiKind, richList: boolean, asked: Asked): Answer {
  const { show, manufacturer, elapsed } = kind
  const [, id, part, more] = devicePath.exec(asked.path) ?? []
  if (!devicePath.test(asked.path) || more !== undefined) return notFound
  if (asked.method !== 'GET')
    return { status: 405, headers: { allow: 'GET' }, body: { error: 'not allowed', status: 405 } }
  if (id === undefined) {
    const item = richList ? toRichItem : toListItem
    return { status: 200, body: { devices: show.devicesAt(elapsed(), manufacturer).map(item) } }
  }
  const state = show.deviceAt(elapsed(), decode(id))
  return state?.device.manufacturer === manufacturer ? answerDevice(state, part) : notFound
}

const devicePath = /^\/api\/v1\/devices(?:\/([^/]+)(?:\/(channels|transmitter))?(\/.*)?)?$/

function answerDevice(state: DeviceState, part: string | undefined): Answer {
  if (part === undefined) return { status: 200, body: toDetail(state) }
  if (part === 'channels') return { status: 200, body: { channels: toChannels(state) } }
  const transmitters = toTransmitters(state)
  if (transmitters.length === 0) return notFound
  // A receiver with one channel gives its transmitter as it is, the others give a list.
  return { status: 200, body: state.channels.length === 1 ? transmitters[0] : { transmitters } }
}

function toRichItem(state: DeviceState) {
  return { ...toDetail(state), channels: toChannels(state), transmitters: toTransmitters(state) }
}

function lowest(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// --- What stands in front of them -------------------------------------------------------------------------------------

function createLimiter(pace: RateLimit, now: () => number) {
  const buckets = new Map<string, Bucket>()
  return (client: string): { headers: Record<string, number>; waitMs: number } => {
    const time = now()
    const { bucket, waitMs } = takeToken(buckets.get(client) ?? fullBucket(pace, time), pace, time)
    buckets.set(client, bucket)
    const fullInMs = ((pace.burst - bucket.tokens) / pace.perSecond) * 1000
    const headers: Record<string, number> = {
      'x-ratelimit-limit': pace.burst,
      'x-ratelimit-remaining': Math.floor(bucket.tokens),
      'x-ratelimit-reset': Math.ceil((time + fullInMs) / 1000),
    }
    if (waitMs > 0) headers['retry-after'] = Math.ceil(waitMs / 1000)
    return { headers, waitMs }
  }
}

/** What a system was asked, and a way to write down the next. */
export function createRequestLog(now: () => number): {
  log: RequestLog
  note(asked: Pick<Asked, 'method' | 'path'>): LoggedRequest
} {
  let entries: LoggedRequest[] = []
  let total = 0
  let limitedBefore = 0
  const limited = () => entries.filter((entry) => entry.refusal === 'rate-limit').length
  const log: RequestLog = {
    get entries() {
      return entries
    },
    get total() {
      return total
    },
    get limited() {
      return limitedBefore + limited()
    },
    count: (path, method) =>
      entries.filter(
        (entry) =>
          (method === undefined || entry.method === method) &&
          (path === undefined || (typeof path === 'string' ? entry.path === path : path.test(entry.path))),
      ).length,
    clear() {
      entries = []
      total = 0
      limitedBefore = 0
    },
  }
  const note = ({ method, path }: Pick<Asked, 'method' | 'path'>): LoggedRequest => {
    const entry: LoggedRequest = { at: now(), method, path, status: null, refusal: null }
    if (entries.length >= 20_000) {
      const kept = entries.slice(10_000)
      limitedBefore += limited()
      entries = kept
      limitedBefore -= limited()
    }
    total++
    entries.push(entry)
    return entry
  }
  return { log, note }
}

export function createFaultSwitch(dropLinks: () => void) {
  let active: { fault: Fault; scope: FaultScope; left: number } | null = null
  return {
    current: (): Fault | null => active?.fault ?? null,
    set(fault: Fault | null, scope: FaultScope = {}): void {
      if (fault?.type === 'close-links') dropLinks()
      else active = fault && { fault, scope, left: scope.times ?? Number.POSITIVE_INFINITY }
    },
    /** The fault that this request meets. */
    take(path: string): Fault | null {
      if (active === null || !concerns(active.fault, active.scope, path)) return null
      const { fault } = active
      if (--active.left <= 0) active = null
      return fault
    },
  }
}

function toAsked(request: IncomingMessage, body: string): Asked {
  const target = request.url ?? '/'
  return {
    method: request.method ?? 'GET',
    target,
    path: target.split('?', 1)[0] ?? '/',
    headers: request.headers,
    body,
  }
}

/** An ordinary HTTP answer on a connection that asked to be upgraded. */
function responseTo(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => socket.end())
  return response
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new RangeError('body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
