import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type WebSocket from 'ws'
import { WebSocketServer } from 'ws'
import { eventually } from '../../test/support/eventually.ts'
import { type RequestHandlers, serveHttp } from '../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { createUpstreamClient, type UpstreamSettings } from './client.ts'
import { createDestinations } from './destinations.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { openEventStream, openWebSocket, type PushTiming, type WebSocketOptions } from './push.ts'

const errors = { ApiError, ApiRateLimitError }
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})

function closeLater<T extends { close(): unknown }>(resource: T): T {
  open.push(resource)
  return resource
}

async function connectTo(handlers: Partial<RequestHandlers>, settings: Partial<UpstreamSettings> = {}) {
  const server = closeLater(await serveHttp({ onRequest: (_request, response) => response.end(), ...handlers }))
  const rateLimit = { perSecond: 1000, burst: 1000 }
  const defaults = { timeoutMs: 1000, verifySsl: true, rateLimit, credentials: { scheme: 'none' } as const }
  const client = closeLater(
    createUpstreamClient({ settings: { baseUrl: server.url, ...defaults, ...settings }, errors }),
  )
  return { client, server }
}

async function drain(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const event of events) all.push(event)
  return all
}

/** Reads a stream to its end. Returns its events, its error and its duration. */
async function collect(events: AsyncIterable<unknown>) {
  const startedAt = performance.now()
  const received: unknown[] = []
  const error = await (async () => {
    for await (const event of events) received.push(event)
    return null
  })().catch((thrown: unknown) => thrown)
  return { received, error, tookMs: performance.now() - startedAt }
}

const errorResponses: [number, Record<string, string>, RegExp][] = [
  [401, {}, /credentials rejected/],
  [403, {}, /API access is disabled/],
  [404, {}, /status 404/],
  [302, { location: 'http://127.0.0.1:1/' }, /unexpected redirect/],
  [429, { 'retry-after': '7' }, /rate limited/],
  [503, { 'retry-after': '7' }, /status 503/],
]

const never = new AbortController().signal
const openSocketStream = async (
  onSocket: (socket: WebSocket) => unknown,
  options: WebSocketOptions = {},
  signal = never,
) => {
  const wss = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false })
  const onUpgrade = (request: IncomingMessage, socket: Duplex) =>
    wss.handleUpgrade(request, socket, Buffer.alloc(0), onSocket)
  const { client, server } = await connectTo({ onUpgrade })
  return { events: openWebSocket(client, '/ws', signal, options), server, client }
}
const accept = (request: IncomingMessage) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const proof = createHash('sha1').update(key).digest('base64')
  return `HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${proof}\r\n\r\n`
}

