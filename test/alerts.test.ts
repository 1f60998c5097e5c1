/** Alerts: published once over the WebSocket when they are raised, and listed by REST afterwards. */

import { describe, expect, it } from 'vitest'
import { startMcpSimulator } from '../simulators/sennheiser/mcp.ts'
import { startChargerSimulator } from '../simulators/shure/strings/charger.ts'
import type { AlertBody } from '../src/contract/alerts.ts'
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
  withoutPush,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

async function listAlerts(app: Pick<TestApp, 'get'>, query = '') {
  const { status, json } = await app.get(`/api/alerts/${query}`)
  expect(status).toBe(200)
  return json
}

describe.concurrent.each(engines)('a low battery (%s)', (engine: Engine) => {
  // Conformance: S-6.2, C-7.20.
  it.each([
    ['pushed', async () => startShure()],
    ['polled', async () => withoutPush(await startShure())],
  ])('raises, escalates and clears the alert once each when it is %s', async (_, start) => {
    const simulator = await start()
    const { id } = deviceOf(simulator)
    const setBattery = (battery: number) => {
      simulator.show.set(id, { battery }, 1)
      simulator.push.flush()
    }
    for (const channel of [1, 2]) simulator.show.set(id, { battery: 90 }, channel)
    simulator.show.set(deviceOf(simulator, 1).id, { battery: 90 }, 1)
    simulator.show.set(deviceOf(simulator, 1).id, { battery: 90 }, 2)
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    const receiver = await until('the receiver is known', () => app.receiver(id))
    const channel_id = channelOf(receiver).id

    setBattery(18)
    const raised = await socket.next(({ type }) => type === 'alert')
    expect(raised).toMatchObject({
      kind: 'battery_low',
      state: 'raised',
      severity: 'warning',
      manufacturer: 'shure',
      channel_id,
      id: expect.any(Number),
      message: expect.stringContaining('18%'),
    })
    setBattery(9)
    const escalated = await socket.next(({ type, severity }) => type === 'alert' && severity === 'critical')
    expect(escalated).toMatchObject({ id: raised.id, kind: 'battery_critical', state: 'raised', channel_id })
    expect(await listAlerts(app, '?state=raised')).toEqual([
      {
        id: raised.id,
        kind: 'battery_critical',
        state: 'raised',
        severity: 'critical',
        message: escalated.message,
        manufacturer: 'shure',
        channel_id,
        receiver_id: receiver.id,
        raised_at: expect.stringMatching(/^\d{4}-.*Z$/),
        cleared_at: null,
        acknowledged_by: null,
        acknowledged_at: null,
        note: null,
        acknowledgements: [],
        snoozed_by: null,
        snoozed_at: null,
        snoozed_until: null,
        silenced: false,
        site: null,
        data: {
          name: channelOf(receiver).name,
          slot: channelOf(receiver).slot,
          battery: 9,
          minutes_left: null,
          threshold: 10,
          crossed: 'battery',
          receiver: receiver.name,
          ...{ title: channelOf(receiver).name, title_from: 'channel' },
          ...{ pack: channelOf(receiver).name, channel_name: channelOf(receiver).name },
        },
        first: expect.objectContaining({ kind: 'battery_low', severity: 'warning', message: raised.message }),
      },
    ])
    setBattery(22)
    await until('the alert is a warning again', () => socket.ofType('alert').length > 2)
    setBattery(25)
    await socket.next(({ type, state }) => type === 'alert' && state === 'cleared')
    const messages = socket.ofType('alert').map(({ state, severity }) => `${state} ${severity}`)
    expect(messages).toEqual(['raised warning', 'raised critical', 'raised warning', 'cleared warning'])
    expect(await listAlerts(app, '?state=raised')).toEqual([])
    expect(await listAlerts(app, '?state=cleared')).toMatchObject([
      { id: raised.id, cleared_at: expect.stringMatching(/Z$/) },
    ])
  })

  it('is evaluated against the current threshold, and again when the threshold changes', async () => {
    const simulator = withoutPush(await startShure({ receivers: 1 }))
    const { id } = deviceOf(simulator)
    simulator.show.set(id, { battery: 40 }, 1)
    simulator.show.set(id, { battery: 90 }, 2)
    const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
    const socket = await app.socket()
    await until('the receiver is known', () => app.receiver(id))
    expect(await listAlerts(app)).toEqual([])
    const setThreshold = (value: string) =>
      app.post('/api/config/', { key: 'alert_battery_threshold', value, manufacturer: 'shure' })
    expect((await setThreshold('50')).status).toBe(200)
    const raised = await socket.next(({ type }) => type === 'alert', 2000)
    expect(raised).toMatchObject({ kind: 'battery_low', state: 'raised', severity: 'warning' })
    await setThreshold('35')
    const cleared = await socket.next(({ type, state }) => type === 'alert' && state === 'cleared', 2000)
    expect(cleared.id).toBe(raised.id)
  })
})

