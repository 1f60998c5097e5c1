/** Talking to one manufacturer's system: deadline, TLS choice, pace, hold, size limit; and what it pushes. */

import type { Socket } from 'node:dgram'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Pool } from 'undici'
import { isDeeper, maxJsonDepth } from '../model/json.ts'
import {
  type Bucket,
  bucketAfterTakeover,
  fullBucket,
  maxRetryAfterMs,
  parseRetryAfter,
  type RateLimit,
  reserveToken,
} from '../model/rate-limit.ts'
import { abortable } from './abortable.ts'
import { type Authorizer, type Credentials, createAuthorizer } from './authorize.ts'
import type { Trust } from './certificate.ts'
import { createDestinations, type Destinations, guardedConnector, portOf } from './destinations.ts'
import { describeConnectionError, describeStatus } from './error-messages.ts'
import type { ApiError, ErrorClasses } from './errors.ts'

/** How to reach a source; what a manufacturer's `config` says of it. */
export interface UpstreamSettings extends Trust {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly rateLimit: RateLimit
  readonly credentials: Credentials
  /** What people call a single device; for one that tells no name of its own. */
  readonly name?: string | null
  /** Where the source pushes, when the configuration says so. */
  readonly websocketUrl?: string | null
  /** An event stream without a byte for so long is lost; 60 s where nothing is said. */
  readonly streamTimeoutMs?: number
}

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; undefined when the body is empty. */
  readonly body: unknown
}

export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Statuses the caller wants to see as answers; others outside 2xx are thrown. */
  readonly accept?: readonly number[]
  /** Reads the body of a success; where it gives undefined, the body is parsed as JSON all the same. */
  readonly read?: (bytes: Buffer) => Promise<unknown>
}

export interface UpstreamClient {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  /** Throws the manufacturer's ApiError (ApiRateLimitError on 429 and while its hold lasts); an abort by `signal` throws the signal's reason. */
  request(method: string, path: string, options?: RequestOptions): Promise<UpstreamAnswer>
  /** For what is not one request with one answer (push.ts): waits for the turn, throws while a hold lasts. */
  waitForTurn(signal?: AbortSignal): Promise<void>
  /** An answer that is no success -> the manufacturer's error; begins a hold where one was asked for. */
  toError(status: number, headers: RawHeaders): ApiError
  readonly authorizer: Authorizer
  readonly destinations: Destinations
  /** So long no request goes out, as the upstream asked; 0 when it did not. */
  readonly holdMs: number
  /**
   * Goes on from where another process left off, which may have called the upstream at full pace until `idleMs` ago, and
   * was asked by it to wait for `holdMs` more.
   */
  takeOver(from: { readonly idleMs: number; readonly holdMs: number }): void
  /** What its event stream asked us to remember for the next time it is opened. */
  readonly resume: StreamResume
  /** Sockets on ports of ours, by port, that its conversations share (datagrams.ts). */
  readonly boundSockets: Map<number, BoundSocket>
  /** Nothing is asked any more over this link, only this is thrown: it would do harm until somebody changes a setting. */
  block(reason: ApiError): void
  close(): Promise<void>
}

export interface BoundSocket {
  readonly opening: Promise<Socket>
  /** How many conversations go over it; the last one closes it. */
  users: number
}

/** As undici and Node give them. */
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface StreamResume {
  lastEventId: string
  /** How long to wait before it is opened again; null where it did not say. */
  retryMs: number | null
}

/** Keeps the pace of every address and heeds its pauses, whoever asks; one for the whole process. */
export interface RequestThrottle {
  waitForTurn(origin: string, pace: RateLimit, signal?: AbortSignal): Promise<void>
  /** Another process may have called it at full pace until `idleMs` ago. */
  takeOver(origin: string, pace: RateLimit, idleMs: number): void
  /** It asked for a pause. One that lasts longer stands. */
  hold(origin: string, ms: number): void
  /** What is left of it; 0 when nothing is. */
  holdMs(origin: string): number
}

