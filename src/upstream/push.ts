/** What a system pushes, over WebSocket or event stream, as one kind of async iterable. */

import { on, once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { Agent, request } from 'undici'
import WebSocket, { type ClientOptions } from 'ws'
import { abortable } from './abortable.ts'
import { connectPinned } from './certificate.ts'
import { maxConnectMs, type UpstreamClient } from './client.ts'
import { checkDestination, guardedConnector, guardedLookup, portOf } from './destinations.ts'
import { describeConnectionError } from './error-messages.ts'
import { ApiError } from './errors.ts'

const handshakeMs = 10_000
const pingEveryMs = 15_000
const maxFrameBytes = 1024 * 1024
const maxEventChars = 256 * 1024
const silentStreamMs = 60_000

export interface PushTiming {
  /** From the first byte sent to the answer that accepts; of an event stream, to its first event. */
  readonly handshakeMs?: number
  /** Own ping after so long; as long again without any sound: lost. */
  readonly pingEveryMs?: number
  /** An event stream without a byte for so long is lost. */
  readonly silentStreamMs?: number
}

/**
 * Text frames of a WebSocket, compression off; `path` of the link's own origin, or a whole ws URL. The first `next()`
 * resolves once the link is up, with null. Ends quietly on abort, throws the manufacturer's ApiError when the link is lost.
 */
export async function* openWebSocket(
  client: UpstreamClient,
  pathOrUrl: string,
  signal: AbortSignal,
  timing: PushTiming = {},
): AsyncGenerator<string | null> {
  const url = new URL(pathOrUrl, client.settings.baseUrl)
  url.protocol = url.protocol.replace('http', 'ws')
  const patienceMs = timing.handshakeMs ?? handshakeMs
  let close = () => {}
  try {
    const { socket, frames } = await connect(client, url, { signal, patienceMs })
    const stopWatching = watchSilence(socket, timing.pingEveryMs ?? pingEveryMs)
    close = () => {
      stopWatching()
      discard(socket)
    }
    yield null
    for await (const [data, isBinary] of frames) if (!isBinary) yield String(data)
    throw new client.errors.ApiError(`the real-time link to ${url.host} was closed`)
  } catch (error) {
    if (signal.aborted) return
    throw toApiError(client, error, url, patienceMs)
  } finally {
    close()
  }
}

interface OpenSocket {
  readonly socket: WebSocket
  readonly frames: AsyncIterable<[data: unknown, isBinary: boolean]>
}

async function connect(
  client: UpstreamClient,
  url: URL,
  about: { readonly signal: AbortSignal; readonly patienceMs: number; readonly isSecondTry?: boolean },
): Promise<OpenSocket> {
  const { signal, patienceMs, isSecondTry = false } = about
  checkDestination(client.destinations, url)
  await client.waitForTurn(signal)
  const sent = client.authorizer.headers('GET', url.pathname + url.search)
  const socket = new WebSocket(url, {
    headers: sent,
    ...pinned(client),
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    followRedirects: false,
    lookup: guardedLookup(client.destinations, portOf(url)),
  })
  // Listens from the start: a frame may come in the packet that accepts. Pauses the socket while so many wait to be read.
  const frames = on(socket, 'message', { signal, close: ['close'], highWaterMark: 512, lowWaterMark: 64 })
  const refusal = new Promise<IncomingMessage>((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response))
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    discard(socket)
  }, patienceMs)
  try {
    const refused = await Promise.race([once(socket, 'open', { signal }).then(() => null), refusal])
    if (refused === null) return { socket, frames: frames as OpenSocket['frames'] }
    discard(socket)
    const { statusCode: status = 0, headers } = refused
    const isChallenge = status === 401 && !isSecondTry
    if (isChallenge && client.authorizer.learn(headers['www-authenticate'] ?? '', sent)) {
      return await connect(client, url, { ...about, isSecondTry: true })
    }
    throw client.toError(status, headers)
  } catch (error) {
    discard(socket)
    throw isLate && !(error instanceof ApiError) ? late(error) : error
  } finally {
    clearTimeout(timer)
  }
}

