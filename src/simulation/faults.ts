/** Everything that can be wrong with a manufacturer's system, as data, and the one place where it strikes. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'

export type Fault =
  /** Accepts and never answers. */
  | { readonly type: 'hang' }
  /** The true answer, one byte every half second. */
  | { readonly type: 'drip' }
  | { readonly type: 'reset' }
  | {
      readonly type: 'status'
      readonly status: number
      readonly headers?: OutgoingHttpHeaders
      readonly body?: unknown
    }
  /** A web page with 200, as a proxy or a sign-in portal gives it. */
  | { readonly type: 'html' }
  | { readonly type: 'not-json' }
  | { readonly type: 'wrong-shape' }
  /** Announces more than it sends, then closes. */
  | { readonly type: 'truncated' }
  /** More than 16 MiB of valid JSON. */
  | { readonly type: 'huge' }
  /** 64 MiB in some 64 kB. */
  | { readonly type: 'gzip-bomb' }
  | { readonly type: 'deep' }
  /** One entry of the device list is broken, the others are right. Strikes device lists only. */
  | { readonly type: 'malformed-device'; readonly how?: 'id-missing' | 'battery-word' | 'name-object' }
  /** Drops every push connection, once. */
  | { readonly type: 'close-links' }
  /** Push connections stay open and say nothing more, not even a pong. */
  | { readonly type: 'silent-links' }

export interface FaultScope {
  /** For the next so many requests; until cleared when not given. */
  readonly times?: number
  /** Only requests whose path contains this, or matches it. */
  readonly path?: string | RegExp
}

/** What the system would say if nothing were wrong. */
export interface Answer {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  /** Sent as JSON; nothing when undefined. */
  readonly body?: unknown
}

/** Whether the fault has a say in this request at all. */
export function concerns(fault: Fault, scope: FaultScope, path: string): boolean {
  if (fault.type === 'close-links' || fault.type === 'silent-links') return false
  if (fault.type === 'malformed-device' && path !== '/api/v1/devices') return false
  const { path: wanted } = scope
  return wanted === undefined || (typeof wanted === 'string' ? path.includes(wanted) : wanted.test(path))
}

/** Answers a request the way the fault wants it. */
export function strike(fault: Fault, request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  switch (fault.type) {
    case 'hang':
      break
    case 'reset':
      // A TLS socket has no reset of its own; what its peer sees is a broken connection either way.
      if (request.socket instanceof TLSSocket) request.socket.destroy()
      else request.socket.resetAndDestroy()
      break
    case 'drip':
      drip(response, answer)
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
      truncate(request, response, answer)
      break
    case 'huge':
      // Written in two parts so that no Content-Length gives it away.
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
      send(response, { ...answer, body: breakOneDevice(answer.body, fault.how ?? 'id-missing') })
      break
    case 'close-links':
    case 'silent-links':
      send(response, answer)
      break
    default:
      fault satisfies never
  }
}

export function send(response: ServerResponse, answer: Answer): void {
  const { status, headers = {}, body } = answer
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

function drip(response: ServerResponse, answer: Answer): void {
  const bytes = Buffer.from(JSON.stringify(answer.body ?? {}))
  response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': bytes.length })
  let sent = 0
  const next = () => {
    response.write(bytes.subarray(sent, sent + 1))
    if (++sent === bytes.length) response.end()
  }
  next()
  const timer = setInterval(() => (response.writableEnded ? clearInterval(timer) : next()), 500)
  response.on('close', () => clearInterval(timer))
}

function truncate(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const text = JSON.stringify(answer.body ?? {})
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 1000 })
  response.write(text.slice(0, Math.ceil(text.length / 2)), () => request.socket.end())
}

type Breakage = 'id-missing' | 'battery-word' | 'name-object'

function breakOneDevice(body: unknown, how: Breakage): unknown {
  if ('edges' in (body as object)) return breakOneNode(body as { edges: { node: object }[] }, how)
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

/** The same in Shure's own form, where the id stands deeper and the list tells no levels. */
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
