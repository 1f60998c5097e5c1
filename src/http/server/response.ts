/** Sends responses with caching, ETags and compression, and builds pages of lists. */

import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageBody } from '../../contract/schema.ts'
import { includesSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { digestOf, gzipChunks, joinChunks, type ResponseChunk, toChunk } from '../../live/response-chunks.ts'
import type { Cache } from '../../platform/cache.ts'
import type { Undoable } from '../../storage/undo.ts'
import { acceptsGzip, fastest, gzip, minGzipBytes } from './compression.ts'
import { addConnectionHeaders } from './headers.ts'

/** A response that is created once and sent many times. */
export interface CachedResponse {
  readonly chunks: readonly ResponseChunk[]
  readonly size: number
  readonly etag: string
  readonly madeAt: number
  readonly type: string
  isSent?: boolean
  /** The joined chunks; set when they are first needed. */
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
 * Writes the response without Fastify's reply handling, whose hooks and headers would take a large part of the time of
 * a 304 response.
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

function compress(response: CachedResponse): Buffer | Promise<Buffer> {
  return response.size <= maxSyncGzipBytes ? gzipChunks(response.chunks) : gzip(joinedOf(response), fastest)
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  const opaque = etag.slice(2)
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque)
}

/** Sends JSON, or another type, that was made for this request, so it has no ETag. */
export function sendBytes(reply: FastifyReply, bytes: Uint8Array, type = json): FastifyReply {
  return reply.type(type).send(bytes)
}

/**
 * Sends a CSV file as its chunks are made, and makes no more of them than the client reads. An error before the first
 * chunk leads to an error response; a later one closes the connection, so that the client does not take the response
 * for complete.
 */
export async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<FastifyReply> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${name}"`)
  const stream = Readable.from(startingWith(first, iterator), { objectMode: false })
  // The client may have left before anything of the stream was read.
  stream.once('close', () => void iterator.return?.())
  reply.header('vary', 'Accept-Encoding')
  if (!acceptsGzip(request)) return reply.send(stream)
  const compressed = pipeline(stream, createGzip(fastest), () => {})
  return reply.header('content-encoding', 'gzip').send(compressed)
}

export function sendCsvText(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  text: string,
): Promise<FastifyReply> {
  return sendCsv(request, reply, name, Readable.from([text]))
}

async function* startingWith<Item>(first: IteratorResult<Item>, rest: AsyncIterator<Item>): AsyncIterable<Item> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

export function withUndoId<T>(reply: FastifyReply, { result, undoId }: Undoable<T>): T {
  setUndoId(reply, undoId)
  return result
}

/** Names the id to undo an action with; null if it changed nothing. */
export function setUndoId(reply: FastifyReply, undoId: number | null): void {
  if (undoId !== null) reply.header('x-undo-id', undoId)
}

export interface PageRequest {
  readonly page: number
  readonly size: number
}

const defaultPageSize = 100
const maxPageSize = 1000
/** The most records in a response without paging. */
const maxUnpaged = 1000

/** The values of the parameters `page` and `page_size`. */
interface Paging {
  readonly page?: number
  readonly page_size?: number
}

/** Returns the requested page; null if the query does not request paging. */
export function readPage({ page, page_size: size }: Paging): PageRequest | null {
  if (page === undefined && size === undefined) return null
  return { page: page ?? 1, size: Math.min(size ?? defaultPageSize, maxPageSize) }
}

/** Returns the rows of a table that the response contains. */
export function rowsOf(page: PageRequest | null): { readonly limit: number; readonly offset: number } {
  return page === null ? { limit: maxUnpaged, offset: 0 } : { limit: page.size, offset: (page.page - 1) * page.size }
}

/** Returns the requested page of a list, or the whole list. */
export function paginate<Item>(
  { query, url }: { readonly query: Paging; readonly url: string },
  items: readonly Item[],
): readonly Item[] | PageBody<Item> {
  const page = readPage(query)
  return page === null ? items : toPage(items, page, url)
}

/** As `paginate`, for records that only this installation has: the list of another site is empty. */
export function paginateLocal<Item>(
  request: { readonly query: Paging & { readonly site?: string }; readonly url: string },
  items: readonly Item[],
): readonly Item[] | PageBody<Item> {
  return paginate(request, includesSite(request.query, null) ? items : [])
}

/** Converts the value of a parameter that is a day or a time to epoch ms; a day means midnight UTC. */
export function toTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/**
 * Builds one page of a list. `url` is the path and query of the request; `next` and `previous` differ from it only in
 * `page`.
 */
export function toPage<Item>(items: readonly Item[], page: PageRequest, url: string): PageBody<Item> {
  const results = items.slice((page.page - 1) * page.size, page.page * page.size)
  return toPageOf(results, items.length, page, url)
}

/** Builds a page from the items that are on it; `count` is the number of items on all pages. */
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
