/** The import of a cast list, and its undo. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Actor } from '../src/domain/access/access.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'
import { withoutVersions } from './support/versions.ts'

const _actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const jpeg = `data:image/jpeg;base64,/9j/${'A'.repeat(400)}`

/** Starts a service with four channels, whose units are returned in the order of their slots. */
async function startRack(engine: Engine = 'sqlite') {
  const simulator = withoutPush(await startShure({ story: false }))
  const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
  const units = await until('all units are known', async () => {
    const { json } = await app.get('/api/units/')
    return json.length === 4 && json.toSorted((a: { slot: number }, b: { slot: number }) => a.slot - b.slot)
  })
  return { app, units: units as readonly { id: number; slot: number; name: string }[] }
}

const importCast = (app: TestApp, body: object) => app.post('/api/import/cast/', body)
const undoOf = (app: TestApp, id: number) => app.post(`/api/undo/${id}`)
const makeUndoOlder = (app: TestApp, ms: number) =>
  withDatabase(app, (db) =>
    db.transaction(({ query }) =>
      query
        .updateTable('undo_records')
        .set((row) => ({ created_at: row('created_at', '-', ms) }))
        .execute(),
    ),
  )

/** Returns the performer and role of each unit with an active assignment. */
async function castOf(app: TestApp): Promise<Record<number, [string, string | null]>> {
  const { json } = await app.get('/api/assignments/?is_active=true&names=true')
  return Object.fromEntries(
    json.map(({ wireless_unit, performer_name, role }: { [name: string]: unknown }) => [
      wireless_unit,
      [performer_name, role],
    ]),
  )
}

/** Returns everything that an import can change, without the assignments that have ended. */
async function readState(app: TestApp): Promise<unknown> {
  const assignments = await app.get('/api/assignments/?is_active=true')
  return [withoutVersions((await app.get('/api/performers/')).json), assignments.json]
}

