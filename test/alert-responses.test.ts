/** Users acknowledge, snooze and silence alerts, in every process and after a restart. */

import { describe, expect, it } from 'vitest'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { AlertBody, SilenceBody } from '../src/contract/alerts.ts'
import { toFaultCause } from '../src/domain/alerts/service-faults.ts'
import { now } from '../src/platform/clock.ts'
import { snoozeAlert } from '../src/storage/alerts.ts'
import { nextRevision } from '../src/storage/revision.ts'
import {
  channelOf,
  configFor,
  createInstallation,
  deviceOf,
  startApp,
  startShure,
  type TestApp,
  until,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { failRecording, raiseAlerts, raiseUnstored } from './support/internals.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Starts a system with one receiver of two channels, on which batteries can be set. */
async function startSystem() {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  const set = (change: Parameters<typeof shure.show.set>[1], channel = 1) => {
    shure.show.set(id, change, channel)
    shure.push.flush()
  }
  for (const channel of [1, 2]) set({ battery: 90, rf_level: -50, audio_level: -20 }, channel)
  return { shure, id, set, manufacturers: [configFor(shure)] }
}

async function openAlerts(app: Pick<TestApp, 'get'>): Promise<AlertBody[]> {
  return (await app.get('/api/alerts/?state=open')).json
}

/** Waits until exactly one alert is open, and returns it. */
function waitForAlert(app: Pick<TestApp, 'get'>, kind: string): Promise<AlertBody> {
  return until(`the alert ${kind} is open`, async () => {
    const [alert, ...others] = await openAlerts(app)
    return others.length === 0 && alert?.kind === kind && alert
  })
}

/** Raises an alert of the service itself; with `isStored` false as if it could not be stored. */
async function raiseRecordingStopped(app: TestApp, isStored: boolean): Promise<void> {
  const cause = toFaultCause('recording_stopped', 'the disk is full')
  if (isStored) await raiseAlerts(app, [{ ...cause, subject: `test:${Math.random()}` }])
  else raiseUnstored(app, cause)
}

const inHours = (hours: number) => new Date(now() + hours * 3_600_000).toISOString()

describe.concurrent('POST /api/alerts/{id}/acknowledge', () => {
  // Conformance: C-11.6, C-21.92.
  it('is recorded once, sent to clients of both versions, and cleared when the battery gets worse', async () => {
    const { set, manufacturers } = await startSystem()
    const app = await startApp({ manufacturers })
    const [socket, live] = [await app.socket(), await openLive(app)]
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    set({ battery: 15 })
    const { id } = await waitForAlert(app, 'battery_low')

    const first = await app.post(`/api/alerts/${id}/acknowledge`, { note: 'Spare pack is on its way' })
    expect(first).toMatchObject({
      status: 200,
      json: {
        id,
        state: 'acknowledged',
        acknowledged_by: 'local',
        acknowledged_at: expect.stringMatching(/Z$/),
        note: 'Spare pack is on its way',
      },
    })
    const headers = { ...(await tokenHeaders(app, 'operator')), 'content-type': 'application/json' }
    const again = await app.send('POST', `/api/alerts/${id}/acknowledge`, { headers, body: '{"note":"me too"}' })
    expect(again).toMatchObject({ status: 200, json: first.json })
    expect((await app.post(`/api/alerts/${id}/snooze`, { minutes: 5 })).json).toEqual(first.json)
    expect(await socket.next(({ state }) => state === 'acknowledged')).toMatchObject({ type: 'alert', id })
    expect(await live.next(({ state }) => state === 'acknowledged')).toMatchObject({ type: 'alert', ...first.json })
    expect(await openAlerts(app)).toEqual([])
    expect((await app.get('/api/alerts/?state=acknowledged')).json).toEqual([first.json])
    expect(live.data().alerts).toMatchObject([{ id, state: 'acknowledged' }])

    set({ battery: 8 })
    const worse = await live.next(({ kind }) => kind === 'battery_critical')
    expect(worse).toMatchObject({ id, state: 'raised', severity: 'critical', acknowledged_by: null, note: null })
    const byToken = await app.send('POST', `/api/alerts/${id}/acknowledge`, { headers })
    expect(byToken).toMatchObject({ status: 200, json: { acknowledged_by: "a test's operator", note: null } })
    const both = [
      { by: 'local', note: 'Spare pack is on its way', severity: 'warning', at: first.json.acknowledged_at },
      { by: "a test's operator", note: null, severity: 'critical', at: byToken.json.acknowledged_at },
    ]
    expect(byToken.json.acknowledgements).toEqual(both)
    const taken = await app.post(`/api/alerts/${id}/unacknowledge`, undefined)
    const none = { acknowledged_by: null, acknowledged_at: null, note: null }
    expect(taken).toMatchObject({ status: 200, json: { state: 'raised', ...none, acknowledgements: both } })
    expect(
      await live.next(({ state, acknowledgements }) => state === 'raised' && acknowledgements?.length === 2),
    ).toMatchObject(taken.json)
    expect((await app.post(`/api/alerts/${id}/unacknowledge`, undefined)).status).toBe(409)

    set({ battery: 90 })
    await live.next(({ state }) => state === 'cleared')
    for (const [path, body, status] of [
      [`/api/alerts/${id}/acknowledge`, {}, 409],
      [`/api/alerts/${id}/unacknowledge`, undefined, 409],
      [`/api/alerts/${id}/unsnooze`, undefined, 409],
      [`/api/alerts/${id}/unacknowledge`, { note: 'No' }, 400],
      [`/api/alerts/${id}/unsnooze`, [], 400],
      ['/api/channels/1/muted-on-purpose', { minutes: 5 }, 400],
      [`/api/alerts/${id}/snooze`, { minutes: 5 }, 409],
      ['/api/alerts/4711/acknowledge', {}, 404],
      ['/api/alerts/4711/snooze', { until: 'cleared' }, 404],
      [`/api/alerts/${id}/acknowledge`, { comment: 'x' }, 400],
    ] as const) {
      expect(await app.post(path, body), path).toMatchObject({ status, json: { status } })
    }
    const { json: audit } = await app.send('GET', '/api/admin/audit/?action=alert.', {
      headers: await tokenHeaders(app, 'admin'),
    })
    expect(audit).toMatchObject([
      { action: 'alert.unacknowledge', target: `alert ${id}`, actor: { kind: 'local' } },
      { action: 'alert.acknowledge', target: `alert ${id}`, actor: { kind: 'token' } },
      { action: 'alert.acknowledge', target: `alert ${id}`, actor: { kind: 'local' } },
    ])
  })

  // Conformance: C-11.9.
  it('ends battery_died', async () => {
    const { set, id, manufacturers } = await startSystem()
    const app = await startApp({ manufacturers })
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    set({ battery: 8 })
    const alert = await waitForAlert(app, 'battery_critical')
    set({ transmitter: false, rf_level: -110 })
    const died = await waitForAlert(app, 'battery_died')
    expect(died.id).toBe(alert.id)
    expect((await app.post(`/api/alerts/${died.id}/acknowledge`, {})).status).toBe(200)
    await eventually(async () => channelOf(await app.receiver(id)).condition).toMatchObject({ state: 'tx_off' })
    await until('the alert is cleared', async () => (await app.get('/api/alerts/?state=cleared')).json.length === 1)
  })
})

describe.concurrent('POST /api/alerts/{id}/snooze', () => {
  // Conformance: C-11.7.
  it('requires minutes or an event, and ends with it', async () => {
    const { set, manufacturers } = await startSystem()
    const app = await startApp({ manufacturers })
    const live = await openLive(app)
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    set({ battery: 15 })
    const { id } = await waitForAlert(app, 'battery_low')
    const snooze = (body: object) => app.post(`/api/alerts/${id}/snooze`, body)
    for (const body of [
      {},
      { minutes: 5, until: 'cleared' },
      { minutes: 0 },
      { minutes: 10_081 },
      { until: 'later' },
    ]) {
      expect((await snooze(body)).status, JSON.stringify(body)).toBe(400)
    }
    expect(await snooze({ until: 'show_end' })).toMatchObject({ status: 409, json: { status: 409 } })
    const { json } = await snooze({ minutes: 10_080 })
    expect(json).toMatchObject({ state: 'snoozed', snoozed_by: 'local', snoozed_at: expect.stringMatching(/Z$/) })
    expect(Date.parse(json.snoozed_until) - Date.parse(json.snoozed_at)).toBe(10_080 * 60_000)
    expect(await live.next(({ state }) => state === 'snoozed')).toMatchObject({ type: 'alert', ...json })
    expect((await app.get('/api/alerts/?state=snoozed')).json).toEqual([json])
    expect(await openAlerts(app)).toEqual([json])

    const briefly = { by: 'ann', at: now(), until: now() + 500 }
    await withDatabase(app, (db) =>
      db.transaction(async (tx) => snoozeAlert(tx, await nextRevision(tx, 'alerts'), id, briefly)),
    )
    const { seq: snoozedAt } = await live.next(({ snoozed_by }) => snoozed_by === 'ann')
    const raised = await live.next(({ type, state, seq }) => type === 'alert' && state === 'raised' && seq > snoozedAt)
    expect(raised).toMatchObject({ id, snoozed_by: null, snoozed_until: null })

    expect((await snooze({ until: 'cleared' })).json).toMatchObject({ state: 'snoozed', snoozed_until: 'cleared' })
    set({ battery: 90 })
    expect(await live.next(({ state }) => state === 'cleared')).toMatchObject({ id, snoozed_until: 'cleared' })
  })
})

describe.concurrent('/api/silences/', () => {
  // Conformance: C-11.10, C-11.11.
  it('applies to matching alerts until it is removed, and is announced', async () => {
    const { set, id, manufacturers } = await startSystem()
    const app = await startApp({ manufacturers })
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    const [socket, live] = [await app.socket(), await openLive(app)]
    const [channel] = (await app.receiver(id)).channels
    const until_ = inHours(1)
    const created = await app.post('/api/silences/', { channels: [channel?.id], until: until_, reason: 'Changeover' })
    const silence: SilenceBody = created.json
    expect(created.status).toBe(201)
    expect(silence).toEqual({
      id: expect.any(Number),
      channels: [channel?.id],
      groups: [],
      kinds: [],
      until: until_,
      reason: 'Changeover',
      by: 'local',
      created_at: expect.stringMatching(/Z$/),
      version: expect.any(Number),
    })
    expect((await app.get('/api/silences/')).json).toEqual([silence])
    expect(await live.next(({ type }) => type === 'silences')).toMatchObject({ silences: [silence] })
    expect((await openLive(app)).snapshot.data.silences).toEqual([silence])

    set({ battery: 15 })
    const alert = await waitForAlert(app, 'battery_low')
    expect(alert).toMatchObject({ state: 'raised', silenced: true })
    expect(await live.next(({ type }) => type === 'alert')).toMatchObject({ id: alert.id, silenced: true })
    // The receiver is stale for a moment if a poll takes long.
    await until('the battery is low', async () => {
      return channelOf(await app.receiver(id)).condition.state === 'battery_low'
    })
    await socket.receiveAll()
    expect(socket.ofType('alert')).toEqual([])

    expect((await app.send('DELETE', `/api/silences/${silence.id}/`)).status).toBe(204)
    expect(await live.next(({ type, silences }) => type === 'silences' && silences.length === 0)).toBeDefined()
    expect(await live.next(({ silenced }) => silenced === false)).toMatchObject({ id: alert.id, state: 'raised' })
    expect(await socket.next(({ type }) => type === 'alert')).toMatchObject({ id: alert.id, state: 'raised' })
    expect((await app.send('DELETE', `/api/silences/${silence.id}/`)).status).toBe(404)
    expect((await app.get('/api/silences/')).json).toEqual([])
  })

  // Conformance: C-11.10.
  it('rejects a silence without a scope, with unknown ids, or with an end too late or in the past', async () => {
    const app = await startApp()
    const create = (body: object) => app.post('/api/silences/', body)
    const kinds = ['rf_weak']
    for (const [body, field] of [
      [{ until: inHours(1) }, 'channels'],
      [{ channels: [], groups: [], kinds: [], until: inHours(1) }, 'channels'],
      [{ channels: [4711], until: inHours(1) }, 'channels'],
      [{ groups: [4711], until: inHours(1) }, 'groups'],
      [{ kinds: ['silent'], until: inHours(1) }, 'kinds'],
      [{ kinds }, 'until'],
      [{ kinds, until: inHours(-1) }, 'until'],
      [{ kinds, until: inHours(30 * 24 + 1) }, 'until'],
      [{ kinds, until: '2030-02-30T00:00:00Z' }, 'until'],
      [{ kinds, until: inHours(1), comment: 'x' }, 'comment'],
    ] as const) {
      const { status, json } = await create(body)
      expect({ status, details: json.details }, JSON.stringify(body)).toEqual({
        status: 400,
        details: expect.stringContaining(field),
      })
    }
    expect((await create({ kinds, until: inHours(30 * 24 - 1) })).status).toBe(201)
  })
})

/** Starts a device with one muted channel and two processes on one database. */
async function startMuted(engine: Engine, config = {}) {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const device = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => device.close())
  const mute = (muted: boolean) => device.change(1, { transmitter: true, battery: 80, muted })
  mute(true)
  const manufacturers = [{ code: 'shure', config: { devices: [device.url] } }]
  const [app, other] = [
    await startApp({ databaseUrl: database.url, manufacturers, config }),
    await startApp({ databaseUrl: database.url, servesOnly: true, config }),
  ]
  const channel = (of: TestApp) => of.service.receiverStore.listFacts()[0]?.channels[0]
  /** Waits until both processes know whether the channel is muted. */
  const waitForMute = async (isMuted: boolean) => {
    for (const one of [app, other]) {
      await until('the mute is known', () => (channel(one)?.condition.state === 'muted') === isMuted)
    }
  }
  await waitForMute(true)
  return { app, other, mute, waitForMute, id: channel(app)?.id }
}

