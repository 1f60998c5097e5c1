import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createUpstreamClient } from './client.ts'
import { createDestinations } from './destinations.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { openUdpSocket } from './udp.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})
const never = new AbortController().signal

async function startDevice(respond: (socket: Socket, text: string, from: RemoteInfo) => unknown) {
  const socket = createSocket('udp4')
  open.push(socket)
  socket.on('message', (bytes, from) => respond(socket, String(bytes), from))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `udp://127.0.0.1:${socket.address().port}`
}

function createClient(baseUrl: string, destinations = createDestinations()) {
  const rateLimit = { perSecond: 1000, burst: 1000 }
  const settings = { baseUrl, timeoutMs: 1000, verifySsl: true, rateLimit, credentials: { scheme: 'none' } as const }
  const client = createUpstreamClient({ settings, errors: { ApiError, ApiRateLimitError }, destinations })
  open.push(client)
  return client
}

async function collect(messages: AsyncIterable<readonly string[]>) {
  const received: string[] = []
  try {
    for await (const batch of messages) received.push(...batch)
    return { received, error: null }
  } catch (error) {
    return { received, error }
  }
}

test('returns the responses of the device until it times out', async () => {
  const device = await startDevice((socket, text, from) => {
    for (const reply of ['you said', text]) socket.send(reply, from.port, from.address)
  })
  const client = createClient(device)
  const socket = await openUdpSocket(client, { signal: never, silentMs: 1000 })
  expect(client.receivedAt).toBe(Number.NEGATIVE_INFINITY)
  const sentAt = performance.now()
  await socket.send('hello')
  expect(await collect(socket.messages)).toEqual({
    received: ['you said', 'hello'],
    error: expect.objectContaining({ message: expect.stringMatching(/stopped sending data/) }),
  })
  expect(client.receivedAt).toBeGreaterThan(sentAt)
})

test('ignores datagrams from other addresses', async () => {
  const stranger = createSocket('udp4')
  open.push(stranger)
  const device = await startDevice((socket, _, from) => {
    stranger.send('from elsewhere', from.port, from.address, () => socket.send('mine', from.port, from.address))
  })
  const socket = await openUdpSocket(createClient(device), { signal: never, silentMs: 1000 })
  await socket.send('hello')
  expect((await collect(socket.messages)).received).toEqual(['mine'])
})

test('ends without an error on abort, after sending the closing message', async () => {
  const received: string[] = []
  const device = await startDevice((socket, text, from) => {
    received.push(text)
    socket.send('yes', from.port, from.address)
  })
  const stop = new AbortController()
  const first = await openUdpSocket(createClient(device), { signal: stop.signal, silentMs: 5000 })
  setTimeout(() => stop.abort(), 20)
  expect(await collect(first.messages)).toEqual({ received: [], error: null })
  const second = await openUdpSocket(createClient(device), {
    signal: never,
    silentMs: 5000,
    closingMessage: () => 'bye',
  })
  second.close()
  expect(await collect(second.messages)).toEqual({ received: [], error: null })
  await eventually(() => received).toEqual(['bye'])
})

test.each([undefined, 45_454])(
  'ends on abort while the name server does not respond (local port %s)',
  async (localPort) => {
    const destinations = { ...createDestinations(), resolve: () => new Promise<never>(() => {}) }
    const stop = new AbortController()
    const options = { signal: stop.signal, silentMs: 100, ...(localPort !== undefined && { localPort }) }
    const opening = openUdpSocket(createClient('udp://device.example:9', destinations), options)
    stop.abort(new Error('enough'))
    await expect(opening).rejects.toThrow('enough')
  },
)

test('throws when the port is closed, the name does not resolve or the destination is blocked', async () => {
  const closed = createSocket('udp4')
  closed.bind(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address()
  closed.close()
  const socket = await openUdpSocket(createClient(`udp://localhost:${port}`), { signal: never, silentMs: 2000 })
  await socket.send('hello')
  expect((await collect(socket.messages)).error).toMatchObject({ message: expect.stringMatching(/connection refused/) })
  const nameless = openUdpSocket(createClient('udp://no-such-host.invalid:9'), { signal: never, silentMs: 100 })
  await expect(nameless).rejects.toThrow(/does not resolve/)
  const destinations = createDestinations()
  destinations.blockListener('127.0.0.1', 2202)
  for (const address of ['udp://127.0.0.1:2202', 'udp://localhost:2202', 'udp://239.255.254.253:8427']) {
    const sent = openUdpSocket(createClient(address, destinations), { signal: never, silentMs: 100 })
    await expect(sent, address).rejects.toThrow(/nothing is sent to/)
  }
})

test('sessions of one client share a local port, and the last one sends the closing message', async () => {
  const received: string[] = []
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  open.push(socket)
  socket.bind(0, '127.0.0.2')
  await once(socket, 'listening')
  const { port } = socket.address()
  // This device always responds to its own port number, not to the port that the request came from.
  socket.on('message', (bytes, from) => {
    received.push(String(bytes))
    socket.send('answer', port, from.address)
  })
  const client = createClient(`udp://127.0.0.2:${port}`)
  const options = { signal: never, silentMs: 5000, localPort: port, closingMessage: () => 'bye' }
  const [first, second] = await Promise.all([openUdpSocket(client, options), openUdpSocket(client, options)])
  await second.send('hello')
  for (const socket of [first, second]) {
    const { value } = await socket.messages[Symbol.asyncIterator]().next()
    expect(value).toEqual(['answer'])
  }
  second.close()
  await first.send('still there')
  await eventually(() => received).toEqual(['hello', 'still there'])
  first.close()
  await eventually(() => received).toEqual(['hello', 'still there', 'bye'])
})
