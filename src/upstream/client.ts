/**
 * The HTTP client for one upstream system or individual device. Handles timeouts, TLS, rate limits, Retry-After, size
 * limits and the state of the event stream.
 */

import type { Socket } from 'node:dgram'
import type { Pool } from 'undici'
import { maxRetryAfterMs, parseRetryAfter, type RateLimit } from '../domain/access/limits.ts'
import { checkJson, JsonLimitError } from '../domain/json-limits.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { abortable } from '../platform/wait.ts'
import { type Authorizer, type Credentials, createAuthorizer } from './authorize.ts'
import { Traffic } from './capture/traffic.ts'
import type { Trust } from './certificate.ts'
import { createDestinations, type Destinations, guardedConnector, loadHttpLibrary, portOf } from './destinations.ts'
import type { ApiError, ErrorClasses } from './errors.ts'
import { describeConnectionError, describeStatus } from './errors.ts'
import { createRequestThrottle, type RequestThrottle } from './request-throttle.ts'
import { excerptOf, type ResponseKind, readBytes, responseLimits } from './response-body.ts'

/** Connection settings of a source, from the manufacturer's `config`. */
export interface UpstreamSettings extends Trust {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly rateLimit: RateLimit
  readonly credentials: Credentials
  /** The configured user name, for devices whose default depends on the product. */
  readonly username?: string | undefined
  /** The display name of an individual device that does not report a name. */
  readonly name?: string | null
  /** The configured WebSocket URL. */
  readonly websocketUrl?: string | null
  /** An event stream without data for this long is lost. Default: 60 s. */
  readonly streamTimeoutMs?: number
}

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; undefined for an empty body. */
  readonly body: unknown
}

export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Statuses outside 2xx that are returned instead of thrown as an error. */
  readonly accept?: readonly number[]
  /** Determines the limits of the response. Default: `resource`. */
  readonly kind?: ResponseKind
  /** Reads the body of a successful response. If it returns undefined, the body is parsed as JSON. */
  readonly read?: (bytes: Buffer) => Promise<unknown>
  /** The device setting that causes refused connections. */
  readonly refusedAdvice?: string
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
  /** The remaining time of the Retry-After period, or 0. */
  readonly holdMs: number
  /** The clock of the upstream minus that of this machine; null if it has not reported its time. */
  readonly clockOffsetSeconds: number | null
  /**
   * Takes over from another process, which may have used the full rate limit until `idleMs` ago and had `holdMs` of a
   * Retry-After period left.
   */
  takeOver(from: { readonly idleMs: number; readonly holdMs: number }): void
  /**
   * When the source last sent anything (`performance.now()`), even without values: a response, a message, a keep-alive
   * or a comment. Error responses do not count, because they may come from a proxy.
   */
  readonly receivedAt: number
  /** Records received data. For streams and sockets, which do not use `request`. */
  recordReceived(): void
  /** When anything last arrived (`performance.now()`), error responses included. */
  readonly answeredAt: number
  /** Since when the source owes a response (`performance.now()`), or null. */
  readonly awaitedSince: number | null
  /**
   * Records a sent message that the source answers, without `waitForTurn`. `since` is earlier if the source has already
   * been silent.
   */
  recordSent(since?: number): void
  /** Records a response, even if it does not show that the source works. */
  recordAnswer(): void
  /** State for reopening the event stream. */
  readonly resume: StreamResume
  /** The UDP sockets that device sessions of this client share, by local port. */
  readonly boundSockets: Map<number, BoundSocket>
  /** Everything that passes through this client, for captures. */
  readonly traffic: Traffic
  /**
   * Makes every later request throw `reason`. Used if more requests would do harm until a setting is changed, or,
   * with `mayRetryInTest`, until a user tests the connection.
   */
  block(reason: ApiError, options?: { readonly mayRetryInTest: boolean }): void
  readonly blockReason: ApiError | null
  /** Allows requests again for a test by a user, unless the block must outlast it. */
  allowTest(): void
  close(): Promise<void>
}

export interface BoundSocket {
  readonly opening: Promise<Socket>
  /** The last session to close also closes the socket. */
  users: number
}

/** The header format of undici and Node. */
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface StreamResume {
  lastEventId: string
  /** The delay before the stream is reopened; null if the server has not sent `retry`. */
  retryMs: number | null
}

/** undici checks timeouts only every 0.5 s, so the effective limit is up to 3 s. */
export const maxConnectMs = 2500

interface ClientOptions {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  readonly throttle?: RequestThrottle
  readonly destinations?: Destinations
  /** The wall-clock time, for a Retry-After header that contains a date. */
  readonly now?: () => number
}

export function createUpstreamClient(options: ClientOptions): UpstreamClient {
  return new HttpClient(options)
}

/** A Date header has whole seconds. */
const halfSecondMs = 500

