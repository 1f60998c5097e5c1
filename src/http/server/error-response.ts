/** Converts every failure of a request to the standard error response. */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError, type RequestErrorCode, toErrorBody } from '../../domain/errors.ts'
import { StoreBusyError, StoreDamagedError, StoreDownError } from '../../storage/errors.ts'
import { hostName } from './guard.ts'
import { addConnectionHeaders, type ConstantHeaders } from './headers.ts'
import { prefersHtml } from './html.ts'
import { misdirectedPage, misdirectedPolicy } from './misdirected-page.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if browsers open the route as a page, although it belongs to the REST interface. */
    isDocument?: boolean
  }
}

export function sendError(reply: FastifyReply, error: RequestError, headers: ConstantHeaders): FastifyReply {
  reply.headers({ ...headers, 'x-request-id': reply.request.id })
  if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  addConnectionHeaders(reply.code(error.status))
  if (error.code !== 'misdirected') return reply.send(toErrorBody(error))
  const { host, headers: requestHeaders } = reply.request
  reply.header('vary', 'Accept')
  if (!prefersHtml(requestHeaders.accept)) return reply.send(toErrorBody(error))
  reply.header('content-security-policy', misdirectedPolicy)
  return reply.type('text/html; charset=utf-8').send(misdirectedPage(hostName(host)))
}

/** Fastify's error code -> the code of the RequestError that is sent instead. */
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

const parserErrors: Readonly<Record<string, RequestErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'head_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
}

/** Responds to input that is not a valid request: it is not HTTP, or its head is too large or arrives too slowly. */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket, headers: ConstantHeaders): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(rawResponse(new RequestError(parserErrors[error.code ?? ''] ?? 'bad_request'), headers))
}

/** Responds to a request without TLS where TLS is expected. */
export function rejectWithoutTls(socket: Socket | undefined): void {
  const body = 'This port expects TLS: open the same address with https:// instead of http://.\n'
  const head = ['HTTP/1.1 400 Bad Request', 'content-type: text/plain; charset=utf-8', 'connection: close']
  socket?.end([...head, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'))
}

/** Responds to an accepted upgrade whose WebSocket handshake is invalid. */
export function rejectHandshake({ message }: Error, socket: Duplex, headers: ConstantHeaders): void {
  const error = new RequestError('bad_request', { details: message })
  const response = rawResponse(error, { ...headers, 'sec-websocket-version': '13, 8' })
  // Nothing else closes this socket after the upgrade.
  socket.end(response, () => socket.destroy())
}

/** Formats a complete HTTP response for connections without a request object. */
function rawResponse(error: RequestError, headers: ConstantHeaders): string {
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

/** True if a browser opens a page. It can be redirected to the sign-in page or shown a "not found" page. */
export function isNavigation({
  method,
  headers,
  ws,
  is404,
  server,
  routeOptions: { config, schema },
}: FastifyRequest): boolean {
  // Unknown addresses below /api/ have a scope of their own: see `handleErrors`.
  const isApi = is404
    ? server.prefix.endsWith('/api')
    : schema?.operationId !== undefined || (config.endpoint !== undefined && !config.isDocument)
  return method === 'GET' && !isApi && !ws && headers.accept?.includes('text/html') === true
}

export function redirectToSignIn(reply: FastifyReply, mount: string): FastifyReply {
  const { url } = reply.request
  // A URL that begins with two slashes would redirect to another site.
  const next = url.startsWith('//') ? '' : `?${new URLSearchParams({ next: url })}`
  return reply.redirect(`${mount}/sign-in${next}`)
}
