/** Sends responses: caching, ETag and compression, paging, and parsing of query parameters. */

import { promisify } from 'node:util'
import { gzip as gzipInThreadPool } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageBody } from '../../contract/described.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Cache } from '../../state/cache.ts'
import { addConnectionHeaders } from './headers.ts'
import { digestOf, gzipChunks, joinChunks, type ResponseChunk, toChunk } from './response-chunks.ts'

/** A response that is created once and sent many times. */
export interface CachedResponse {
  readonly chunks: readonly ResponseChunk[]
  readonly size: number
  readonly etag: string
  readonly madeAt: number
  readonly type: string
  isSent?: boolean
  /** The joined chunks; set once the response is sent for the second time. */
  joined?: Buffer
  gzip?: Buffer | Promise<Buffer>
}

export type ResponseCache = Cache<CachedResponse>

/**
 * Sends the cached response, or creates and caches it first. If `manufacturer` is null, the response covers all
 * manufacturers.
 */
export function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  options: {
    cache: ResponseCache
    manufacturer: string | null
    key: string
    make: () => string | readonly ResponseChunk[]
  },
): FastifyReply | Promise<FastifyReply> {
  const { cache, manufacturer, key, make } = options
  let response = cache.get(key)
  if (response === undefined) {
    const made = make()
    response = typeof made === 'string' ? createResponse(made) : fromChunks(made, json)
    cache.set(key, manufacturer, response)
  }
  return sendResponse(request, reply, response)
}

const json = 'application/json; charset=utf-8'

export function createResponse(text: string, type = json): CachedResponse {
  return fromChunks([toChunk(text)], type)
}

function fromChunks(chunks: readonly ResponseChunk[], type: string): CachedResponse {
  const size = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
  // The tag is weak because the compressed response has the same one.
  return { chunks, size, etag: `W/"${digestOf(chunks)}"`, madeAt: performance.now(), type }
}

/** Smaller responses are not compressed. */
const minGzipBytes = 1024

export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  response: CachedResponse,
): FastifyReply | Promise<FastifyReply> {
  if (matches(request.headers['if-none-match'], response.etag)) return write(reply, 304, headOf(response))
  const head = headOf(response)
  head.push('content-type', response.type)
  if (response.size < minGzipBytes || !acceptsGzip(request)) return write(reply, 200, head, bodyOf(response))
  head.push('content-encoding', 'gzip')
  response.gzip ??= compress(response)
  if (Buffer.isBuffer(response.gzip)) return write(reply, 200, head, [response.gzip])
  return response.gzip.then((bytes) => write(reply, 200, head, [bytes]))
}

/**
 * Returns the chunks or, if the response is sent again, the joined chunks. While levels change, most responses are sent
 * only once, and joining would be wasted work.
 */
function bodyOf(response: CachedResponse): readonly Buffer[] {
  if (response.isSent) return [joinedOf(response)]
  response.isSent = true
  return response.chunks.map(({ bytes }) => bytes)
}

function joinedOf(response: CachedResponse): Buffer {
  response.joined ??= joinChunks(response.chunks)
  return response.joined
}

function headOf({ etag, madeAt }: CachedResponse): string[] {
  const age = Math.floor((performance.now() - madeAt) / 1000)
  return ['etag', etag, 'cache-control', 'no-cache', 'vary', 'Accept-Encoding', 'age', String(age)]
}

/**
 * Writes the response without Fastify's reply handling, whose hooks and headers take a large part of the time that a
 * 304 takes.
 */
function write(reply: FastifyReply, status: number, head: string[], body?: readonly Buffer[]): FastifyReply {
  addConnectionHeaders(reply.code(status))
  const replyHeaders = reply.getHeaders()
  for (const name in replyHeaders) head.push(name, String(replyHeaders[name]))
  for (const [name, value] of reply.server.constantHeaders)
    if (name !== 'cache-control' && !(name in replyHeaders)) head.push(name, value)
  if (body !== undefined) head.push('content-length', String(body.reduce((sum, { length }) => sum + length, 0)))
  reply.hijack()
  reply.raw.writeHead(status, head)
  reply.raw.cork()
  for (const bytes of body ?? []) reply.raw.write(bytes)
  reply.raw.end()
  return reply
}

