/** Faults that can be injected into a simulated manufacturer system. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'

export type Fault =
  /** Accepts the request and never responds. */
  | { readonly type: 'hang' }
  /** Sends the correct response, one byte every half second. */
  | { readonly type: 'drip' }
  /** Delays the correct response of the time of the request. */
  | { readonly type: 'late'; readonly afterMs: number }
  | { readonly type: 'reset' }
  | {
      readonly type: 'status'
      readonly status: number
      readonly headers?: OutgoingHttpHeaders
      readonly body?: unknown
    }
  /** An HTML page with status 200, as from a proxy or a captive portal. */
  | { readonly type: 'html' }
  | { readonly type: 'not-json' }
  | { readonly type: 'wrong-shape' }
  /** Content-Length is larger than the body; the connection closes early. */
  | { readonly type: 'truncated' }
  /** More than 16 MiB of valid JSON. */
  | { readonly type: 'huge' }
  /** 64 MiB compressed to about 64 kB. */
  | { readonly type: 'gzip-bomb' }
  | { readonly type: 'deep' }
  /** One entry of the device list is malformed, the others are valid. Applies to device lists only. */
  | { readonly type: 'malformed-device'; readonly how?: 'id-missing' | 'battery-word' | 'name-object' }
  /** Closes every push connection once. */
  | { readonly type: 'close-connections' }
  /** Push connections stay open and send nothing more, not even a pong. */
  | { readonly type: 'silent-connections' }

export interface FaultScope {
  /** Number of requests that fail. Default: all until the fault is cleared. */
  readonly times?: number
  /** Limits the fault to requests whose path contains this string or matches this pattern. */
  readonly path?: string | RegExp
}

/** An HTTP response as data. */
export interface ApiResponse {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  /** Sent as JSON, or as plain text if it is a string; undefined for a response without a body. */
  readonly body?: unknown
}

/** The common device API, and another Micwatch. */
const deviceLists: readonly string[] = ['/api/v1/devices', '/api/data.json']

export function appliesTo(fault: Fault, scope: FaultScope, path: string): boolean {
  if (fault.type === 'close-connections' || fault.type === 'silent-connections') return false
  if (fault.type === 'malformed-device' && !deviceLists.includes(path)) return false
  const { path: pattern } = scope
  return pattern === undefined || (typeof pattern === 'string' ? path.includes(pattern) : pattern.test(path))
}

/** `apiResponse` is the response without the fault. */
export function applyFault(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  apiResponse: ApiResponse,
): void {
  switch (fault.type) {
    case 'hang':
      break
    case 'reset':
      // A TLS socket cannot be reset; the peer sees a broken connection in both cases.
      if (request.socket instanceof TLSSocket) request.socket.destroy()
      else request.socket.resetAndDestroy()
      break
    case 'drip':
      drip(response, apiResponse)
      break
    case 'late':
      setTimeout(() => send(response, apiResponse), fault.afterMs)
      break
    case 'status':
      send(response, fault)
      break
    case 'html':
      sendText(response, 'text/html', '<!doctype html><title>Welcome</title><h1>Please sign in</h1>')
      break
    case 'not-json':
      sendText(response, 'application/json', '{"devices": [oops')
      break
    case 'wrong-shape':
      send(response, { status: 200, body: { devices: null } })
      break
    case 'truncated':
      truncate(request, response, apiResponse)
      break
    case 'huge':
      // Written in two parts so that no Content-Length is sent.
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"devices":[],"padding":"${'x'.repeat(17 * 1024 * 1024)}`)
      response.end('"}')
      break
    case 'gzip-bomb':
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 9 }))
      break
    case 'deep':
      sendText(response, 'application/json', `{"devices":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
      break
    case 'malformed-device':
      send(response, { ...apiResponse, body: breakOneDevice(apiResponse.body, fault.how ?? 'id-missing') })
      break
    case 'close-connections':
    case 'silent-connections':
      send(response, apiResponse)
      break
    default:
      fault satisfies never
  }
}

export function send(response: ServerResponse, apiResponse: ApiResponse): void {
  const { status, headers = {}, body } = apiResponse
  if (body === undefined) {
    response.writeHead(status, headers).end()
    return
  }
  const isText = typeof body === 'string'
  const text = isText ? body : JSON.stringify(body)
  const type = isText ? 'text/plain' : 'application/json'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
}

function sendText(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'content-length': text.length }).end(text)
}

function drip(response: ServerResponse, apiResponse: ApiResponse): void {
  const bytes = Buffer.from(JSON.stringify(apiResponse.body ?? {}))
  response.writeHead(apiResponse.status, { 'content-type': 'application/json', 'content-length': bytes.length })
  let sent = 0
  const next = () => {
    response.write(bytes.subarray(sent, sent + 1))
    if (++sent === bytes.length) response.end()
  }
  next()
  const timer = setInterval(() => (response.writableEnded ? clearInterval(timer) : next()), 500)
  response.on('close', () => clearInterval(timer))
}

function truncate(request: IncomingMessage, response: ServerResponse, apiResponse: ApiResponse): void {
  const text = JSON.stringify(apiResponse.body ?? {})
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 1000 })
  response.write(text.slice(0, Math.ceil(text.length / 2)), () => request.socket.end())
}

type Breakage = 'id-missing' | 'battery-word' | 'name-object'

function breakOneDevice(body: unknown, how: Breakage): unknown {
  if ('edges' in (body as object)) return breakOneNode(body as { edges: { node: object }[] }, how)
  if ('receivers' in (body as object)) return breakOneReceiver(body as { receivers: object[] }, how)
  const [first, ...others] = (body as { devices: Record<string, unknown>[] }).devices
  if (first === undefined) return body
  const { device_id, ...rest } = first
  const broken = {
    'id-missing': rest,
    'battery-word': { ...first, battery_percentage: 'x' },
    'name-object': { ...first, device_name: { first: { of: 'many' } } },
  }[how]
  return { devices: [broken, ...others] }
}

/** Breaks one entry in a list of Shure's System API, where the id is nested deeper and the list has no levels. */
function breakOneNode(body: { readonly edges: readonly { readonly node: object }[] }, how: Breakage): unknown {
  const [first, ...others] = body.edges
  if (first === undefined) return body
  const node = {
    'id-missing': { ...first.node, hardwareIdentity: {} },
    'battery-word': { ...first.node, capabilities: 'all', communicationProtocol: 'x' },
    'name-object': { ...first.node, softwareIdentity: { model: { first: { of: 'many' } } } },
  }[how]
  return { ...body, edges: [{ ...first, node }, ...others] }
}

/** Breaks one receiver in the list of another Micwatch. Replaces a field other than the name with an object. */
function breakOneReceiver(body: { readonly receivers: readonly object[] }, how: Breakage): unknown {
  const [first = {}, ...others] = body.receivers
  const broken = {
    'id-missing': { ...first, id: undefined },
    'battery-word': { ...first, channels: [{ channel: 1, transmitter: { battery: 'x' } }] },
    'name-object': { ...first, model: { first: { of: 'many' } } },
  }[how]
  return { ...body, receivers: [broken, ...others] }
}