describe('openWebSocket', () => {
  test('returns a frame that arrives in the accepting packet', async () => {
    const { client } = await connectTo({
      onUpgrade: (request, socket) =>
        socket.write(Buffer.concat([Buffer.from(accept(request)), Buffer.from([0x81, 0x02, 0x68, 0x69])])),
    })
    const events = openWebSocket(client, '/ws', never)
    expect((await events.next()).value).toBeNull()
    expect((await events.next()).value).toBe('hi')
    await events.return(undefined)
  })

  test('passes frames to takeFrame as they arrive, and yields the others in their order', async () => {
    let server: WebSocket | undefined
    const taken: string[] = []
    const takeFrame = (text: string) => text.startsWith('level') && taken.push(text) > 0
    const { events } = await openSocketStream(
      (socket) => {
        server = socket
      },
      { takeFrame },
    )
    await events.next()
    const next = events.next()
    server?.send('level 1')
    await eventually(() => taken).toEqual(['level 1'])
    for (const text of ['report 1', 'level 2', 'report 2', 'level 3']) server?.send(text)
    expect((await next).value).toBe('report 1')
    // Frames are processed in order.
    expect(taken).toEqual(['level 1'])
    expect((await events.next()).value).toBe('report 2')
    expect(taken).toEqual(['level 1', 'level 2'])
    const last = events.next()
    await eventually(() => taken).toEqual(['level 1', 'level 2', 'level 3'])
    server?.close()
    await expect(last).rejects.toThrow(/closed the WebSocket/)
  })

  // Conformance: C-10.15.
  test('records every message, ping and pong as received', async () => {
    let server: WebSocket | undefined
    const { events, client } = await openSocketStream(
      (socket) => {
        server = socket.on('ping', () => socket.pong())
      },
      { silentSocketMs: 2000 },
    )
    await events.next()
    expect(client.receivedAt).toBe(Number.NEGATIVE_INFINITY)
    const receivedAfter = async (send: () => void) => {
      const before = performance.now()
      send()
      await eventually(() => client.receivedAt).toBeGreaterThan(before)
    }
    const next = events.next()
    // The client sends a ping because nothing else arrives.
    await receivedAfter(() => {})
    await receivedAfter(() => server?.ping())
    await receivedAfter(() => server?.send('report'))
    expect((await next).value).toBe('report')
    await events.return(undefined)
  })

  test('throws the error that takeFrame throws', async () => {
    const takeFrame = () => {
      throw new ApiError('not stored')
    }
    const { events } = await openSocketStream((socket) => socket.send('level 1'), { takeFrame })
    expect((await collect(events)).error).toMatchObject({ message: 'not stored' })
  })

  test.each([1000, 1001, 1011, 1006])(
    'throws after the received frames when the socket is closed with %i',
    async (code) => {
      const { events } = await openSocketStream((socket) => {
        socket.send('one', () => (code === 1006 ? socket.terminate() : socket.close(code)))
      })
      const { received, error } = await collect(events)
      expect(received).toEqual([null, 'one'])
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ message: expect.stringMatching(/closed the WebSocket/) })
    },
  )

  test.each([
    ['more than a mebibyte', Buffer.from([0x81, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 1]), 1009],
    ['bad UTF-8', Buffer.from([0x81, 0x02, 0xc3, 0x28]), 1007],
    ['compressed, though not agreed', Buffer.from([0xc1, 0x01, 0x61]), 1002],
    ['an unknown opcode', Buffer.from([0x83, 0x00]), 1002],
  ])('throws on a frame of %s', async (_, frame, code) => {
    const received: Buffer[] = []
    const { client } = await connectTo({
      onUpgrade(request, socket) {
        socket.on('data', (chunk: Buffer) => received.push(chunk))
        socket.write(accept(request))
        socket.write(frame)
      },
    })
    const { error } = await collect(openWebSocket(client, '/ws', never))
    expect(error).toBeInstanceOf(ApiError)
    await eventually(() => Buffer.concat(received).length).toBeGreaterThanOrEqual(8)
    const [, , ...masked] = Buffer.concat(received)
    expect((((masked[4] ?? 0) ^ (masked[0] ?? 0)) << 8) | ((masked[5] ?? 0) ^ (masked[1] ?? 0))).toBe(code)
  })

  test('ignores a binary frame', async () => {
    const { events } = await openSocketStream((socket) => {
      socket.send(Buffer.from('x'))
      socket.send('text', () => socket.close())
    })
    expect((await collect(events)).received).toEqual([null, 'text'])
  })

  test('applies back-pressure when the reader is slow', async () => {
    let socketOfServer: WebSocket | undefined
    const { events } = await openSocketStream((socket) => {
      socketOfServer = socket
      for (let index = 0; index < 12_000; index++) socket.send('x'.repeat(1000))
    })
    await events.next()
    await pause(300)
    expect(socketOfServer?.bufferedAmount).toBeGreaterThan(1_000_000)
    for (let index = 0; index < 12_000; index++) await events.next()
    await events.return(null)
  })
})

