import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type WebSocket from 'ws'
import { WebSocketServer } from 'ws'
import { type Answers, serveHttp } from '../../test/plugin-kit-server.ts'
import { timeLimit } from '../../test/time-limit.ts'
import { createDestinations } from './destinations.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { createLink, type LinkSettings } from './link.ts'
import { openEventStream, openWebSocket, type PushTiming } from './push.ts'

const errors = { ApiError, ApiRateLimitError }
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

function keep<T extends { close(): unknown }>(one: T): T {
  open.push(one)
  return one
}

async function linkTo(answers: Partial<Answers>, settings: Partial<LinkSettings> = {}) {
  const server = keep(await serveHttp({ onRequest: (_request, response) => response.end(), ...answers }))
  const pace = { perSecond: 1000, burst: 1000 }
  const defaults = { timeoutMs: 1000, verifySsl: true, pace, credentials: { scheme: 'none' } as const }
  const link = keep(createLink({ settings: { baseUrl: server.url, ...defaults, ...settings }, errors }))
  return { link, server }
}

async function drain(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const event of events) all.push(event)
  return all
}

/** What a subscription that is over has told, and how it ended. */
async function outcome(events: AsyncIterable<unknown>) {
  const startedAt = performance.now()
  const told: unknown[] = []
  const error = await (async () => {
    for await (const event of events) told.push(event)
    return null
  })().catch((thrown: unknown) => thrown)
  return { told, error, tookMs: performance.now() - startedAt }
}

const refusals: [number, Record<string, string>, RegExp][] = [
  [401, {}, /credentials rejected/],
  [403, {}, /API access is disabled/],
  [404, {}, /answered 404/],
  [302, { location: 'http://127.0.0.1:1/' }, /unexpected redirect/],
  [429, { 'retry-after': '7' }, /rate limited/],
  [503, { 'retry-after': '7' }, /answered 503/],
]

