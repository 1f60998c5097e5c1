/** Answers: cache-aside, pages of a list, ETag and compression, refusal -> error body. */

import { promisify } from 'node:util'
import { gzip as gzipElsewhere } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Cache } from '../live/cache.ts'
import type { PageBody } from '../model/api.ts'
import { RequestError } from '../model/errors.ts'
import { addConnectionHeaders } from './headers.ts'
import { digestOf, gzipChunks, joinChunks, type ResponseChunk, toChunk } from './response-chunks.ts'

/** A body made once and sent often. */
export interface CachedResponse {
  readonly pieces: readonly ResponseChunk[]
  readonly size: number
  readonly etag: string
  readonly madeAt: number
  readonly type: string
  isSent?: boolean
  /** In one, once that is worth its while. */
  whole?: Buffer
  gzip?: Buffer | Promise<Buffer>
}

export type ResponseCache = Cache<CachedResponse>

/** Sends the cached answer, or makes, keeps and sends it. `manufacturer: null` for an answer about all of them. */
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
  let answer = cache.get(key)
  if (answer === undefined) {
    const made = make()
    answer = typeof made === 'string' ? createResponse(made) : ofPieces(made, json)
    cache.set(key, manufacturer, answer)
  }
  return sendResponse(request, reply, answer)
}

const json = 'application/json; charset=utf-8'

export function createResponse(text: string, type = json): CachedResponse {
  return ofPieces([toChunk(text)], type)
}

function ofPieces(pieces: readonly ResponseChunk[], type: string): CachedResponse {
  const size = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
  // Weak: the compressed form has the same tag.
  return { pieces, size, etag: `W/"${digestOf(pieces)}"`, madeAt: performance.now(), type }
}

/** Compression is not worth its while below this. */
const leastGzipBytes = 1024

export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: CachedResponse,
): FastifyReply | Promise<FastifyReply> {
  if (matches(request.headers['if-none-match'], answer.etag)) return write(reply, 304, headOf(answer))
  const head = headOf(answer)
  head.push('content-type', answer.type)
  if (answer.size < leastGzipBytes || !acceptsGzip(request)) return write(reply, 200, head, bodyOf(answer))
  head.push('content-encoding', 'gzip')
  answer.gzip ??= compress(answer)
  if (Buffer.isBuffer(answer.gzip)) return write(reply, 200, head, [answer.gzip])
  return answer.gzip.then((bytes) => write(reply, 200, head, [bytes]))
}

/** While levels change, most answers are sent once: putting those together would cost as much as sending them. */
function bodyOf(answer: CachedResponse): readonly Buffer[] {
  if (answer.isSent) return [wholeOf(answer)]
  answer.isSent = true
  return answer.pieces.map(({ bytes }) => bytes)
}

function wholeOf(answer: CachedResponse): Buffer {
  answer.whole ??= joinChunks(answer.pieces)
  return answer.whole
}

function headOf({ etag, madeAt }: CachedResponse): string[] {
  const age = Math.floor((performance.now() - madeAt) / 1000)
  return ['etag', etag, 'cache-control', 'no-cache', 'vary', 'Accept-Encoding', 'age', String(age)]
}

/** Past Fastify's own way of sending: its hooks and header by header are a good part of what a 304 costs. */
function write(reply: FastifyReply, status: number, head: string[], body?: readonly Buffer[]): FastifyReply {
  addConnectionHeaders(reply.code(status))
  const own = reply.getHeaders()
  for (const name in own) head.push(name, String(own[name]))
  for (const [name, value] of reply.server.constantHeaders)
    if (name !== 'cache-control' && !(name in own)) head.push(name, value)
  if (body !== undefined) head.push('content-length', String(body.reduce((sum, { length }) => sum + length, 0)))
  reply.hijack()
  reply.raw.writeHead(status, head)
  reply.raw.cork()
  for (const bytes of body ?? []) reply.raw.write(bytes)
  reply.raw.end()
  return reply
}

/** Above this, compressing would hold up everybody else. */
const maxGzipHereBytes = 1024 * 1024
const gzip = promisify<Buffer, { level: number }, Buffer>(gzipElsewhere)

function compress(answer: CachedResponse): Buffer | Promise<Buffer> {
  return answer.size <= maxGzipHereBytes ? gzipChunks(answer.pieces) : gzip(wholeOf(answer), { level: 1 })
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  const opaque = etag.slice(2)
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === opaque)
}

function acceptsGzip(request: FastifyRequest): boolean {
  const offered = request.headers['accept-encoding']
  return typeof offered === 'string' && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(offered)
}

export type Query = Readonly<Record<string, string | string[] | undefined>>

/** The value of a filter. An empty one is no filter; given twice, it says nothing clear. */
export function readParameter(query: Query, name: string): string | undefined {
  const value = readOnce(query, name)
  return value === '' ? undefined : value
}

function readOnce(query: Query, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw new RequestError('bad_request', { details: `${name}: give it once` })
  return value
}

/** `true` or `false`. */
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
  const chosen = choices.find((one) => one === value)
  if (value !== undefined && chosen === undefined) {
    throw new RequestError('bad_request', { details: `${name}: expected one of ${choices.join(', ')}` })
  }
  return chosen
}

/** A day or a time, ISO 8601; a day begins at midnight UTC. Epoch ms. */
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

/** Null when the query asks for no paging. */
export function readPage(query: Query): PageRequest | null {
  const page = readOnce(query, 'page')
  const size = readOnce(query, 'page_size')
  if (page === undefined && size === undefined) return null
  return {
    page: readCount(page ?? '1', 'page'),
    size: Math.min(readCount(size ?? `${defaultPageSize}`, 'page_size'), maxPageSize),
  }
}

function readCount(text: string, name: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) {
    throw new RequestError('bad_request', { details: `${name}: expected a whole number from 1` })
  }
  return Number(text)
}

/** One page of a list. `url` is the request's own path and query; `next` and `previous` keep its other parameters. */
export function toPage<Item>(items: readonly Item[], page: PageRequest, url: string): PageBody<Item> {
  const results = items.slice((page.page - 1) * page.size, page.page * page.size)
  return toPageOf(results, items.length, page, url)
}

/** The same of what was already cut to the page; `count` is how many there are in all. */
export function toPageOf<Item>(
  results: readonly Item[],
  count: number,
  { page, size }: PageRequest,
  url: string,
): PageBody<Item> {
  const pages = Math.max(1, Math.ceil(count / size))
  if (page > pages)
    throw new RequestError('not_found', { about: `page ${page}`, details: `page: the last is ${pages}` })
  const [path = '', query] = url.split('?')
  const link = (to: number) => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(to))
    return `${path}?${parameters}`
  }
  return { count, next: page < pages ? link(page + 1) : null, previous: page > 1 ? link(page - 1) : null, results }
}

const maxId = Number.MAX_SAFE_INTEGER

export function readIdParameter(query: Query, name: string): number | undefined {
  const given = readParameter(query, name)
  return given === undefined ? undefined : readId(given, name)
}

/** An id of a path or a filter: 1 to 2^53−1, without leading zeros, so that every record has one address. */
export function readId(text: string, name = 'id'): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  if (id < 1 || id > maxId)
    throw new RequestError('bad_request', { details: `${name}: expected a whole number from 1` })
  return id
}
