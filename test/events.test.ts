/** Events and markers: recorded, listed and announced. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { channelOf, configFor, createInstallation, deviceOf, startApp, startShure, until } from './support/app.ts'
import type { HttpClient } from './support/http-client.ts'
import { openLive } from './support/live-client.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

interface ListedEvent {
  readonly id: number
  readonly kind: string
  readonly time: string
  readonly until: string | null
  readonly channel_id: number | null
  readonly data: Readonly<Record<string, unknown>>
}

async function listEvents({ get }: Pick<HttpClient, 'get'>, query = ''): Promise<readonly ListedEvent[]> {
  const { status, json } = await get(`/api/events/${query}`)
  expect(status).toBe(200)
  return json.results
}

/** Waits for the newest event of a kind. */
function eventOf(app: Pick<HttpClient, 'get'>, kind: string, test: (event: ListedEvent) => boolean = () => true) {
  return until(`there is an event ${kind}`, async () => (await listEvents(app, `?kind=${kind}`)).find(test))
}

function write(app: HttpClient, method: string, path: string, body: unknown) {
  return app.send(method, path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** Starts a system whose first channel has a transmitter. */
async function startSystem() {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  const set = (change: Parameters<typeof shure.show.set>[1]) => {
    shure.show.set(id, change, 1)
    shure.push.flush()
  }
  set({ battery: 80, rf_level: -50, audio_level: -20, name: 'Nora', transmitter: true })
  return { shure, id, set }
}

describe.concurrent('events', () => {
  // Conformance: C-12.40, C-12.41, C-12.47.
  it.each(engines)('are recorded once for each change by a system or a user (%s)', async (engine) => {
    const { shure, id, set } = await startSystem()
    const app = await startApp({ engine, manufacturers: [configFor(shure)] })
    const other = await startApp({ databaseUrl: app.databaseUrl, dataDir: app.dataDir, servesOnly: true })
    const receiver = await until('the receiver is known', () => app.receiver(id))
    const channel_id = channelOf(receiver).id
    const [socket, live, foreign] = [await app.socket(), await openLive(app), await openLive(other)]
    const filtered = await app.socket('/ws?manufacturer=sennheiser')

    set({ battery: 18 })
    const low = await socket.next(({ type, event }) => type === 'event' && event.kind === 'battery_low')
    expect(low.event).toMatchObject({
      kind: 'battery_low',
      severity: 'warning',
      channel_id,
      receiver_id: receiver.id,
      manufacturer: 'shure',
      until: null,
      text: expect.stringMatching(/: battery low \(18%\)$/),
      data: { battery: 18, threshold: 20, slot: channelOf(receiver).slot },
      by: null,
      site: null,
    })
    const raised = await live.next(({ type, event }) => type === 'event' && event.kind === 'alert_raised')
    const [alert] = (await app.get('/api/alerts/')).json
    expect(raised.event.data).toMatchObject({ alert_id: alert.id, kind: 'battery_low' })
    await foreign.next(({ type, event }) => type === 'event' && event.id === low.event.id)
    await app.post(`/api/alerts/${alert.id}/acknowledge`, {}, await tokenHeaders(app, 'operator'))
    expect(await eventOf(app, 'alert_acknowledged')).toMatchObject({
      by: "a test's operator",
      data: { alert_id: alert.id },
    })
    set({ transmitter: false, rf_level: -110 })
    await eventOf(app, 'transmitter_off')
    set({ transmitter: true, battery: 95 })
    expect(await eventOf(app, 'battery_changed')).toMatchObject({ data: { from: 18, to: 95 } })
    set({ name: 'Paul', frequency: '611.500' })
    expect((await eventOf(app, 'renamed')).data).toMatchObject({ from: 'Nora', to: 'Paul' })
    expect((await eventOf(app, 'frequency_changed')).data).toMatchObject({ to: '611.500' })
    await write(app, 'PATCH', `/api/channels/${channel_id}/`, { slot: 40 })
    expect(await eventOf(app, 'moved')).toMatchObject({ by: 'local', data: { from: channelOf(receiver).slot, to: 40 } })
    const { json: show } = await app.post('/api/shows/', { title: 'Matinee' })
    for (const step of ['start', 'end']) await app.post(`/api/shows/${show.id}/${step}`, undefined)
    expect(await eventOf(other, 'show_ended')).toMatchObject({
      by: 'local',
      channel_id: null,
      data: { title: 'Matinee' },
    })
    shure.setFault({ type: 'status', status: 500 })
    await eventOf(app, 'source_failing')
    shure.setFault(null)
    await eventOf(app, 'source_recovered')

    await foreign.next(({ type, event }) => type === 'event' && event.kind === 'source_recovered')
    // On a slow machine, the receiver may become stale between two polls, and other alerts may be raised.
    const events = (await listEvents(app, '?limit=1000')).filter(
      ({ data }) => data.kind !== 'stale' && (data.alert_id === undefined || data.alert_id === alert.id),
    )
    const counted = ['battery_low', 'alert_raised', 'alert_acknowledged', 'transmitter_off', 'battery_changed', 'moved']
    for (const kind of [...counted, 'renamed', 'frequency_changed', 'show_started', 'show_ended']) {
      expect([kind, events.filter((event) => event.kind === kind).length]).toEqual([kind, 1])
    }
    const announced = live.ofType('event').map(({ event }) => event.id)
    expect(new Set(announced).size).toBe(announced.length)
    expect(filtered.ofType('event').every(({ event }) => event.manufacturer === null)).toBe(true)
  })

  // Conformance: C-12.45, C-12.46.
  it.each(engines)('are listed in pages and as CSV, with the same filters (%s)', async (engine) => {
    const app = await startApp({ engine })
    for (let minute = 10; minute < 15; minute += 1) {
      const time = `2026-05-01T18:${minute}:00Z`
      await app.post('/api/markers/', { time, text: minute === 12 ? '=1+1, "x"' : `at ${minute}` })
    }
    const first = (await app.get('/api/events/?limit=2&kind=marker,check')).json
    expect(first.results.map(({ text }: { text: string }) => text)).toEqual(['at 14', 'at 13'])
    expect(first.next).toBe(`/api/events/?limit=2&kind=marker%2Ccheck&before=${first.results[1].id}`)
    const second = (await app.get(first.next)).json
    const third = (await app.get(second.next)).json
    expect([...second.results, ...third.results].map(({ time }) => time.slice(14, 16))).toEqual(['12', '11', '10'])
    expect(third.next).toBeNull()
    expect(await listEvents(app, '?from=2026-05-01T18:11:00Z&to=2026-05-01T20:12:00%2B02:00')).toHaveLength(2)
    expect(await listEvents(app, '?limit=5000&channel=&kind=')).toHaveLength(5)
    const csv = await app.get('/api/events.csv?to=2026-05-01T18:12:00Z')
    const line = (event: Record<string, unknown>) => `${event.id},${event.time},,marker,info,,,,`
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(csv.bytes.toString()).toBe(
      [
        '\uFEFFid,time,until,kind,severity,channel_id,receiver_id,manufacturer,text,data,by,site',
        `${line(second.results[0])}"'=1+1, ""x""",{},local,`,
        `${line(second.results[1])}at 11,{},local,`,
        `${line(third.results[0])}at 10,{},local,`,
        '',
      ].join('\r\n'),
    )
  })

  // Conformance: C-12.45.
  it('are not listed with an invalid filter', async () => {
    const app = await startApp()
    const filters = [
      'kind=nothing',
      'kind=marker,',
      'channel=x',
      'channel=4711',
      'channel=01',
      'before=4711',
      'before=x',
    ]
    const others = [
      'limit=0',
      'limit=1.5',
      'from=yesterday',
      'from=2026-02-30T10:00:00Z',
      'to=2026-05-01',
      'receiver=0',
    ]
    for (const query of [...filters, ...others]) {
      expect([query, (await app.get(`/api/events/?${query}`)).status]).toEqual([query, 400])
    }
    expect((await app.get('/api/events.csv?kind=nothing')).status).toBe(400)
  })
})

describe.concurrent('markers', () => {
  // Conformance: C-12.42, C-12.47.
  it('are created, changed and removed by operators, and announced', async () => {
    const { shure, id, set } = await startSystem()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    const { id: channel_id } = channelOf(await until('the receiver is known', () => app.receiver(id)))
    const [socket, live] = [await app.socket(), await openLive(app)]
    const created = await app.post('/api/markers/', { channel_id, text: 'Solo', time: '2026-05-01T18:00:00.500Z' })
    expect([created.status, created.json]).toEqual([
      201,
      expect.objectContaining({
        kind: 'marker',
        channel_id,
        text: 'Solo',
        until: null,
        by: 'local',
        time: '2026-05-01T18:00:00.500Z',
      }),
    ])
    const path = `/api/markers/${created.json.id}/`
    const changed = await write(app, 'PATCH', path, { until: '2026-05-01T18:00:10Z', channel_id: null })
    expect([changed.status, changed.json]).toEqual([
      200,
      {
        ...created.json,
        until: '2026-05-01T18:00:10.000Z',
        channel_id: null,
        receiver_id: null,
        manufacturer: null,
        data: {},
        version: changed.json.version,
      },
    ])
    expect((await app.send('DELETE', path)).status).toBe(204)
    for (const { next } of [socket, live]) {
      expect((await next(({ type, event }) => type === 'event' && event.kind === 'marker')).event).toEqual(created.json)
      expect((await next(({ type }) => type === 'event_changed')).event).toEqual(changed.json)
      expect((await next(({ type }) => type === 'event_deleted')).id).toBe(created.json.id)
    }
    expect((await app.send('DELETE', path)).status).toBe(404)
    expect((await write(app, 'PATCH', path, { text: 'x' })).status).toBe(404)
    set({ transmitter: false, rf_level: -110 })
    const other = await eventOf(app, 'transmitter_off')
    expect((await write(app, 'PATCH', `/api/markers/${other.id}/`, { text: 'x' })).status).toBe(404)
    const audit = await app.get('/api/admin/audit/?action=marker.', await tokenHeaders(app, 'admin'))
    expect(audit.json.map(({ action }: { action: string }) => action)).toEqual([
      'marker.delete',
      'marker.change',
      'marker.create',
    ])
  })

  // Conformance: C-12.42.
  it('are rejected if they are invalid', async () => {
    const app = await startApp()
    const ahead = new Date(now() + 90_000).toISOString()
    const time = '2026-05-01T18:00:00Z'
    const invalid = [
      {},
      { text: '' },
      { text: 'x'.repeat(501) },
      { text: 'x', time: ahead },
      { text: 'x', time: '2026-05-01' },
      { text: 'x', time, until: '2026-05-01T17:59:59Z' },
      { text: 'x', channel_id: 4711 },
    ]
    for (const body of invalid) expect([body, (await app.post('/api/markers/', body)).status]).toEqual([body, 400])
    expect((await app.post('/api/markers/', { text: 'x', time, until: time })).status).toBe(201)
    const soon = new Date(now() + 50_000).toISOString()
    expect((await app.post('/api/markers/', { text: 'x', time: soon })).status).toBe(201)
  })
})

// Conformance: C-12.43, C-12.100.
it.concurrent('an open range is closed after kill -9 if it has ended', async () => {
  const { shure, id, set } = await startSystem()
  const installation = await createInstallation({ manufacturers: [configFor(shure)] })
  const service = await installation.serve()
  await until('the receiver is known', () => service.receiver(id))
  set({ rf_level: -100 })
  const dropout = await eventOf(service, 'rf_dropout')
  expect(dropout).toMatchObject({ until: null, data: { open: true, lowest_dbm: -100 } })
  service.kill('SIGKILL')
  await service.ended
  set({ rf_level: -50 })
  shure.show.set(id, { transmitter: false }, 2)
  const next = await installation.serve()
  const ended = await eventOf(next, 'rf_dropout', ({ until: end }) => end !== null)
  expect(ended).toMatchObject({
    id: dropout.id,
    time: dropout.time,
    data: { lowest_dbm: -100, seconds: expect.any(Number) },
  })
  expect(ended.data).not.toHaveProperty('open')
  // A transmitter that was on at its first report was not switched on now. One that was switched off since is an event.
  await eventOf(next, 'transmitter_off')
  const switched = await listEvents(next, '?kind=transmitter_on,transmitter_off')
  expect(switched.map(({ kind, channel_id }) => [kind, channel_id === ended.channel_id])).toEqual([
    ['transmitter_off', false],
  ])
})
