import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { serveRaw } from '../../test/support/plugins/plugin-kit-server.ts'
import { createUpstreamClient } from './client.ts'
import { createDestinations } from './destinations.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { type Framing, isListening, openTcpSocket, type TcpOptions } from './tcp.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})
const never = new AbortController().signal
const byLines: Framing = (text) => {
  const messages = text.split('\n')
  const rest = messages.pop() ?? ''
  return { messages, rest }
}

async function createClient(onSocket: (socket: Socket) => unknown, rateLimit = { perSecond: 1000, burst: 1000 }) {
  const server = await serveRaw(onSocket)
  open.push(server)
  const client = toDevice(server.url.replace('http:', 'tcp:'), rateLimit)
  return { server, client }
}

function toDevice(baseUrl: string, rateLimit = { perSecond: 1000, burst: 1000 }, destinations = createDestinations()) {
  const settings = { baseUrl, timeoutMs: 20_000, verifySsl: true, rateLimit, credentials: { scheme: 'none' } as const }
  const client = createUpstreamClient({ settings, errors: { ApiError, ApiRateLimitError }, destinations })
  open.push(client)
  return client
}

async function lineTo(onSocket: (socket: Socket) => unknown, options: Partial<TcpOptions> = {}) {
  const { server, client } = await createClient(onSocket)
  return { server, line: await openTcpSocket(client, { framing: byLines, signal: never, ...options }) }
}

async function outcome(messages: AsyncIterable<readonly string[]>) {
  const received: string[] = []
  try {
    for await (const batch of messages) received.push(...batch)
    return { received, error: null }
  } catch (error) {
    return { received, error }
  }
}

describe('received data', () => {
  test('is split into messages regardless of packet boundaries', async () => {
    const { line } = await lineTo(async (socket) => {
      const bytes = Buffer.from('one\ntwö\nthree\nfo')
      for (const byte of bytes) socket.write(Buffer.of(byte))
      await pause(20)
      socket.write('ur\nfive\nsi')
      socket.end()
    })
    const { received, error } = await outcome(line.messages)
    expect(received).toEqual(['one', 'twö', 'three', 'four', 'five'])
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ message: expect.stringMatching(/closed the connection/) })
  })

  // Conformance: C-10.15.
  test('is recorded, even if it is no message', async () => {
    const { client } = await createClient((socket) => socket.write('x'))
    const socket = await openTcpSocket(client, { framing: () => ({ messages: [], rest: '' }), signal: never })
    await eventually(() => client.receivedAt).toBeGreaterThan(0)
    socket.close()
  })

  test('that cannot be handled ends the session with an error', async () => {
    const { line } = await lineTo((socket) => socket.write('one\n'), {
      onArrival: () => {
        throw new TypeError('not a level')
      },
    })
    const { error } = await outcome(line.messages)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      message: expect.stringMatching(/^a message from 127.0.0.1:\d+ could not be handled \(TypeError: not a level\)$/),
    })
  })

  test('without a message end closes the connection', async () => {
    const { line } = await lineTo((socket) => socket.write('x'.repeat(70_000)))
    expect((await outcome(line.messages)).error).toMatchObject({ message: expect.stringMatching(/larger than/) })
  })

  test('ends with an error when the connection is reset or idle too long', async () => {
    const { line: reset } = await lineTo((socket) => setTimeout(() => socket.resetAndDestroy(), 20))
    expect((await outcome(reset.messages)).error).toMatchObject({
      message: expect.stringMatching(/closed before the response/),
    })
    const { line: silent } = await lineTo((socket) => socket.write('hello\n'), { silentMs: 1000 })
    expect(await outcome(silent.messages)).toMatchObject({
      received: ['hello'],
      error: { message: expect.stringMatching(/stopped sending data/) },
    })
  })

  test('of a device that no longer answers does not wait for what is sent', async () => {
    const { line } = await lineTo((socket) => socket.resume(), { silentMs: 150 })
    const polls = setInterval(() => void line.send('poll\n'), 20)
    const { error } = await outcome(line.messages)
    clearInterval(polls)
    expect(error).toMatchObject({ message: expect.stringMatching(/stopped sending data/) })
  })
})

