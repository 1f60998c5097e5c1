/** The WebSocket interface: greeting, ping, limits, filter, close. */

import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { configFor, deviceOf, startApp, startSennheiser, startShure, until } from './support/app.ts'
import { channelIn } from './support/socket-client.ts'
import { timeLimit } from './support/time-limit.ts'

const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }

describe('a WebSocket', () => {
  // Conformance: S-4.20, S-6.3, S-6.5, C-7.3, C-7.10.
  it('sends a greeting, and answers a ping with its id', async () => {
    const app = await startApp()
    const socket = await app.socket('/ws/micwatch/')
    const [greeting] = await Promise.all([socket.next(({ type }) => type === 'status')])
    expect(greeting.message).toBe('Connected')
    expect(socket.messages[0]).toBe(greeting)
    socket.send({ type: 'ping' })
    const pong = await socket.next(({ type }) => type === 'pong')
    expect(now() - Date.parse(pong.timestamp)).toBeLessThan(10_000)
    expect(pong.timestamp).toMatch(/Z$/)
    expect('id' in pong).toBe(false)
    for (const id of ['one', 2, null, { nested: [3] }]) {
      socket.send({ type: 'ping', id })
      await socket.next((message) => message.type === 'pong' && JSON.stringify(message.id) === JSON.stringify(id))
    }
  })

  // Conformance: C-7.11.
  // Reliability: C5.
  it('reports unknown messages and stays open', async () => {
    const app = await startApp()
    const socket = await app.socket()
    const nonsense = [
      '{',
      '"ping"',
      'null',
      '[]',
      '{}',
      '{"type":"refresh"}',
      '{"type":["ping"]}',
      '{"type":"__proto__"}',
    ]
    for (const text of nonsense) socket.sendRaw(text)
    await until('every message is answered', () => socket.ofType('error').length === nonsense.length)
    for (const { error } of socket.ofType('error')) expect(error).toMatch(/\w/)
    socket.send({ type: 'ping' })
    await socket.next(({ type }) => type === 'pong')
  })

  // Conformance: C-7.11.
  // Reliability: C5.
  it('is closed after twenty invalid messages in a minute', async () => {
    const app = await startApp()
    const socket = await app.socket()
    for (let count = 0; count < 19; count += 1) socket.sendRaw('nonsense')
    socket.send({ type: 'ping' })
    await socket.next(({ type }) => type === 'pong')
    socket.sendRaw('nonsense')
    expect(await socket.closed).toBe(1008)
    expect(socket.ofType('error').length).toBe(20)
  })

  // Conformance: C-7.13.
  // Reliability: C5, 3.12.6.
  it('is closed for a flood of messages, but not for a burst', async () => {
    const app = await startApp()
    const burst = await app.socket()
    const flood = await app.socket()
    for (let count = 0; count < 100; count += 1) burst.send({ type: 'ping', id: count })
    for (let count = 0; count < 150; count += 1) flood.send({ type: 'ping', id: count })
    expect(await flood.closed).toBe(1008)
    await burst.next(({ id }) => id === 99)
  })

  // Conformance: C-7.12.
  // Reliability: C5, 3.12.6.
  it('is closed for binary frames and for oversized messages', async () => {
    const app = await startApp()
    const binary = await app.socket()
    binary.sendRaw(Buffer.from('{"type":"ping"}'))
    expect(await binary.closed).toBe(1003)
    const oversized = await app.socket()
    oversized.send({ type: 'ping', id: 'x'.repeat(64 * 1024) })
    expect(await oversized.closed).toBe(1009)
    const large = await app.socket()
    large.send({ type: 'ping', id: 'x'.repeat(60 * 1024) })
    await large.next(({ type }) => type === 'pong')
  })

  // Conformance: S-6.4, C-7.9.
  it('reports a lost subscription of a manufacturer', async () => {
    const shure = await startShure()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('the subscription is connected', () => shure.push.connections > 0)
    const socket = await app.socket()
    shure.setFault({ type: 'close-connections' })
    const message = await socket.next(
      ({ type, message }) => type === 'status_update' && /subscription/i.test(message),
      2000,
    )
    expect(message).toMatchObject({ manufacturer: 'shure', status: expect.any(String) })
  })
})