describe.concurrent.each(engines)('a low battery in several processes (%s)', (engine: Engine) => {
  // Conformance: C-7.24.
  it('raises no second alert after a restart, and is cleared by the new process', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const simulator = await startShure({ receivers: 1 })
    const { id } = deviceOf(simulator)
    simulator.show.set(id, { battery: 15 }, 1)
    simulator.show.set(id, { battery: 90 }, 2)
    const options = { databaseUrl: database.url, manufacturers: [configFor(simulator)] }
    const first = await startApp(options)
    const [raised] = await until('the alert is raised', async () => {
      const alerts = await listAlerts(first)
      return alerts.length > 0 && alerts
    })
    await first.close()

    const second = await startApp(options)
    const socket = await second.socket()
    await until('the subscription is connected again', () => simulator.push.connections > 0)
    await until('the system was polled', () => simulator.requests.count('/api/v1/devices') > 3)
    expect(socket.ofType('alert')).toEqual([])
    simulator.show.set(id, { battery: 80 }, 1)
    simulator.push.flush()
    const cleared = await socket.next(({ type }) => type === 'alert')
    expect(cleared).toMatchObject({ id: raised.id, state: 'cleared' })
    expect(await listAlerts(second)).toHaveLength(1)
  })

  it('is raised once by two processes and published by both', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const simulator = await startShure({ receivers: 1 })
    const { id } = deviceOf(simulator)
    for (const channel of [1, 2]) simulator.show.set(id, { battery: 90 }, channel)
    const options = { databaseUrl: database.url, manufacturers: [configFor(simulator)] }
    const apps = [await startApp(options), await startApp(options)]
    const sockets = await Promise.all(apps.map((app) => app.socket()))
    await until('the subscription is connected', () => simulator.push.connections > 0)
    for (const app of apps) await until('the receiver is known', () => app.receiver(id))
    simulator.show.set(id, { battery: 12 }, 1)
    simulator.push.flush()
    const messages = await Promise.all(sockets.map((socket) => socket.next(({ type }) => type === 'alert')))
    expect(messages[1]?.id).toBe(messages[0]?.id)
    await until('the system was polled again', () => simulator.requests.count('/api/v1/devices') > 4)
    for (const app of apps) expect(await listAlerts(app)).toHaveLength(1)
    for (const socket of sockets) expect(socket.ofType('alert')).toHaveLength(1)
  })
})

describe.concurrent.each(engines)('a failed pack in a charger (%s)', (engine: Engine) => {
  // Conformance: C-3.31.
  it('raises charger_fault with the reason until the fault ends, and storage mode once for all packs', async () => {
    const charger = await startChargerSimulator({ model: 'SBC220', name: 'Backstage', bays: [80, 70, 60] })
    onTestEnd(() => charger.close())
    const app = await startApp({ engine, manufacturers: [{ code: 'shure', config: { devices: [charger.url] } }] })
    const chassis = await until('the packs are known', async () => {
      const { json } = await app.get('/api/units/')
      return json.length === 3 && (await app.get('/api/chassis/')).json[0]
    })
    const waitForOpenAlerts = (expected: readonly string[]) =>
      until(`the open alerts are ${JSON.stringify(expected)}`, async () => {
        const alerts: AlertBody[] = await listAlerts(app, '?state=raised')
        return JSON.stringify(alerts.map(({ message }) => message)) === JSON.stringify(expected) && alerts
      })
    await waitForOpenAlerts([])

    charger.charge(2, { charge: 0, error: 7 })
    const fields = { kind: 'charger_fault', state: 'raised', severity: 'warning', manufacturer: 'shure' }
    expect(await waitForOpenAlerts(['Backstage, bay 2: no communication with the battery'])).toMatchObject([
      { ...fields, receiver_id: chassis.id, channel_id: null },
    ])
    const { json: units } = await app.get('/api/units/')
    expect(units[1]).toMatchObject({ battery_percentage: null, details: { fault: 'communication_failure' } })
    charger.charge(2, { charge: 70, state: 'HOT' })
    await waitForOpenAlerts(['Backstage, bay 2: the battery is too hot to charge'])
    charger.charge(2, 71)
    await waitForOpenAlerts([])
    expect(await listAlerts(app, '?state=cleared')).toMatchObject([
      { kind: 'charger_fault' },
      { kind: 'charger_fault' },
    ])

    charger.charge(3, { charge: 0, error: 4 })
    await waitForOpenAlerts(['Backstage, bay 3: charging failed'])
    charger.charge(3, null)
    await waitForOpenAlerts([])
    charger.setStorageMode(true)
    await waitForOpenAlerts(['Backstage: storage mode is on (batteries are charged to only 40%)'])
    charger.setStorageMode(false)
    await waitForOpenAlerts([])
  })
})