class HttpClient implements UpstreamClient {
  readonly settings: UpstreamSettings
  readonly errors: ErrorClasses
  readonly authorizer: Authorizer
  readonly destinations: Destinations
  readonly resume: StreamResume = { lastEventId: '', retryMs: null }
  readonly boundSockets = new Map<number, BoundSocket>()
  readonly traffic = new Traffic()
  receivedAt = Number.NEGATIVE_INFINITY
  answeredAt = Number.NEGATIVE_INFINITY
  /** When the first message without any response since was sent (`performance.now()`). */
  #unansweredSince: number | null = null
  /** When the first request in flight was sent (`performance.now()`). */
  #busySince = 0
  readonly #throttle: RequestThrottle
  readonly #now: () => number
  #clockOffsetSeconds: number | null = null
  readonly #base: URL
  /** The origin. `URL.origin` is "null" for schemes other than http and https. */
  readonly #address: string
  readonly #prefix: string
  readonly #connections: number
  readonly #slots: Semaphore
  #inFlight = 0
  #block: { readonly reason: ApiError; readonly mayRetryInTest: boolean } | null = null
  /** Created by the first request. Clients of devices without HTTP never create one. */
  #pool: Promise<Pool> | undefined

  constructor({ settings, errors, throttle, destinations, now = Date.now }: ClientOptions) {
    this.settings = settings
    this.errors = errors
    this.destinations = destinations ?? createDestinations()
    this.authorizer = createAuthorizer(settings.credentials)
    this.#throttle = throttle ?? createRequestThrottle()
    this.#now = now
    this.#base = new URL(settings.baseUrl)
    this.#address = `${this.#base.protocol}//${this.#base.host}`
    this.#prefix = this.#base.pathname.replace(/\/$/, '')
    // Digest nonce counts must arrive in order, so digest requests share one connection.
    this.#connections = settings.credentials.scheme === 'digest' ? 1 : 4
    this.#slots = new Semaphore(this.#connections)
  }

  get clockOffsetSeconds(): number | null {
    return this.#clockOffsetSeconds
  }