describe.concurrent.each(engines)('a mute (%s)', (engine: Engine) => {
  // Conformance: C-21.90, C-21.91.
  it('raises an alert during shows, and is marked as on purpose in another process until it ends', async () => {
    const { app, other, mute, waitForMute, id } = await startMuted(engine)
    const { get, post } = app
    const mark = (from: TestApp, channel = id) => from.post(`/api/channels/${channel}/muted-on-purpose`, undefined)
    expect(await get('/api/alerts/')).toMatchObject({ json: [] })
    const live = await openLive(app)

    // Without a show, the mute needs no attention.
    const marked = await mark(other)
    expect(marked).toMatchObject({
      status: 200,
      json: { kind: 'muted', severity: 'warning', state: 'snoozed', snoozed_until: 'cleared', snoozed_by: 'local' },
    })
    expect(await live.next(({ type }) => type === 'alert')).toMatchObject(marked.json)
    expect((await mark(app)).json).toEqual(marked.json)
    mute(false)
    expect(await live.next(({ state }) => state === 'cleared')).toMatchObject({ id: marked.json.id })
    await waitForMute(false)
    expect(await mark(app)).toMatchObject({ status: 409, json: { error: expect.stringContaining('is not muted') } })

    await post('/api/config/', { key: 'alert_muted_delay_seconds', value: '0', manufacturer: 'shure' })
    const admin = await tokenHeaders(app, 'admin')
    const notifier = { name: 'Desk', type: 'webhook', config: { url: 'http://127.0.0.1:9/' } }
    const { json: channel } = await post('/api/admin/notification-channels/', notifier, admin)
    await post('/api/admin/notification-rules/', { name: 'All', notification_channel_ids: [channel.id] }, admin)
    const queued = async () => (await get('/api/admin/notification-deliveries/', admin)).json
    mute(true)
    await waitForMute(true)
    const { json: purpose } = await mark(other)
    const { json: show } = await post('/api/shows/', { title: 'Premiere' })
    await post(`/api/shows/${show.id}/start`, undefined)
    await until('the mute needs attention', async () => {
      return (await app.receivers())[0]?.channels[0]?.condition.attention === true
    })
    await eventually(() => get('/api/summary/')).toMatchObject({ json: { attention: 1, handled: 1 } })
    expect(await queued()).toEqual([])
    expect(await other.post(`/api/alerts/${purpose.id}/unsnooze`, undefined)).toMatchObject({
      status: 200,
      json: { state: 'raised', snoozed_by: null, snoozed_at: null, snoozed_until: null },
    })
    await eventually(queued).toMatchObject([{ type: 'alert.raised', alert_ids: [purpose.id] }])
    await post(`/api/shows/${show.id}/end`, undefined)
    expect(await live.next(({ id, state }) => id === purpose.id && state === 'cleared')).toMatchObject({
      kind: 'muted',
    })

    const { json: outside } = await mark(app)
    await other.post(`/api/alerts/${outside.id}/unsnooze`, undefined)
    expect(await live.next(({ id, state }) => id === outside.id && state === 'cleared')).toMatchObject({
      kind: 'muted',
    })
  })
})

