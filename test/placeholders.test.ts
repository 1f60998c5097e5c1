/** Placeholders: equipment without telemetry, and blank places on the wall. */

import { expect, it } from 'vitest'
import { channelOf, configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import type { HttpClient } from './support/http-client.ts'
import { expectConsecutive, openLive } from './support/live-client.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'

function write(app: HttpClient, method: string, path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  return app.send(method, path, { headers, body: JSON.stringify(body) })
}

/** Starts a service with two channels in the slots 1 and 2. */
async function startWall(options: Parameters<typeof startApp>[0] = {}) {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })], ...options })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  return { app, channel: channelOf(receiver) }
}

const placeholdersIn = async (app: TestApp, query = '') => (await app.get(`/api/data.json${query}`)).json.placeholders

// Conformance: C-13.5.
it.concurrent.each(engines)('are created, listed, changed and removed (%s)', async (engine) => {
  const { app, channel } = await startWall({ engine })
  const piano = (await app.post('/api/placeholders/', { kind: 'wired', name: 'Pit piano' })).json
  expect(piano).toEqual({
    id: piano.id,
    slot: 3,
    name: 'Pit piano',
    kind: 'wired',
    frequency: null,
    note: '',
    version: expect.any(Number),
  })
  const comms = { slot: 40, kind: 'wireless', name: 'Comms', frequency: '1900.125', note: 'Two packs' }
  const created = await app.post('/api/placeholders/', comms)
  expect([created.status, created.json]).toEqual([201, { id: piano.id + 1, ...comms, version: expect.any(Number) }])
  expect((await app.get('/api/placeholders/')).json).toEqual([piano, created.json])
  const undoOf = ({ headers }: { headers: Record<string, unknown> }) => app.post(`/api/undo/${headers['x-undo-id']}`)
  const moved = await write(app, 'PATCH', `/api/placeholders/${created.json.id}/`, { slot: 41, name: 'Crew' })
  const removed = await app.send('DELETE', `/api/placeholders/${created.json.id}/`)
  expect((await undoOf(removed)).status).toBe(200)
  expect((await app.get('/api/placeholders/')).json).toEqual([
    piano,
    { ...created.json, slot: 41, name: 'Crew', version: expect.any(Number) },
  ])
  expect((await undoOf(moved)).status).toBe(200)
  expect((await app.get('/api/placeholders/')).json).toEqual([piano, { ...created.json, version: expect.any(Number) }])
  expect((await app.get('/api/undo/')).json).toMatchObject([
    { what: 'placeholder.create', slots: [40] },
    { slots: [3] },
  ])
  const added = await app.post('/api/placeholders/', { kind: 'wired', name: 'DI' })
  expect((await undoOf(added)).status).toBe(200)
  expect((await app.get('/api/placeholders/?page_size=1')).json).toMatchObject({ count: 2, results: [piano] })
  expect((await app.get(`/api/placeholders/${piano.id}/`)).json).toEqual(piano)
  const changed = await write(app, 'PATCH', `/api/placeholders/${piano.id}/`, { slot: 9, frequency: '470.300' })
  expect([changed.status, changed.json]).toEqual([
    200,
    { ...piano, slot: 9, frequency: '470.300', version: expect.any(Number) },
  ])
  expect((await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 9 })).status).toBe(409)
  const swap = [
    { channel_id: channel.id, slot: 9 },
    { placeholder_id: piano.id, slot: 1 },
  ]
  expect((await write(app, 'PUT', '/api/slots/', { moves: swap })).json).toEqual({ moves: swap })
  expect((await app.get(`/api/placeholders/${piano.id}/`)).json.slot).toBe(1)
  expect((await app.get(`/api/channels/${channel.id}/`)).json.slot).toBe(9)
  expect((await app.send('DELETE', `/api/placeholders/${piano.id}/`)).status).toBe(204)
  expect((await app.send('DELETE', `/api/placeholders/${piano.id}/`)).status).toBe(404)
  expect((await app.get(`/api/placeholders/${piano.id}/`)).status).toBe(404)
  expect((await write(app, 'PATCH', `/api/placeholders/${piano.id}/`, { name: 'A' })).status).toBe(404)
})

// Conformance: C-13.5.
it.concurrent('are rejected with the reason for an invalid field or a used slot', async () => {
  const { app } = await startWall()
  const blank = (await app.post('/api/placeholders/', { kind: 'blank' })).json
  expect(blank).toMatchObject({ slot: 3, name: '' })
  const rejected = [
    [400, { name: 'DI' }, 'kind: missing'],
    [400, { name: 'DI', kind: 'mic' }, 'kind: expected one of wired, wireless, iem, blank'],
    [400, { kind: 'wired', name: 'x'.repeat(256) }, 'name: expected'],
    [400, { kind: 'wired', name: 'DI', slot: 0 }, 'slot: expected'],
    [400, { kind: 'wired', name: 'DI', slot: 65_536 }, 'slot: expected'],
    [400, { kind: 'wired', name: 'DI', slot: null }, 'slot: expected'],
    [400, { kind: 'wireless', name: 'A', frequency: '470.3' }, 'frequency: expected'],
    [400, { kind: 'wireless', name: 'A', frequency: 470.3 }, 'frequency: expected'],
    [400, { kind: 'wireless', name: 'A', colour: 'red' }, 'colour: unknown field'],
    [409, { kind: 'wired', name: 'DI', slot: 1 }, 'slot: already used by channel'],
    [409, { kind: 'wired', name: 'DI', slot: 3 }, `slot: already used by placeholder ${blank.id}`],
  ] as const
  for (const [status, body, details] of rejected) {
    const response = await app.post('/api/placeholders/', body)
    expect([response.status, response.json.details]).toEqual([status, expect.stringContaining(details)])
  }
  const path = `/api/placeholders/${blank.id}/`
  expect((await write(app, 'PATCH', path, { kind: 'wired' })).json).toMatchObject({ kind: 'wired', name: '' })
  expect((await write(app, 'PATCH', path, { slot: 2 })).status).toBe(409)
  expect((await write(app, 'PATCH', path, { slot: 3, kind: 'wired', name: 'DI' })).status).toBe(200)
  expect((await app.get('/api/placeholders/')).json).toHaveLength(1)
})

