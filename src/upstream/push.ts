/** Reads pushed messages from a WebSocket or an event stream as an async iterable. */

import { EventEmitter, on, once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import WebSocket, { type ClientOptions } from 'ws'
import { checkJson, JsonLimitError, jsonLimits } from '../domain/json-limits.ts'
import { abortable } from '../platform/wait.ts'
import type { SessionTap } from './capture/traffic.ts'
import { connectPinned } from './certificate.ts'
import { maxConnectMs, type UpstreamClient } from './client.ts'
import { checkDestination, guardedConnector, guardedLookup, loadHttpLibrary, portOf } from './destinations.ts'
import { ApiError, describeConnectionError } from './errors.ts'

const handshakeMs = 10_000
/** A ping is sent after this silence. */
const idleSocketMs = 1000
const silentSocketMs = 30_000
const defaultFrameBytes = 1024 * 1024
const defaultFrameValues = 100_000
const maxEventChars = 256 * 1024
const eventLimits = jsonLimits(40_000)
const silentStreamMs = 60_000

export interface PushTiming {
  /**
   * The time limit from the first byte sent to the response that accepts the connection or, with an event stream, to
   * the first event.
   */
  readonly handshakeMs?: number
  /** A WebSocket is lost if nothing arrives for this long, including answers to pings. */
  readonly silentSocketMs?: number
  /** An event stream is lost if no data arrives for this long. */
  readonly silentStreamMs?: number
}

export interface WebSocketOptions extends PushTiming {
  /**
   * Called with a text frame as soon as it arrives, unless earlier frames are still being processed. The frame is not
   * yielded if it returns true.
   */
  takeFrame?(text: string): boolean
  /** Called when the connection is open, with a function that sends a text frame. */
  onOpen?(send: (text: string) => void): void
  /** Called with the code of the closing handshake, or 1006 without one. */
  onClose?(code: number): void
  /** Default: 1 MiB. */
  readonly maxFrameBytes?: number
  /** JSON values and keys in a frame of this size. Default: 100,000. */
  maxFrameValues?(bytes: number): number
}

/**
 * Reads text frames of a WebSocket without compression. `pathOrUrl` is a path on the client's origin or a full ws URL.
 * The first `next()` resolves with null once the connection is open. Ends without an error on abort, and throws the
 * manufacturer's ApiError when the connection is lost.
 */
export async function* openWebSocket(
  client: UpstreamClient,
  pathOrUrl: string,
  signal: AbortSignal,
  options: WebSocketOptions = {},
): AsyncGenerator<string | null> {
  const url = new URL(pathOrUrl, client.settings.baseUrl)
  url.protocol = url.protocol.replace('http', 'ws')
  const { takeFrame = () => false, onOpen, maxFrameBytes = defaultFrameBytes } = options
  const { maxFrameValues = () => defaultFrameValues } = options
  const timeoutMs = options.handshakeMs ?? handshakeMs
  let close = () => {}
  try {
    const { socket, connection, tap, queue, frames } = await connect(client, url, {
      ...{ signal, timeoutMs, takeFrame, maxFrameBytes, maxFrameValues },
    })
    const stopKeepAlive = startKeepAlive(client, { socket, connection }, options.silentSocketMs ?? silentSocketMs)
    close = () => {
      stopKeepAlive()
      terminate(socket)
    }
    socket.on('close', (code) => options.onClose?.(code))
    client.recordAnswer()
    onOpen?.((text) => {
      client.recordSent()
      tap.sent(text)
      socket.send(text)
    })
    yield null
    queue.unread -= 1
    for await (const [text, isOffered] of frames) {
      if (isOffered || !takeFrame(text)) yield text
      queue.unread -= 1
    }
    throw new client.errors.ApiError(`${url.host} closed the WebSocket`)
  } catch (error) {
    if (signal.aborted) return
    throw toApiError(client, error, url, timeoutMs)
  } finally {
    close()
  }
}

interface OpenSocket {
  readonly socket: WebSocket
  readonly connection: Socket
  readonly tap: SessionTap
  readonly queue: FrameQueue
  /** Frames for which `takeFrame` was not called (`isOffered` is false) or did not return true. */
  readonly frames: AsyncIterable<[text: string, isOffered: boolean]>
}

/** Emits the text frames to read in order, and pauses the socket while too many are unread. */
class FrameQueue extends EventEmitter {
  /** Frames that are not completely processed. The opening of the connection counts as one. */
  unread = 1
  readonly #socket: WebSocket

  constructor(socket: WebSocket, options: Required<Pick<WebSocketOptions, 'takeFrame' | 'maxFrameValues'>>) {
    super()
    this.#socket = socket
    const { takeFrame, maxFrameValues } = options
    socket.on('message', (data, isBinary) => {
      if (isBinary) return
      const isOffered = this.unread === 0
      const text = String(data)
      try {
        const bytes = data as Buffer
        checkJson(bytes, jsonLimits(maxFrameValues(bytes.length)))
        if (isOffered && takeFrame(text)) return
      } catch (error) {
        // The error is thrown to the reader of `frames`.
        this.emit('error', error)
      }
      this.unread += 1
      this.emit('frame', text, isOffered)
    })
    socket.on('close', () => this.emit('close'))
    socket.on('error', (error) => this.emit('error', error))
    // After the last reader has ended, errors are ignored.
    this.on('error', () => {})
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }
}

async function connect(
  client: UpstreamClient,
  url: URL,
  options: {
    readonly signal: AbortSignal
    readonly timeoutMs: number
    readonly takeFrame: (text: string) => boolean
    readonly maxFrameBytes: number
    maxFrameValues(bytes: number): number
    readonly attempt?: number
  },
): Promise<OpenSocket> {
  const { signal, timeoutMs, takeFrame, maxFrameBytes, maxFrameValues, attempt = 1 } = options
  checkDestination(client.destinations, url)
  await client.waitForTurn(signal)
  const sent = client.authorizer.headers('GET', url.pathname + url.search)
  const socket = new WebSocket(url, {
    headers: sent,
    ...tlsClientOptions(client),
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    followRedirects: false,
    lookup: guardedLookup(client.destinations, portOf(url)),
  })
  // Listening starts before the handshake, because the packet that accepts the connection may already contain a frame.
  // The socket is paused at 512 unread frames.
  const tap = client.traffic.open('websocket')
  tap.sent('', { method: 'GET', path: url.pathname + url.search })
  socket.on('message', (data, isBinary) => isBinary || tap.received(data as Buffer))
  socket.once('close', () => tap.closed())
  const queue = new FrameQueue(socket, { takeFrame, maxFrameValues })
  const frames = on(queue, 'frame', { signal, close: ['close'], highWaterMark: 512, lowWaterMark: 64 })
  const rejection = new Promise<IncomingMessage>((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response))
  })
  let hasTimedOut = false
  const timer = setTimeout(() => {
    hasTimedOut = true
    terminate(socket)
  }, timeoutMs)
  try {
    const upgrade = new Promise<Socket>((resolve) => socket.once('upgrade', (response) => resolve(response.socket)))
    const errorResponse = await Promise.race([once(socket, 'open', { signal }).then(() => null), rejection])
    if (errorResponse === null) {
      return { socket, connection: await upgrade, tap, queue, frames: frames as OpenSocket['frames'] }
    }
    terminate(socket)
    client.recordAnswer()
    const { statusCode: status = 0, headers } = errorResponse
    if (status === 401 && client.authorizer.learn(headers['www-authenticate'] ?? '', sent, attempt)) {
      return await connect(client, url, { ...options, attempt: attempt + 1 })
    }
    throw client.toError(status, headers)
  } catch (error) {
    terminate(socket)
    throw hasTimedOut && !(error instanceof ApiError) ? timeoutError(error) : error
  } finally {
    clearTimeout(timer)
  }
}

