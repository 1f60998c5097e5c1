/** Statements of docs/conformance.md about the WebSocket that no other test covers. */

import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import WebSocket from 'ws'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { channelIn } from './support/socket-client.ts'

const integer = expect.toSatisfy((value: unknown) => Number.isSafeInteger(value), 'a whole number')

describe('every message', () => {
  // Conformance: S-6.1, S-6.2, C-7.4, C-7.8.
  it('has its fields and the manufacturer it is about', async () => {
    const shure = await startShure({ pushesPerSecond: 50 })
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections === 1)
    const socket = await app.socket()
    const { id } = deviceOf(shure)
    const receiver = await app.receiver(id)
    shure.show.set(id, { battery: 18, name: 'Host' }, 1)
    const update = await socket.next(
      (message) => message.receiver_id === receiver.id && channelIn(message)?.transmitter?.battery === 18,
    )
    expect(update).toMatchObject({ receiver_id: receiver.id, manufacturer: 'shure', data: { channels: [{}, {}] } })
    // Version 1 has no `not_now`.
    const fields = receiver.channels.map(({ not_now: _, ...channel }) => Object.keys(channel))
    expect(update.data.channels.map(Object.keys)).toEqual(fields)
    const alert = await socket.next(({ type }) => type === 'alert')
    expect(alert).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/\w+ \w+/),
      channel_id: channelOf(receiver).id,
      id: integer,
      kind: expect.any(String),
      state: 'raised',
      manufacturer: 'shure',
    })
    shure.setFault({ type: 'reset' })
    const status = await socket.next(({ type, about }) => type === 'status_update' && about === 'upstream')
    expect(status).toMatchObject({ message: expect.any(String), status: 'degraded', manufacturer: 'shure' })
    for (const { type, event, manufacturer = event?.manufacturer } of socket.messages.slice(1))
      expect([type, manufacturer]).toEqual([type, 'shure'])
    expect(socket.messages[0]).toMatchObject({ type: 'status', message: 'Connected' })
  })

  // Conformance: S-1.12, S-6.7.
  it('is sent for a change found by a poll or pushed over a subscription', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const sennheiser = await startSennheiser({ pushesPerSecond: 0 })
    const entries = [configFor(shure, { poll_interval: 3600 }), configFor(sennheiser, { poll_interval: 3600 })]
    const app = await startApp({ manufacturers: entries })
    await until('all receivers are known', async () => (await app.receivers()).length === 4)
    await until('the stream is open', () => sennheiser.push.connections === 1)
    const socket = await app.socket()
    for (const simulator of [shure, sennheiser]) simulator.show.set(deviceOf(simulator).id, { battery: 44 }, 1)
    const isPublished = (code: string) =>
      socket
        .ofType('device_update')
        .some((message) => message.manufacturer === code && channelIn(message)?.transmitter?.battery === 44)
    await until('the pushed change is published', () => {
      sennheiser.push.flush()
      return isPublished('sennheiser')
    })
    expect(isPublished('shure')).toBe(false)
    expect((await app.post('/api/refresh/?manufacturer=shure')).status).toBe(200)
    await until('the polled change is published', () => isPublished('shure'))
  })
})

describe('URLs', () => {
  // Conformance: S-4.19, C-7.1.
  it('are /ws and /ws with any name, with and without a trailing slash', async () => {
    const app = await startApp()
    for (const path of ['/ws', '/ws/', '/ws/micwatch', '/ws/micwatch/', '/ws/devices/', '/ws?manufacturer=shure']) {
      const socket = await app.socket(path)
      await socket.next(({ type, message }) => type === 'status' && message === 'Connected')
    }
  })
})

describe('a client that does not respond', () => {
  // Conformance: C-7.16.
  // Reliability: 1.20, C3.
  it('is disconnected at the second ping without a pong; clients that send pongs stay', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const app = await startApp()
    const responsive = await app.socket()
    const silent = new WebSocket(`${app.url.replace('http', 'ws')}/ws`, { autoPong: false })
    onTestFinished(() => silent.terminate())
    let pings = 0
    silent
      .on('error', () => {})
      .on('ping', () => {
        pings += 1
      })
    const closeCode = new Promise<number>((resolve) => silent.on('close', resolve))
    await until('both clients are connected', () => countClients(app).then((count) => count === 2))
    vi.advanceTimersByTime(20_000)
    await until('the client is pinged', () => pings === 1)
    // Once this ping is answered, the service has also read the pong that was sent before it.
    responsive.send({ type: 'ping', id: 'read' })
    await responsive.next(({ id }) => id === 'read')
    vi.advanceTimersByTime(20_000)
    expect(await closeCode).toBe(1006)
    responsive.send({ type: 'ping', id: 'last' })
    await responsive.next(({ id }) => id === 'last')
  })

  // Conformance: C-7.15.
  // Reliability: 1.20, C1, 3.12.6.
  it('is disconnected after 30 s if it does not read', async () => {
    const shure = await startShure({ receivers: 150, channelsPerReceiver: 4, pushesPerSecond: 20, richList: true })
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('all receivers are known', async () => (await app.receivers()).length === 150)
    const responsive = await app.socket()
    const startedAt = performance.now()
    const idleClient = connect(app.port, '127.0.0.1')
    onTestFinished(() => void idleClient.destroy())
    idleClient.on('error', () => {})
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    idleClient.write(
      `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`,
    )
    idleClient.pause()
    await until('both clients are connected', () => countClients(app).then((count) => count === 2))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let elapsedMs = 0
    await until(
      'only the responsive client is connected',
      async () => {
        elapsedMs += 500
        await vi.advanceTimersByTimeAsync(500)
        return (await countClients(app)) === 1
      },
      90_000,
    )
    // Timers that started before the fake ones run in real time.
    expect(elapsedMs + performance.now() - startedAt).toBeGreaterThanOrEqual(30_000)
    vi.useRealTimers()
    responsive.send({ type: 'ping', id: 'last' })
    await responsive.next(({ id }) => id === 'last')
  })
})

async function countClients(app: TestApp): Promise<number> {
  const [, count] = /^micwatch_websocket_clients\S* (\d+)$/m.exec((await app.get('/metrics')).bytes.toString()) ?? []
  return Number(count)
}
