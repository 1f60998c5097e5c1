/** The commands for real-time connections, as real processes in parallel. */

import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { openDatabase } from '../src/storage/database.ts'
import { leaseHolder, listHeldLeases } from '../src/storage/leases.ts'
import {
  channelOf,
  configFor,
  createInstallation,
  deviceOf,
  startSennheiser,
  startShure,
  until,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { channelIn } from './support/socket-client.ts'
import { createPostgresDatabase } from './support/store/postgres.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.concurrent('check_connections and realtime_status', () => {
  // Conformance: S-1.18, S-1.19, C-9.13, C-9.14.
  it('report the status of the connections, and raise an alert when a subscription is down', async () => {
    const simulator = await startShure()
    const installation = await createInstallation({ manufacturers: [configFor(simulator)] })
    const empty = await installation.run(['check_connections', '--json'])
    const none = { connecting: 0, connected: 0, disconnected: 0, error: 0, stopped: 0 }
    expect({ code: empty.code, document: empty.json() }).toEqual({ code: 0, document: { counts: none, problems: [] } })

    const service = await installation.serve()
    const connected = await until('both clients are connected', async () => {
      const { code, json } = await installation.run(['check_connections', '--json', '--alert'])
      return json().counts.connected === 2 && { code, ...json() }
    })
    expect(connected).toEqual({ code: 0, counts: { ...none, connected: 2 }, problems: [] })
    const listed = await installation.run([
      'realtime-status',
      '--json',
      '--manufacturer',
      'shure',
      '--status',
      'connected',
    ])
    expect(listed.code).toBe(0)
    expect(listed.json().connections).toMatchObject([
      { receiver: 1, manufacturer: 'shure', status: 'connected', transport: 'websocket', error_count: 0 },
      { receiver: 2, status: 'connected', duration_seconds: expect.any(Number) },
    ])
    expect((await installation.run(['realtime_status', '--json', '--status', 'error'])).json()).toEqual({
      connections: [],
    })
    const table = await installation.run(['realtime_status', '--verbose'])
    expect(table.out).toContain('last message')
    expect(table.out).toContain('seconds connected')
    expect(table.out).toContain(deviceOf(simulator).name)

    const socket = await service.socket()
    simulator.setFault({ type: 'status', status: 503 }, { path: /\/ws$/ })
    simulator.push.send('x'.repeat(1024 * 1024 + 1))
    const failed = await until('the subscription is down', async () => {
      const { code, json, err } = await installation.run(['check_connections', '--json', '--alert'])
      return code === 1 && { ...json(), err }
    })
    expect(failed.problems).toHaveLength(2)
    expect(failed.err.trim().split('\n')).toHaveLength(2)
    expect(failed.problems[0]).toMatchObject({ receiver: 1, manufacturer: 'shure', error_message: expect.any(String) })
    const raised = await socket.next(({ type }) => type === 'alert', 2000)
    expect(raised).toMatchObject({ kind: 'link_lost', state: 'raised', severity: 'warning', manufacturer: 'shure' })
    await installation.run(['check_connections', '--alert'])
    expect((await service.get('/api/alerts/')).json).toHaveLength(1)
    simulator.setFault(null)
    await socket.next(({ type, state, id }) => type === 'alert' && state === 'cleared' && id === raised.id, 15_000)
    expect(socket.ofType('alert')).toHaveLength(2)

    service.kill('SIGKILL')
    await service.ended
    const db = await openDatabase({ url: installation.databaseUrl })
    onTestEnd(() => db.close())
    await until('the leases have expired', async () => (await listHeldLeases(db.read)).length === 0, 20_000)
    // The status that a killed process left behind is not reported as current.
    expect((await installation.run(['check_connections', '--json'])).json().counts).toEqual({
      ...none,
      disconnected: 2,
    })
  })

  // Conformance: C-9.13.
  it('fail with --alert while a source has never connected', async () => {
    const entry = { code: 'shure', config: { api_base_url: `http://127.0.0.1:${await freePort()}`, shared_key: 'x' } }
    const installation = await createInstallation({ manufacturers: [entry] })
    const before = await installation.run(['check_connections', '--json', '--alert'])
    expect([before.code, before.err]).toEqual([1, expect.stringMatching(/^shure: it was never contacted.*serve.*\n$/)])
    expect((await installation.run(['poll_devices', '--once'])).code).toBe(1)
    const failed = await installation.run(['check_connections', '--json', '--alert'])
    const [error] = failed.json().errors
    expect([failed.code, error.manufacturer, error.error]).toEqual([1, 'shure', expect.stringContaining('refused')])
    expect(failed.err.trim().split('\n')).toHaveLength(1)
    expect((await installation.run(['check_connections'])).code).toBe(0)
    const service = await installation.serve(['--no-poll'])
    expect((await service.get('/api/alerts/')).json).toMatchObject([
      { kind: 'upstream_failing', manufacturer: 'shure' },
    ])
  })

  // Conformance: C-9.16.
  it.each([
    [['check_connections', '--manufacturer', 'nobody'], 'unknown manufacturer nobody'],
    [['realtime_status', '--status', 'open'], 'status'],
    [['realtime_status', '--bogus'], 'unknown option'],
    [['start_shure_websocket', '--manufacturer', 'nobody'], 'unknown manufacturer nobody'],
    [['start_sse_subscriptions', '--manufacturer', 'shure'], 'no subscription of this kind'],
  ])('reject %j as wrong usage', async (args, message) => {
    const installation = await createInstallation({
      manufacturers: [{ code: 'shure', config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'x' } }],
    })
    const { code, out, err } = await installation.run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.trim().split('\n')).toEqual([expect.stringContaining(message)])
  })
})

