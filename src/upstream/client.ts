/**
 * The HTTP client for one upstream system or individual device. Handles timeouts, TLS, rate limits, Retry-After, size
 * limits and the state of the event stream.
 */

import type { Socket } from 'node:dgram'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Pool } from 'undici'
import {
  type Bucket,
  bucketAfterTakeover,
  fullBucket,
  maxRetryAfterMs,
  parseRetryAfter,
  type RateLimit,
  reserveToken,
} from '../domain/access/rate-limit.ts'
import { isDeeper, maxJsonDepth } from '../domain/json.ts'
import { abortable } from './abortable.ts'
import { type Authorizer, type Credentials, createAuthorizer } from './authorize.ts'
import type { Trust } from './certificate.ts'
import { createDestinations, type Destinations, guardedConnector, portOf } from './destinations.ts'
import { describeConnectionError, describeStatus } from './error-messages.ts'
import type { ApiError, ErrorClasses } from './errors.ts'

/** Connection settings of a source, from the manufacturer's `config`. */
export interface UpstreamSettings extends Trust {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly rateLimit: RateLimit
  readonly credentials: Credentials
  /** The display name of an individual device that does not report a name. */
  readonly name?: string | null
  /** The WebSocket URL, if the configuration sets one. */
  readonly websocketUrl?: string | null
  /** An event stream is lost when no data arrives for this long; 60 s by default. */
  readonly streamTimeoutMs?: number
}

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; undefined when the body is empty. */
  readonly body: unknown
}

export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Statuses outside 2xx for which the response is returned instead of an error being thrown. */
  readonly accept?: readonly number[]
  /** Reads the body of a successful response. If it returns undefined, the body is parsed as JSON. */
  readonly read?: (bytes: Buffer) => Promise<unknown>
}

export interface UpstreamClient {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  /**
   * Sends a request. Throws the manufacturer's ApiError on failure, its ApiRateLimitError on 429 and during a
   * Retry-After period, and the signal's reason on abort.
   */
  request(method: string, path: string, options?: RequestOptions): Promise<UpstreamResponse>
  /**
   * Waits for the rate limit, and throws during a Retry-After period. For streams and sockets, which do not use
   * `request`.
   */
  waitForTurn(signal?: AbortSignal): Promise<void>
  /** Converts an error response to the manufacturer's error, and applies its Retry-After header. */
  toError(status: number, headers: RawHeaders): ApiError
  readonly authorizer: Authorizer
  readonly destinations: Destinations
  /** The remaining time of the Retry-After period; 0 if there is none. */
  readonly holdMs: number
  /**
   * Takes over from another process, which may have used the full rate limit until `idleMs` ago and still had to wait
   * `holdMs` because of a Retry-After header.
   */
  takeOver(from: { readonly idleMs: number; readonly holdMs: number }): void
  /** State for reopening the event stream. */
  readonly resume: StreamResume
  /** The UDP sockets that device sessions of this client share, by the local port to which they are bound. */
  readonly boundSockets: Map<number, BoundSocket>
  /**
   * Makes every further request throw `reason`. Used when further requests would do harm until a setting is changed.
   */
  block(reason: ApiError): void
  close(): Promise<void>
}

export interface BoundSocket {
  readonly opening: Promise<Socket>
  /** The number of sessions that use the socket; the last one closes it. */
  users: number
}

/** The header format of undici and Node. */
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface StreamResume {
  lastEventId: string
  /** How long to wait before the stream is reopened; null if the server has not sent `retry`. */
  retryMs: number | null
}

/** Applies rate limits and Retry-After periods per origin; one instance for the whole process. */
export interface RequestThrottle {
  waitForTurn(origin: string, rateLimit: RateLimit, signal?: AbortSignal): Promise<void>
  /** Allows for requests of another process, which may have used the full rate limit until `idleMs` ago. */
  takeOver(origin: string, rateLimit: RateLimit, idleMs: number): void
  /** Blocks requests for `ms`. Does not shorten a longer period. */
  hold(origin: string, ms: number): void
  /** Returns the remaining time of the blocked period; 0 if there is none. */
  holdMs(origin: string): number
}

/** Creates a throttle. `now` must be a monotonic clock. */
export function createRequestThrottle(now: () => number = () => performance.now()): RequestThrottle {
  const buckets = new Map<string, Bucket>()
  const holds = new Map<string, number>()
  // The upstream counts requests when they arrive, this process when they are sent. The delay in between varies, so a
  // tenth of the burst is reserved.
  const withReserve = (rateLimit: RateLimit) => ({
    ...rateLimit,
    burst: Math.max(1, Math.floor(rateLimit.burst * 0.9)),
  })
  const bucketOf = (origin: string, reduced: RateLimit) => buckets.get(origin) ?? fullBucket(reduced, now())
  return {
    hold: (origin, ms) => void holds.set(origin, Math.max(holds.get(origin) ?? 0, now() + ms)),
    holdMs: (origin) => Math.max(0, (holds.get(origin) ?? 0) - now()),
    async waitForTurn(origin, rateLimit, signal) {
      signal?.throwIfAborted()
      const reduced = withReserve(rateLimit)
      const { bucket, waitMs } = reserveToken(bucketOf(origin, reduced), reduced, now())
      buckets.set(origin, bucket)
      if (waitMs > 0) await pause(waitMs, signal)
    },
    takeOver(origin, rateLimit, idleMs) {
      const reduced = withReserve(rateLimit)
      buckets.set(origin, bucketAfterTakeover(bucketOf(origin, reduced), reduced, now(), idleMs))
    },
  }
}

