/** Undo of groups and performers. */

import { describe, expect, it } from 'vitest'
import { startApp, type TestApp, until } from './support/app.ts'
import { engines } from './support/store/databases.ts'
import { withoutVersions } from './support/versions.ts'

const undo = async (app: TestApp, { headers }: { readonly headers: Record<string, unknown> }) => {
  const { status, json } = await app.post(`/api/undo/${headers['x-undo-id']}`)
  return [status, json.error]
}

describe.concurrent.each(engines)('undo (%s)', (engine) => {
  // Conformance: C-21.73.
  it('restores groups that were added, changed or removed, with their settings', async () => {
    const app = await startApp({ engine, isRecording: true })
    const groups = async () => withoutVersions((await app.get('/api/groups/')).json)
    const created = await app.post('/api/group/', { title: 'Band', slots: [3, 1], zone: 'A' })
    const path = `/api/groups/${created.json.id}/`
    const [before] = await groups()
    const changed = await app.put(path, { title: 'Choir', slots: [1, 2], hide_charts: true, zone: null })
    const same = await app.post('/api/group/', { id: created.json.id, title: 'Choir' })
    expect(same.headers['x-undo-id']).toBe(undefined)
    const [latest] = (await app.get('/api/undo/')).json
    expect(latest).toEqual({
      ...{ id: Number(changed.headers['x-undo-id']), what: 'group.change', slots: [1, 2, 3] },
      ...{ at: expect.stringMatching(/Z$/), by: expect.any(String) },
    })
    const setting = { key: 'alert_battery_threshold', value: '33' }
    const configPath = `/api/config/?group=${created.json.id}`
    expect((await app.post(configPath, setting)).status).toBe(200)
    const removed = await app.send('DELETE', path)
    expect([removed.status, await groups()]).toEqual([204, []])
    expect(await undo(app, changed)).toEqual([
      409,
      expect.stringContaining(`group ${created.json.id} has been changed`),
    ])
    const other = await app.post('/api/group/', { title: 'Strings' })
    expect(await undo(app, other)).toEqual([200, undefined])

    expect(await undo(app, removed)).toEqual([200, undefined])
    expect(await groups()).toEqual([{ ...before, title: 'Choir', slots: [1, 2], hide_charts: true, zone: null }])
    expect((await app.get(configPath)).json).toMatchObject({ alert_battery_threshold: 33 })
    expect(await undo(app, changed)).toEqual([200, undefined])
    expect(await groups()).toEqual([before])
    // Its settings would be lost.
    expect((await undo(app, created))[0]).toBe(409)
    expect((await app.get('/api/groups/')).json[0].version).toBeGreaterThan(changed.json.version)
  })

  // Conformance: C-21.73.
  it('restores performers that were added, renamed or removed, in their slots and with their packs', async () => {
    const app = await startApp({ engine })
    const channels = [{ channel: 1, transmitter: { name: 'H01', details: { model: 'MTP60' } } }]
    await app.post('/api/ingest/', { source: 'script', receivers: [{ api_device_id: 'rack', name: 'Rack', channels }] })
    await until('the pack is known', async () => (await app.get('/api/units/')).json.length === 1)
    const state = async () => {
      const performers = withoutVersions((await app.get('/api/performers/')).json)
      const slots = await Promise.all([1, 7].map(async (slot) => (await app.get(`/api/slots/${slot}/`)).json.performer))
      const assignments = (await app.get('/api/assignments/')).json
      return { performers, slots, assignments }
    }
    const created = await app.post('/api/performers/', { name: 'Nora', notes: 'Alto' })
    for (const slot of [1, 7]) {
      await app.put(`/api/slots/${slot}/`, { performer_id: created.json.id, role: 'Glinda' })
    }
    const before = await state()
    expect(before).toMatchObject({ slots: [{ name: 'Nora' }, { name: 'Nora' }], assignments: [{ is_active: true }] })
    const path = `/api/performers/${created.json.id}/`
    const renamed = await app.put(path, { name: 'Eleonora' })
    const removed = await app.send('DELETE', path)
    expect(await state()).toEqual({ performers: [], slots: [null, null], assignments: [] })
    expect((await app.get('/api/undo/')).json[0]).toMatchObject({ what: 'performer.delete', slots: [1, 7] })
    expect(await undo(app, removed)).toEqual([200, undefined])
    expect(await undo(app, renamed)).toEqual([200, undefined])
    expect(await state()).toEqual(before)
    // She is still in slots.
    expect((await undo(app, created))[0]).toBe(409)
  })
})