describe('a WebSocket at a given URL', () => {
  // Conformance: S-6.6, C-7.2.
  it('sends messages about one manufacturer if filtered', async () => {
    const shure = await startShure()
    const sennheiser = await startSennheiser()
    const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 4)
    await until('both subscriptions are connected', () => shure.push.connections > 0 && sennheiser.push.connections > 0)
    const [all, sennheiserOnly, otherOnly] = await Promise.all([
      app.socket(),
      app.socket('/ws/devices/?manufacturer=sennheiser'),
      app.socket('/ws?manufacturer=nobody'),
    ])
    for (const simulator of [shure, sennheiser]) simulator.show.set(deviceOf(simulator).id, { battery: 33 }, 1)
    for (const code of ['shure', 'sennheiser']) {
      await all.next((message) => message.manufacturer === code && channelIn(message)?.transmitter?.battery === 33)
    }
    await sennheiserOnly.next((message) => channelIn(message)?.transmitter?.battery === 33)
    expect(new Set(sennheiserOnly.ofType('device_update').map(({ manufacturer }) => manufacturer))).toEqual(
      new Set(['sennheiser']),
    )
    expect(otherOnly.ofType('device_update')).toEqual([])
  })

  it('rejects a duplicate filter, and the process continues', async () => {
    const app = await startApp()
    const path = '/ws?manufacturer=shure&manufacturer=sennheiser'
    await expect(app.socket(path)).rejects.toThrow('HTTP 400')
    const headers = { ...handshake, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    const { json } = await app.get(path, headers)
    expect(json).toEqual({ error: 'Bad request.', status: 400, details: 'manufacturer: expected only one value' })
    expect((await app.get('/healthz')).status).toBe(200)
  })

  // Conformance: C-7.25.
  it.each([
    ['without a key', { 'sec-websocket-key': '' }],
    ['with an invalid key', { 'sec-websocket-key': 'short' }],
    ['of an old version', { 'sec-websocket-version': '7' }],
    ['that offers a subprotocol twice', { 'sec-websocket-protocol': 'a,a' }],
  ])('rejects a handshake %s with the standard error body', async (_, invalidHeader) => {
    const app = await startApp()
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    const { status, headers, json } = await app.get('/ws', { ...handshake, ...key, ...invalidHeader })
    expect({ status, json }).toEqual({
      status: 400,
      json: { error: 'Bad request.', status: 400, details: expect.stringContaining('Sec-WebSocket-') },
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'sec-websocket-version': '13, 8',
    })
  })

  // Conformance: C-7.17.
  it('is rejected at other URLs, and while real-time updates are disabled', async () => {
    const app = await startApp()
    for (const path of ['/', '/api/data.json', '/nothing', '/ws/a/b']) {
      const socket = await app.socket(path).catch(({ message }: Error) => {
        expect(message).toMatch(/^HTTP 40[04]$/)
      })
      if (socket === undefined) continue
      await socket.closed
      expect(socket.messages).toEqual([])
    }
    const off = await startApp({ config: { settings: { WEBSOCKET_BROADCASTING: false } } })
    await expect(off.socket()).rejects.toThrow('HTTP 503')
  })
})

describe('the subprotocol', () => {
  // Conformance: C-9b.20.
  it('is the first that the client offers, and JSON is sent, also to pages of version 0.1.0', async () => {
    const shure = await startShure({ pushesPerSecond: 20 })
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections > 0)
    const sockets = await Promise.all([
      app.socket(),
      app.socket('/ws', { protocols: ['graphql-ws', 'mqtt'] }),
      app.socket('/ws', { protocols: ['micwatch.levels.v1'] }),
    ])
    expect(sockets.map(({ protocol }) => protocol)).toEqual(['', 'graphql-ws', 'micwatch.levels.v1'])
    const { id } = deviceOf(shure)
    const { id: receiverId } = await app.receiver(id)
    shure.show.set(id, { name: 'Guest' }, 1)
    for (const socket of sockets) {
      // The event that the channel was renamed is announced separately.
      const update = await socket.next(
        (message) => message.type !== 'event' && JSON.stringify(message).includes('"Guest"'),
      )
      expect(socket.messages[0]).toMatchObject({ type: 'status', message: 'Connected' })
      expect(update).toMatchObject({ type: 'device_update', receiver_id: receiverId })
      expect(socket.ofType('binary')).toEqual([])
    }
  })
})

describe('stopping the service', () => {
  // Conformance: C-7.19.
  it('closes sockets with 1001', async () => {
    const app = await startApp()
    const sockets = await Promise.all([app.socket(), app.socket('/ws/devices/')])
    await app.close()
    expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([1001, 1001])
  })

  it('does not wait for clients that keep a rejected or silent connection open', async () => {
    const app = await startApp()
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    for (const head of ['Host: evil.example', `Host: localhost\r\nOrigin: null`, 'Host: localhost']) {
      const socket = connect({ host: '127.0.0.1', port: app.port, allowHalfOpen: true })
      socket.on('error', () => {})
      const received = new Promise((resolve) => socket.once('data', resolve))
      socket.write(`GET /ws HTTP/1.1\r\n${head}\r\n${upgrade}\r\n${key}\r\n\r\n`)
      await received
    }
    const startedAt = performance.now()
    await app.close()
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5000))
  })

  it('finishes a running request', async () => {
    const shure = await startShure()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    shure.setFault({ type: 'hang' })
    const requestsBefore = shure.requests.total
    const running = app.post('/api/refresh/').then(
      ({ status }) => status,
      (error) => String(error),
    )
    await until('the refresh waits for the system', () => shure.requests.total > requestsBefore)
    await app.close()
    expect(await running).toBe(503)
  })
})
