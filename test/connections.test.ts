/** Real-time connections: their states in the database, and how operators stop and start them. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, type Engine, engines } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

const path = '/api/admin/realtime-connections'

/** Creates a client that lists, stops and starts connections as an administrator. */
async function adminClient(app: TestApp) {
  const headers = await tokenHeaders(app, 'admin')
  const list = async (query = '') => {
    const { status, json } = await app.get(`${path}/${query}`, headers)
    expect(status).toBe(200)
    return json
  }
  return {
    headers,
    list,
    statuses: async () => (await list()).map(({ status }: { status: string }) => status),
    async all(status: string, withinMs = 10_000) {
      return until(
        `all connections are ${status}`,
        async () => {
          const connections = await list()
          return (
            connections.length > 0 &&
            connections.every((connection: { status: string }) => connection.status === status) &&
            connections
          )
        },
        withinMs,
      )
    },
    post: (action: string, ids: readonly number[]) => app.post(`${path}/${action}`, { ids }, headers),
  }
}

describe.concurrent.each(engines)('real-time connections on %s', (engine: Engine) => {
  // Conformance: S-1.13, C-8.1.
  it.each([
    ['websocket', startShure],
    ['sse', startSennheiser],
  ] as const)('have each state of a %s subscription', async (transport, start) => {
    const simulator = await start()
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    const admin = await adminClient(app)
    const [first, ...others] = await admin.all('connected')
    expect(others).toHaveLength(1)
    expect(first).toMatchObject({
      id: expect.any(Number),
      receiver: first.id,
      receiver_name: expect.any(String),
      manufacturer: simulator.manufacturer,
      transport,
      connected_at: expect.stringMatching(/Z$/),
      disconnected_at: null,
      error_message: null,
      error_count: 0,
      reconnect_attempts: 0,
      duration_seconds: expect.any(Number),
    })
    const { id } = deviceOf(simulator)
    const before = now()
    simulator.show.set(id, { battery: 33 }, 1)
    simulator.push.flush()
    await until('the message is recorded', async () => {
      const [record] = await admin.list()
      return Date.parse(record.last_message_at) >= before - 5
    })

    simulator.setFault({ type: 'close-connections' })
    await until('the failure is detected', async () =>
      (await admin.statuses()).some((status: string) => status !== 'connected'),
    )
    await admin.all('connected', 15_000)
    await socket.receiveAll()
    const statusUpdates = socket.ofType('status_update').filter(({ about }) => about === 'link')
    expect(statusUpdates.map(({ status }) => status)).toEqual(['connected', 'disconnected', 'connected'])
    expect(statusUpdates[1]?.message).toContain(simulator.manufacturer)
  })

  it('have an error after three losses within two minutes, even while they are connected', async () => {
    const simulator = await startShure()
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const admin = await adminClient(app)
    await admin.all('connected')
    for (let losses = 0; losses < 3; losses += 1) {
      await until('the subscription is open', () => simulator.push.connections === 1)
      simulator.setFault({ type: 'close-connections' })
      await until('the subscription is closed', () => simulator.push.connections === 0)
    }
    await until('the loss is an alert at once', async () => {
      const { json } = await app.get('/api/alerts/?state=open&kind=link_lost')
      return json.length === 1
    })
    await until('the subscription is open again', () => simulator.push.connections === 1)
    const [open] = await until('it still counts as lost', async () => {
      const connections = await admin.list()
      return connections[0].disconnected_at === null && connections
    })
    expect(open).toMatchObject({ status: 'error', error_message: expect.stringContaining('three times') })
    const { id } = deviceOf(simulator)
    simulator.show.set(id, { battery: 33 }, 1)
    simulator.push.flush()
    await until('what it sends applies', async () => channelOf(await app.receiver(id)).transmitter?.battery === 33)
  })

  // Conformance: S-3.13, C-8.2.
  it('have an error after a failed attempt, and are retried', async () => {
    const simulator = await startShure()
    simulator.setFault({ type: 'status', status: 503 }, { path: /\/ws$/ })
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const admin = await adminClient(app)
    const [failed] = await admin.all('error')
    expect(failed).toMatchObject({ error_message: expect.stringContaining('503'), connected_at: null })
    expect(failed.error_count).toBeGreaterThan(0)
    expect(failed.reconnect_attempts).toBeGreaterThan(0)
    expect(failed.duration_seconds).toBeNull()
    simulator.setFault(null)
    const [restored] = await admin.all('connected')
    expect(restored).toMatchObject({ error_message: null, reconnect_attempts: 0 })
    expect(restored.error_count).toBeGreaterThan(0)
  })

  // Conformance: S-3.14, C-8.3, C-8.4.
  // Reliability: R9.
  it('are disconnected when the process ends; a stopped one stays stopped until it is started', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const simulator = await startShure()
    const options = { databaseUrl: database.url, manufacturers: [configFor(simulator)] }
    const first = await startApp(options)
    const admin = await adminClient(first)
    const [firstConnection] = await admin.all('connected')
    expect((await admin.post('stop', [firstConnection.id])).json).toEqual({
      message: 'Stopped 1 connection(s).',
      updated: 1,
      failed: [],
    })
    await first.close()

    const screen = await startApp({ ...options, servesOnly: true })
    const observer = await adminClient(screen)
    expect(await observer.statuses()).toEqual(['stopped', 'disconnected'])
    const second = await startApp(options)
    await until('the other connection is connected', async () => (await observer.statuses())[1] === 'connected')
    expect(await observer.statuses()).toEqual(['stopped', 'connected'])
    // The connection is started in a process other than the one that holds the subscription.
    const startedAt = performance.now()
    expect((await observer.post('start', [firstConnection.id])).json).toMatchObject({
      message: 'Started 1 connection(s).',
      updated: 1,
    })
    await observer.all('connected', 2000)
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(1500))
    await second.close()
    expect(await observer.statuses()).toEqual(['disconnected', 'disconnected'])
  })
})