describe('a WebSocket', () => {
  const never = new AbortController().signal
  const follow = async (onSocket: (socket: WebSocket) => unknown, timing: PushTiming = {}, signal = never) => {
    const wss = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false })
    const onUpgrade = (request: IncomingMessage, socket: Duplex) =>
      wss.handleUpgrade(request, socket, Buffer.alloc(0), onSocket)
    const { link, server } = await linkTo({ onUpgrade })
    return { events: openWebSocket(link, '/ws', signal, timing), server }
  }
  const accept = (request: IncomingMessage) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const proof = createHash('sha1').update(key).digest('base64')
    return `HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${proof}\r\n\r\n`
  }

  test('a frame in the packet that accepts is not lost', async () => {
    const { link } = await linkTo({
      onUpgrade: (request, socket) =>
        socket.write(Buffer.concat([Buffer.from(accept(request)), Buffer.from([0x81, 0x02, 0x68, 0x69])])),
    })
    const events = openWebSocket(link, '/ws', never)
    expect((await events.next()).value).toBeNull()
    expect((await events.next()).value).toBe('hi')
    await events.return(undefined)
  })

  test.each([1000, 1001, 1011, 1006])('closed with %i: an error after what was told', async (code) => {
    const { events } = await follow((socket) => {
      socket.send('one', () => (code === 1006 ? socket.terminate() : socket.close(code)))
    })
    const { told, error } = await outcome(events)
    expect(told).toEqual([null, 'one'])
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ message: expect.stringMatching(/was closed/) })
  })

  // Conformance: C-8.8.
  test('half open: pinged after a silence, lost after another', async () => {
    let pings = 0
    const { events, server } = await follow((socket) => socket.on('ping', () => pings++), { pingEveryMs: 100 })
    const { error, tookMs } = await outcome(events)
    expect(error).toBeInstanceOf(ApiError)
    expect(pings).toBe(1)
    expect(tookMs).toBeGreaterThanOrEqual(190)
    expect(tookMs).toBeLessThan(timeLimit(700))
    await expect.poll(() => server.connections).toBe(0)
  })

  test('a pong, or any frame, keeps it', async () => {
    const stop = new AbortController()
    let pings = 0
    const onSocket = (socket: WebSocket) => socket.on('ping', () => (++pings % 2 ? socket.pong() : socket.send('here')))
    const { events } = await follow(onSocket, { pingEveryMs: 60 }, stop.signal)
    setTimeout(() => stop.abort(), 500)
    const { error, told } = await outcome(events)
    expect(error).toBeNull()
    expect(pings).toBeGreaterThan(3)
    expect(told).toContain('here')
  })

  test.each([
    ['more than a mebibyte', Buffer.from([0x81, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 1]), 1009],
    ['bad UTF-8', Buffer.from([0x81, 0x02, 0xc3, 0x28]), 1007],
    ['compressed, though not agreed', Buffer.from([0xc1, 0x01, 0x61]), 1002],
    ['an unknown opcode', Buffer.from([0x83, 0x00]), 1002],
  ])('a frame of %s ends it', async (_, frame, code) => {
    const heard: Buffer[] = []
    const { link } = await linkTo({
      onUpgrade(request, socket) {
        socket.on('data', (chunk: Buffer) => heard.push(chunk))
        socket.write(accept(request))
        socket.write(frame)
      },
    })
    const { error } = await outcome(openWebSocket(link, '/ws', never))
    expect(error).toBeInstanceOf(ApiError)
    await expect.poll(() => Buffer.concat(heard).length).toBeGreaterThanOrEqual(8)
    const [, , ...masked] = Buffer.concat(heard)
    expect((((masked[4] ?? 0) ^ (masked[0] ?? 0)) << 8) | ((masked[5] ?? 0) ^ (masked[1] ?? 0))).toBe(code)
  })

  test('a binary frame is passed over', async () => {
    const { events } = await follow((socket) => {
      socket.send(Buffer.from('x'))
      socket.send('text', () => socket.close())
    })
    expect((await outcome(events)).told).toEqual([null, 'text'])
  })

  test.each(refusals)('answered with %i', async (status, headers, says) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const { link, server } = await linkTo({
      onUpgrade: (_request, socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\n${lines.join('')}content-length: 0\r\n\r\n`),
    })
    const { error } = await outcome(openWebSocket(link, '/ws', never))
    expect(error).toMatchObject({ status, message: expect.stringMatching(says) })
    expect(error instanceof ApiRateLimitError).toBe(status === 429)
    expect(link.holdMs > 0).toBe('retry-after' in headers)
    await expect.poll(() => server.connections).toBe(0)
  })

  test('answered with a page, or never', async () => {
    const page = await linkTo({
      onUpgrade: (_, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n<h1>'),
    })
    expect((await outcome(openWebSocket(page.link, '/ws', never))).error).toMatchObject({ status: 200 })
    const { link, server } = await linkTo({ onUpgrade: (_, socket) => socket.resume().on('end', () => socket.end()) })
    const { error } = await outcome(openWebSocket(link, '/ws', never, { handshakeMs: 200 }))
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/no answer .* within 0.2 s/) })
    await expect.poll(() => server.connections).toBe(0)
  })

  test('a slow reader holds the sender back instead of the heap', async () => {
    let socketOfServer: WebSocket | undefined
    const { events } = await follow((socket) => {
      socketOfServer = socket
      for (let at = 0; at < 12_000; at++) socket.send('x'.repeat(1000))
    })
    await events.next()
    await pause(300)
    expect(socketOfServer?.bufferedAmount).toBeGreaterThan(1_000_000)
    for (let at = 0; at < 12_000; at++) await events.next()
    await events.return(null)
  })

  test('an abort while waiting for its turn ends it quietly', async () => {
    const { link } = await linkTo({}, { pace: { perSecond: 0.1, burst: 1 } })
    await link.enter()
    for (const openPush of [openWebSocket, openEventStream]) {
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 30)
      expect(await outcome(openPush(link, '/', stop.signal))).toMatchObject({ told: [], error: null })
    }
  })
})

test.each([
  ['a WebSocket', openWebSocket],
  ['an event stream', openEventStream],
])('%s to a host whose name server does not answer ends at once on abort', async (_, openPush) => {
  const destinations = { ...createDestinations(), resolve: () => new Promise<never>(() => {}) }
  const pace = { perSecond: 1000, burst: 1000 }
  const credentials = { scheme: 'none' } as const
  const settings = { baseUrl: 'http://system.example', timeoutMs: 20_000, verifySsl: true, pace, credentials }
  const stop = new AbortController()
  const link = keep(createLink({ settings, errors, destinations }))
  const waiting = outcome(openPush(link, '/', stop.signal))
  await pause(50)
  const abortedAt = performance.now()
  stop.abort()
  expect(await waiting).toMatchObject({ told: [], error: null })
  expect(performance.now() - abortedAt).toBeLessThan(timeLimit(1000))
})

describe('an event stream', () => {
  const never = new AbortController().signal
  const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
  const follow = async (chunks: readonly (string | Buffer)[], about: { end?: boolean; timing?: PushTiming } = {}) => {
    const { link, server } = await linkTo({
      async onRequest(_request, response) {
        response.writeHead(200, stream).flushHeaders()
        for (const chunk of chunks) {
          response.write(chunk)
          await pause(5)
        }
        if (about.end) response.end()
      },
    })
    return { events: openEventStream(link, '/events', never, about.timing), server }
  }

  test('its events come out however they are cut, and its end is an error', async () => {
    const text = Buffer.from(
      ': hello\r\n\r\nevent: open\r\ndata: {"ä":\r\ndata: 1}\r\n\r\nid: 7\r\nretry: 0\r\ndata: plain\r\n\r\n',
    )
    const pieces = Array.from(text, (byte) => Buffer.from([byte]))
    const { events } = await follow(pieces, { end: true })
    const { told, error } = await outcome(events)
    expect(told).toEqual([
      { event: 'open', data: '{"ä":\n1}' },
      { event: 'message', data: 'plain' },
    ])
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/ended/) })
  })

  // Conformance: C-8.9.
  test('silent for too long: lost; a comment keeps it', async () => {
    const comments = Array.from({ length: 100 }, () => ':\n')
    const { events, server } = await follow(comments, { timing: { silentStreamMs: 200 } })
    const { error, tookMs } = await outcome(events)
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/fell silent/) })
    expect(tookMs).toBeGreaterThan(500)
    expect(tookMs).toBeLessThan(timeLimit(2500))
    await expect.poll(() => server.connections).toBe(0)
  })

  test.each([
    ['a line without end', () => 'x'.repeat(64 * 1024)],
    ['an event without end', () => `data: ${'x'.repeat(1000)}\n`.repeat(64)],
  ])('%s: dropped', async (_, piece) => {
    const { events, server } = await follow(Array.from({ length: 8 }, piece))
    const { error, told } = await outcome(events)
    expect(told).toEqual([])
    expect(error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/larger than/) })
    await expect.poll(() => server.connections).toBe(0)
  })

  test.each(refusals)('answered with %i', async (status, headers, says) => {
    const { link, server } = await linkTo({ onRequest: (_, response) => response.writeHead(status, headers).end() })
    const { error } = await outcome(openEventStream(link, '/events', never))
    expect(error).toMatchObject({ status, message: expect.stringMatching(says) })
    expect(error instanceof ApiRateLimitError).toBe(status === 429)
    expect(link.holdMs > 0).toBe('retry-after' in headers)
    await expect.poll(() => server.connections).toBe(0)
  })

  test('answered with a page, or never', async () => {
    const { link } = await linkTo({
      onRequest: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>'),
    })
    const { error } = await outcome(openEventStream(link, '/events', never))
    expect(error).toMatchObject({ status: 200, message: expect.stringMatching(/not an event stream/) })
    const silent = await linkTo({ onRequest: () => {} })
    const late = await outcome(openEventStream(silent.link, '/events', never, { handshakeMs: 200 }))
    expect(late.error).toMatchObject({ name: 'ApiError', message: expect.stringMatching(/no answer/) })
    expect(late.tookMs).toBeLessThan(timeLimit(1500))
    await expect.poll(() => silent.server.connections).toBe(0)
  })

  test('an abort ends it quietly', async () => {
    const stop = new AbortController()
    const { link, server } = await linkTo({
      onRequest: (_, response) => response.writeHead(200, stream).write('data: 1\n\n'),
    })
    const told = drain(openEventStream(link, '/events', stop.signal))
    await pause(50)
    stop.abort()
    expect(await told).toEqual([{ event: 'message', data: '1' }])
    await expect.poll(() => server.connections).toBe(0)
  })
})