// Conformance: C-11.17.
it.concurrent('updates the value of an open alert, without notifying clients of version 1', async () => {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 1 })
  const { id } = deviceOf(simulator)
  const setBattery = (battery: number) => {
    simulator.show.set(id, { battery }, 1)
    simulator.push.flush()
  }
  setBattery(18)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const [raised] = await until('the alert is raised', async () => {
    const alerts = await listAlerts(app, '?state=raised')
    return alerts.length === 1 && alerts
  })
  const [socket, live] = [await app.socket(), await openLive(app)]
  await app.post(`/api/alerts/${raised.id}/acknowledge`, {})
  setBattery(15)
  const followed = await live.next(({ type, data }) => type === 'alert' && data.battery === 15)
  expect(followed).toMatchObject({
    ...{ id: raised.id, state: 'acknowledged', message: expect.stringContaining('battery at 15%') },
    first: { at: raised.raised_at, kind: 'battery_low', message: raised.message, data: raised.data },
  })
  expect((await listAlerts(app, ''))[0]).toMatchObject({ message: followed.message, data: followed.data })
  setBattery(90)
  await socket.next(({ type, state }) => type === 'alert' && state === 'cleared')
  // The socket may have been opened before the alert was published.
  const states = socket.ofType('alert').map(({ state }) => state)
  expect(states.filter((state) => state !== 'raised')).toEqual(['acknowledged', 'cleared'])
})

// Conformance: C-21.20, C-21.21.
it.concurrent('names the person in alerts, and says who has the slot now', async () => {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 2 })
  const { id, name } = deviceOf(simulator)
  for (const channel of [1, 2])
    simulator.show.set(id, { name: `H0${channel}`, battery: 90, transmitter: true }, channel)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const receiver = await until('the receiver is known', () => app.receiver(id))
  await until('the subscription is connected', () => simulator.push.connections > 0)
  const assign = async (slot: number, performer_name: string) => {
    expect((await app.put(`/api/slots/${slot}/`, { performer_name })).status).toBe(200)
  }
  const [first = 0, second = 0] = receiver.channels.map(({ slot }) => slot)
  await assign(first, 'Nora')
  await assign(second, 'Ben')
  const [socket, live] = [await app.socket(), await openLive(app)]
  simulator.show.set(id, { battery: 8 }, 1)
  simulator.push.flush()
  const raised = await live.next(({ type, kind }) => type === 'alert' && kind === 'battery_critical')
  expect(raised).toMatchObject({
    message: `${first} Nora: battery at 8% (pack H01)`,
    data: { slot: first, title: 'Nora', title_from: 'performer', pack: 'H01', name: 'H01' },
  })
  expect(raised).not.toHaveProperty('title_now')
  await assign(first, 'Mia')
  const renamed = await live.next(({ type, title_now }) => type === 'alert' && title_now === 'Mia')
  expect(renamed).toMatchObject({ id: raised.id, message: raised.message, data: raised.data })
  expect((await listAlerts(app))[0]).toMatchObject({ message: raised.message, title_now: 'Mia' })
  simulator.show.set(id, { online: false })
  simulator.push.flush()
  const offline = await live.next(({ type, kind }) => type === 'alert' && kind === 'receiver_offline')
  expect(offline.message).toBe(`${name} offline: ${first} Mia, ${second} Ben`)
  // Another title is not announced to clients of version 1.
  expect(socket.ofType('alert').filter(({ kind }) => kind === 'battery_critical')).toHaveLength(1)
})

it.concurrent('raises battery_low without a percentage when the equipment itself reports a low battery', async () => {
  const device = await startMcpSimulator({ host: '127.0.0.6', state: { battery: '?', warnings: ['Low_Battery'] } })
  onTestEnd(() => device.close())
  const app = await startApp({ manufacturers: [{ code: 'sennheiser', config: { devices: [device.url] } }] })
  const raised = await until('the alert is raised', async () => (await listAlerts(app, '?state=raised'))[0])
  expect(raised).toMatchObject({ kind: 'battery_low', severity: 'warning', message: '1 EM300: battery low' })
  device.set({ warnings: [] })
  await until('the alert is cleared', async () => (await listAlerts(app, '?state=raised')).length === 0)
})