// Conformance: C-5.50.
// Reliability: R9.
it.concurrent('polls a stopped receiver and ignores its pushes; the subscription closes when all receivers are stopped', async () => {
  const simulator = await startShure()
  const [stopped, other] = [deviceOf(simulator), deviceOf(simulator, 1)]
  const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 2 })] })
  const socket = await app.socket()
  const admin = await adminClient(app)
  await admin.all('connected')
  const [first, second] = [await app.receiver(stopped.id), await app.receiver(other.id)]
  expect((await admin.post('stop', [first.id, 4711])).json).toEqual({
    message: 'Stopped 1 connection(s).',
    updated: 1,
    failed: [{ id: 4711, error: 'There is no real-time connection 4711.' }],
  })
  simulator.push.send(
    JSON.stringify({ type: 'device_update', device_id: stopped.id, channels: [{ channel: 1, name: 'Ghost' }] }),
  )
  simulator.push.send(
    JSON.stringify({ type: 'device_update', device_id: other.id, channels: [{ channel: 1, name: 'Pushed' }] }),
  )
  await until('the other receiver is updated', async () => channelOf(await app.receiver(other.id)).name === 'Pushed')
  expect(channelOf(await app.receiver(stopped.id)).name).not.toBe('Ghost')
  const requestCount = simulator.requests.count(`/api/v1/devices/${stopped.id}/channels`)
  const otherCount = simulator.requests.count(`/api/v1/devices/${other.id}/channels`)
  await until(
    'the system is polled',
    () => simulator.requests.count(`/api/v1/devices/${stopped.id}/channels`) > requestCount + 1,
  )
  expect(simulator.requests.count(`/api/v1/devices/${other.id}/channels`) - otherCount).toBeLessThanOrEqual(1)

  await admin.post('stop', [second.id])
  await until('the subscription is closed', () => simulator.push.connections === 0, 2000)
  await socket.next(({ type, status }) => type === 'status_update' && status === 'stopped')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(simulator.push.connections).toBe(0)
  expect(await admin.statuses()).toEqual(['stopped', 'stopped'])
  await admin.post('start', [first.id, second.id])
  await until('the subscription is connected again', () => simulator.push.connections === 1)
  await admin.all('connected')
})

// Conformance: S-1.14, C-5.50, C-8.7.
it.concurrent('filters and paginates the list, and restricts it by role', async () => {
  const shure = await startShure()
  const sennheiser = await startSennheiser()
  const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
  const admin = await adminClient(app)
  await until('all receivers are listed', async () => (await admin.list('?status=connected')).length === 4)
  expect(await admin.list('?manufacturer=shure')).toHaveLength(2)
  expect(await admin.list('?status=stopped')).toEqual([])
  expect(await admin.list('?page=2&page_size=3')).toMatchObject({ count: 4, next: null, results: [{}] })
  expect((await app.get(`${path}/?status=open`, admin.headers)).status).toBe(400)
  expect((await app.get(`${path}/`)).status).toBe(401)
  const viewer = await tokenHeaders(app, 'viewer')
  expect((await app.get(`${path}/`, viewer)).status).toBe(200)
  expect((await app.post(`${path}/stop`, { ids: [1] }, viewer)).status).toBe(403)
  expect((await app.post(`${path}/stop`, { ids: [] }, admin.headers)).status).toBe(400)
  expect((await app.post(`${path}/stop`, { ids: ['1'] }, admin.headers)).json.details).toContain('ids')
})

// Reliability: R10.
it.concurrent('removes the connection of a removed device and of a disabled manufacturer', async () => {
  const simulator = await startShure()
  const { id } = deviceOf(simulator)
  const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
  const admin = await adminClient(app)
  await admin.all('connected')
  simulator.push.send(JSON.stringify({ type: 'device_removed', device_id: id }))
  await until('the connection is closed', async () => (await admin.statuses())[0] === 'disconnected', 2000)
  expect(await admin.statuses()).toEqual(['disconnected', 'connected'])

  await app.send('PATCH', '/api/admin/manufacturers/shure/', {
    headers: { 'content-type': 'application/json', ...admin.headers },
    body: JSON.stringify({ api_enabled: false }),
  })
  await until('the subscription is closed', () => simulator.push.connections === 0, 5000)
  await admin.all('disconnected', 5000)
})