describe.concurrent.each(engines)('the import of a cast list (%s)', (engine) => {
  // Conformance: C-16.5, C-16.8, C-13.51, C-13.52.
  it('is previewed, applied in one transaction and announced, and can be undone once', async () => {
    const { app, units } = await startRack(engine)
    const [one, two, three] = units.map(({ id }) => id)
    const nora = (await app.post('/api/performers/', { name: 'Nora', notes: 'old', picture: jpeg })).json
    await app.post('/api/assignments/', { performer: nora.id, wireless_unit: one, role: 'Elphaba' })
    const before = await readState(app)
    const client = await openLive(app)
    const text = [
      'Slot\tActor\tCharacter\tNotes\tPhoto',
      `2\tNora\t\t"new\tnotes, with a tab"\t${png}`,
      '1\tAda\tGlinda\t\t',
      '3\t\t\t\t',
    ].join('\r\n')

    const preview = (await importCast(app, { text, preview: true })).json
    const elphaba = { performer: { id: nora.id, name: 'Nora' }, role: 'Elphaba' }
    expect(preview).toEqual({
      changes: [
        { what: 'performer', id: nora.id, from: { notes: 'old', picture: nora.picture }, to: expect.any(Object) },
        { what: 'performer', id: null, from: null, to: { name: 'Ada', notes: '', picture: null } },
        { what: 'slot', id: 2, from: { slot: 2, performer: null, role: null }, to: { slot: 2, ...elphaba } },
        {
          what: 'slot',
          id: 1,
          from: { slot: 1, ...elphaba },
          to: { slot: 1, performer: { id: null, name: 'Ada' }, role: 'Glinda' },
        },
        { what: 'assignment', id: expect.any(Number), from: { slot: 1, wireless_unit: one, ...elphaba }, to: null },
        {
          what: 'assignment',
          id: null,
          from: null,
          to: { slot: 1, wireless_unit: one, performer: { id: null, name: 'Ada' }, role: 'Glinda' },
        },
        { what: 'assignment', id: null, from: null, to: { slot: 2, wireless_unit: two, ...elphaba } },
      ],
      skipped: [{ row: 4, slot: 3, name: null, reason: 'The row has no name.' }],
      failures: [],
      columns: { slot: 0, name: 1, role: 2, note: 3, photo: 4, pack: null },
      undo_id: null,
    })
    expect(preview.changes[0].to).toEqual({ notes: 'new\tnotes, with a tab', picture: png })
    expect(await readState(app)).toEqual(before)

    const imported = (await importCast(app, { text })).json
    expect(imported.undo_id).toEqual(expect.any(Number))
    expect(imported.skipped).toEqual(preview.skipped)
    expect(imported.changes.map(({ what, from }: { what: string; from: unknown }) => ({ what, from }))).toEqual(
      preview.changes.map(({ what, from }: { what: string; from: unknown }) => ({ what, from })),
    )
    expect(await castOf(app)).toEqual({ [one ?? 0]: ['Ada', 'Glinda'], [two ?? 0]: ['Nora', 'Elphaba'] })
    await until('the assignments are announced', () =>
      client.data().assignments.some(({ performer }: { performer: { name: string } }) => performer.name === 'Ada'),
    )
    const { picture } = imported.changes[0].to
    expect((await app.get(picture)).status).toBe(200)
    const again = (await importCast(app, { text })).json
    expect([again.changes, again.undo_id]).toEqual([[], null])

    const undone = await undoOf(app, imported.undo_id)
    expect([undone.status, undone.json]).toEqual([200, { action: 'cast.import', records: 4 }])
    expect(await readState(app)).toEqual(before)
    expect((await app.get(nora.picture)).status).toBe(200)
    expect((await undoOf(app, imported.undo_id)).status).toBe(409)
    expect((await undoOf(app, imported.undo_id + 1)).status).toBe(404)
    expect((await app.get('/api/assignments/?is_active=false')).json).toEqual([])
    await until('the undo is announced', () => client.data().performers.length === 1)
    expect((await importCast(app, { text: `${three}|Bo`, columns: { slot: 0, name: 1 } })).json.changes).toHaveLength(3)
    const audit = (await app.get('/api/admin/audit/', await tokenHeaders(app, 'admin'))).json
    const actions = audit.map(({ action }: { action: string }) => action)
    expect(actions.filter((action: string) => /undo|cast/.test(action))).toEqual(['cast.import', 'undo', 'cast.import'])
  })

  // Conformance: C-13.51.
  it('cannot be undone after a later change of its records, or after 24 hours', async () => {
    const { app, units } = await startRack(engine)
    const [one, two] = units.map(({ id }) => id)
    const importAda = async () => {
      const { changes, undo_id } = (await importCast(app, { text: '1,Ada' })).json
      return { performer: changes[0].id as number, undo_id: undo_id as number }
    }
    const expectConflict = async (id: number, subject: string) => {
      const state = await readState(app)
      const { status, json } = await undoOf(app, id)
      expect([status, json.error]).toEqual([409, expect.stringContaining(subject)])
      expect(await readState(app)).toEqual(state)
    }

    const renamed = await importAda()
    await app.put(`/api/performers/${renamed.performer}/`, { name: 'Ada Lovelace' })
    await expectConflict(renamed.undo_id, `performer ${renamed.performer}`)
    await app.put(`/api/performers/${renamed.performer}/`, { name: 'Ada' })
    // A second pack of the performer would be removed together with the performer.
    const second = await app.post('/api/assignments/', { performer: renamed.performer, wireless_unit: two })
    await expectConflict(renamed.undo_id, `performer ${renamed.performer}`)
    await app.send('DELETE', `/api/assignments/${second.json.id}/`)
    const dayMs = 24 * 60 * 60 * 1000
    await makeUndoOlder(app, dayMs)
    expect((await undoOf(app, renamed.undo_id)).status).toBe(404)
    await makeUndoOlder(app, -dayMs)
    expect((await undoOf(app, renamed.undo_id)).status).toBe(200)

    // The import ends the assignment of another performer, whose unit is assigned again before the undo.
    const bo = (await app.post('/api/performers/', { name: 'Bo' })).json
    await app.post('/api/assignments/', { performer: bo.id, wireless_unit: one })
    const moved = (await importCast(app, { text: '2,Bo' })).json
    const cy = (await app.post('/api/performers/', { name: 'Cy' })).json
    const other = (await app.post('/api/assignments/', { performer: cy.id, wireless_unit: one })).json
    await expectConflict(moved.undo_id, 'channel')
    await app.send('DELETE', `/api/assignments/${other.id}/`)
    expect((await undoOf(app, moved.undo_id)).status).toBe(200)
    expect(await castOf(app)).toEqual({ [one ?? 0]: ['Bo', null] })
  })

  // Conformance: C-13.51, C-16.9, C-21.60.
  it('assigns performers to slots without a pack, creates slots, and undoes both', async () => {
    const app = await startApp({ engine })
    const lectern = (await app.post('/api/placeholders/', { kind: 'wired', slot: 1, name: 'Lectern' })).json
    const slots = async () => (await app.get('/api/slots/')).json
    const before = await slots()
    const long = 'ن'.repeat(58)
    const text = [
      ...['Slot,Name,Role', '1,Host,Speaker', '7,Nora Åberg,Elphaba', '8,👩🏽‍🎤 Ada,', `9,${long},`],
      ...['7,Bo,', '10,nora aberg,', 'x,Cy,', '12,,', '99999,Di,', '13,"Eve,'],
    ].join('\n')
    const skipped = [
      { row: 6, slot: 7, name: 'Bo', reason: 'Row 3 already assigns slot 7.' },
      { row: 7, slot: 10, name: 'nora aberg', reason: 'Row 3 already has this name.' },
      { row: 8, slot: null, name: 'Cy', reason: 'x is not a slot from 1 to 65535.' },
      { row: 9, slot: 12, name: null, reason: 'The row has no name.' },
      { row: 10, slot: null, name: 'Di', reason: '99999 is not a slot from 1 to 65535.' },
      { row: 11, slot: null, name: '"Eve', reason: 'A quotation mark is missing or misplaced.' },
    ]
    const missing = (await importCast(app, { text, preview: true })).json.skipped
    expect(missing.map(({ reason }: { reason: string }) => reason)).toContain('There is no slot 7.')

    const preview = await importCast(app, { text, create_slots: true, preview: true })
    expect([preview.json.skipped, preview.headers['x-undo-id']]).toEqual([skipped, undefined])
    expect(preview.json.changes.filter(({ what }: { what: string }) => what === 'placeholder')).toEqual(
      [7, 8, 9].map((slot) => {
        return { what: 'placeholder', id: null, from: null, to: { slot, kind: 'wireless', name: '', note: '' } }
      }),
    )
    expect(await slots()).toEqual(before)

    const imported = await importCast(app, { text, create_slots: true })
    expect(imported.headers['x-undo-id']).toBe(String(imported.json.undo_id))
    expect(imported.json.skipped).toEqual(skipped)
    expect(await slots()).toMatchObject([
      { slot: 1, kind: 'wired', label: 'Lectern', title: 'Host', role: 'Speaker', placeholder_id: lectern.id },
      { slot: 7, kind: 'wireless', title: 'Nora Åberg', role: 'Elphaba', label: null },
      { slot: 8, title: '👩🏽‍🎤 Ada', role: null },
      { slot: 9, title: long },
    ])
    expect((await importCast(app, { text, create_slots: true })).json.changes).toEqual([])
    const [undoable] = (await app.get('/api/undo/')).json
    expect(undoable).toMatchObject({ id: imported.json.undo_id, what: 'cast.import', slots: [1, 7, 8, 9] })

    expect((await undoOf(app, imported.json.undo_id)).status).toBe(200)
    // The version of an entry is never reused.
    expect(await slots()).toEqual(before.map((slot: object) => ({ ...slot, version: expect.any(Number) })))
    expect((await app.get('/api/performers/')).json).toEqual([])
  })
})

