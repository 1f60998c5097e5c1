/** Whatever goes wrong with a request -> the one shape of an error. */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError, type RequestErrorCode, toErrorBody } from '../model/errors.ts'
import { StoreBusyError, StoreDamagedError, StoreDownError } from '../store/errors.ts'
import { hostName } from './guard.ts'
import { addConnectionHeaders, type ConstantHeaders } from './headers.ts'
import { prefersHtml } from './html.ts'
import { misdirectedPage } from './misdirected-page.ts'

export function sendError(reply: FastifyReply, error: RequestError, headers: ConstantHeaders): FastifyReply {
  reply.headers({ ...headers, 'x-request-id': reply.request.id })
  if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  addConnectionHeaders(reply.code(error.status))
  if (error.code !== 'misdirected') return reply.send(toErrorBody(error))
  const { host, headers: asked } = reply.request
  reply.header('vary', 'Accept')
  if (!prefersHtml(asked.accept)) return reply.send(toErrorBody(error))
  return reply.type('text/html; charset=utf-8').send(misdirectedPage(hostName(host)))
}

/** Fastify's own errors -> ours. */
const fastifyErrors: Readonly<Record<string, RequestErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'not_json_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'bad_request',
  FST_ERR_VALIDATION: 'bad_request',
}

export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof StoreDamagedError) return new RequestError('store_damaged', { cause: error })
  if (error instanceof StoreBusyError || error instanceof StoreDownError) {
    return new RequestError('store_busy', { cause: error })
  }
  const { code = '', statusCode = 500 } = error as FastifyError
  const known = fastifyErrors[code]
  if (known !== undefined) return new RequestError(known, { cause: error })
  return new RequestError(statusCode >= 400 && statusCode < 500 ? 'bad_request' : 'internal', { cause: error })
}

/** What is wrong with a request at first sight, before anything of its address is understood. */
export function errorOf(check: () => unknown): RequestError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof RequestError ? error : undefined
  }
}

const brokenCodes: Readonly<Record<string, RequestErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'head_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
}

/** Answers what never became a request: no HTTP, a head too large or too slow. */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket, headers: ConstantHeaders): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(wholeAnswer(new RequestError(brokenCodes[error.code ?? ''] ?? 'bad_request'), headers))
}

/** Answers an upgrade that is let in but whose handshake is no WebSocket's. */
export function rejectHandshake({ message }: Error, socket: Duplex, headers: ConstantHeaders): void {
  const error = new RequestError('bad_request', { details: message })
  const answer = wholeAnswer(error, { ...headers, 'sec-websocket-version': '13, 8' })
  // Nobody else looks after the connection any more.
  socket.end(answer, () => socket.destroy())
}

/** For connections on which there is no request that could be answered. */
function wholeAnswer(error: RequestError, headers: ConstantHeaders): string {
  const body = JSON.stringify(toErrorBody(error))
  const fields = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head.join('')}\r\n${body}`
}

/** Somebody opens a page, who can read one that asks them to sign in, or that says there is none. */
export function isNavigation({ method, url, headers, ws }: FastifyRequest, mount: string): boolean {
  const path = url.startsWith(`${mount}/`) ? url.slice(mount.length) : url
  const isPage = (!path.startsWith('/api/') || /^\/api\/docs\/?(\?|$)/.test(path)) && !ws
  return method === 'GET' && isPage && headers.accept?.includes('text/html') === true
}

export function redirectToSignIn(reply: FastifyReply, mount: string): FastifyReply {
  const { url } = reply.request
  // An address that begins with two slashes would lead to another site.
  const next = url.startsWith('//') ? '' : `?${new URLSearchParams({ next: url })}`
  return reply.redirect(`${mount}/sign-in${next}`)
}