test('sends messages within the rate limit, and the closing message', async () => {
  const times: number[] = []
  let received = ''
  const { client, server } = await createClient(
    (socket) => {
      socket.on('data', (bytes) => {
        times.push(performance.now())
        received += bytes
      })
    },
    { perSecond: 20, burst: 2 },
  )
  const line = await openTcpSocket(client, { framing: byLines, signal: never, closingMessage: () => 'bye' })
  const startedAt = performance.now()
  for (const word of ['a', 'b', 'c']) await line.send(word)
  line.close()
  while (server.connections > 0) await pause(5)
  expect(received).toBe('abcbye')
  expect((times.at(-1) ?? 0) - startedAt).toBeGreaterThan(100)
})

test('sends what was sent immediately before the session is closed', async () => {
  let received = ''
  const { line, server } = await lineTo((socket) => {
    socket.on('data', (bytes) => {
      received += bytes
    })
  })
  await eventually(() => server.connections).toBe(1)
  for (const word of ['a', 'b', 'c']) await line.send(word)
  line.close()
  await eventually(() => received).toBe('abc')
})

describe('abort', () => {
  test('ends the messages without an error and closes the connection', async () => {
    const stop = new AbortController()
    const { line, server } = await lineTo((socket) => socket.write('hello\n'), { signal: stop.signal })
    const messages = line.messages[Symbol.asyncIterator]()
    expect((await messages.next()).value).toEqual(['hello'])
    setTimeout(() => stop.abort(), 30)
    expect((await messages.next()).done).toBe(true)
    while (server.connections > 0) await pause(5)
  })

  test('sends the closing message', async () => {
    const stop = new AbortController()
    let received = ''
    const { line, server } = await lineTo(
      (socket) => {
        socket.write('hello\n')
        socket.on('data', (bytes) => {
          received += bytes
        })
      },
      { signal: stop.signal, closingMessage: () => 'bye' },
    )
    for await (const _ of line.messages) stop.abort()
    while (server.connections > 0) await pause(5)
    expect(received).toBe('bye')
  })

  test('throws the signal reason while connecting', async () => {
    const stop = new AbortController()
    const unanswering = { ...createDestinations(), resolve: () => new Promise<never>(() => {}) }
    const client = toDevice('tcp://receiver.local:2202', undefined, unanswering)
    setTimeout(() => stop.abort('enough'), 20)
    await expect(openTcpSocket(client, { framing: byLines, signal: stop.signal })).rejects.toBe('enough')
  })
})

test('throws when the connection is refused or the destination is blocked', async () => {
  const refused = openTcpSocket(toDevice('tcp://127.0.0.1:1'), { framing: byLines, signal: never })
  await expect(refused).rejects.toThrow(/connection refused/)
  const destinations = createDestinations()
  destinations.blockListener('127.0.0.1', 2202)
  for (const address of ['tcp://127.0.0.1:2202', 'tcp://localhost:2202', 'tcp://169.254.169.254:80']) {
    const sent = openTcpSocket(toDevice(address, undefined, destinations), { framing: byLines, signal: never })
    await expect(sent, address).rejects.toThrow(/nothing is sent to/)
  }
})

test('finds out whether a host accepts connections, without connecting to a blocked destination', async () => {
  const { server } = await createClient(() => {})
  const destinations = createDestinations()
  const check = (url: string, signal = never) => isListening(new URL(url), { destinations, signal, timeoutMs: 20_000 })
  expect(await check(server.url)).toBe(true)
  expect(await check('tcp://127.0.0.1:1')).toBe(false)
  expect(await check(server.url, AbortSignal.abort())).toBe(false)
  destinations.blockListener('127.0.0.1', Number(new URL(server.url).port))
  expect(await check(server.url)).toBe(false)
})