describe.concurrent('the import of a cast list', () => {
  // Conformance: C-16.6.
  it('reads commas, semicolons, tabs and quotation marks, and the columns that the request names', async () => {
    const { app, units } = await startRack()
    const preview = async (body: object) => {
      const { status, json } = await importCast(app, { preview: true, ...body })
      expect([status, json.error]).toEqual([200, undefined])
      return json.changes
        .filter(({ what }: { what: string }) => what === 'assignment')
        .map(({ to }: { to: { slot: number; performer: { name: string }; role: string } }) =>
          [to.slot, to.performer.name, to.role].join(' '),
        )
    }
    for (const text of [
      'slot,name,role\n1,"Lovelace, Ada",Glinda\n',
      'slot;name;role\n1;Lovelace, Ada;Glinda\n\n\n\n',
      '\uFEFFname;role;ch\r\n"Lovelace, Ada";Glinda;1',
      '1\tLovelace, Ada\tGlinda',
    ]) {
      expect(await preview({ text })).toEqual(['1 Lovelace, Ada Glinda'])
    }
    const text = 'a,b,c\n2,Ada,Glinda\n'
    expect(await preview({ text, columns: { slot: 'A', name: 'c', role: 'b' } })).toEqual(['2 Glinda Ada'])
    expect(await preview({ text: `Name,Pack\nAda,${units[2]?.name}\n` })).toEqual([`${units[2]?.slot} Ada `])
  })

  // Conformance: C-16.6, C-16.8.
  it('writes nothing if the list or the request is invalid', async () => {
    const { app } = await startRack()
    const before = await readState(app)
    for (const [body, details] of [
      [{ text: 'Ada\nNora' }, 'columns.slot: the text has no column of slots or packs'],
      [{ text: '1,Ada\n'.repeat(10_001) }, 'text: expected at most 10000 rows'],
      [
        { text: '1,Ada', columns: { slot: 0, name: 'Actor' } },
        'columns.name: there is no column with the heading Actor',
      ],
      [{ text: '1,Ada', columns: { shoes: 0 } }, 'columns.shoes: unknown field'],
      [{ text: '1,Ada', dry: true }, 'dry: unknown field'],
      [{ text: '' }, expect.stringContaining('text: expected')],
      [{}, 'text: missing'],
    ] as const) {
      const { status, json } = await importCast(app, body)
      expect([status, json.details]).toEqual([400, details])
    }
    expect(await readState(app)).toEqual(before)
  })

  // Conformance: C-16.8.
  it('needs the role operator, and so does an undo', async () => {
    const app = await startApp({ config: { require_login: true } })
    const statusesOf = async (role: 'viewer' | 'operator') => {
      const headers = await tokenHeaders(app, role)
      const imported = await app.post('/api/import/cast/', { text: '1,Ada' }, headers)
      return [imported.status, (await app.post('/api/undo/1', undefined, headers)).status]
    }
    expect(await statusesOf('viewer')).toEqual([403, 403])
    expect(await statusesOf('operator')).toEqual([200, 404])
  })

  // Conformance: C-21.61.
  it('fetches photos from web addresses on request, once, and lists those that it cannot fetch', async () => {
    const photos = await startPhotos()
    const app = await startApp()
    const rows = ['ada.png', 'text', 'large', 'gone', 'moved'].map(
      (path, index) => `${index + 1},P${index},${photos.url}/${path}`,
    )
    const blocked = ['http://169.254.169.254/a.png', `${app.url}/api/pictures/1`, 'http://a:b@127.0.0.1/a.png']
    const text = ['Slot,Name,Photo', ...rows, ...blocked.map((address, index) => `${index + 6},B${index},${address}`)]
      .concat([`9,Q,${photos.url}/ada.png`])
      .join('\n')
    const body = { text, create_slots: true }
    const refused = (await importCast(app, body)).json
    expect([refused.failures, refused.skipped.length]).toEqual([[], 9])
    expect((await importCast(app, { ...body, fetch_photos: true, preview: true })).json.failures).toEqual([])
    expect(photos.requests).toEqual([])

    const { json } = await importCast(app, { ...body, fetch_photos: true })
    expect(photos.requests.toSorted()).toEqual(['/ada.png', '/gone', '/large', '/moved', '/text'])
    const reasons = json.failures.map(({ row, name, reason }: Record<string, unknown>) => [row, name, reason])
    const host = new URL(photos.url).host
    expect(reasons).toEqual([
      [3, 'P1', `${host} did not send a PNG, JPEG or WebP picture.`],
      [4, 'P2', 'The picture is larger than 2 MB.'],
      [5, 'P3', `${host} responded with status 404.`],
      [6, 'P4', `${host} redirects to another address. Enter that address.`],
      [7, 'B0', 'Nothing is sent to 169.254.169.254, because the address is not allowed.'],
      [8, 'B1', `Nothing is sent to ${new URL(app.url).host}, because the address is not allowed.`],
      [9, 'B2', 'Expected an http or https address without a user name.'],
    ])
    expect(json.failures[0].address).toBe(`${photos.url}/text`)
    const performers = (await app.get('/api/performers/')).json
    const [ada] = performers
    expect(ada.picture).toMatch(/^\/api\/pictures\//)
    expect(performers.map(({ picture }: { picture: string }) => picture)).toEqual([
      ada.picture,
      ...Array(7).fill(null),
      ada.picture,
    ])
    expect((await app.get(ada.picture)).bytes).toEqual(Buffer.from(png.slice(png.indexOf(',') + 1), 'base64'))
  })
})

/** Starts a photo server that records its requests. */
async function startPhotos() {
  const requests: string[] = []
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    if (url === '/moved') response.writeHead(302, { location: '/ada.png' }).end()
    else if (url === '/gone') response.writeHead(404).end()
    else if (url === '/ada.png') response.end(Buffer.from(png.slice(png.indexOf(',') + 1), 'base64'))
    else response.end(url === '/large' ? Buffer.alloc(3_000_000) : '<svg/>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => new Promise((resolve) => void server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