/** `ws` would look at the certificate by the machine's authorities alone. */
function pinned({ settings }: UpstreamClient): ClientOptions {
  const { fingerprint = null, verifySsl } = settings
  if (fingerprint === null) return { rejectUnauthorized: verifySsl }
  const createConnection = (options: ConnectionOptions) => connectPinned(options, settings)
  return { createConnection: createConnection as NonNullable<ClientOptions['createConnection']> }
}

function late(cause: unknown): Error {
  return Object.assign(new Error('too late', { cause }), { code: 'DEADLINE' })
}

function toApiError(client: UpstreamClient, error: unknown, url: URL, patienceMs: number): ApiError {
  if (error instanceof ApiError) return error
  return new client.errors.ApiError(describeConnectionError(error, url.host, patienceMs), { cause: error })
}

/** Ends a socket whatever its state; one that is still connecting says so with an error nobody waits for. */
function discard(socket: WebSocket): void {
  socket.on('error', () => {})
  socket.terminate()
}

/** Pings while nothing is heard, and gives the socket up when that brings no sound either. */
function watchSilence(socket: WebSocket, everyMs: number): () => void {
  let isWaiting = false
  const heard = () => {
    isWaiting = false
    timer.refresh()
  }
  const timer = setTimeout(function expire() {
    if (isWaiting) return socket.terminate()
    isWaiting = true
    socket.ping()
    timer.refresh()
  }, everyMs)
  socket.on('message', heard).on('pong', heard).on('ping', heard)
  return () => clearTimeout(timer)
}

export interface StreamEvent {
  /** `message` where the stream names none. */
  readonly event: string
  readonly data: string
}

/**
 * Events of an event stream at `path` of the link's origin, from the last one heard on where the system numbers them.
 * Ends quietly on abort, throws the manufacturer's ApiError when the stream does not begin, ends or falls silent.
 */
export async function* openEventStream(
  client: UpstreamClient,
  path: string,
  signal: AbortSignal,
  timing: PushTiming = {},
): AsyncGenerator<StreamEvent> {
  const url = new URL(client.settings.baseUrl + path)
  const patienceMs = timing.handshakeMs ?? handshakeMs
  const bodyTimeout = timing.silentStreamMs ?? client.settings.streamTimeoutMs ?? silentStreamMs
  const agent = new Agent({
    connect: guardedConnector(client.destinations, {
      port: portOf(url),
      timeout: maxConnectMs,
      trust: client.settings,
    }),
    headersTimeout: 0,
  })
  let isLate = false
  let patience: NodeJS.Timeout | undefined
  try {
    await client.waitForTurn(signal)
    patience = setTimeout(() => {
      isLate = true
      agent.destroy().catch(() => {})
    }, patienceMs)
    const opening = request(url, { dispatcher: agent, headers: streamHeaders(client, url), bodyTimeout, signal })
    const { statusCode, headers, body } = await abortable(opening, signal)
    if (statusCode !== 200) throw client.toError(statusCode, headers)
    const fault = streamFault(url, headers)
    if (fault !== null) throw new client.errors.ApiError(`invalid response from ${url.host}: ${fault}`, { status: 200 })
    for await (const { event = 'message', data } of readEvents(client, body)) {
      clearTimeout(patience)
      yield { event, data }
    }
    throw new client.errors.ApiError(`the event stream of ${url.host} ended`)
  } catch (error) {
    if (signal.aborted) return
    throw toApiError(client, isLate ? late(error) : error, url, patienceMs)
  } finally {
    clearTimeout(patience)
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

/** Why an answer that was accepted is no stream to listen to; null when it is one. */
function streamFault(url: URL, headers: IncomingHttpHeaders): string | null {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return 'not an event stream'
  const location = String(headers['content-location'] ?? '')
  const isOwn = URL.canParse(location, url) && new URL(location, url).origin === url.origin
  return isOwn ? null : 'its event stream leads to another system'
}

async function* readEvents(
  { resume }: UpstreamClient,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<EventSourceMessage> {
  let ready: EventSourceMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent(event) {
      ready.push(event)
      // What does not fit into a header cannot be sent back.
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
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* ready
    ready = []
  }
}