// Conformance: C-21.91.
it.concurrent('only operators mark a mute as on purpose, and only while its kind of alert is enabled', async () => {
  const { app, id } = await startMuted('sqlite', { require_login: true })
  const [viewer, operator, admin] = [
    await tokenHeaders(app, 'viewer'),
    await tokenHeaders(app, 'operator'),
    await tokenHeaders(app, 'admin'),
  ]
  const mark = (headers: Record<string, string>, channel: number | string | undefined = id) =>
    app.post(`/api/channels/${channel}/muted-on-purpose`, undefined, headers)
  expect((await mark({})).status).toBe(401)
  expect((await mark(viewer)).status).toBe(403)
  expect([(await mark(operator, 4711)).status, (await mark(operator, 'x')).status]).toEqual([404, 400])
  const enable = (value: 'true' | 'false') =>
    app.post('/api/config/', { key: 'alert_muted_enabled', value, manufacturer: 'shure' }, admin)
  expect((await enable('false')).status).toBe(200)
  const disabled = { status: 409, json: { error: expect.stringContaining('alert_muted_enabled') } }
  expect(await mark(operator)).toMatchObject(disabled)
  await enable('true')
  const { json: alert, status } = await mark(operator)
  expect({ status, alert }).toMatchObject({ status: 200, alert: { snoozed_by: "a test's operator" } })
  const respond = async (action: string, headers: Record<string, string>, alertId = alert.id) =>
    (await app.post(`/api/alerts/${alertId}/${action}`, undefined, headers)).status
  for (const action of ['unacknowledge', 'unsnooze']) {
    expect([await respond(action, {}), await respond(action, viewer), await respond(action, operator, 4711)]).toEqual([
      ...[401, 403, 404],
    ])
  }
  expect(await respond('unacknowledge', operator)).toBe(409)
  expect([await respond('unsnooze', operator), await respond('unsnooze', operator)]).toEqual([200, 409])
})

