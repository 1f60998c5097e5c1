/** Performers belong to slots; their assignments follow the packs that the slots receive. */

import { describe, expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'

describe.concurrent.each(engines)('the assignment of a performer in a slot (%s)', (engine) => {
  // Conformance: C-21.6, C-21.11.
  it('follows the packs that are received for 5 seconds', { timeout: 60_000 }, async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const app = await startApp({ databaseUrl: database.url })
    const pack = (channel: number, name: string, model: string) => ({
      channel,
      transmitter: { name, details: { model } },
    })
    const off = (channel: number) => ({ channel, transmitter: null })
    const receive = (...channels: readonly object[]) =>
      app.post('/api/ingest/', { source: 'script', receivers: [{ api_device_id: 'rack', name: 'Rack', channels }] })
    const put = (slot: number, body: object) => app.put(`/api/slots/${slot}/`, body)
    const listActive = async () =>
      (await app.get('/api/assignments/?is_active=true&names=true')).json.map(
        (assignment: { performer_name: string; wireless_unit: number; role: string | null }) =>
          `${assignment.performer_name} ${assignment.wireless_unit} ${assignment.role}`,
      )
    const performerIn = async (slot: number) => (await app.get(`/api/slots/${slot}/`)).json.performer?.name ?? null
    const expectActive = (...expected: readonly string[]) =>
      until(
        `the assignments are ${expected.join(', ')}`,
        async () => {
          return (await listActive()).toSorted().join() === expected.join()
        },
        20_000,
      )

    await receive(off(1), off(2), off(3))
    await until('the slots are known', async () => (await app.get('/api/slots/')).json.length === 3, 20_000)
    let loads = 0
    app.service.loader.listsChanged.subscribe(() => {
      loads += 1
    })
    await app.post('/api/performers/', { name: 'Nora' })
    const named = await put(1, { performer_name: 'Nora', role: 'Glinda' })
    const receivedAt = performance.now()
    await receive(pack(1, 'H01', 'MTP60'))
    await expectActive('Nora 1 Glinda')
    expect(performance.now() - receivedAt).toBeGreaterThan(4900)

    // Another pack in her slot. The one before it is given to Ben, and is received in a slot without a performer.
    await receive(pack(1, 'H02', 'MTH400'))
    await expectActive('Nora 2 Glinda')
    // The slot can be undone although its pack has changed since.
    expect((await app.post(`/api/undo/${named.headers['x-undo-id']}`)).status).toBe(200)
    expect([await performerIn(1), await listActive()]).toEqual([null, []])
    // She wore the second pack, so that assignment stays in the history.
    const { json: worn } = await app.get('/api/assignments/?wireless_unit=2')
    expect(worn).toMatchObject([{ is_active: false, ended_at: expect.any(String) }])
    await put(1, { performer_name: 'Nora', role: 'Glinda' })
    const ben = (await app.post('/api/performers/', { name: 'Ben' })).json
    await app.post('/api/assignments/', { performer: ben.id, wireless_unit: 1, role: 'Fiyero' })
    await receive(pack(2, 'H01', 'MTP60'))
    await until('Ben is in slot 2', async () => (await performerIn(2)) === 'Ben', 20_000)
    expect((await app.get('/api/slots/2/')).json).toMatchObject({ role: 'Fiyero', unit_id: 1, version: 0 })
    await expectActive('Ben 1 Fiyero', 'Nora 2 Glinda')
    const { json: all } = await app.get('/api/assignments/?wireless_unit=1')
    expect(all).toMatchObject([{ is_active: false, ended_at: expect.any(String) }, { performer: ben.id }])
    const { json: events } = await app.get('/api/events/?kind=unassigned')
    expect(events.results).toMatchObject([
      { by: 'local', data: { wireless_unit: 2 } },
      { by: null, data: { wireless_unit: 1 } },
    ])

    // Her pack in another slot moves nobody. Without a pack, she keeps the last one.
    await receive(off(1), pack(3, 'H02', 'MTH400'), off(2))
    await put(2, { performer_id: null, role: null })
    await receive(pack(2, 'H03', 'MTP61'))
    await put(2, { performer_name: 'Cem' })
    await until('Cem has a pack', async () => (await listActive()).includes('Cem 3 null'), 20_000)
    expect((await listActive()).toSorted()).toEqual(['Cem 3 null', 'Nora 2 Glinda'])
    expect([await performerIn(1), await performerIn(3)]).toEqual(['Nora', null])

    // A change of that slot takes nothing from her.
    await put(3, { color: 'red' })
    expect([await performerIn(1), await listActive()]).toEqual(['Nora', expect.arrayContaining(['Nora 2 Glinda'])])

    const [assignment] = (await app.get('/api/assignments/?is_active=true&wireless_unit=2')).json
    expect((await app.send('DELETE', `/api/assignments/${assignment.id}/`)).status).toBe(204)
    expect([await performerIn(1), await performerIn(2)]).toEqual([null, 'Cem'])

    // Removing her from one of two slots leaves her in the other, also when it is undone.
    await put(1, { performer_name: 'Nora' })
    await put(3, { performer_name: 'Nora' })
    expect((await listActive()).toSorted()).toEqual(['Cem 3 null', 'Nora 2 null'])
    const undoId = (await put(3, { performer_id: null })).headers['x-undo-id']
    expect([await performerIn(1), await performerIn(3), await listActive()]).toEqual(['Nora', null, ['Cem 3 null']])
    expect((await app.post(`/api/undo/${undoId}/`)).status).toBe(200)
    expect([await performerIn(1), await performerIn(3)]).toEqual(['Nora', 'Nora'])
    expect((await listActive()).toSorted()).toEqual(['Cem 3 null', 'Nora 2 null'])

    // Another performer in her only slot ends what she wears elsewhere.
    await put(1, { performer_id: null })
    await receive(off(3), pack(1, 'H02', 'MTH400'))
    await put(3, { performer_name: 'Ben' })
    expect(await listActive()).toEqual(['Cem 3 null'])
    // Settings, groups and the other lists are not reloaded for this.
    expect(loads).toBe(0)
  })
})
