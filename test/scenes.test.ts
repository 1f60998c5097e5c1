/** Scenes: stored, recalled and undone. */

import { describe, expect, it } from 'vitest'
import { plannedFrequencies } from '../src/storage/shows.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { exportFile, importFile } from './support/installation-files.ts'
import { openLive } from './support/live-client.ts'
import { type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'
import { withoutVersions } from './support/versions.ts'

function send(app: TestApp, method: string, path: string, body: object) {
  return app.send(method, path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** Starts a service with four channels, a group, a placeholder, a performer, and a show with a scene of all this. */
async function startShow(engine: Engine) {
  const simulator = withoutPush(await startShure({ story: false }))
  const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
  const units: readonly { id: number; slot: number }[] = await until('all units are known', async () => {
    const { json } = await app.get('/api/units/')
    return json.length === 4 && json.toSorted((a: { slot: number }, b: { slot: number }) => a.slot - b.slot)
  })
  const { receivers } = (await app.get('/api/data.json')).json
  const channels: readonly { id: number; slot: number; frequency: string }[] = receivers.flatMap(
    (receiver: { channels: unknown }) => receiver.channels,
  )
  const group = (await app.post('/api/group/', { title: 'Act 1', slots: [1, 2] })).json
  const piano = (await app.post('/api/placeholders/', { slot: 9, kind: 'wired', name: 'Piano' })).json
  const ada = (await app.post('/api/performers/', { name: 'Ada' })).json
  const assignment = { performer: ada.id, wireless_unit: units[0]?.id, role: 'Glinda' }
  expect((await app.post('/api/assignments/', assignment)).status).toBe(201)
  const show = (await app.post('/api/shows/', { title: 'Matinee' })).json
  const scenes = `/api/shows/${show.id}/scenes/`
  const scene = (await app.post(scenes, { title: 'Act 1' })).json
  const idAt = (slot: number) => channels.find((channel) => channel.slot === slot)?.id ?? 0
  return { app, simulator, units, channels, group, piano, ada, show, scenes, scene, idAt }
}

/** Returns everything that a recall can change. */
async function readState(app: TestApp): Promise<unknown> {
  const { receivers, groups, placeholders } = withoutVersions((await app.get('/api/data.json')).json)
  const slots = receivers.flatMap(({ channels }: { channels: { id: number; slot: number }[] }) =>
    channels.map(({ id, slot }) => [id, slot]),
  )
  const lists = [placeholders.map(({ condition: _, ...placeholder }: { condition: unknown }) => placeholder), groups]
  const performers = withoutVersions((await app.get('/api/performers/')).json)
  return [slots, ...lists, performers, (await app.get('/api/assignments/?is_active=true')).json]
}

/** Changes everything that the scene has stored. */
async function rearrange({ app, units, group, piano, ada, idAt }: Awaited<ReturnType<typeof startShow>>) {
  const moves = [
    { channel_id: idAt(1), slot: 2 },
    { channel_id: idAt(2), slot: 9 },
    { placeholder_id: piano.id, slot: 1 },
  ]
  expect((await send(app, 'PUT', '/api/slots/', { moves })).status).toBe(200)
  await send(app, 'PATCH', `/api/placeholders/${piano.id}/`, { name: 'Organ' })
  await app.post('/api/group/', { id: group.id, title: 'Act 2', slots: [3] })
  await send(app, 'PUT', `/api/performers/${ada.id}/`, { name: 'Ada B.' })
  const bo = (await app.post('/api/performers/', { name: 'Bo' })).json
  const [current] = (await app.get('/api/assignments/?is_active=true')).json
  await send(app, 'PUT', `/api/assignments/${current.id}/`, { is_active: false })
  await app.post('/api/assignments/', { performer: bo.id, wireless_unit: units[0]?.id })
  return bo
}

describe.concurrent('a scene', () => {
  // Conformance: C-13.14, C-13.15, C-13.16, C-13.17.
  it.each(engines)('is previewed, recalled in one transaction, announced, and undone (%s)', async (engine) => {
    const stage = await startShow(engine)
    const { app, show, scenes, scene, channels } = stage
    const stored = await readState(app)
    await rearrange(stage)
    const before = await readState(app)
    const client = await openLive(app)

    const preview = (await app.post(`${scenes}${scene.id}/recall`, { preview: true })).json
    expect([preview.undo_id, preview.skipped, await readState(app)]).toEqual([null, [], before])
    const kinds = ['group', 'channel', 'channel', 'placeholder', 'performer', 'slot', 'slot']
    expect(preview.changes.map(({ what }: { what: string }) => what)).toEqual(kinds)
    expect((await app.get(`${scenes}${scene.id}/`)).json.recalled_at).toBeNull()

    const recalled = (await app.post(`${scenes}${scene.id}/recall`, undefined)).json
    const withoutIds = (changes: readonly object[]) => changes.map((change) => ({ ...change, id: null }))
    expect(withoutIds(recalled.changes)).toEqual(withoutIds(preview.changes))
    const [slots, placeholders, groups, performers, assignments] = (await readState(app)) as never[][]
    const [storedSlots, storedPlaceholders, storedGroups, storedPerformers, storedAssignments] = stored as never[][]
    expect([slots, placeholders, groups]).toEqual([storedSlots, storedPlaceholders, storedGroups])
    expect(performers).toEqual([...(storedPerformers ?? []), expect.objectContaining({ name: 'Bo' })])
    const who = (list: readonly { performer: number; wireless_unit: number; role: string }[] = []) =>
      list.map(({ performer, wireless_unit, role }) => [performer, wireless_unit, role])
    expect(who(assignments)).toEqual(who(storedAssignments))
    await until('the recall is announced', () => client.data().placeholders[0]?.name === 'Piano')
    await client.next(({ type, show: announced }) => type === 'show' && announced.id === show.id)
    const plan = await withDatabase(app, (db) => plannedFrequencies(db.read, show.id))
    expect(plan).toEqual(new Map(channels.map(({ id, frequency }) => [id, frequency])))
    const again = (await app.post(`${scenes}${scene.id}/recall`, undefined)).json
    expect(again).toEqual({ changes: [], skipped: [], undo_id: null })

    const undone = await app.post(`/api/undo/${recalled.undo_id}`)
    expect([undone.status, undone.json.action]).toEqual([200, 'scene.recall'])
    expect(await readState(app)).toEqual(before)
    expect((await app.get(`${scenes}${scene.id}/`)).json.recalled_at).toBeNull()
    expect((await app.post(`/api/undo/${recalled.undo_id}`)).status).toBe(409)
    const { results } = (await app.get('/api/events/?kind=moved')).json
    expect(results).toHaveLength(6)
  })

  // Conformance: C-21.70.
  it.each(engines)('can be stored, renamed and removed, and each can be undone (%s)', async (engine) => {
    const { app, scenes, scene } = await startShow(engine)
    const undo = async ({ headers }: { headers: Record<string, unknown> }) =>
      (await app.post(`/api/undo/${headers['x-undo-id']}`)).status
    const path = `${scenes}${scene.id}/`
    const stored = (await app.get(path)).json
    const titles = async () => (await app.get(scenes)).json.map(({ title }: { title: string }) => title)

    const renamed = await send(app, 'PATCH', path, { title: 'Act 2' })
    expect([renamed.status, renamed.json]).toEqual([200, { ...scene, title: 'Act 2', version: expect.any(Number) }])
    const removed = await app.send('DELETE', path)
    expect([removed.status, await titles()]).toEqual([204, []])
    // The change can be undone once the removal has been.
    const undoable = async () => (await app.get('/api/undo/')).json.map(({ what }: { what: string }) => what)
    expect((await undoable())[0]).toBe('scene.delete')
    expect(await undoable()).not.toContain('scene.change')
    expect([await undo(renamed), await undo(removed), await titles()]).toEqual([409, 200, ['Act 2']])
    expect((await undoable())[0]).toBe('scene.change')
    const restored = { ...stored, version: expect.any(Number) }
    expect([await undo(renamed), (await app.get(path)).json]).toEqual([200, restored])

    const added = await app.post(scenes, { title: 'Act 3' })
    expect([await undo(added), await titles()]).toEqual([200, ['Act 1']])
    const same = await send(app, 'PATCH', path, { title: 'Act 1' })
    expect([same.status, same.headers['x-undo-id']]).toEqual([200, undefined])
    expect((await send(app, 'PATCH', path, { title: '' })).status).toBe(400)
    expect((await send(app, 'PATCH', `${scenes}99/`, { title: 'Act 1' })).status).toBe(404)
    const recalled = await app.post(`${path}recall`, undefined)
    expect(recalled.headers['x-undo-id']).toBe(recalled.json.undo_id?.toString())
    await app.send('DELETE', path)
    const [{ id }] = (await app.get('/api/undo/')).json
    await app.send('DELETE', scenes.replace('scenes/', ''))
    // Its show is gone.
    expect((await app.post(`/api/undo/${id}`)).status).toBe(409)
  })

  // Conformance: C-13.15, C-13.16.
  it('is not undone after a later change, and skips what no longer exists', async () => {
    const stage = await startShow('sqlite')
    const { app, piano, group, scenes, scene, idAt } = stage
    const bo = await rearrange(stage)
    const recall = async () => (await app.post(`${scenes}${scene.id}/recall`, undefined)).json
    const expectConflict = async (id: number, subject: string) => {
      const { status, json } = await app.post(`/api/undo/${id}`)
      expect([status, json.error]).toEqual([409, expect.stringContaining(`because ${subject} has been changed since`)])
    }
    const { undo_id } = await recall()
    // The piano's former slot is now used by a record that the recall did not move.
    const [moved, four] = [idAt(1), idAt(4)]
    await send(app, 'PUT', '/api/slots/', { moves: [{ channel_id: moved, slot: 20 }] })
    await expectConflict(undo_id, `channel ${moved}`)
    await send(app, 'PUT', '/api/slots/', { moves: [{ channel_id: moved, slot: 1 }] })
    await app.post('/api/group/', { id: group.id, title: 'Act 3' })
    await expectConflict(undo_id, `group ${group.id}`)
    await app.post('/api/group/', { id: group.id, title: 'Act 1' })
    expect((await app.post(`/api/undo/${undo_id}`)).status).toBe(200)

    const second = await recall()
    const spare = (await app.post('/api/placeholders/', { kind: 'wired', name: 'Spare' })).json
    expect(spare.slot).not.toBe(four)
    await app.send('DELETE', `/api/placeholders/${piano.id}/`)
    await expectConflict(second.undo_id, `placeholder ${piano.id}`)
    await app.send('DELETE', `/api/performers/${bo.id}/`)
    await app.send('DELETE', `/api/groups/${group.id}/`)
    const { skipped, changes } = await recall()
    expect(changes).toEqual([])
    const reason = (what: string) => `The ${what} no longer exists.`
    expect(skipped).toEqual([
      { what: 'group', id: group.id, name: 'Act 1', reason: reason('group') },
      { what: 'placeholder', id: piano.id, name: 'Piano', reason: reason('placeholder') },
    ])
  })

  // Conformance: C-21.64.
  it('restores what was entered about slots without packs, also as version 1.0.0 stored it', async () => {
    const app = await startApp()
    const put = (slot: number, fields: object) => send(app, 'PUT', `/api/slots/${slot}/`, fields)
    const nora = { performer_name: 'Nora', role: 'Elphaba', label: 'Mic 7', color: 'red', note: 'Wig', spares: [8] }
    const planned = { frequency: '474.250', profile: null, transmitter: 'H02' }
    const before = (await put(7, { ...nora, planned })).json
    const show = (await app.post('/api/shows/', { title: 'Matinee' })).json
    const scenes = `/api/shows/${show.id}/scenes/`
    const { id } = (await app.post(scenes, { title: 'First cast' })).json
    const changed = (await put(7, { performer_name: 'Ada', role: null, label: null, color: null, planned: null })).json
    const recall = async () => (await app.post(`${scenes}${id}/recall`, undefined)).json
    const slot = async () => (await app.get('/api/slots/7/')).json
    const withoutVersion = (record: object) => ({ ...record, version: expect.any(Number) })

    const recalled = await recall()
    expect(recalled.changes).toMatchObject([
      {
        what: 'slot',
        from: { slot: 7, performer: { name: 'Ada' }, label: null },
        to: { slot: 7, performer: { name: 'Nora' }, role: 'Elphaba', label: 'Mic 7', color: 'red', planned },
      },
    ])
    expect(await slot()).toEqual(withoutVersion(before))
    expect((await app.post(`/api/undo/${recalled.undo_id}`)).status).toBe(200)
    expect(await slot()).toEqual(withoutVersion(changed))

    const placeholders = [{ id: before.placeholder_id, slot: 7, name: 'Mic 7', kind: 'wireless', frequency: '474.250' }]
    const arrangement = { channels: [], placeholders, groups: [], performers: [], units: [] }
    await withDatabase(app, (db) =>
      db.transaction(({ query }) =>
        query
          .updateTable('scenes')
          .set({ arrangement: JSON.stringify(arrangement) })
          .execute(),
      ),
    )
    await recall()
    expect(await slot()).toMatchObject({
      label: 'Mic 7',
      planned: { frequency: '474.250' },
      performer: { name: 'Ada' },
    })

    const exported = await exportFile(app)
    expect((await importFile(app, exported)).counts.scenes).toMatchObject({ unchanged: 1 })
    const copied = exported.scenes?.map((entry) => ({ ...entry, title: 'Copy' }))
    await importFile(app, { version: exported.version, scenes: copied })
    await put(7, { performer_name: 'Bo', label: 'Seven', color: 'green', note: 'Left' })
    const [, copy] = (await app.get(scenes)).json
    expect((await app.post(`${scenes}${copy.id}/recall`, undefined)).json.changes).toMatchObject([
      { to: { label: 'Mic 7' } },
    ])
    expect(await slot()).toMatchObject({ label: 'Mic 7', performer: { name: 'Bo' }, color: 'green', note: 'Left' })
  })

  // Conformance: C-13.14, C-13.17, C-13.18.
  it('is listed and removed with its show, by operators only, and the last recall is the plan', async () => {
    const { app, simulator, show, scenes, scene, channels } = await startShow('sqlite')
    const { arrangement, ...fields } = (await app.get(`${scenes}${scene.id}/`)).json
    const second = (await app.post(scenes, { title: 'Act 2' })).json
    expect((await app.get(scenes)).json).toEqual([fields, second])
    expect(arrangement.slots).toHaveLength(5)
    expect(fields).toMatchObject({ show_id: show.id, title: 'Act 1', by: 'local', recalled_at: null })
    const [first] = channels
    const device = deviceOf(simulator).id
    const plannedFirst = () =>
      withDatabase(app, async (db) => (await plannedFrequencies(db.read, show.id)).get(first?.id ?? 0))
    expect(await plannedFirst()).toBeUndefined()
    simulator.show.set(device, { frequency: '499.125' }, 1)
    await until('the frequency is received', async () =>
      (await app.receivers()).some((receiver) => receiver.channels.some(({ frequency }) => frequency === '499.125')),
    )
    await app.post(`/api/shows/${show.id}/start`, undefined)
    expect(await plannedFirst()).toBe('499.125')
    const recalled = (await app.post(`${scenes}${scene.id}/recall`, undefined)).json
    expect(recalled.changes).toEqual([
      {
        ...{ what: 'planned_frequency', id: first?.id },
        from: expect.objectContaining({ slot: 1, frequency: '499.125' }),
        to: expect.objectContaining({ slot: 1, frequency: first?.frequency }),
      },
    ])
    expect(await plannedFirst()).toBe(first?.frequency)
    // The equipment is still tuned as before.
    await app.post('/api/refresh/', {})
    expect(channelOf(await app.receiver(device)).frequency).toBe('499.125')
    expect((await app.post(`/api/undo/${recalled.undo_id}`)).status).toBe(200)
    expect(await plannedFirst()).toBe('499.125')

    for (const [method, path, body] of [
      ['GET', '/api/shows/99/scenes/'],
      ['POST', '/api/shows/99/scenes/', { title: 'Act 1' }],
      ['GET', `${scenes}99/`],
      ['DELETE', `${scenes}99/`],
      ['POST', `${scenes}99/recall`, {}],
    ] as const) {
      expect([path, (await (body ? app.post(path, body) : app.send(method, path))).status]).toEqual([path, 404])
    }
    expect((await app.post(scenes, { title: '' })).status).toBe(400)
    expect((await app.send('DELETE', `${scenes}${second.id}/`)).status).toBe(204)
    expect((await app.get(scenes)).json).toHaveLength(1)
    await app.post(`/api/shows/${show.id}/end`, undefined)
    expect((await app.send('DELETE', `/api/shows/${show.id}/`)).status).toBe(204)
    const stored = await withDatabase(app, (db) => db.read.selectFrom('scenes').select('id').execute())
    expect(stored).toEqual([])
    const audit = await app.get('/api/admin/audit/?action=scene.', await tokenHeaders(app, 'admin'))
    expect(audit.json.map(({ action }: { action: string }) => action)).toEqual([
      ...['scene.delete', 'scene.recall', 'scene.create', 'scene.create'],
    ])
  })
})

// Conformance: C-13.14.
it('scenes are stored and recalled by operators only', async () => {
  const app = await startApp({ config: { require_login: true } })
  const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
  const { id } = (await app.post('/api/shows/', { title: 'Matinee' }, operator)).json
  const scenes = `/api/shows/${id}/scenes/`
  expect((await app.post(scenes, { title: 'Act 1' }, viewer)).status).toBe(403)
  const scene = (await app.post(scenes, { title: 'Act 1' }, operator)).json
  expect((await app.get(scenes, viewer)).status).toBe(200)
  expect((await app.post(`${scenes}${scene.id}/recall`, {}, viewer)).status).toBe(403)
  expect((await app.post(`${scenes}${scene.id}/recall`, { preview: true }, operator)).status).toBe(200)
  const headers = { ...viewer, 'content-type': 'application/json' }
  expect((await app.send('PATCH', `${scenes}${scene.id}/`, { headers, body: '{"title":"Act 2"}' })).status).toBe(403)
  expect((await app.send('DELETE', `${scenes}${scene.id}/`, { headers: viewer })).status).toBe(403)
})