describe.concurrent.each(engines)('several processes (%s)', (engine: Engine) => {
  // Conformance: C-11.6, C-11.11.
  it('see responses from each other within a second, and keep the first acknowledgement', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const { set, manufacturers } = await startSystem()
    const options = { databaseUrl: database.url, manufacturers }
    const [a, b] = [await startApp(options), await startApp(options)]
    for (const app of [a, b]) await until('the receiver is known', async () => (await app.receivers()).length === 1)
    const sockets = [await openLive(a), await openLive(b)]
    set({ battery: 15 })
    const { id } = await waitForAlert(b, 'battery_low')
    for (const socket of sockets) await socket.next(({ type }) => type === 'alert')
    const answers = await Promise.all(
      [a, b].map((app, index) => app.post(`/api/alerts/${id}/acknowledge`, { note: `from ${index}` })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]?.json).toEqual(answers[1]?.json)
    for (const socket of sockets) {
      expect(await socket.next(({ state }) => state === 'acknowledged')).toMatchObject({ note: answers[0]?.json.note })
    }
    await b.post('/api/silences/', { kinds: ['battery_low'], until: inHours(1) })
    expect(await sockets[0]?.next(({ type }) => type === 'silences')).toMatchObject({ silences: [{ by: 'local' }] })
    for (const socket of sockets) {
      expect(await socket.next(({ silenced }) => silenced === true)).toMatchObject({ id })
      await socket.receiveAll()
      expect(socket.ofType('alert').filter(({ state }) => state === 'acknowledged')).toHaveLength(2)
    }
  })
})

