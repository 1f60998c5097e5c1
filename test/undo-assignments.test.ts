/** Undo of assignments, of units in slots and of units that no slot receives. */

import { describe, expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'

describe.concurrent.each(engines)('an assignment (%s)', (engine) => {
  // Conformance: C-21.12.
  it('can be undone when it was added, changed or removed', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const app = await startApp({ databaseUrl: database.url })
    const receive = (name: string, model: string) => {
      const channels = [{ channel: 1, transmitter: { name, details: { model } } }]
      return app.post('/api/ingest/', {
        source: 'script',
        receivers: [{ api_device_id: 'rack', name: 'Rack', channels }],
      })
    }
    const send = (method: string, path: string, body?: object) =>
      app.send(method, path, {
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
    const undo = async ({ headers }: Awaited<ReturnType<typeof send>>) =>
      (await app.post(`/api/undo/${headers['x-undo-id']}`)).status
    const present = async () => {
      const { json } = await app.get('/api/assignments/?is_active=true&names=true')
      const { performer } = (await app.get('/api/slots/1/')).json
      const worn = json.map((one: Record<string, unknown>) => [one.wireless_unit, one.performer_name, one.role])
      return [performer?.name ?? null, worn.sort()]
    }
    await receive('H01', 'MTP60')
    await receive('H02', 'MTH400')
    await until('both packs are known', async () => (await app.get('/api/units/')).json.length === 2)
    const [away, inSlot] = [1, 2]
    const addPerformer = async (name: string) => (await app.post('/api/performers/', { name })).json.id as number
    const [nora, ben] = [await addPerformer('Nora'), await addPerformer('Ben')]
    const add = (performer: number, wireless_unit: number) =>
      send('POST', '/api/assignments/', { performer, wireless_unit, role: 'Glinda' })

    for (const unit of [inSlot, away]) {
      const before = await present()
      const added = await add(nora, unit)
      const path = `/api/assignments/${added.json.id}/`
      const withNora = await present()
      expect(withNora[1]).toContainEqual([unit, 'Nora', 'Glinda'])
      const changed = await send('PUT', path, { performer: ben })
      expect((await present())[1]).toContainEqual([unit, 'Ben', 'Glinda'])
      expect([await undo(changed), await present()]).toEqual([200, withNora])
      const { json: active } = await app.get(`/api/assignments/?is_active=true&wireless_unit=${unit}`)
      const removed = await send('DELETE', `/api/assignments/${active[0].id}/`)
      expect([removed.status, await present()]).toEqual([204, before])
      expect([await undo(removed), await present()]).toEqual([200, withNora])
      if (unit === away) {
        expect([await undo(added), await present()]).toEqual([200, before])
        // Nothing is restored for a performer who was removed meanwhile.
        const again = await add(nora, away)
        const gone = await send('DELETE', `/api/assignments/${again.json.id}/`)
        await send('DELETE', `/api/performers/${nora}/`)
        expect(await undo(gone)).toBe(409)
      }
    }
  })

  // Conformance: C-21.12.
  it('keeps its performer when the edit that added the performer is undone', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const app = await startApp({ databaseUrl: database.url })
    for (const [name, model] of [
      ['H01', 'MTP60'],
      ['H02', 'MTH400'],
    ]) {
      const channels = [{ channel: 1, transmitter: { name, details: { model } } }]
      await app.post('/api/ingest/', {
        source: 'script',
        receivers: [{ api_device_id: 'rack', name: 'Rack', channels }],
      })
    }
    await until('both packs are known', async () => (await app.get('/api/units/')).json.length === 2)
    const put = await app.put('/api/slots/9/', { performer_name: 'Nora' })
    await app.post('/api/assignments/', { performer: put.json.performer.id, wireless_unit: 1 })
    expect((await app.post(`/api/undo/${put.headers['x-undo-id']}`)).status).toBe(409)
    expect((await app.get('/api/assignments/?is_active=true')).json).toMatchObject([{ wireless_unit: 1 }])
  })
})