// Conformance: C-13.7.
it.concurrent('are in data.json, the snapshot and the summary, and are announced to version 2 only', async () => {
  const { app, channel } = await startWall()
  const first = await app.socket()
  const client = await openLive(app)
  const etag = (await app.get('/api/data.json')).headers.etag
  const { json } = await app.post('/api/placeholders/', { kind: 'iem', name: 'Bass IEM', slot: 7 })
  const since = { since: expect.any(String), since_known: true }
  const condition = { state: 'unmonitored', severity: 'ok', attention: false, ...since, flags: [] }
  expect(await placeholdersIn(app)).toEqual([{ ...json, condition }])
  expect((await app.get('/api/data.json')).headers.etag).not.toBe(etag)
  expect((await openLive(app)).snapshot.data.placeholders).toEqual([{ ...json, condition }])
  await client.next(({ type, placeholders }) => type === 'placeholders' && placeholders[0]?.slot === 7)
  expect((await app.get('/api/summary/')).json).toMatchObject({ channels: 2, attention: 0, states: { unmonitored: 1 } })

  // Placeholders belong to no manufacturer, and to the groups that have their slots.
  const group = (await app.post('/api/group/', { title: 'Band', slots: [7, 1] })).json
  const other = (await app.post('/api/group/', { title: 'Choir', slots: [2] })).json
  expect(await placeholdersIn(app, `?group=${group.id}`)).toHaveLength(1)
  expect(await placeholdersIn(app, `?group=${other.id}`)).toEqual([])
  expect(await placeholdersIn(app, '?manufacturer=shure')).toEqual([])
  const inOther = await openLive(app, `&group=${other.id}`)
  expect((await app.get(`/api/summary/?group=${other.id}`)).json.states.unmonitored).toBe(0)
  await write(app, 'PUT', `/api/groups/${other.id}/`, { slots: [2, 7] })
  await inOther.next(({ type, data }) => type === 'snapshot' && data.placeholders.length === 1)

  // A channel and a placeholder that swap their slots are announced with consecutive numbers.
  const from = client.seq()
  const moves = [
    { channel_id: channel.id, slot: 7 },
    { placeholder_id: json.id, slot: 1 },
  ]
  await write(app, 'PUT', '/api/slots/', { moves })
  await client.next(({ type, placeholders }) => type === 'placeholders' && placeholders[0]?.slot === 1)
  const changes = client.changes().filter(({ seq }) => seq > from)
  expectConsecutive(changes)
  expect(changes.map(({ type }) => type).filter((type) => type === 'slots' || type === 'placeholders')).toEqual([
    'slots',
    'placeholders',
  ])
  expect(client.data().placeholders).toEqual(await placeholdersIn(app))
  expect(first.ofType('placeholders')).toEqual([])
})

// Conformance: C-13.6.
it.concurrent.each(engines)(
  'are shared by several processes, and new channels skip their slots (%s)',
  async (engine) => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const other = await startApp({ databaseUrl: database.url, servesOnly: true })
    await other.post('/api/placeholders/', { kind: 'wired', name: 'DI', slot: 1 })
    const shure = withoutPush(await startShure({ receivers: 1 }))
    const manufacturers = [configFor(shure, { poll_interval: 3600 })]
    const app = await startApp({ databaseUrl: database.url, dataDir: other.dataDir, manufacturers })
    const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
    expect(receiver.channels.map(({ slot }) => slot)).toEqual([2, 3])
    const requests = [app, other].map((service) =>
      service.post('/api/placeholders/', { kind: 'wired', name: 'DI', slot: 9 }),
    )
    expect((await Promise.all(requests)).map(({ status }) => status).sort()).toEqual([201, 409])
    for (const service of [app, other]) {
      await until('both placeholders are listed', async () => (await placeholdersIn(service)).length === 2)
    }
  },
)

// Conformance: C-13.8.
it.concurrent.each(engines)('replace the blank slots of groups at the start (%s)', async (engine) => {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const { app, channel } = await startWall({ databaseUrl: database.url })
  await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 65_002 })
  await app.post('/api/group/', { title: 'Band', slots: [65_003, 9, 65_002, 65_001] })
  await app.post('/api/group/', { title: 'Choir', slots: [65_001] })
  expect(await placeholdersIn(app)).toEqual([])
  await app.close()
  const restarted = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true })
  const blank = { name: '', kind: 'blank', frequency: null, note: '', version: expect.any(Number) }
  const expected = [65_001, 65_003].map((slot) => ({ id: expect.any(Number), slot, ...blank }))
  expect((await restarted.get('/api/placeholders/')).json).toEqual(expected)
  const again = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true })
  expect((await again.get('/api/placeholders/')).json).toEqual(expected)
})
