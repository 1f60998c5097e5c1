/**
 * Simulates a server for the common device API (`/api/v1/devices`), with a rate limit, a request log and fault
 * injection. Simulated systems add their own authentication, paths and push connections.
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
import { type Bucket, fullBucket, type RateLimit, takeToken } from '../../src/domain/access/limits.ts'
import { type ApiResponse, appliesTo, applyFault, type Fault, type FaultScope, send } from './faults.ts'
import type { DeviceState, Show, ShowTransmitter } from './show.ts'

export interface ApiOptions {
  /** Default 0: any free port. */
  readonly port?: number
  readonly host?: string
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer }
  /** Rate limit per client; default 10 requests a second and a burst of 20. */
  readonly rateLimit?: RateLimit
  /** Current time in epoch milliseconds; also drives the show. */
  readonly now?: () => number
  /** True if list entries include identity, channels and transmitters. */
  readonly richList?: boolean
}

export interface ApiRequest {
  readonly method: string
  /** The request target from the request line, including the query. */
  readonly target: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type AuthorizationResult =
  | { readonly ok: true; readonly headers?: OutgoingHttpHeaders }
  | { readonly ok: false; readonly response: ApiResponse; readonly reason: string }

/** A stream writes to the response itself and keeps it open. */
export type Reply = ApiResponse | { readonly stream: (response: ServerResponse) => void }

/** The parts that differ between systems. */
export interface SystemApi {
  readonly manufacturer: string
  readonly show: Show
  readonly elapsed: () => number
  /** Called once for every request within the rate limit. */
  readonly authorize: (apiRequest: ApiRequest) => AuthorizationResult
  /** Handles the system's own paths; returns undefined for all others. */
  readonly handle?: (apiRequest: ApiRequest) => Reply | undefined | Promise<Reply>
  /** Handles a WebSocket upgrade; returns false if this path has no WebSocket. */
  readonly upgrade?: (apiRequest: ApiRequest, request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  readonly dropConnections: () => void
}

export interface LoggedRequest {
  /** Epoch milliseconds. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** The header of this name; null without it. */
  readonly authorization: string | null
  /** Null until the response is sent. */
  status: number | null
  /** For example `no-credentials`, `replay` or `rate-limit`. */
  refusal: string | null
}

export interface RequestLog {
  /** At least the last ten thousand requests. */
  readonly entries: readonly LoggedRequest[]
  readonly total: number
  /** Number of 429 responses that were caused by the rate limit, not by an injected fault. */
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
  readonly apiRequest: ApiRequest
  readonly entry: LoggedRequest
}

const maxBodyBytes = 1024 * 1024

export async function startDeviceApi(system: SystemApi, options: ApiOptions = {}): Promise<DeviceApi> {
  const { host = '127.0.0.1', port = 0, tls, now = Date.now } = options
  const limit = createLimiter(options.rateLimit ?? { perSecond: 10, burst: 20 }, now)
  const { log, record } = createRequestLog(now)
  const faults = createFaultSwitch(system.dropConnections)
  const sockets = new Set<Socket>()
  const server = tls === undefined ? createServer() : createTlsServer(tls)

  /** Applies the rate limit and the authorization. If either rejects the request, responds and returns undefined. */
  const admit = (request: IncomingMessage, response: ServerResponse, body: string): Admitted | undefined => {
    const apiRequest = toApiRequest(request, body)
    const entry = record(apiRequest)
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
    const authorization = system.authorize(apiRequest)
    if (!authorization.ok) {
      entry.refusal = authorization.reason
      send(response, authorization.response)
      return undefined
    }
    for (const [name, value] of Object.entries(authorization.headers ?? {})) response.setHeader(name, value ?? '')
    return { apiRequest, entry }
  }

  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request).catch(() => null)
    if (body === null) return void request.socket.destroy()
    const admitted = admit(request, response, body)
    if (admitted === undefined) return
    const { apiRequest, entry } = admitted
    const handled = system.handle?.(apiRequest)
    const reply =
      (handled instanceof Promise ? await handled : handled) ??
      handleDevices(system, options.richList ?? false, apiRequest)
    const fault = faults.take(apiRequest.path)
    if (fault !== null) applyFault(fault, request, response, 'stream' in reply ? { status: 200 } : reply)
    else if ('stream' in reply) {
      reply.stream(response)
      entry.status = 200
    } else send(response, reply)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const response = createUpgradeResponse(request, socket)
    const admitted = admit(request, response, '')
    if (admitted === undefined) return
    const { apiRequest, entry } = admitted
    const fault = faults.take(apiRequest.path)
    if (fault !== null) return applyFault(fault, request, response, { status: 200 })
    response.detachSocket(socket)
    const isUpgraded = system.upgrade?.(apiRequest, request, socket, head) ?? false
    entry.status = isUpgraded ? 101 : 404
    if (!isUpgraded) send(createUpgradeResponse(request, socket), notFound)
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
    isSilent: () => faults.current()?.type === 'silent-connections',
    setFault: faults.set,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

// --- Common responses -------------------------------------------------------------------------------------------------

function toListItem(state: DeviceState) {
  const { device, online } = state
  const transmitters = toTransmitters(state)
  return {
    device_id: device.id,
    device_name: device.name,
    device_type: device.device_type,
    model: device.model,
    status: online ? 'online' : 'offline',
    battery_percentage: lowest(transmitters.map((transmitter) => transmitter.battery)),
    rf_level: lowest(transmitters.map((transmitter) => transmitter.rf_level)),
  }
}

export function toDetail(state: DeviceState) {
  const { id, manufacturer, name, device_type, model, ...network } = state.device
  return { ...toListItem(state), ...network }
}

export function toChannels(state: DeviceState) {
  return state.channels.map(({ transmitter, ...channel }) => channel)
}

type ListedTransmitter = Omit<ShowTransmitter, 'battery_type' | 'minutes_left'>

export function toTransmitters(state: DeviceState): (ListedTransmitter & { channel: number })[] {
  return state.channels.flatMap(({ channel, transmitter }) =>
    transmitter === null ? [] : [{ channel, ...toListed(transmitter) }],
  )
}

/** Omits the fields that the common device API does not have. */
export function toListed({ battery_type: _, minutes_left: __, ...listed }: ShowTransmitter): ListedTransmitter {
  return listed
}

const notFound: ApiResponse = { status: 404, body: { error: 'not found', status: 404 } }

function handleDevices(system: SystemApi, richList: boolean, apiRequest: ApiRequest): ApiResponse {
  const { show, manufacturer, elapsed } = system
  const [, id, part, more] = devicePath.exec(apiRequest.path) ?? []
  if (!devicePath.test(apiRequest.path) || more !== undefined) return notFound
  if (apiRequest.method !== 'GET')
    return { status: 405, headers: { allow: 'GET' }, body: { error: 'not allowed', status: 405 } }
  if (id === undefined) {
    const item = richList ? toRichItem : toListItem
    return { status: 200, body: { devices: show.devicesAt(elapsed(), manufacturer).map(item) } }
  }
  const state = show.deviceAt(elapsed(), decode(id))
  return state?.device.manufacturer === manufacturer ? toDeviceResponse(state, part) : notFound
}

const devicePath = /^\/api\/v1\/devices(?:\/([^/]+)(?:\/(channels|transmitter))?(\/.*)?)?$/

function toDeviceResponse(state: DeviceState, part: string | undefined): ApiResponse {
  if (part === undefined) return { status: 200, body: toDetail(state) }
  if (part === 'channels') return { status: 200, body: { channels: toChannels(state) } }
  const transmitters = toTransmitters(state)
  if (transmitters.length === 0) return notFound
  // A single-channel receiver returns its transmitter directly; others return a list.
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

// --- Rate limit, request log and faults -------------------------------------------------------------------------------

function createLimiter(rateLimit: RateLimit, now: () => number) {
  const buckets = new Map<string, Bucket>()
  return (client: string): { headers: Record<string, number>; waitMs: number } => {
    const time = now()
    const { bucket, waitMs } = takeToken(buckets.get(client) ?? fullBucket(rateLimit, time), rateLimit, time)
    buckets.set(client, bucket)
    const fullInMs = ((rateLimit.burst - bucket.tokens) / rateLimit.perSecond) * 1000
    const headers: Record<string, number> = {
      'x-ratelimit-limit': rateLimit.burst,
      'x-ratelimit-remaining': Math.floor(bucket.tokens),
      'x-ratelimit-reset': Math.ceil((time + fullInMs) / 1000),
    }
    if (waitMs > 0) headers['retry-after'] = Math.ceil(waitMs / 1000)
    return { headers, waitMs }
  }
}

type RecordedRequest = Pick<ApiRequest, 'method' | 'path'> & Partial<Pick<ApiRequest, 'headers'>>

export function createRequestLog(now: () => number): {
  log: RequestLog
  record(request: RecordedRequest): LoggedRequest
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
  const record = ({ method, path, headers }: RecordedRequest): LoggedRequest => {
    const authorization = headers?.authorization ?? null
    const entry: LoggedRequest = { at: now(), method, path, authorization, status: null, refusal: null }
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
  return { log, record }
}

export function createFaultSwitch(dropConnections: () => void) {
  let active: { fault: Fault; scope: FaultScope; remaining: number } | null = null
  return {
    current: (): Fault | null => active?.fault ?? null,
    set(fault: Fault | null, scope: FaultScope = {}): void {
      if (fault?.type === 'close-connections') dropConnections()
      else active = fault && { fault, scope, remaining: scope.times ?? Number.POSITIVE_INFINITY }
    },
    /** Returns the active fault if it applies to this path, and counts the failed request. */
    take(path: string): Fault | null {
      if (active === null || !appliesTo(active.fault, active.scope, path)) return null
      const { fault } = active
      if (--active.remaining <= 0) active = null
      return fault
    },
  }
}

function toApiRequest(request: IncomingMessage, body: string): ApiRequest {
  const target = request.url ?? '/'
  return {
    method: request.method ?? 'GET',
    target,
    path: target.split('?', 1)[0] ?? '/',
    headers: request.headers,
    body,
  }
}

/** Creates an ordinary HTTP response on a connection that requested an upgrade. */
function createUpgradeResponse(request: IncomingMessage, socket: Socket): ServerResponse {
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