/** `now`: of a clock that nobody sets. */
export function createRequestThrottle(now: () => number = () => performance.now()): RequestThrottle {
  const buckets = new Map<string, Bucket>()
  const holds = new Map<string, number>()
  // The upstream counts arrivals, we count departures: a tenth is kept back for what happens between.
  const keptBack = (pace: RateLimit) => ({ ...pace, burst: Math.max(1, Math.floor(pace.burst * 0.9)) })
  const bucketOf = (origin: string, kept: RateLimit) => buckets.get(origin) ?? fullBucket(kept, now())
  return {
    hold: (origin, ms) => void holds.set(origin, Math.max(holds.get(origin) ?? 0, now() + ms)),
    holdMs: (origin) => Math.max(0, (holds.get(origin) ?? 0) - now()),
    async waitForTurn(origin, pace, signal) {
      signal?.throwIfAborted()
      const kept = keptBack(pace)
      const { bucket, waitMs } = reserveToken(bucketOf(origin, kept), kept, now())
      buckets.set(origin, bucket)
      if (waitMs > 0) await pause(waitMs, signal)
    },
    takeOver(origin, pace, idleMs) {
      const kept = keptBack(pace)
      buckets.set(origin, bucketAfterTakeover(bucketOf(origin, kept), kept, now(), idleMs))
    },
  }
}

const maxBodyBytes = 16 * 1024 * 1024
/** The pool looks at its clock every half second, so that it is 3 s at most. */
export const maxConnectMs = 2500
const maxExcerptChars = 200