/** Returns TLS options, because `ws` itself checks certificates only against the machine's certificate authorities. */
function tlsClientOptions({ settings }: UpstreamClient): ClientOptions {
  const { fingerprint = null, verifySsl } = settings
  if (fingerprint === null) return { rejectUnauthorized: verifySsl }
  const createConnection = (options: ConnectionOptions) => connectPinned(options, settings)
  return { createConnection: createConnection as NonNullable<ClientOptions['createConnection']> }
}

function timeoutError(cause: unknown): Error {
  return Object.assign(new Error('too late', { cause }), { code: 'DEADLINE' })
}

function toApiError(client: UpstreamClient, error: unknown, url: URL, timeoutMs: number): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof JsonLimitError) {
    return new client.errors.ApiError(`invalid message from ${url.host}: ${error.message}`, { cause: error })
  }
  return new client.errors.ApiError(describeConnectionError(error, url.host, timeoutMs), { cause: error })
}

/** Terminates a socket in any state. A connecting socket emits an error, which is ignored. */
function terminate(socket: WebSocket): void {
  socket.on('error', () => {})
  socket.terminate()
}

/**
 * Sends pings while the socket is idle, so that a silent source is noticed within seconds. Terminates the socket if
 * nothing arrives for `silentMs`. Parts of a large frame count too, because it can take minutes on a slow line.
 */