describe('openWebSocket on an idle connection', () => {
  // Conformance: C-8.8.
  test('sends a ping to an idle connection, and throws when there is no response', async () => {
    let pings = 0
    const { events, server } = await openSocketStream((socket) => socket.on('ping', () => pings++), {
      silentSocketMs: 200,
    })
    const { error, tookMs } = await collect(events)
    expect(error).toBeInstanceOf(ApiError)
    await eventually(() => pings).toBe(1)
    expect(tookMs).toBeGreaterThanOrEqual(190)
    expect(tookMs).toBeLessThan(timeLimit(700))
    await eventually(() => server.connections).toBe(0)
  })

  test('keeps the connection open if the response arrives while the event loop is blocked', async () => {
    let pings = 0
    const onSocket = (socket: WebSocket) =>
      socket.on('ping', () => {
        socket.pong()
        pings += 1
        // No timers or sockets run in the meantime, as while a virtual machine is paused.
        if (pings === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200)
        else socket.send('here')
      })
    const { events } = await openSocketStream(onSocket, { silentSocketMs: 1000 })
    await events.next()
    expect((await events.next()).value).toBe('here')
    await events.return(null)
  })

  test('keeps the connection open after a pong or any other frame', async () => {
    const stop = new AbortController()
    let pings = 0
    const onSocket = (socket: WebSocket) =>
      socket.on('ping', () => {
        pings += 1
        if (pings === 4) stop.abort()
        else if (pings % 2 === 1) socket.pong()
        else socket.send('here')
      })
    const { events } = await openSocketStream(onSocket, { silentSocketMs: 1400 }, stop.signal)
    const { error, received } = await collect(events)
    expect(error).toBeNull()
    expect(received).toContain('here')
  })
})

