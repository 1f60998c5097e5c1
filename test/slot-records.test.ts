/** Records of slots: `GET /api/slots/`, and PUT and DELETE of one slot. */

import { describe, expect, it } from 'vitest'
import type { Tx } from '../src/storage/database.ts'
import { channelOf, configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { exportFile, importFile } from './support/installation-files.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

function write(app: TestApp, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  return app.send(method, path, {
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const put = (app: TestApp, slot: number, body: unknown, headers?: Record<string, string>) =>
  write(app, 'PUT', `/api/slots/${slot}/`, body, headers)

/** Starts a service with two channels in the slots 1 and 2, and reads the unit on the first. */
async function startRack(engine: Engine) {
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const manufacturers = [configFor(shure, { poll_interval: 3600 })]
  const app = await startApp({ databaseUrl: database.url, manufacturers })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const channel = channelOf(receiver)
  const units = (await app.get('/api/units/')).json
  return { app, databaseUrl: database.url, receiver, channel, unit: units[0]?.id as number }
}

const nothing = {
  ...{ label: null, color: null, performer: null, role: null, note: null, spares: [] },
  planned: { frequency: null, profile: null, transmitter: null },
}

describe.concurrent.each(engines)('records of slots on %s', (engine) => {
  // Conformance: C-21.1, C-21.2.
  it('are listed, changed, cleared, announced to version 2 and shared by processes', async () => {
    const { app, databaseUrl, channel } = await startRack(engine)
    const other = await startApp({ databaseUrl, dataDir: app.dataDir, servesOnly: true })
    const version1 = await app.socket()
    const client = await openLive(app)
    const [first, second] = (await app.get('/api/slots/')).json
    expect(first).toMatchObject({ slot: 1, kind: 'wireless', channel_id: channel.id, version: 0, ...nothing })
    expect(first.title).toBe(channel.name ?? channel.transmitter?.name)
    expect(second.slot).toBe(2)
    expect(client.snapshot.data.slot_records).toEqual([first, second])
    expect((await app.get('/api/data.json')).json.slot_records).toEqual([first, second])

    const planned = { frequency: '470.300' }
    const body = { label: 'Lead', color: 'red', role: 'Glinda', note: 'Wig', planned, spares: [2] }
    const changed = await put(app, 1, body)
    expect([changed.status, changed.json]).toEqual([
      200,
      {
        ...first,
        ...body,
        planned: { ...nothing.planned, ...planned },
        title: 'Lead',
        title_from: 'label',
        version: expect.any(Number),
      },
    ])
    const { version } = changed.json
    expect(changed.headers.etag).toBe(`"${version}"`)
    const message = await client.next(({ type }) => type === 'slot_records')
    expect(message).toMatchObject({ slots: [changed.json], removed: [] })
    await until('the other process has it', async () => (await other.get('/api/slots/1/')).json.label === 'Lead')
    const read = await app.get('/api/slots/1/', { 'if-none-match': `"${version}"` })
    expect([read.status, read.headers.etag, read.json]).toEqual([200, `"${version}"`, changed.json])
    // The same values are no edit.
    const same = await put(app, 1, { label: 'Lead' })
    expect([same.json, same.headers['x-undo-id']]).toEqual([changed.json, undefined])

    // An empty slot becomes a placeholder, whose name is the label.
    expect((await app.get('/api/slots/9/')).status).toBe(404)
    const reserved = (await put(app, 9, { label: 'Spare', planned: { frequency: '1900.125' } })).json
    expect(reserved).toMatchObject({ slot: 9, kind: 'wireless', channel_id: null, title: 'Spare' })
    const placeholder = `/api/placeholders/${reserved.placeholder_id}/`
    expect((await app.get(placeholder)).json).toMatchObject({ slot: 9, name: 'Spare', frequency: '1900.125', note: '' })
    await write(app, 'PATCH', placeholder, { name: '', note: 'Two' })
    const renamed = (await app.get('/api/slots/9/')).json
    expect(renamed).toMatchObject({ label: null, title: null, title_from: null, note: 'Two' })
    expect(renamed.version).toBeGreaterThan(reserved.version)

    const undo = (await write(app, 'DELETE', '/api/slots/9/')).headers['x-undo-id']
    await client.next(({ type, removed }) => type === 'slot_records' && removed[0] === 9)
    expect((await app.get(placeholder)).status).toBe(404)
    const [latest] = (await app.get('/api/undo/')).json
    expect(latest).toMatchObject({ id: Number(undo), what: 'slot.delete', slots: [9], by: expect.any(String) })
    expect((await app.post(`/api/undo/${undo}`)).status).toBe(200)
    const restored = (await app.get('/api/slots/9/')).json
    expect(restored).toEqual({ ...renamed, version: expect.any(Number) })
    expect(restored.version).toBeGreaterThan(renamed.version)
    expect((await app.get('/api/undo/')).json.map(({ id }: { id: number }) => id)).not.toContain(Number(undo))

    const swap = (slot: number, placeholderSlot: number) =>
      write(app, 'PUT', '/api/slots/', {
        moves: [
          { channel_id: channel.id, slot },
          { placeholder_id: restored.placeholder_id, slot: placeholderSlot },
        ],
      })
    await swap(9, 1)
    expect((await app.get('/api/slots/')).json).toMatchObject([
      { slot: 1, placeholder_id: restored.placeholder_id },
      { slot: 2 },
      { slot: 9, channel_id: channel.id },
    ])
    await swap(1, 9)

    const cleared = await write(app, 'DELETE', '/api/slots/1/')
    expect([cleared.status, (await app.get('/api/slots/1/')).json]).toEqual([
      204,
      { ...first, version: expect.any(Number) },
    ])
    expect((await app.post(`/api/undo/${cleared.headers['x-undo-id']}`)).status).toBe(200)
    expect((await app.get('/api/slots/1/')).json).toEqual({ ...changed.json, version: expect.any(Number) })
    expect(version1.ofType('slot_records')).toEqual([])
    // Records from before the upgrade, which have no actor, name columns that no longer exist.
    const forgetActors = (tx: Tx) => tx.query.updateTable('undo_records').set({ actor: '' }).execute()
    await withDatabase(app, (db) => db.transaction(forgetActors))
    expect((await app.get('/api/undo/')).json).toEqual([])
    expect((await app.post(`/api/undo/${cleared.headers['x-undo-id']}`)).status).toBe(404)
    await until('the client has all', async () => {
      const { slot_records } = (await app.get('/api/data.json')).json
      return JSON.stringify(client.data().slot_records) === JSON.stringify(slot_records)
    })
  })

  // Conformance: C-21.5.
  it('have the performer of the unit that their channel receives', async () => {
    const { app, unit } = await startRack(engine)
    const active = async () => (await app.get('/api/assignments/?is_active=true&names=true')).json
    const client = await openLive(app)
    let loads = 0
    app.service.loader.listsChanged.subscribe(() => {
      loads += 1
    })
    const named = await put(app, 1, { performer_name: 'Zoë', role: 'Glinda' })
    // The performer is announced at once, and no other list is read.
    const announced = await client.next(({ type }) => type === 'slot_records')
    expect([announced.slots[0].performer.name, loads]).toEqual(['Zoë', 0])
    expect(named.json).toMatchObject({ title: 'Zoë', title_from: 'performer', role: 'Glinda', unit_id: unit })
    const [assignment] = await active()
    expect(assignment).toMatchObject({ wireless_unit: unit, performer_name: 'Zoë', role: 'Glinda' })
    // A file names the performer with the slot, and its import assigns the unit once.
    const file = await exportFile(app)
    expect(file.slots).toEqual([{ slot: 1, performer: 'Zoë', role: 'Glinda' }])
    await put(app, 1, { performer_id: null, role: null })
    const counts = async () => {
      const { assignments, slots } = (await importFile(app, JSON.stringify(file))).counts
      return [assignments.created, slots.created + slots.updated]
    }
    expect([await counts(), await counts()]).toEqual([
      [1, 1],
      [0, 0],
    ])
    await until('the import is loaded', async () => (await app.get('/api/slots/1/')).json.title === 'Zoë')
    expect(await active()).toMatchObject([{ wireless_unit: unit, performer_name: 'Zoë', role: 'Glinda' }])
    // Found without regard to case and accents.
    expect((await put(app, 9, { performer_name: 'ZOE' })).json.performer).toEqual(named.json.performer)
    const ben = (await app.post('/api/performers/', { name: 'Ben' })).json
    await put(app, 1, { performer_id: ben.id })
    expect(await active()).toMatchObject([{ wireless_unit: unit, performer_name: 'Ben', role: 'Glinda' }])

    // Assignments change the slot in turn.
    const [current] = await active()
    await write(app, 'PUT', `/api/assignments/${current.id}/`, { role: 'Elphaba' })
    expect((await app.get('/api/slots/1/')).json).toMatchObject({ title: 'Ben', role: 'Elphaba' })
    await write(app, 'PUT', `/api/assignments/${current.id}/`, { is_active: false })
    expect((await app.get('/api/slots/1/')).json).toMatchObject({ performer: null, role: null })
    await app.post('/api/assignments/', { performer: ben.id, wireless_unit: unit })
    expect((await app.get('/api/slots/1/')).json.performer.id).toBe(ben.id)

    const ended = await put(app, 1, { performer_id: null })
    expect([ended.json.performer, await active()]).toEqual([null, []])
    expect((await app.post(`/api/undo/${ended.headers['x-undo-id']}`)).status).toBe(200)
    expect(await active()).toMatchObject([{ wireless_unit: unit, performer_name: 'Ben' }])
    expect((await app.get('/api/slots/1/')).json.title).toBe('Ben')
    // A new performer goes with the undo.
    const ida = await put(app, 1, { performer_name: 'Ida' })
    await app.post(`/api/undo/${ida.headers['x-undo-id']}`)
    expect((await app.get('/api/slots/1/')).json.title).toBe('Ben')
    expect((await app.get('/api/performers/')).json.map(({ name }: { name: string }) => name)).toEqual(['Zoë', 'Ben'])
    await write(app, 'PUT', `/api/performers/${ben.id}/`, { name: 'Benno' })
    expect((await app.get('/api/slots/1/')).json.title).toBe('Benno')
    await write(app, 'DELETE', `/api/performers/${ben.id}/`)
    expect([await active(), (await app.get('/api/slots/1/')).json.performer]).toEqual([[], null])
  })
})

describe.concurrent.each(engines)('a channel on %s', (engine) => {
  // Conformance: C-21.4, C-21.7.
  it('takes over the entries of the placeholder onto which it is moved, and leaves them when it is removed', async () => {
    const { app, receiver, channel, unit } = await startRack(engine)
    const { json: own } = await put(app, 1, { label: 'Pack 1', note: 'Wig' })
    const { json: planned } = await put(app, 7, { performer_name: 'Nora', planned: { frequency: '470.300' } })
    const wired = (await app.post('/api/placeholders/', { kind: 'wired', name: 'DI', slot: 8 })).json
    const move = (moves: unknown) => write(app, 'PUT', '/api/slots/', { moves })
    expect((await move([{ channel_id: channel.id, slot: 8 }])).status).toBe(409)
    const elsewhere = await move([{ channel_id: channel.id, from: 2, slot: 7 }])
    expect([elsewhere.status, elsewhere.json.error]).toEqual([409, expect.stringContaining('slot 1')])
    expect(elsewhere.json.current).toEqual({ channel_id: channel.id, slot: 1 })
    expect((await app.get('/api/slots/7/')).json).toEqual(planned)

    const moved = await move([{ channel_id: channel.id, from: 1, slot: 7 }])
    expect([moved.status, moved.json.moves[0]]).toEqual([200, { channel_id: channel.id, from: 1, slot: 7 }])
    const record = (await app.get('/api/slots/7/')).json
    expect(record).toMatchObject({
      ...{ title: 'Nora', label: 'Pack 1', note: 'Wig', planned: planned.planned },
      ...{ channel_id: channel.id, placeholder_id: null, unit_id: unit },
    })
    expect(record.version).toBeGreaterThan(planned.version)
    expect((await app.get('/api/assignments/?is_active=true')).json).toMatchObject([{ wireless_unit: unit }])
    expect((await app.get('/api/slots/1/')).status).toBe(404)

    expect((await app.post(`/api/undo/${moved.headers['x-undo-id']}`)).status).toBe(200)
    const restored = { version: expect.any(Number) }
    expect((await app.get('/api/slots/7/')).json).toEqual({ ...planned, ...restored })
    expect((await app.get('/api/slots/1/')).json).toEqual({ ...own, ...restored })
    expect((await app.get('/api/assignments/?is_active=true')).json).toEqual([])

    const again = await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 7 })
    expect([again.status, again.headers['x-undo-id']]).toEqual([200, expect.any(String)])
    const admin = await tokenHeaders(app, 'admin')
    expect((await write(app, 'DELETE', `/api/admin/receivers/${receiver.id}/`, undefined, admin)).status).toBe(204)
    const left = (await app.get('/api/slots/7/')).json
    expect(left).toMatchObject({ title: 'Nora', note: 'Wig', kind: 'wireless', channel_id: null, unit_id: null })
    expect((await app.get('/api/placeholders/')).json).toMatchObject([wired, { slot: 7, name: 'Pack 1', note: 'Wig' }])
    expect((await app.get('/api/slots/2/')).status).toBe(404)
  })
})

describe.concurrent('requests about slots', () => {
  // Conformance: C-21.1.
  it('are rejected with the field, and change nothing', async () => {
    const { app } = await startRack('sqlite')
    const rejected = [
      [400, { label: '' }, 'label: expected'],
      [400, { label: 'x'.repeat(256) }, 'label: expected'],
      [400, { color: 'mauve' }, 'color: expected'],
      [400, { performer_id: 99 }, 'performer_id: there is no performer 99'],
      [400, { performer_id: 1, performer_name: 'Nora' }, 'performer_name: expected'],
      [400, { performer_name: '' }, 'performer_name: expected'],
      [400, { role: 7 }, 'role: expected'],
      [400, { planned: { frequency: '470.3' } }, 'planned.frequency: expected'],
      [400, { planned: { profile: 'none' } }, 'planned.profile: there is no profile none'],
      [400, { planned: { power: 1 } }, 'planned.power: unknown field'],
      [400, { spares: [1] }, 'spares: expected other slots'],
      [400, { spares: [3, 3] }, 'spares: expected'],
      [400, { spares: [0] }, 'spares.0: expected'],
      [400, { name: 'Lead' }, 'name: unknown field'],
    ] as const
    for (const [status, body, details] of rejected) {
      const response = await put(app, 1, body)
      expect([response.status, response.json.details]).toEqual([status, expect.stringContaining(details)])
    }
    expect(await put(app, 65_536, { label: 'A' })).toMatchObject({
      status: 404,
      json: { details: 'slot: the last slot is 65535' },
    })
    expect((await write(app, 'DELETE', '/api/slots/50/')).status).toBe(404)
    expect((await app.get('/api/slots/1/')).json.version).toBe(0)
    expect((await app.get('/api/performers/')).json).toEqual([])
    expect((await put(app, 65_535, { label: 'Last' })).status).toBe(200)
  })

  // Conformance: C-21.6.
  it('are refused with the version of an earlier channel of the slot', async () => {
    const { app, receiver, channel } = await startRack('sqlite')
    const admin = await tokenHeaders(app, 'admin')
    const first = { 'if-match': '"0"' }
    expect((await write(app, 'DELETE', `/api/admin/receivers/${receiver.id}/`, undefined, admin)).status).toBe(204)
    expect((await app.get('/api/slots/')).json).toEqual([])
    await app.post('/api/refresh/')
    const other = await until('another channel is in the slot', async () => (await app.get('/api/slots/')).json[0])
    expect(other.channel_id).not.toBe(channel.id)
    expect((await put(app, 1, { label: 'Lead' }, first)).status).toBe(412)
    expect((await put(app, 1, { label: 'Lead' }, { 'if-match': `"${other.version}"` })).status).toBe(200)
  })

  // Conformance: C-21.6.
  it('are refused with the present record if they expect another version', async () => {
    const { app } = await startRack('sqlite')
    const { json: lead } = await put(app, 1, { label: 'Lead' }, { 'if-match': '"0"' })
    const stale = await put(app, 1, { color: 'red' }, { 'if-match': '"0"' })
    expect([stale.status, stale.json]).toEqual([
      412,
      {
        error: expect.stringContaining('slot 1'),
        status: 412,
        details: `If-Match: expected "${lead.version}"`,
        current: lead,
      },
    ])
    expect((await write(app, 'DELETE', '/api/slots/1/', undefined, { 'if-match': 'W/"0"' })).status).toBe(412)
    expect((await put(app, 1, { color: 'red' }, { 'if-match': '5' })).json.details).toContain('If-Match: expected')
    const red = await put(app, 1, { color: 'red' }, { 'if-match': `W/"${lead.version}"` })
    expect([red.status, red.json]).toEqual([200, { ...lead, color: 'red', version: expect.any(Number) }])
    // A version is never reused, even after an undo.
    await write(app, 'DELETE', '/api/slots/1/')
    const first = { 'if-match': '"0"' }
    expect((await put(app, 1, { label: 'Lead' }, first)).status).toBe(412)
    const undoId = (await put(app, 2, { label: 'Choir' }, first)).headers['x-undo-id']
    expect((await app.post(`/api/undo/${undoId}`)).status).toBe(200)
    expect((await app.get('/api/slots/2/')).json.label).toBeNull()
    expect((await put(app, 2, { label: 'Choir' }, first)).status).toBe(412)
    // Different contents of a slot never have the same version.
    const { channel_id: id } = (await app.get('/api/slots/2/')).json
    const [{ id: other }] = (await app.get('/api/data.json')).json.receivers.flatMap(
      ({ channels }: { channels: { id: number; slot: number }[] }) => channels.filter(({ slot }) => slot === 1),
    )
    const { version } = (await app.get('/api/slots/2/')).json
    const moves = [
      { channel_id: id, slot: 1 },
      { channel_id: other, slot: 2 },
    ]
    await write(app, 'PUT', '/api/slots/', { moves })
    expect((await put(app, 2, { label: 'Choir' }, { 'if-match': `"${version}"` })).status).toBe(412)
    for (const tag of ['"0"', `"${lead.version}"`]) {
      const missing = await put(app, 60, { label: 'New' }, { 'if-match': tag })
      expect([missing.status, missing.json.current]).toEqual([412, null])
    }
    expect((await write(app, 'DELETE', '/api/slots/60/', undefined, first)).status).toBe(412)
  })
})