/** Larger responses are compressed in the thread pool, so that they do not block the event loop. */
const maxSyncGzipBytes = 1024 * 1024
const gzip = promisify<Buffer, { level: number }, Buffer>(gzipInThreadPool)

function compress(response: CachedResponse): Buffer | Promise<Buffer> {
  return response.size <= maxSyncGzipBytes ? gzipChunks(response.chunks) : gzip(joinedOf(response), { level: 1 })
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  const opaque = etag.slice(2)
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque)
}

function acceptsGzip(request: FastifyRequest): boolean {
  const offered = request.headers['accept-encoding']
  return typeof offered === 'string' && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(offered)
}

export type Query = Readonly<Record<string, string | string[] | undefined>>

/** Reads a filter parameter; undefined if it is missing or empty. Throws if it is given more than once. */
export function readParameter(query: Query, name: string): string | undefined {
  const value = readSingle(query, name)
  return value === '' ? undefined : value
}

function readSingle(query: Query, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw new RequestError('bad_request', { details: `${name}: expected only one value` })
  return value
}

/** Reads a parameter whose value must be `true` or `false`. */
export function readFlag(query: Query, name: string): boolean | undefined {
  const value = readChoice(query, name, ['true', 'false'])
  return value === undefined ? undefined : value === 'true'
}

export function readChoice<Choice extends string>(
  query: Query,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = readParameter(query, name)
  const chosen = choices.find((choice) => choice === value)
  if (value !== undefined && chosen === undefined) {
    throw new RequestError('bad_request', { details: `${name}: expected one of ${choices.join(', ')}` })
  }
  return chosen
}

/** Parses an ISO 8601 date or time to epoch ms; a date means midnight UTC. */
export function readTime(query: Query, name: string): number | undefined {
  const value = readParameter(query, name)
  if (value === undefined) return undefined
  const isWellFormed = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(value)
  const time = isWellFormed ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new RequestError('bad_request', { details: `${name}: expected a day or a time such as 2026-05-01T18:00:00Z` })
}

export interface PageRequest {
  readonly page: number
  readonly size: number
}

const defaultPageSize = 100
const maxPageSize = 1000

/** Reads the requested page; null if the query does not request paging. */
export function readPage(query: Query): PageRequest | null {
  const page = readSingle(query, 'page')
  const size = readSingle(query, 'page_size')
  if (page === undefined && size === undefined) return null
  return {
    page: readCount(page ?? '1', 'page'),
    size: Math.min(readCount(size ?? `${defaultPageSize}`, 'page_size'), maxPageSize),
  }
}

function readCount(text: string, name: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) {
    throw new RequestError('bad_request', { details: `${name}: expected a whole number of 1 or more` })
  }
  return Number(text)
}

/**
 * Builds one page of a list. `url` is the request's own path and query; `next` and `previous` keep its other
 * parameters.
 */
export function toPage<Item>(items: readonly Item[], page: PageRequest, url: string): PageBody<Item> {
  const results = items.slice((page.page - 1) * page.size, page.page * page.size)
  return toPageOf(results, items.length, page, url)
}

/** Builds a page from its own items; `count` is the total number of items. */
export function toPageOf<Item>(
  results: readonly Item[],
  count: number,
  { page, size }: PageRequest,
  url: string,
): PageBody<Item> {
  const pages = Math.max(1, Math.ceil(count / size))
  if (page > pages)
    throw new RequestError('not_found', { subject: `page ${page}`, details: `page: expected at most ${pages}` })
  const [path = '', query] = url.split('?')
  const link = (target: number) => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(target))
    return `${path}?${parameters}`
  }
  return { count, next: page < pages ? link(page + 1) : null, previous: page > 1 ? link(page - 1) : null, results }
}

const maxId = Number.MAX_SAFE_INTEGER

export function readIdParameter(query: Query, name: string): number | undefined {
  const value = readParameter(query, name)
  return value === undefined ? undefined : readId(value, name)
}

/** Parses an id in a path or a filter: 1 to 2^53−1, without leading zeros, so that every record has only one URL. */
export function readId(text: string, name = 'id'): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  if (id < 1 || id > maxId)
    throw new RequestError('bad_request', { details: `${name}: expected a whole number of 1 or more` })
  return id
}