// Conformance: C-7.21.
it.concurrent('raises and clears an alert when a receiver goes offline and comes back', async () => {
  const simulator = await startShure()
  const { id, name } = deviceOf(simulator)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const socket = await app.socket()
  const receiver = await until('the receiver is known', () => app.receiver(id))
  await until('the subscription is connected', () => simulator.push.connections > 0)
  const isReceiverAlert = (state: string) => (message: { type: string }) =>
    message.type === 'alert' &&
    'kind' in message &&
    message.kind === 'receiver_offline' &&
    'state' in message &&
    message.state === state
  simulator.show.set(id, { online: false })
  simulator.push.flush()
  const raised = await socket.next(isReceiverAlert('raised'))
  expect(raised).toMatchObject({
    severity: 'critical',
    channel_id: null,
    message: expect.stringMatching(new RegExp(`^${name} offline: \\d+ \\S`)),
  })
  simulator.show.set(id, { online: true })
  simulator.push.flush()
  expect(await socket.next(isReceiverAlert('cleared'))).toMatchObject({ id: raised.id })
  expect(await listAlerts(app, '?state=cleared')).toMatchObject([{ id: raised.id, receiver_id: receiver.id }])
})

// Conformance: C-7.22.
it.concurrent('raises an alert after three failed cycles of an upstream, clears it on recovery and when the manufacturer is disabled', async () => {
  const simulator = withoutPush(await startShure())
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const socket = await app.socket()
  await until('both receivers are known', async () => (await app.receivers()).length === 2)
  const isUpstreamAlert = (state: string) => (message: { type: string; kind?: string; state?: string }) =>
    message.type === 'alert' && message.kind === 'upstream_failing' && message.state === state
  simulator.setFault({ type: 'reset' })
  const raised = await socket.next(isUpstreamAlert('raised'), 15_000)
  const { json } = await app.get('/api/health/')
  expect(json.vendor_api.consecutive_failures).toBeGreaterThanOrEqual(3)
  expect(raised).toMatchObject({ severity: 'critical', channel_id: null, manufacturer: 'shure' })
  withoutPush(simulator)
  expect(await socket.next(isUpstreamAlert('cleared'), 15_000)).toMatchObject({ id: raised.id })

  const { id } = deviceOf(simulator)
  simulator.show.set(id, { battery: 5 }, 1)
  const low = await socket.next(({ type, kind }) => type === 'alert' && kind === 'battery_critical')
  const { status } = await app.send('PATCH', '/api/admin/manufacturers/shure/', {
    headers: { 'content-type': 'application/json', ...(await tokenHeaders(app, 'admin')) },
    body: JSON.stringify({ api_enabled: false }),
  })
  expect(status).toBe(200)
  await socket.next(
    ({ type, id: messages, state }) => type === 'alert' && messages === low.id && state === 'cleared',
    5000,
  )
})

it.concurrent('marks receivers of a manufacturer that is no longer polled as inactive without an alert', async () => {
  const database = await createTestDatabase('sqlite')
  onTestEnd(database.drop)
  const simulator = withoutPush(await startShure())
  const options = { databaseUrl: database.url }
  const first = await startApp({ ...options, manufacturers: [configFor(simulator)] })
  await until('both receivers are known', async () => (await first.receivers()).length === 2)
  const change = { last_seen: now() - 58_000 }
  await withDatabase(first, (db) => db.transaction(({ query }) => query.updateTable('receivers').set(change).execute()))
  await first.close()
  const disabled = { ...configFor(simulator), api_enabled: false }
  const second = await startApp({ ...options, manufacturers: [disabled] })
  await until('both receivers are inactive', async () =>
    (await second.receivers()).every(({ is_active }) => !is_active),
  )
  expect(await listAlerts(second)).toEqual([])
})

// Conformance: C-11.4.
it.concurrent('clears open alerts of a kind that settings disable, and applies the severity from settings', async () => {
  const simulator = await startShure({ receivers: 1 })
  const { id } = deviceOf(simulator)
  for (const [channel, battery] of [15, 90].entries()) simulator.show.set(id, { battery }, channel + 1)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const { id: alertId } = await until('the alert is raised', async () => (await listAlerts(app))[0])
  const set = async (key: string, value: string) =>
    expect(
      (await app.post('/api/config/', { key: `alert_battery_low_${key}`, value, manufacturer: 'shure' })).status,
    ).toBe(200)
  await set('severity', 'critical')
  await until('the severity is critical', async () => {
    const alerts = await listAlerts(app, '?state=open')
    return alerts.length === 1 && alerts[0].id === alertId && alerts[0].severity === 'critical'
  })
  await set('enabled', 'false')
  await until('the alert is cleared', async () => (await listAlerts(app, '?state=open')).length === 0)
  expect(channelOf(await app.receiver(id)).condition.state).toBe('battery_low')
  await set('enabled', 'true')
  await until('another alert is raised', async () => (await listAlerts(app, '?state=open'))[0]?.id > alertId)
})