// Conformance: C-11.6.
it.concurrent('an acknowledgement and a silence survive kill -9', async () => {
  const { set, manufacturers } = await startSystem()
  const installation = await createInstallation({ manufacturers })
  const service = await installation.serve()
  await until('the receiver is known', async () => (await service.receivers()).length === 1)
  set({ battery: 15 })
  const { id } = await waitForAlert(service, 'battery_low')
  const { json: acknowledged } = await service.post(`/api/alerts/${id}/acknowledge`, { note: 'noted' })
  const { json: silence } = await service.post('/api/silences/', { kinds: ['stale'], until: inHours(1) })
  service.kill('SIGKILL')
  await service.ended
  const next = await installation.serve()
  expect((await next.get('/api/alerts/')).json).toEqual([acknowledged])
  expect((await next.get('/api/silences/')).json).toEqual([silence])
  const live = await openLive(next)
  expect(live.snapshot.data.alerts).toEqual([acknowledged])
  set({ battery: 90 })
  expect(await live.next(({ state }) => state === 'cleared')).toMatchObject({ id, note: 'noted' })
})

describe.concurrent('an alert that cannot be stored', () => {
  // Conformance: C-11.15.
  it('is sorted and paged with the stored alerts, newest first', async () => {
    const app = await startApp()
    for (const isStored of [true, true, false, true]) await raiseRecordingStopped(app, isStored)
    const all: AlertBody[] = (await app.get('/api/alerts/')).json
    expect(all.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([-1, 1, 2, 3])
    expect(all.map(({ raised_at }) => raised_at)).toEqual(
      all
        .map(({ raised_at }) => raised_at)
        .toSorted()
        .toReversed(),
    )
    for (const size of [1, 2, 3]) {
      const paged: AlertBody[] = []
      for (let page = 1; page <= Math.ceil(4 / size); page++) {
        const { json } = await app.get(`/api/alerts/?page=${page}&page_size=${size}`)
        expect(json.count).toBe(4)
        paged.push(...json.results)
      }
      expect(paged).toEqual(all)
    }
    expect((await app.get('/api/alerts/?state=cleared')).json).toEqual([])
    expect((await app.get('/api/alerts/?kind=battery_low')).json).toEqual([])
  })

  // Conformance: C-11.15.
  it('is snoozed and acknowledged until it ends', async () => {
    const app = await startApp()
    const live = await openLive(app)
    await raiseRecordingStopped(app, false)
    const respond = (action: string, body: object) => app.post(`/api/alerts/-1/${action}`, body)
    expect((await respond('snooze', { until: 'show_end' })).status).toBe(409)
    const snoozed = await respond('snooze', { minutes: 5 })
    expect(snoozed).toMatchObject({ status: 200, json: { id: -1, state: 'snoozed', snoozed_by: 'local' } })
    const acknowledged = await respond('acknowledge', { note: 'Deleting old files' })
    const body = { id: -1, state: 'acknowledged', acknowledged_by: 'local', note: 'Deleting old files' }
    expect(acknowledged).toMatchObject({ status: 200, json: body })
    expect((await respond('acknowledge', { note: 'Me too' })).json).toEqual(acknowledged.json)
    expect((await app.get('/api/alerts/?state=acknowledged')).json).toEqual([acknowledged.json])
    await live.next(({ type, state }) => type === 'alert' && state === 'acknowledged')
    failRecording(app, null)
    await until('it has ended', async () => (await respond('acknowledge', {})).status === 404)
  })
})