  #observeClock(date: string | undefined): void {
    const time = Date.parse(date ?? '')
    if (!Number.isNaN(time)) this.#clockOffsetSeconds = Math.round((time + halfSecondMs - this.#now()) / 1000)
  }

  get holdMs(): number {
    return this.#throttle.holdMs(this.#address)
  }

  /**
   * Waits for a free connection before the request enters the pool. The timeout therefore starts when the request is
   * sent, and the request uses the latest Retry-After period, challenge and nonce count.
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<UpstreamResponse> {
    await this.#slots.acquire(options.signal)
    try {
      let response = await this.#attempt(method, path, options)
      for (let attempt = 1; response.status === 401; attempt++) {
        const challenge = response.headers['www-authenticate'] ?? ''
        if (!this.authorizer.learn(challenge, response.sent, attempt)) break
        response = await this.#attempt(method, path, options)
      }
      return await this.#toResponse(response, options)
    } finally {
      this.#slots.release()
    }
  }

  async waitForTurn(signal?: AbortSignal): Promise<void> {
    if (this.#block !== null) throw this.#block.reason
    this.#throwIfHeld()
    await this.#throttle.waitForTurn(this.#address, this.settings.rateLimit, signal)
    // A Retry-After period may have started during the wait.
    this.#throwIfHeld()
    this.recordSent()
  }

  toError(status: number, rawHeaders: RawHeaders): ApiError {
    const headers = flatten(rawHeaders)
    const mayRetryLater = status === 429 || status === 503
    const retryAfter = mayRetryLater ? parseRetryAfter(headers['retry-after'], headers.date, this.#now()) : null
    if (retryAfter !== null) this.#throttle.hold(this.#address, retryAfter * 1000)
    const details = { status, response: { status, headers }, retryAfter }
    const message = describeStatus(status, this.#base.host)
    const { ApiError, ApiRateLimitError } = this.errors
    return status === 429 ? new ApiRateLimitError(message, details) : new ApiError(message, details)
  }

  takeOver({ idleMs, holdMs }: { readonly idleMs: number; readonly holdMs: number }): void {
    this.#throttle.takeOver(this.#address, this.settings.rateLimit, idleMs)
    if (holdMs > 0) this.#throttle.hold(this.#address, Math.min(holdMs, maxRetryAfterMs))
  }

  recordReceived(): void {
    this.recordAnswer()
    this.receivedAt = this.answeredAt
  }

  get awaitedSince(): number | null {
    if (this.#unansweredSince !== null || this.#inFlight === 0) return this.#unansweredSince
    return Math.max(this.#busySince, this.answeredAt)
  }

  recordSent(since = performance.now()): void {
    this.#unansweredSince ??= since
  }

  recordAnswer(): void {
    this.answeredAt = performance.now()
    this.#unansweredSince = null
  }

  get blockReason(): ApiError | null {
    return this.#block?.reason ?? null
  }

  block(reason: ApiError, { mayRetryInTest } = { mayRetryInTest: false }): void {
    this.#block = { reason, mayRetryInTest }
  }

  allowTest(): void {
    if (this.#block?.mayRetryInTest) this.#block = null
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy()
  }

  #throwIfHeld(): void {
    if (this.holdMs === 0) return
    const retryAfter = Math.ceil(this.holdMs / 1000)
    throw new this.errors.ApiRateLimitError(`${this.#base.host} is rate limited`, { status: 429, retryAfter })
  }

  async #attempt(method: string, path: string, options: RequestOptions): Promise<RawResponse> {
    await this.waitForTurn(options.signal)
    const { timeoutMs } = this.settings
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
    if (this.#inFlight === 0) this.#busySince = performance.now()
    this.#inFlight += 1
    try {
      return await this.#send(method, this.#prefix + path, options, controller.signal)
    } catch (error) {
      // Cancels an unread body, which would keep its connection busy.
      controller.abort()
      options.signal?.throwIfAborted()
      const cause = hasTimedOut ? { code: 'DEADLINE' } : error
      const message = describeConnectionError(cause, this.#base.host, timeoutMs, options.refusedAdvice)
      throw new this.errors.ApiError(message, { cause: error })
    } finally {
      this.#inFlight -= 1
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', abort)
    }
  }

  async #send(
    method: string,
    path: string,
    { body, headers: extraHeaders, kind = 'resource' }: RequestOptions,
    signal: AbortSignal,
  ): Promise<RawResponse> {
    const sent = this.authorizer.headers(method, path)
    this.#pool ??= this.#openPool()
    const pool = await this.#pool
    const content = body === undefined ? null : JSON.stringify(body)
    const tap = this.traffic.open('http')
    tap.sent(content ?? '', { method, path })
    const request = pool.request({
      method: method as 'GET',
      path,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(content === null ? {} : { 'content-type': 'application/json' }),
        ...sent,
        ...extraHeaders,
      },
      body: content,
      signal,
    })
    // undici ignores the signal of a request that has no connection yet.
    const response = await abortable(request, signal)
    const headers = flatten(response.headers)
    this.#observeClock(headers.date)
    this.recordAnswer()
    const chunks = this.#recordChunks(response.body)
    const bytes = await readBytes(chunks, headers['content-encoding'], responseLimits[kind].bytes)
    tap.received(bytes, { status: response.statusCode, type: headers['content-type'] ?? null })
    return { status: response.statusCode, headers, bytes, sent }
  }

  async *#recordChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.recordAnswer()
      yield chunk
    }
  }

  async #openPool(): Promise<Pool> {
    const { Pool } = await loadHttpLibrary()
    const connect = await guardedConnector(this.destinations, {
      port: portOf(this.#base),
      timeout: Math.min(maxConnectMs, this.settings.timeoutMs),
      trust: this.settings,
    })
    return new Pool(this.#address, {
      connections: this.#connections,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16 * 1024,
      // After an aborted request, undici would reconnect even without a waiting request.
      connect: (target, callback) =>
        this.#inFlight > 0 ? connect(target, callback) : callback(new Error('no request is waiting'), null),
    })
  }

  async #toResponse(
    { status, headers, bytes }: RawResponse,
    { accept = [], read, kind = 'resource' }: RequestOptions,
  ): Promise<UpstreamResponse> {
    const isSuccess = status >= 200 && status < 300
    if (!isSuccess && !accept.includes(status)) throw this.toError(status, headers)
    if (isSuccess) this.recordReceived()
    this.authorizer.confirm(headers['authentication-info'] ?? '')
    // The body of an error response is often an HTML page, so it is not parsed.
    if (!isSuccess || bytes.length === 0) return { status, headers, body: undefined }
    try {
      return { status, headers, body: (await read?.(bytes)) ?? this.#parseBody({ status, headers, bytes }, kind) }
    } catch (error) {
      if (!(error instanceof JsonLimitError)) throw error
      const message = `invalid response from ${this.#base.host}: ${error.message}`
      throw new this.errors.ApiError(message, { status, response: { status, headers }, cause: error })
    }
  }

  #parseBody({ status, headers, bytes }: Omit<RawResponse, 'sent'>, kind: ResponseKind): unknown {
    checkJson(bytes, responseLimits[kind])
    const text = bytes.toString('utf8')
    const invalid = (what: string, cause?: unknown) => {
      const response = { status, headers, excerpt: excerptOf(text) }
      const message = `invalid response from ${this.#base.host}: ${what}`
      return new this.errors.ApiError(message, { status, response, cause })
    }
    try {
      return JSON.parse(text)
    } catch (cause) {
      const isHtml = headers['content-type']?.includes('html') ?? false
      throw invalid(
        isHtml ? 'a web page instead of data; check whether a login page or a proxy responds' : 'not JSON',
        cause,
      )
    }
  }
}

interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** The authentication headers of the request. */
  readonly sent: Readonly<Record<string, string>>
}

function flatten(headers: RawHeaders): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}