describe.each(['sqlite', 'postgres'])('a subscription in a separate process (%s)', (engine) => {
  // Conformance: S-1.21, C-9.16.
  it.each([
    ['start_shure_websocket', startShure],
    ['start_sse_subscriptions', startSennheiser],
  ] as const)('%s publishes changes to the clients of a parallel server within a second', async (command, start) => {
    const simulator = await start({ pushesPerSecond: 0 })
    const database = engine === 'postgres' ? await createPostgresDatabase(inject('postgresUrl')) : null
    onTestFinished(async () => database?.drop())
    const manufacturers = [configFor(simulator, { poll_interval: 3600 })]
    const installation = await createInstallation({ manufacturers, ...(database && { database_url: database.url }) })
    // Creates the receivers without keeping a subscription open.
    expect((await installation.run(['poll_devices', '--once'])).code).toBe(0)
    const subscriber = installation.start([command, '--json'])
    await until('the subscription is connected', () => subscriber.out().includes('"connected"'))
    const service = await installation.serve()
    const socket = await service.socket()
    await until('the server knows the receivers', async () => (await service.receivers()).length === 2)
    const { id } = deviceOf(simulator)
    expect(simulator.push.connections).toBe(1)

    const delays: number[] = []
    for (const battery of [71, 72, 73, 74]) {
      const pushedAt = performance.now()
      simulator.show.set(id, { battery }, 1)
      simulator.push.flush()
      const update = await socket.next((message) => channelIn(message)?.transmitter?.battery === battery)
      delays.push(update.at - pushedAt)
    }
    // Polls are an hour apart, so only the subscription can deliver the changes this early.
    expect(Math.max(...delays)).toBeLessThan(timeLimit(1000))
    // The server polls but opens no second subscription, because the other process holds the lease for it.
    expect(simulator.push.connections).toBe(1)
    const requestsBefore = simulator.requests.count('/transmitter')
    expect((await service.post('/api/refresh/')).status).toBe(200)
    expect(channelOf(await service.receiver(id)).transmitter?.battery).toBe(74)
    expect(simulator.requests.count('/transmitter')).toBe(requestsBefore)

    const second = installation.start([command])
    await until('the second process waits', () => second.out().includes('standing by'))
    expect(simulator.push.connections).toBe(1)
    second.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    subscriber.kill('SIGTERM')
    expect(await subscriber.ended).toBe(0)
    expect(subscriber.err()).toBe('')
    await until('the server takes over the subscription', () => simulator.push.connections === 1)
    simulator.show.set(id, { battery: 55 }, 1)
    await until('the next push is published', async () => {
      simulator.push.flush()
      return channelOf(await service.receiver(id)).transmitter?.battery === 55
    })
  })
})

