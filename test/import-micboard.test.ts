/** The import of micboard's config.json, and its undo. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { type Engine, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Starts a service with one receiver with four channels, of which units are known. */
async function startRack(engine: Engine) {
  const simulator = withoutPush(await startShure({ story: false }))
  const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
  await until('all units are known', async () => (await app.get('/api/units/')).json.length === 4)
  return { app, ip: deviceOf(simulator).ip }
}

/** Returns everything that the import changes. */
async function readState(app: TestApp) {
  const slots = (await app.receivers()).flatMap(({ channels }) => channels.map(({ id, slot }) => [id, slot]))
  const [groups, assignments] = [await app.get('/api/groups/'), await app.get('/api/assignments/?is_active=true')]
  const [performers, placeholders] = [await app.get('/api/performers/'), await app.get('/api/placeholders/')]
  return {
    slots,
    groups: groups.json,
    assignments: assignments.json,
    performers: performers.json,
    placeholders: placeholders.json,
  }
}

// Conformance: C-16.79.
it.each(engines)('is previewed, applied in one transaction, and can be undone (%s)', async (engine) => {
  const { app, ip } = await startRack(engine)
  const slot = (number: number, channel: number, name = '') => {
    return { slot: number, ip, type: 'ulxd', channel, extended_id: '', extended_name: name }
  }
  const offline = { slot: 14, type: 'offline', extended_name: 'Cantor' }
  const text = JSON.stringify({
    port: 8058,
    slots: [slot(12, 1, 'Nora'), slot(11, 2), { ...slot(13, 1), ip: '192.0.2.1' }, offline],
    groups: [{ group: 1, title: 'Leads', slots: [12, 11, 0], hide_charts: true }],
  })
  const before = await readState(app)
  const preview = (await app.post('/api/import/micboard/', { text, preview: true })).json
  expect(preview).toMatchObject({
    changes: [
      { what: 'channel_slot', to: { slot: 12 } },
      { what: 'channel_slot', to: { slot: 11 } },
      { what: 'placeholder', id: null, from: null, to: { slot: 14, name: 'Cantor', note: '' } },
      { what: 'group', id: null, from: null, to: { title: 'Leads', slots: [12, 11], hide_charts: true } },
      { what: 'performer', id: null, to: { name: 'Nora' } },
      { what: 'slot', id: 12, from: { performer: null }, to: { slot: 12, performer: { id: null, name: 'Nora' } } },
      { what: 'assignment', id: null, to: { slot: 12, performer: { id: null, name: 'Nora' } } },
    ],
    skipped: [{ slot: 13, name: null, reason: 'There is no receiver with the address 192.0.2.1.' }],
    undo_id: null,
  })
  expect(await readState(app)).toEqual(before)
  const applied = (await app.post('/api/import/micboard/', { text })).json
  expect(applied.changes).toHaveLength(7)
  const after = await readState(app)
  expect(after.slots.map(([, number]) => number)).toEqual(expect.arrayContaining([11, 12]))
  expect(after.groups).toMatchObject([{ title: 'Leads', slots: [12, 11], hide_charts: true }])
  expect(after.placeholders).toMatchObject([{ slot: 14, name: 'Cantor', kind: 'wireless' }])
  expect(after.performers).toMatchObject([{ name: 'Nora' }])
  expect((await app.post('/api/import/micboard/', { text })).json.changes).toEqual([])
  expect((await app.post(`/api/undo/${applied.undo_id}`)).status).toBe(200)
  expect(await readState(app)).toEqual(before)
})

// Conformance: C-16.79.
it('needs the role operator, and rejects other files', async () => {
  const app = await startApp({ config: { require_login: true } })
  const importAs = async (role: 'viewer' | 'operator', text: string) =>
    app.post('/api/import/micboard/', { text }, await tokenHeaders(app, role))
  expect((await importAs('viewer', '{"slots":[]}')).status).toBe(403)
  expect((await importAs('operator', '{"slots":[]}')).json).toEqual({ changes: [], skipped: [], undo_id: null })
  const { status, json } = await importAs('operator', '{"slots":[{}]}')
  expect([status, json.details]).toEqual([400, expect.stringContaining('text: slots.0: expected {slot, type, ip')])
})