const maxBodyBytes = 16 * 1024 * 1024
/** undici checks timeouts only every 0.5 s, so the effective limit is up to 3 s. */
export const maxConnectMs = 2500
const maxExcerptChars = 200

export function createUpstreamClient(options: {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  readonly throttle?: RequestThrottle
  readonly destinations?: Destinations
  /** The wall-clock time, for a Retry-After header that contains a date. */
  readonly now?: () => number
}): UpstreamClient {
  const {
    settings,
    errors,
    throttle = createRequestThrottle(),
    destinations = createDestinations(),
    now = Date.now,
  } = options
  const { timeoutMs, credentials, rateLimit } = settings
  const base = new URL(settings.baseUrl)
  // `URL.origin` is "null" for schemes other than http and https.
  const address = `${base.protocol}//${base.host}`
  const prefix = base.pathname.replace(/\/$/, '')
  const authorizer = createAuthorizer(credentials)
  // Digest nonce counts must arrive in order, so digest requests share one connection.
  const connections = credentials.scheme === 'digest' ? 1 : 4
  const acquireSlot = createSlots(connections)
  const connect = guardedConnector(destinations, {
    port: portOf(base),
    timeout: Math.min(maxConnectMs, timeoutMs),
    trust: settings,
  })
  let inFlight = 0
  let blockReason: ApiError | null = null
  let pool: Pool | undefined
  // The pool is created by the first request. Clients of devices without HTTP never create one.
  const openPool = () =>
    new Pool(address, {
      connections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16 * 1024,
      // After an aborted request, undici would reconnect even if no request is waiting.
      connect: (target, callback) =>
        inFlight > 0 ? connect(target, callback) : callback(new Error('no request is waiting'), null),
    })
  async function waitForTurn(signal?: AbortSignal): Promise<void> {
    if (blockReason !== null) throw blockReason
    throwIfHeld()
    await throttle.waitForTurn(address, rateLimit, signal)
    // A Retry-After period may have started during the wait.
    throwIfHeld()
  }

  function throwIfHeld(): void {
    const holdMs = throttle.holdMs(address)
    if (holdMs === 0) return
    const seconds = Math.ceil(holdMs / 1000)
    throw new errors.ApiRateLimitError(`${base.host} is rate limited`, {
      status: 429,
      retryAfter: seconds,
    })
  }

  /**
   * Waits for a free connection before the request enters the pool, so that the timeout starts when the request is sent,
   * and the request uses the latest Retry-After period, challenge and nonce count.
   */
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<UpstreamResponse> {
    const release = await acquireSlot(options.signal)
    try {
      const first = await attempt(method, path, options)
      const canRetry = first.status === 401 && authorizer.learn(first.headers['www-authenticate'] ?? '', first.sent)
      return await toResponse(canRetry ? await attempt(method, path, options) : first, options)
    } finally {
      release()
    }
  }

  async function toResponse(
    { status, headers, bytes }: RawResponse,
    { accept = [], read }: RequestOptions,
  ): Promise<UpstreamResponse> {
    const isSuccess = status >= 200 && status < 300
    if (!isSuccess && !accept.includes(status)) throw toError(status, headers)
    authorizer.confirm(headers['authentication-info'] ?? '')
    // The body of an error response is often an HTML page, so it is not parsed.
    if (!isSuccess || bytes.length === 0) return { status, headers, body: undefined }
    const body = (await read?.(bytes)) ?? parseBody(status, headers, bytes.toString('utf8'))
    return { status, headers, body }
  }

  /** Sends one request and reads its response within the timeout. */
  async function attempt(method: string, path: string, options: RequestOptions): Promise<RawResponse> {
    await waitForTurn(options.signal)
    const controller = new AbortController()
    let hasTimedOut = false
    const timer = setTimeout(() => {
      hasTimedOut = true
      controller.abort()
    }, timeoutMs)
    // `AbortSignal.any` is not used, because the caller's signal may live as long as the process and would accumulate
    // listeners.
    const abort = () => controller.abort()
    options.signal?.addEventListener('abort', abort, { once: true })
    const target = prefix + path
    const sent = authorizer.headers(method, target)
    inFlight += 1
    try {
      pool ??= openPool()
      const request = pool.request({
        method: method as 'GET',
        path: target,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...sent,
          ...options.headers,
        },
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: controller.signal,
      })
      // undici ignores the signal of a request that has no connection yet.
      const { statusCode, headers, body } = await abortable(request, controller.signal)
      const plainHeaders = flatten(headers)
      const bytes = await readBytes(body, plainHeaders['content-encoding'])
      return { status: statusCode, headers: plainHeaders, bytes, sent }
    } catch (error) {
      // Cancels an unread body, which would keep its connection busy.
      controller.abort()
      options.signal?.throwIfAborted()
      const cause = hasTimedOut ? { code: 'DEADLINE' } : error
      throw new errors.ApiError(describeConnectionError(cause, base.host, timeoutMs), { cause: error })
    } finally {
      inFlight -= 1
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', abort)
    }
  }

  function toError(status: number, rawHeaders: RawHeaders): ApiError {
    const headers = flatten(rawHeaders)
    const mayRetryLater = status === 429 || status === 503
    const retryAfter = mayRetryLater ? parseRetryAfter(headers['retry-after'], headers.date, now()) : null
    if (retryAfter !== null) throttle.hold(address, retryAfter * 1000)
    const details = { status, response: { status, headers }, retryAfter }
    const message = describeStatus(status, base.host)
    return status === 429 ? new errors.ApiRateLimitError(message, details) : new errors.ApiError(message, details)
  }

  function parseBody(status: number, headers: Readonly<Record<string, string>>, text: string): unknown {
    const invalid = (what: string, cause?: unknown) => {
      const response = { status, headers, excerpt: excerptOf(text) }
      return new errors.ApiError(`invalid response from ${base.host}: ${what}`, { status, response, cause })
    }
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch (cause) {
      const isHtml = headers['content-type']?.includes('html') ?? false
      throw invalid(
        isHtml ? 'a web page instead of data; check whether a login page or a proxy responds' : 'not JSON',
        cause,
      )
    }
    if (isDeeper(body, maxJsonDepth)) throw invalid(`nested deeper than ${maxJsonDepth} levels`)
    return body
  }

  return {
    settings,
    errors,
    authorizer,
    destinations,
    request,
    waitForTurn,
    toError,
    get holdMs() {
      return throttle.holdMs(address)
    },
    takeOver({ idleMs, holdMs }) {
      throttle.takeOver(address, rateLimit, idleMs)
      if (holdMs > 0) throttle.hold(address, Math.min(holdMs, maxRetryAfterMs))
    },
    resume: { lastEventId: '', retryMs: null },
    boundSockets: new Map(),
    block(reason) {
      blockReason = reason
    },
    close: async () => pool?.destroy(),
  }
}

interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** The authentication headers of the request. */
  readonly sent: Readonly<Record<string, string>>
}

/**
 * Limits concurrency to `count`; waiting callers are served in order of arrival. The returned function acquires a slot,
 * and resolves with a function that releases it.
 */
function createSlots(count: number): (signal?: AbortSignal) => Promise<() => void> {
  let free = count
  const waiting = new Set<() => void>()
  const release = () => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }
  return async (signal) => {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return release
    }
    return new Promise((resolve, reject) => {
      const cleanUp = () => {
        waiting.delete(acquire)
        signal?.removeEventListener('abort', abort)
      }
      const acquire = () => {
        cleanUp()
        resolve(release)
      }
      const abort = () => {
        cleanUp()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      waiting.add(acquire)
    })
  }
}

/** Returns the beginning of an unusable body, escaped so that it fits on one log line. */
function excerptOf(text: string): string {
  const escapeCharacter = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  return text.slice(0, maxExcerptChars).replace(/\p{C}/gu, escapeCharacter).slice(0, maxExcerptChars)
}

async function readBytes(body: AsyncIterable<Buffer>, encoding: string | undefined): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decoded(body, encoding)) {
    size += chunk.length
    if (size > maxBodyBytes) throw Object.assign(new Error('body too large'), { code: 'BODY_TOO_LARGE' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/**
 * Decodes the body. Requests ask for no content encoding, but a single encoding is decoded anyway, for systems that
 * ignore `accept-encoding`.
 */
function decoded(body: AsyncIterable<Buffer>, encoding = 'identity'): AsyncIterable<Buffer> {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return body
    case 'gzip':
      return pipeline(body, createGunzip(), ignoreEnd)
    case 'deflate':
      return pipeline(body, createInflate(), ignoreEnd)
    case 'br':
      return pipeline(body, createBrotliDecompress(), ignoreEnd)
    default:
      throw Object.assign(new Error(`content encoding ${encoding}`), { code: 'BAD_ENCODING' })
  }
}

/** Does nothing. `pipeline` requires a callback, but its error is also thrown to the reader of the stream. */
function ignoreEnd(): void {}

function flatten(headers: RawHeaders): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

/** Sleeps; rejects with the signal's reason on abort. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch((error) => {
    signal?.throwIfAborted()
    throw error
  })
}
