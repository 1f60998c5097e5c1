/** Handovers: open items, events and changes, in several processes, while they are open and once they are closed. */

import { describe, expect, it } from 'vitest'
import { noData } from '../src/domain/alerts/alert.ts'
import { now } from '../src/platform/clock.ts'
import { insertChanges } from '../src/storage/changes.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { addAlert, addEvent } from './support/recorded-show.ts'
import { createTestDatabase, type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startRack(engine: Engine) {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const shure = withoutPush(await startShure({ receivers: 1, story: false }))
  const app = await startApp({ databaseUrl: database.url, manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const channels = receiver.channels.map(({ id }) => id)
  return { app, receiver, channels, databaseUrl: database.url }
}

interface Listed {
  readonly what: string
  readonly slot: number | null
  readonly from: unknown
  readonly to: unknown
}

/** Returns the changes of the open period, oldest first. */
async function listChanges(app: TestApp) {
  const changes = (await app.get('/api/handover/')).json.changes as readonly Listed[]
  return changes.map(({ what, slot, from, to }) => [slot, what, from, to]).reverse()
}

const nora = { performer_name: 'Nora', role: 'Glinda', label: 'Lead' }

describe.concurrent.each(engines)('a handover on %s', (engine) => {
  // Conformance: C-21.100.
  it('lists changes to slots, the cast, frequencies and settings, with the user and both values', async () => {
    const { app, channels } = await startRack(engine)
    const admin = await tokenHeaders(app, 'admin')
    const seen: unknown[] = []
    const fresh = async () => {
      const listed = await listChanges(app)
      return listed.slice(seen.splice(0, seen.length, ...listed).length)
    }
    await app.put('/api/slots/1/', nora)
    expect(await fresh()).toEqual([
      ...[
        [1, 'performer', null, 'Nora'],
        [1, 'role', null, 'Glinda'],
        [1, 'label', null, 'Lead'],
      ],
    ])
    const planned = { frequency: '518.000', profile: null, transmitter: null }
    const assigned = await app.put('/api/slots/1/', { performer_name: 'Ben', planned, spares: [2, 9] })
    expect(await fresh()).toEqual([
      [1, 'performer', 'Nora', 'Ben'],
      [1, 'planned_frequency', null, '518.000'],
      [1, 'spares', null, '2, 9'],
    ])
    await app.post(`/api/undo/${assigned.headers['x-undo-id']}`)
    expect(await fresh()).toEqual([
      [1, 'performer', 'Ben', 'Nora'],
      [1, 'planned_frequency', '518.000', null],
      [1, 'spares', '2, 9', null],
    ])

    await app.put('/api/slots/', { moves: [{ channel_id: channels[0], slot: 7 }] })
    expect(await fresh()).toEqual([[7, 'moved', 1, 7]])
    await app.post('/api/slots/7/swap', { with: 2, what: 'equipment' })
    expect(await fresh()).toEqual(
      expect.arrayContaining([
        [2, 'equipment', 7, 2],
        [7, 'equipment', 2, 7],
      ]),
    )
    await app.post('/api/slots/7/swap', { with: 2, what: 'people' })
    expect((await fresh()).filter(([, what]) => what === 'performer')).toEqual([
      [2, 'performer', null, 'Nora'],
      [7, 'performer', 'Nora', null],
    ])
    const text = 'slot\tname\n2\tElla\n9\tAda'
    await app.post('/api/import/cast/', { text, create_slots: true })
    expect(await fresh()).toEqual(
      expect.arrayContaining([
        [2, 'performer', 'Nora', 'Ella'],
        [9, 'performer', null, 'Ada'],
      ]),
    )
    const performers = (await app.get('/api/performers/')).json as readonly { id: number; name: string }[]
    const ella = performers.find(({ name }) => name === 'Ella')?.id
    await app.send('DELETE', `/api/performers/${ella}/`)
    expect(await fresh()).toEqual([[2, 'performer', 'Ella', null]])
    await app.send('DELETE', '/api/slots/9/')
    expect(await fresh()).toEqual([[9, 'performer', 'Ada', null]])

    await app.post('/api/config/', { key: 'alert_battery_threshold', value: '35' }, admin)
    const { id } = (await app.post('/api/group/', { title: 'Band', slots: [2] })).json
    await app.post(`/api/config/?group=${id}`, { key: 'alert_battery_threshold', value: '40' }, admin)
    await app.send('DELETE', `/api/config/?key=alert_battery_threshold&group=${id}`, { headers: admin })
    expect(await fresh()).toEqual([
      [null, 'setting', expect.any(Number), 35],
      [null, 'setting', 35, 40],
      [null, 'setting', 40, 35],
    ])
    await addEvent(app, 'frequency_changed', channels[0] ?? 0, {
      time: now(),
      data: { slot: 2, title: 'Ella', from: '610.000', to: '611.500' },
    })
    const { changes } = (await app.get('/api/handover/')).json
    const at = expect.any(String)
    expect(changes.slice(0, 2)).toEqual([
      { at, by: null, what: 'frequency', id: channels[0], slot: 2, title: 'Ella', from: '610.000', to: '611.500' },
      {
        at,
        by: expect.stringContaining('admin'),
        what: 'setting',
        id: 'alert_battery_threshold',
        slot: null,
        title: 'Band',
        from: 40,
        to: 35,
      },
    ])
    expect(changes.at(-1)).toEqual({
      ...{ at, by: 'local', what: 'performer', id: channels[0], slot: 1, title: 'Nora', from: null, to: 'Nora' },
    })
  })

  // Conformance: C-21.101, C-21.102.
  it('lists open items and events, and does not change once it is closed', async () => {
    const { app, receiver, channels, databaseUrl } = await startRack(engine)
    const other = await startApp({ databaseUrl, dataDir: app.dataDir, servesOnly: true })
    const [first = 0, second = 0] = channels
    await app.put('/api/slots/1/', nora)
    const hour = 3_600_000
    const present = now()
    const about = { receiver_id: receiver.id, severity: 'critical' } as const
    const aboutService = { ...about, receiver_id: null, channel_id: null }
    const open = await addAlert(app, { ...aboutService, kind: 'link_lost', raised_at: present - 2 * hour })
    const answered = { raised_at: present - 2 * hour, acknowledged_at: present - hour }
    const acknowledged = await addAlert(app, { ...aboutService, kind: 'storage_failing', ...answered })
    const died_at = new Date(present - 3 * hour).toISOString()
    const died = await addAlert(app, {
      ...{
        ...about,
        kind: 'battery_died',
        channel_id: first,
        raised_at: present - 20 * hour,
        cleared_at: present - hour,
      },
      data: { ...noData, slot: 1, title: 'Nora', died_at },
    })
    const early = { ...noData, died_at: new Date(present - 13 * hour).toISOString() }
    await addAlert(app, {
      ...about,
      kind: 'battery_died',
      channel_id: second,
      raised_at: present - 13 * hour,
      data: early,
    })
    const names = { slot: 1, title: 'Nora', name: 'H01' }
    await addEvent(app, 'rf_dropout', first, {
      time: present - 4 * hour,
      until: present - 4 * hour + 2300,
      data: names,
    })
    await addEvent(app, 'rf_dropout', first, {
      time: present - 13 * hour,
      until: present - 13 * hour + 2300,
      data: names,
    })
    await addEvent(app, 'receiver_offline', null, { time: present - 5 * hour, data: { name: 'FOH-1' } })
    await addEvent(app, 'muted', first, { time: present - hour, data: names })
    await addEvent(app, 'marker', null, { time: present - hour, text: 'Overture' })
    await app.post('/api/silences/', {
      channels: [second],
      until: new Date(present + hour).toISOString(),
      reason: 'Spare',
    })
    const show = (await app.post('/api/shows/', { title: 'Matinee' })).json
    const checks = `/api/shows/${show.id}/checks/`
    await app.post(checks, { channel_id: first, result: 'fail', note: 'Crackles' })
    await app.post(checks, { channel_id: second, result: 'fail' })
    await app.post(checks, { channel_id: second, result: 'pass' })

    const read = async (from: TestApp, query = '') => (await from.get(`/api/handover/${query}`)).json
    const handover = await until('the other process knows the alerts and the show', async () => {
      const body = await read(other)
      return body.open_alerts.some(({ id }: { id: number }) => id === open) && body.failed_checks.length === 1 && body
    })
    expect(Date.parse(handover.until) - Date.parse(handover.since)).toBe(12 * hour)
    const idsOf = (list: readonly { readonly id: number }[]) => list.map(({ id }) => id)
    expect(idsOf(handover.acknowledged)).toContain(acknowledged)
    expect(handover.acknowledged.at(-1)).toMatchObject({ acknowledged_by: 'Kim', state: 'acknowledged' })
    expect(handover.silences).toMatchObject([{ channels: [second], reason: 'Spare', by: 'local' }])
    expect(handover.failed_checks).toEqual([
      {
        ...{ show_id: show.id, show: 'Matinee', channel_id: first, slot: 1, title: 'Nora', note: 'Crackles' },
        ...{ by: 'local', at: expect.any(String) },
      },
    ])
    expect(handover.markers).toMatchObject([{ text: 'Overture', by: null }])
    const nobody = { by: null, from: null, to: null }
    const nora1 = { slot: 1, title: 'Nora', channel_id: first }
    expect(handover.events).toEqual([
      { at: died_at, what: 'battery_died', id: died, ...nora1, ...nobody, text: '1 Nora: battery died' },
      {
        ...{
          at: new Date(present - 4 * hour).toISOString(),
          what: 'rf_dropout',
          id: expect.any(Number),
          ...nora1,
          ...nobody,
        },
        text: '1 Nora: RF dropout of 2.3 s',
      },
      expect.objectContaining({ what: 'receiver_offline', slot: null, text: 'FOH-1 is offline' }),
    ])
    expect([handover.notes, handover.truncated]).toEqual([[], []])
    expect(idsOf((await read(app, `?since=${new Date(present - 14 * hour).toISOString()}`)).events)).toHaveLength(5)

    const closed = await other.post('/api/handover/', { note: ' Watch 1. ' })
    expect(closed.status).toBe(201)
    const note = { at: closed.json.until, by: 'local', note: 'Watch 1.' }
    expect(closed.json).toMatchObject({ id: expect.any(Number), by: 'local', failed_checks: handover.failed_checks })
    expect(closed.json.notes).toEqual([note])
    await app.put('/api/slots/1/', { performer_name: 'Ben' })
    await app.post(checks, { channel_id: first, result: 'pass' })
    const next = await read(app)
    expect([next.since, next.notes, next.events, next.failed_checks]).toEqual([closed.json.until, [], [], []])
    expect(await listChanges(app)).toEqual([[1, 'performer', 'Nora', 'Ben']])
    expect((await read(app, `?since=${died_at}`)).notes).toEqual([note])
    expect((await app.get(`/api/handovers/${closed.json.id}/`)).json).toEqual(closed.json)

    const both = await Promise.all([
      app.post('/api/handover/', undefined),
      other.post('/api/handover/', { note: null }),
    ])
    expect(both.map(({ status, json }) => [status, json.notes])).toEqual([
      [201, []],
      [201, []],
    ])
    const listed = (await app.get('/api/handovers/')).json
    expect(listed).toHaveLength(3)
    expect(listed.at(-1)).toEqual({
      ...{ id: closed.json.id, by: 'local', since: closed.json.since, until: closed.json.until, notes: [note] },
    })
    expect(listed[0].since).toBe(listed[1].until)
    expect((await app.get('/api/handovers/?page_size=2')).json).toMatchObject({ count: 3, results: listed.slice(0, 2) })
    const audit = await app.get('/api/admin/audit/?action=handover.', await tokenHeaders(app, 'admin'))
    expect(audit.json).toHaveLength(3)
  })
})

// Conformance: C-21.103.
it('can be read by viewers and closed by operators, and rejects invalid requests', async () => {
  const app = await startApp({ config: { require_login: true } })
  const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
  for (const path of ['/api/handover/', '/api/handovers/']) {
    expect((await app.get(path)).status).toBe(401)
    expect((await app.get(path, viewer)).status).toBe(200)
  }
  expect((await app.post('/api/handover/', { note: '' })).status).toBe(401)
  expect((await app.post('/api/handover/', { note: '' }, viewer)).status).toBe(403)
  const future = new Date(now() + 60_000).toISOString()
  for (const since of ['yesterday', '2026-13-01T00:00:00Z', '', future]) {
    const { status, json } = await app.get(`/api/handover/?since=${since}`, viewer)
    expect([since, status, json.details]).toEqual([
      since,
      since === '' ? 200 : 400,
      since === '' ? undefined : expect.stringContaining('since'),
    ])
  }
  for (const body of [{ note: 7 }, { note: 'x'.repeat(10_001) }, { notes: 'x' }, []]) {
    expect((await app.post('/api/handover/', body, operator)).status).toBe(400)
  }
  expect((await app.get('/api/handovers/1/', viewer)).status).toBe(404)
  expect((await app.get('/api/handovers/x/', viewer)).status).toBe(400)

  const change = { by: 'Anna', what: 'label', target: 1, slot: 1, title: null, before: null, after: 'Lead' } as const
  const changes = Array.from({ length: 250 }, (_, index) => ({ ...change, at: now() - index }))
  await withDatabase(app, (db) => db.transaction((tx) => insertChanges(tx, changes)))
  const { json } = await app.get('/api/handover/', viewer)
  expect([json.changes.length, json.truncated]).toEqual([200, ['changes']])
})