// Conformance: C-9.9.
it.concurrent('poll_devices publishes pushed changes within a second', async () => {
  const simulator = await startShure({ pushesPerSecond: 0 })
  const installation = await createInstallation({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
  installation.start(['poll_devices'])
  const service = await installation.serve(['--no-poll'])
  const socket = await service.socket()
  await until('the server knows the receivers', async () => (await service.receivers()).length === 2)
  await until('the subscription is connected', () => simulator.push.connections === 1)
  const pushedAt = performance.now()
  simulator.show.set(deviceOf(simulator).id, { battery: 7 }, 1)
  simulator.push.flush()
  const update = await socket.next((message) => channelIn(message)?.transmitter?.battery === 7)
  expect(update.at - pushedAt).toBeLessThan(timeLimit(1000))
  expect(await socket.next(({ type }) => type === 'alert', 2000)).toMatchObject({ severity: 'critical' })
})

it.concurrent('a process that does not poll passes a refresh on to the process that polls', async () => {
  const simulator = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
  const poller = await installation.serve()
  await until('the service polls', async () => (await poller.receivers()).length === 2)
  await until('the subscription is connected', () => simulator.push.connections === 1)
  const screen = await installation.serve(['--no-poll'])
  const db = await openDatabase({ url: installation.databaseUrl })
  onTestEnd(() => db.close())
  const source = `shure:${simulator.baseUrl}`
  const holder = await leaseHolder(db.read, source)
  const polls = simulator.requests.count('/api/v1/devices')
  const startedAt = performance.now()
  const { status, json } = await screen.post('/api/refresh/')
  expect({ status, json }).toMatchObject({ status: 200, json: { status: 'success', receivers_updated: 2 } })
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1500))
  expect(simulator.requests.count('/api/v1/devices')).toBe(polls + 1)
  const after = await leaseHolder(db.read, source)
  expect(after).toMatchObject({ owner: holder?.owner, epoch: holder?.epoch })

  simulator.setFault({ type: 'status', status: 500 })
  expect((await screen.post('/api/refresh/')).status).toBe(503)
  simulator.setFault(null)
  poller.kill('SIGTERM')
  await poller.ended
  // No process polls now, so the serving process takes the lease for this cycle and releases it afterwards.
  expect((await screen.post('/api/refresh/')).json).toMatchObject({ status: 'success', receivers_updated: 2 })
  expect(await leaseHolder(db.read, source)).toBeNull()
})

it.concurrent('stopping connections in one process closes the subscription of another process within a second', async () => {
  const simulator = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
  installation.start(['poll_devices'])
  await until('the subscription is connected', () => simulator.push.connections === 1, 15_000)
  const screen = await installation.serve(['--no-poll'])
  const headers = await tokenHeaders(installation, 'admin')
  await until('both clients are connected', async () => {
    const { json } = await screen.get('/api/admin/realtime-connections/?status=connected', headers)
    return json.length === 2
  })
  const ids = (await screen.receivers()).map(({ id }) => id)
  const stoppedAt = performance.now()
  expect((await screen.post('/api/admin/realtime-connections/stop', { ids }, headers)).json.updated).toBe(2)
  await until('the subscription is closed', () => simulator.push.connections === 0, 3000)
  expect(performance.now() - stoppedAt).toBeLessThan(timeLimit(1300))
  expect(
    (await installation.run(['realtime_status', '--json', '--status', 'stopped'])).json().connections,
  ).toHaveLength(2)
})

it.concurrent('exits when no manufacturer supports the subscription', async () => {
  const installation = await createInstallation({
    manufacturers: [{ code: 'shure', config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'x' } }],
  })
  const none = await installation.run(['start_sse_subscriptions'])
  expect(none.code).toBe(1)
  expect(none.err).toContain('no enabled manufacturer')
})