describe('openWebSocket, before the connection is open', () => {
  test.each(errorResponses)('throws on a response with status %i', async (status, headers, message) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const { client, server } = await connectTo({
      onUpgrade: (_request, socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\n${lines.join('')}content-length: 0\r\n\r\n`),
    })
    const { error } = await collect(openWebSocket(client, '/ws', never))
    expect(error).toMatchObject({ status, message: expect.stringMatching(message) })
    expect(error instanceof ApiRateLimitError).toBe(status === 429)
    expect(client.holdMs > 0).toBe('retry-after' in headers)
    await eventually(() => server.connections).toBe(0)
  })

  test('throws on a response with a web page, and on no response', async () => {
    const page = await connectTo({
      onUpgrade: (_, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n<h1>'),
    })
    expect((await collect(openWebSocket(page.client, '/ws', never))).error).toMatchObject({ status: 200 })
    const { client, server } = await connectTo({
      onUpgrade: (_, socket) => socket.resume().on('end', () => socket.end()),
    })
    const { error } = await collect(openWebSocket(client, '/ws', never, { handshakeMs: 200 }))
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/no response .* within 0.2 s/) })
    await eventually(() => server.connections).toBe(0)
  })

  test('ends without an error on abort while waiting for the rate limit', async () => {
    const { client } = await connectTo({}, { rateLimit: { perSecond: 0.1, burst: 1 } })
    await client.waitForTurn()
    for (const openPush of [openWebSocket, openEventStream]) {
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 30)
      expect(await collect(openPush(client, '/', stop.signal))).toMatchObject({ received: [], error: null })
    }
  })
})

test.each([
  ['a WebSocket', openWebSocket],
  ['an event stream', openEventStream],
])('%s ends immediately on abort while the host name is being resolved', async (_, openPush) => {
  const destinations = { ...createDestinations(), resolve: () => new Promise<never>(() => {}) }
  const rateLimit = { perSecond: 1000, burst: 1000 }
  const credentials = { scheme: 'none' } as const
  const settings = { baseUrl: 'http://system.example', timeoutMs: 20_000, verifySsl: true, rateLimit, credentials }
  const stop = new AbortController()
  const client = closeLater(createUpstreamClient({ settings, errors, destinations }))
  const waiting = collect(openPush(client, '/', stop.signal))
  await pause(50)
  const abortedAt = performance.now()
  stop.abort()
  expect(await waiting).toMatchObject({ received: [], error: null })
  expect(performance.now() - abortedAt).toBeLessThan(timeLimit(1000))
})

describe('openEventStream', () => {
  const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
  const openStream = async (
    chunks: readonly (string | Buffer)[],
    options: { end?: boolean; timing?: PushTiming } = {},
  ) => {
    const { client, server } = await connectTo({
      async onRequest(_request, response) {
        response.writeHead(200, stream).flushHeaders()
        for (const chunk of chunks) {
          response.write(chunk)
          await pause(5)
        }
        if (options.end) response.end()
      },
    })
    return { events: openEventStream(client, '/events', never, options.timing), server, client }
  }

  test('returns events that are split across chunks, and throws at the end of the stream', async () => {
    const text = Buffer.from(
      ': hello\r\n\r\nevent: open\r\ndata: {"ä":\r\ndata: 1}\r\n\r\nid: 7\r\nretry: 0\r\ndata: plain\r\n\r\n',
    )
    const pieces = Array.from(text, (byte) => Buffer.from([byte]))
    const { events } = await openStream(pieces, { end: true })
    const { received, error } = await collect(events)
    expect(received).toEqual([
      { event: 'open', data: '{"ä":\n1}' },
      { event: 'message', data: 'plain' },
    ])
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/ended/) })
  })

  // Conformance: C-8.9, C-10.15.
  test('throws when the stream is idle too long; a comment counts as activity', async () => {
    const comments = Array.from({ length: 300 }, () => ':\n')
    const { events, server, client } = await openStream(comments, { timing: { silentStreamMs: 1000 } })
    const startedAt = performance.now()
    const { error, tookMs } = await collect(events)
    expect(client.receivedAt - startedAt).toBeGreaterThan(1400)
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/stopped sending data/) })
    expect(tookMs).toBeGreaterThan(2000)
    expect(tookMs).toBeLessThan(timeLimit(5000))
    await eventually(() => server.connections).toBe(0)
  })

  test.each([
    ['a line without end', () => 'x'.repeat(64 * 1024)],
    ['an event without end', () => `data: ${'x'.repeat(1000)}\n`.repeat(64)],
  ])('throws on %s', async (_, chunk) => {
    const { events, server } = await openStream(Array.from({ length: 8 }, chunk))
    const { error, received } = await collect(events)
    expect(received).toEqual([])
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/larger than/) })
    await eventually(() => server.connections).toBe(0)
  })

  test.each(errorResponses)('throws on a response with status %i', async (status, headers, message) => {
    const { client, server } = await connectTo({
      onRequest: (_, response) => response.writeHead(status, headers).end(),
    })
    const { error } = await collect(openEventStream(client, '/events', never))
    expect(error).toMatchObject({ status, message: expect.stringMatching(message) })
    expect(error instanceof ApiRateLimitError).toBe(status === 429)
    expect(client.holdMs > 0).toBe('retry-after' in headers)
    await eventually(() => server.connections).toBe(0)
  })

  test('throws on a response with a web page, and on no response', async () => {
    const { client } = await connectTo({
      onRequest: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>'),
    })
    const { error } = await collect(openEventStream(client, '/events', never))
    expect(error).toMatchObject({ status: 200, message: expect.stringMatching(/not an event stream/) })
    const silent = await connectTo({ onRequest: () => {} })
    const late = await collect(openEventStream(silent.client, '/events', never, { handshakeMs: 200 }))
    expect(late.error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/no response/) })
    expect(late.tookMs).toBeLessThan(timeLimit(1500))
    await eventually(() => silent.server.connections).toBe(0)
  })

  test('ends without an error on abort', async () => {
    const stop = new AbortController()
    const { client, server } = await connectTo({
      onRequest: (_, response) => response.writeHead(200, stream).write('data: 1\n\n'),
    })
    const events = openEventStream(client, '/events', stop.signal)
    expect((await events.next()).value).toEqual({ event: 'message', data: '1' })
    const further = drain(events)
    stop.abort()
    expect(await further).toEqual([])
    await eventually(() => server.connections).toBe(0)
  })
})