function startKeepAlive(
  client: UpstreamClient,
  { socket, connection }: Pick<OpenSocket, 'socket' | 'connection'>,
  silentMs: number,
): () => void {
  const idleMs = Math.min(idleSocketMs, silentMs / 2)
  const maxUnanswered = Math.floor(silentMs / idleMs) - 1
  let unanswered = 0
  let activeAt = performance.now()
  let receivedBytes = connection.bytesRead
  const recordActivity = () => {
    client.recordReceived()
    unanswered = 0
    activeAt = performance.now()
  }
  const onActivity = () => {
    recordActivity()
    timer.refresh()
  }
  const check = () => {
    const hasReceived = connection.bytesRead > receivedBytes
    receivedBytes = connection.bytesRead
    if (hasReceived) recordActivity()
    if (unanswered >= maxUnanswered) return socket.terminate()
    unanswered += 1
    client.recordSent(activeAt)
    socket.ping()
    timer.refresh()
  }
  let checking: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // If the event loop was blocked, this timer fires before data that has already arrived is read.
    checking = setImmediate(check)
  }, idleMs)
  socket.on('message', onActivity).on('pong', onActivity).on('ping', onActivity)
  return () => {
    clearTimeout(timer)
    clearImmediate(checking)
  }
}

export interface StreamEvent {
  /** Default: `message`. */
  readonly event: string
  readonly data: string
}

/**
 * Reads the event stream at `path` on the client's origin. Resumes after the last received event when events have ids.
 * Ends without an error on abort, and throws the manufacturer's ApiError when the stream does not start, ends or times
 * out.
 */
export async function* openEventStream(
  client: UpstreamClient,
  path: string,
  signal: AbortSignal,
  timing: PushTiming = {},
): AsyncGenerator<StreamEvent> {
  const url = new URL(client.settings.baseUrl + path)
  const timeoutMs = timing.handshakeMs ?? handshakeMs
  const bodyTimeout = timing.silentStreamMs ?? client.settings.streamTimeoutMs ?? silentStreamMs
  const { Agent, request } = await loadHttpLibrary()
  const agent = new Agent({
    connect: await guardedConnector(client.destinations, {
      port: portOf(url),
      timeout: maxConnectMs,
      trust: client.settings,
    }),
    headersTimeout: 0,
  })
  let hasTimedOut = false
  let timer: NodeJS.Timeout | undefined
  let tap: SessionTap | undefined
  try {
    await client.waitForTurn(signal)
    timer = setTimeout(() => {
      hasTimedOut = true
      agent.destroy().catch(() => {})
    }, timeoutMs)
    tap = client.traffic.open('sse')
    tap.sent('', { method: 'GET', path: url.pathname + url.search })
    const opening = request(url, { dispatcher: agent, headers: streamHeaders(client, url), bodyTimeout, signal })
    const { statusCode, headers, body } = await abortable(opening, signal)
    client.recordAnswer()
    if (statusCode !== 200) throw client.toError(statusCode, headers)
    const problem = findStreamProblem(url, headers)
    if (problem !== null)
      throw new client.errors.ApiError(`invalid response from ${url.host}: ${problem}`, { status: 200 })
    for await (const { event = 'message', data } of readEvents(client, body, tap)) {
      clearTimeout(timer)
      yield { event, data }
    }
    throw new client.errors.ApiError(`the event stream of ${url.host} ended`)
  } catch (error) {
    if (signal.aborted) return
    throw toApiError(client, hasTimedOut ? timeoutError(error) : error, url, timeoutMs)
  } finally {
    tap?.closed()
    clearTimeout(timer)
    await agent.destroy()
  }
}

function streamHeaders({ authorizer, resume: { lastEventId } }: UpstreamClient, url: URL): Record<string, string> {
  return {
    accept: 'text/event-stream',
    ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
    ...authorizer.headers('GET', url.pathname + url.search),
  }
}

/** Returns why a 200 response is not a usable event stream, or null. */
function findStreamProblem(url: URL, headers: IncomingHttpHeaders): string | null {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return 'not an event stream'
  const location = String(headers['content-location'] ?? '')
  const isSameOrigin = URL.canParse(location, url.href) && new URL(location, url).origin === url.origin
  return isSameOrigin ? null : 'the Content-Location of its event stream is on another system'
}

async function* readEvents(
  client: UpstreamClient,
  body: AsyncIterable<Buffer>,
  tap: SessionTap,
): AsyncGenerator<EventSourceMessage> {
  const { resume } = client
  let ready: EventSourceMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent(event) {
      checkJson(Buffer.from(event.data), eventLimits)
      ready.push(event)
      // An id that is not valid in a header cannot be sent back as Last-Event-ID.
      if (event.id !== undefined && /^[\x20-\x7e]{0,1024}$/.test(event.id)) resume.lastEventId = event.id
    },
    onRetry: (ms) => {
      resume.retryMs = ms
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw Object.assign(error, { code: 'BODY_TOO_LARGE' })
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    client.recordReceived()
    tap.received(chunk)
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* ready
    ready = []
  }
}