// Conformance: C-11.5.
it.concurrent('raises no alerts of a receiver while its source fails, and those that still apply afterwards', async () => {
  const simulator = await startShure({ receivers: 1 })
  const { id } = deviceOf(simulator)
  const setBattery = (battery: number) => {
    simulator.show.set(id, { battery }, 1)
    simulator.push.flush()
  }
  for (const channel of [1, 2]) simulator.show.set(id, { battery: 90 }, channel)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  await until('the subscription is connected', () => simulator.push.connections > 0)
  await until('the receiver is known', () => app.receiver(id))
  const failures = async () => (await app.get('/api/health/')).json.vendor_api.consecutive_failures
  simulator.setFault({ type: 'status', status: 500 }, { path: /\/devices/ })
  await until('a cycle has failed', async () => (await failures()) > 0)
  setBattery(15)
  await until('the battery is low', async () => channelOf(await app.receiver(id)).condition.state === 'battery_low')
  const before = await failures()
  await until('more cycles have failed', async () => (await failures()) > before + 1)
  expect((await listAlerts(app)).filter(({ kind }: AlertBody) => kind === 'battery_low')).toEqual([])
  simulator.setFault(null)
  await until('the alert is raised', async () => (await listAlerts(app, '?state=raised&kind=battery_low')).length === 1)
})

describe.concurrent('GET /api/alerts/', () => {
  // Conformance: C-5.45, C-11.13.
  it('filters and paginates', async () => {
    const shure = withoutPush(await startShure({ receivers: 1 }))
    const sennheiser = withoutPush(await startSennheiser({ receivers: 1 }))
    for (const simulator of [shure, sennheiser]) {
      for (const channel of [1, 2]) simulator.show.set(deviceOf(simulator).id, { battery: 5 }, channel)
    }
    const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    await until('all alerts are raised', async () => (await listAlerts(app)).length === 4)
    expect(await listAlerts(app, '?manufacturer=sennheiser')).toHaveLength(2)
    expect(await listAlerts(app, '?manufacturer=nobody')).toEqual([])
    expect(await listAlerts(app, '?state=cleared')).toEqual([])
    const { id } = await app.receiver(deviceOf(shure).id)
    expect(await listAlerts(app, `?receiver=${id}`)).toMatchObject([{ receiver_id: id }, { receiver_id: id }])
    expect((await app.get('/api/alerts/?receiver=0')).status).toBe(400)
    const page = await listAlerts(app, '?page=2&page_size=3&state=raised')
    expect(page).toMatchObject({ count: 4, next: null, previous: expect.stringContaining('state=raised') })
    expect(page.results).toHaveLength(1)
    const { id: channel } = channelOf(await app.receiver(deviceOf(shure).id))
    expect(await listAlerts(app, `?channel=${channel}&kind=battery_critical`)).toMatchObject([{ channel_id: channel }])
    expect(await listAlerts(app, `?channel=${channel}&kind=stale`)).toEqual([])
    expect(await listAlerts(app, '?receiver=4711')).toEqual([])
    const newestFirst = await listAlerts(app, '?state=open')
    const keys = newestFirst.map(({ raised_at, id }: AlertBody) => `${raised_at} ${String(id).padStart(5, '0')}`)
    expect(keys).toEqual(keys.toSorted().reverse())
    const [{ raised_at }] = newestFirst
    expect(await listAlerts(app, `?from=${raised_at}&to=${raised_at}`)).toContainEqual(newestFirst[0])
    expect(await listAlerts(app, '?to=2020-01-01T00:00:00Z')).toEqual([])
    for (const query of ['state=active', 'kind=low', 'channel=x', 'from=yesterday', 'to=2026-02-30T00:00:00Z']) {
      expect(await app.get(`/api/alerts/?${query}`), query).toMatchObject({
        status: 400,
        json: { details: expect.stringContaining(query.slice(0, query.indexOf('='))) },
      })
    }
    expect((await app.get('/api/alerts/?page=9')).status).toBe(404)
  })
})