export function createUpstreamClient(options: {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  readonly throttle?: RequestThrottle
  readonly destinations?: Destinations
  /** Wall clock, for a Retry-After that is a date. */
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
  // Addresses that are no web addresses have no origin of their own in Node's eyes.
  const address = `${base.protocol}//${base.host}`
  const prefix = base.pathname.replace(/\/$/, '')
  const authorizer = createAuthorizer(credentials)
  // Digest counts must arrive in the order they were given out, so its requests share one connection.
  const connections = credentials.scheme === 'digest' ? 1 : 4
  const takeSlot = createSlots(connections)
  const connect = guardedConnector(destinations, {
    port: portOf(base),
    timeout: Math.min(maxConnectMs, timeoutMs),
    trust: settings,
  })
  let inFlight = 0
  let lockedOut: ApiError | null = null
  let pool: Pool | undefined
  // Opened by the first request: a link to a device that speaks otherwise never has one.
  const openPool = () =>
    new Pool(address, {
      connections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16 * 1024,
      // After an aborted request undici would connect anew, with nobody asking.
      connect: (target, tell) => (inFlight > 0 ? connect(target, tell) : tell(new Error('nobody asks'), null)),
    })
  async function waitForTurn(signal?: AbortSignal): Promise<void> {
    if (lockedOut !== null) throw lockedOut
    heedHold()
    await throttle.waitForTurn(address, rateLimit, signal)
    // One may have begun while we waited.
    heedHold()
  }

  function heedHold(): void {
    const holdMs = throttle.holdMs(address)
    if (holdMs === 0) return
    const seconds = Math.ceil(holdMs / 1000)
    throw new errors.ApiRateLimitError(`${base.host} asked us to wait; ${seconds} s are left (rate limited)`, {
      status: 429,
      retryAfter: seconds,
    })
  }

  /**
   * Waits for a free connection here and not in the pool: who waits has no deadline yet, hears of a hold or a challenge
   * that others met, and takes a nonce count only when going out.
   */
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<UpstreamAnswer> {
    const giveBack = await takeSlot(options.signal)
    try {
      const first = await attempt(method, path, options)
      const isWorthRetrying =
        first.status === 401 && authorizer.learn(first.headers['www-authenticate'] ?? '', first.sent)
      return await toAnswer(isWorthRetrying ? await attempt(method, path, options) : first, options)
    } finally {
      giveBack()
    }
  }

  async function toAnswer(
    { status, headers, bytes }: RawAnswer,
    { accept = [], read }: RequestOptions,
  ): Promise<UpstreamAnswer> {
    const isSuccess = status >= 200 && status < 300
    if (!isSuccess && !accept.includes(status)) throw toError(status, headers)
    authorizer.confirm(headers['authentication-info'] ?? '')
    // The body of a refusal is for people: many servers put a page there.
    if (!isSuccess || bytes.length === 0) return { status, headers, body: undefined }
    const body = (await read?.(bytes)) ?? parseBody(status, headers, bytes.toString('utf8'))
    return { status, headers, body }
  }

  /** One exchange of bytes within one deadline. */
  async function attempt(method: string, path: string, options: RequestOptions): Promise<RawAnswer> {
    await waitForTurn(options.signal)
    const ending = new AbortController()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      ending.abort()
    }, timeoutMs)
    // Not AbortSignal.any: the caller's signal may live as long as the process, and this one only for a request.
    const abort = () => ending.abort()
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
        signal: ending.signal,
      })
      // undici ignores the signal of a request that has no connection yet.
      const { statusCode, headers, body } = await abortable(request, ending.signal)
      const plainHeaders = flatten(headers)
      const bytes = await readBytes(body, plainHeaders['content-encoding'])
      return { status: statusCode, headers: plainHeaders, bytes, sent }
    } catch (error) {
      // Lets go of a body that nobody is going to read; its connection would wait for that.
      ending.abort()
      options.signal?.throwIfAborted()
      const cause = isLate ? { code: 'DEADLINE' } : error
      throw new errors.ApiError(describeConnectionError(cause, base.host, timeoutMs), { cause: error })
    } finally {
      inFlight -= 1
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', abort)
    }
  }

  function toError(status: number, rawHeaders: RawHeaders): ApiError {
    const headers = flatten(rawHeaders)
    const asksToWait = status === 429 || status === 503
    const retryAfter = asksToWait ? parseRetryAfter(headers['retry-after'], headers.date, now()) : null
    if (retryAfter !== null) throttle.hold(address, retryAfter * 1000)
    const details = { status, response: { status, headers }, retryAfter }
    const message = describeStatus(status, base.host, retryAfter)
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
      throw invalid(isHtml ? 'a web page instead of data; is a login page in between?' : 'not JSON', cause)
    }
    if (isDeeper(body, maxJsonDepth)) throw invalid('nested deeper than Micwatch accepts')
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
      lockedOut = reason
    },
    close: async () => pool?.destroy(),
  }
}

interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** The credentials that went with the request. */
  readonly sent: Readonly<Record<string, string>>
}

/** So many at a time, the others in the order they came. The answer gives the slot back. */
function createSlots(count: number): (signal?: AbortSignal) => Promise<() => void> {
  let free = count
  const waiting = new Set<() => void>()
  const giveBack = () => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }
  return async (signal) => {
    signal?.throwIfAborted()
    if (free > 0) {
      free -= 1
      return giveBack
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(take)
        signal?.removeEventListener('abort', abort)
      }
      const take = () => {
        leave()
        resolve(giveBack)
      }
      const abort = () => {
        leave()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      waiting.add(take)
    })
  }
}

/** The beginning of a body that makes no sense, fit for one line of a log. */
function excerptOf(text: string): string {
  const spelledOut = (one: string) => `\\u{${one.codePointAt(0)?.toString(16)}}`
  return text.slice(0, maxExcerptChars).replace(/\p{C}/gu, spelledOut).slice(0, maxExcerptChars)
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

/** We ask for no encoding; a system that encodes all the same may do so once. */
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

/** The reader of a pipeline sees its error; the callback has nothing to add. */
function ignoreEnd(): void {}

function flatten(headers: RawHeaders): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

/** Waits; an abort ends it at once with the signal's reason. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch((error) => {
    signal?.throwIfAborted()
    throw error
  })
}
