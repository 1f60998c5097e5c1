/** Movements of receivers, detected or made by hand, and the layout of locations. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

const idlePolling = { poll_interval: 3600 }

async function startService() {
  const shure = withoutPush(await startShure({ richList: true }))
  const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
  await until('all receivers are known', async () => (await app.receivers()).length === 2)
  const admin = await tokenHeaders(app, 'admin')
  const json = { ...admin, 'content-type': 'application/json' }
  return {
    shure,
    app,
    admin,
    patch: (path: string, body: object) => app.send('PATCH', path, { headers: json, body: JSON.stringify(body) }),
    remove: (path: string) => app.send('DELETE', path, { headers: admin }),
    post: (path: string, body: object) => app.post(path, body, admin),
    movements: async (query = '') => (await app.get(`/api/admin/movements/${query}`, admin)).json,
  }
}

async function poll(app: TestApp) {
  expect((await app.post('/api/refresh/')).json.status).toBe('success')
}

// Conformance: S-2.18, S-3.12, S-5.8, C-5.49, C-5.62.
it('a moved receiver is listed until a user acknowledges it', async () => {
  const { shure, app, admin, movements } = await startService()
  const { id, ip } = deviceOf(shure)
  const receiver = await app.receiver(id)
  shure.show.set(id, { ip: '10.77.0.1' })
  await poll(app)
  const { json } = await app.get('/api/movements/unacknowledged/')
  expect(json).toMatchObject({
    count: 1,
    results: [
      {
        device: { id: receiver.id, name: receiver.name, serial_number: deviceOf(shure).serial_number },
        old_ip: ip,
        new_ip: '10.77.0.1',
        movement_type: 'ip_only',
        detected_at: expect.stringMatching(/Z$/),
        acknowledged: false,
      },
    ],
  })
  expect((await app.get('/api/movements/unacknowledged/?manufacturer=nobody')).json).toEqual({ count: 0, results: [] })
  const [movement] = json.results
  const operator = await tokenHeaders(app, 'operator')
  const first = await app.post('/api/admin/movements/acknowledge/', { ids: [movement.id, 999] }, operator)
  expect(first.json).toEqual({
    message: 'Acknowledged 1 movement(s).',
    updated: 1,
    failed: [{ id: 999, error: 'There is no movement 999.' }],
  })
  const again = await app.post('/api/admin/movements/acknowledge/', { ids: [movement.id] }, admin)
  expect([again.status, again.json]).toMatchObject([409, { status: 409, failed: [{ id: movement.id }] }])
  expect((await app.get('/api/movements/unacknowledged/?page=1')).json).toEqual({
    count: 0,
    next: null,
    previous: null,
    results: [],
  })
  expect(await movements('?acknowledged=true&manufacturer=shure')).toMatchObject([
    { id: movement.id, acknowledged: true, acknowledged_by: "a test's operator" },
  ])
  expect(await movements('?acknowledged=false')).toEqual([])
})

it('two receivers that swap addresses cause two movements, and two more when they swap back', async () => {
  const { shure, app, movements } = await startService()
  const [a, b] = [deviceOf(shure, 0), deviceOf(shure, 1)]
  shure.show.set(a.id, { ip: b.ip })
  shure.show.set(b.id, { ip: a.ip })
  await poll(app)
  shure.show.set(a.id, { ip: a.ip })
  shure.show.set(b.id, { ip: b.ip })
  await poll(app)
  shure.show.set(a.id, { ip: b.ip })
  shure.show.set(b.id, { ip: a.ip })
  await poll(app)
  const moves = (await movements()).map((movement: Record<string, unknown>) => [
    movement.old_ip,
    movement.new_ip,
    movement.times_seen,
  ])
  expect(moves.sort()).toEqual(
    [
      [a.ip, b.ip, 2],
      [b.ip, a.ip, 2],
      [b.ip, a.ip, 1],
      [a.ip, b.ip, 1],
    ].sort(),
  )
  expect((await app.get('/api/discovery/pending/')).json.count).toBe(0)
})

// Conformance: C-5.51, C-5.53.
it('locations are created, nested, changed, and not removed while they are in use', async () => {
  const { app, admin, post, patch, remove } = await startService()
  const venue = await post('/api/admin/locations/', { name: 'Venue' })
  expect([venue.status, venue.json]).toEqual([
    201,
    {
      id: expect.any(Number),
      name: 'Venue',
      description: '',
      parent: null,
      zone: null,
      country: null,
      latitude: null,
      longitude: null,
      version: expect.any(Number),
    },
  ])
  const stage = (await post('/api/admin/locations/', { name: 'Stage', parent: venue.json.id })).json
  expect((await patch(`/api/admin/locations/${stage.id}/`, { name: 'Main stage' })).json).toMatchObject({
    name: 'Main stage',
    parent: venue.json.id,
  })
  expect((await patch(`/api/admin/locations/${venue.json.id}/`, { parent: stage.id })).json).toMatchObject({
    status: 400,
    details: expect.stringMatching(/^parent:/),
  })
  expect((await post('/api/admin/locations/', { name: 'X', parent: 999 })).status).toBe(400)
  expect((await post('/api/admin/locations/', { name: '' })).json.details).toMatch(/^name:/)
  expect((await patch('/api/admin/locations/999/', { name: 'X' })).status).toBe(404)
  expect((await remove(`/api/admin/locations/${venue.json.id}/`)).status).toBe(409)
  expect((await remove(`/api/admin/locations/${stage.id}/`)).status).toBe(204)
  expect((await app.get('/api/admin/locations/', admin)).json).toEqual([venue.json])
})

// Conformance: S-2.12, S-2.17, C-4.19, C-5.55.
it('a user assigns a location, a name or an address to a receiver', async () => {
  const { shure, app, admin, post, patch, remove, movements } = await startService()
  const [a, b] = [deviceOf(shure, 0), deviceOf(shure, 1)]
  const { id } = await app.receiver(a.id)
  const rack = (await post('/api/admin/locations/', { name: 'Rack A' })).json
  const path = `/api/admin/receivers/${id}/`

  const placed = await patch(path, { location: rack.id, reason: 'for the gala' })
  expect([placed.status, placed.json.location]).toEqual([200, { id: rack.id, name: 'Rack A' }])
  expect((await app.get(`/api/receivers/${id}/`)).json.location).toEqual({ id: rack.id, name: 'Rack A' })
  expect((await app.get('/api/movements/unacknowledged/')).json.results).toMatchObject([
    {
      movement_type: 'location_only',
      detected_by: 'manual',
      reason: 'for the gala',
      old_location: null,
      new_location: { id: rack.id, name: 'Rack A' },
    },
  ])
  expect((await remove(`/api/admin/locations/${rack.id}/`)).status).toBe(409)

  await patch(path, { location: null, ip: '10.5.5.5' })
  await patch(path, { ip: '10.5.5.6' })
  expect((await movements()).map((movement: { movement_type: string }) => movement.movement_type)).toEqual([
    'location_only',
    'ip_and_location',
    'ip_only',
  ])
  expect((await patch(path, { ip: b.ip })).status).toBe(409)
  expect((await patch(path, { ip: '10.5.5.256' })).json.details).toMatch(/^ip:/)
  expect((await patch(path, { location: 999 })).json.details).toMatch(/^location:/)
  expect((await patch(path, { colour: 'red' })).status).toBe(400)
  expect((await patch('/api/admin/receivers/999/', { name: 'X' })).status).toBe(404)

  const socket = await app.socket()
  await patch(path, { name: 'Lead vocals' })
  await socket.next(({ receiver_id, data }) => receiver_id === id && data.name === 'Lead vocals')
  await poll(app)
  expect(await app.receiver(a.id)).toMatchObject({ name: 'Lead vocals', ip: a.ip })
  await patch(path, { name: null })
  await poll(app)
  expect((await app.receiver(a.id)).name).toBe(a.name)

  await patch(path, { location: rack.id })
  const { json: layout } = await app.get('/api/admin/hardware-layout/', admin)
  expect(layout).toMatchObject({
    locations: [{ id: rack.id, receivers: [{ id, channels: [{ channel: 1 }, { channel: 2 }] }], locations: [] }],
    unplaced: [{ name: b.name }],
  })
})

it('a receiver that was added by hand is matched by the poll that finds it; a removed one is removed everywhere', async () => {
  const { shure, app, admin, post, remove } = await startService()
  const created = await post('/api/admin/receivers/', { manufacturer: 'shure', name: 'Rental', serial_number: 'R-1' })
  expect([created.status, created.json]).toMatchObject([201, { name: 'Rental', is_active: false, channels: [] }])
  expect((await post('/api/admin/receivers/', { manufacturer: 'shure', name: 'R', serial_number: 'r-1' })).status).toBe(
    409,
  )
  expect((await post('/api/admin/receivers/', { manufacturer: 'shure', name: 'R' })).status).toBe(400)
  expect((await post('/api/admin/receivers/', { manufacturer: 'x', name: 'R', ip: '10.1.1.1' })).status).toBe(400)
  const device = shure.show.add('shure', { serial_number: 'R-1', ip: '10.6.0.1', channels: 1 })
  await poll(app)
  const known = await app.receiver(device)
  expect(known).toMatchObject({ id: created.json.id, name: 'Rental', is_active: true, ip: '10.6.0.1' })
  expect(known.channels).toHaveLength(1)

  const second = await startApp({ databaseUrl: app.databaseUrl, servesOnly: true })
  const socket = await second.socket()
  expect(await second.receivers()).toHaveLength(3)
  shure.show.remove(device)
  expect((await remove(`/api/admin/receivers/${known.id}/`)).status).toBe(204)
  expect((await app.get(`/api/receivers/${known.id}/`)).status).toBe(404)
  expect((await remove(`/api/admin/receivers/${known.id}/`)).status).toBe(404)
  expect(await app.receivers()).toHaveLength(2)
  await socket.next(({ receiver_id, data }) => receiver_id === known.id && data.channels.length === 0)
  expect(await second.receivers()).toHaveLength(2)
  await poll(app)
  expect((await app.get('/api/admin/receivers/?page=1', admin)).json.count).toBe(2)

  const listed = deviceOf(shure)
  const { id } = await app.receiver(listed.id)
  await remove(`/api/admin/receivers/${id}/`)
  await poll(app)
  expect((await app.receiver(listed.id)).id).toBeGreaterThan(id)
})

it('a pushed new address is kept by the polls that follow', async () => {
  const shure = await startShure({ receivers: 1 })
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 1 })] })
  const { id } = deviceOf(shure)
  await until('the subscription is connected', () => shure.push.connections > 0)
  await until('the address is known', async () => (await app.receivers())[0]?.ip !== null)
  shure.show.set(id, { ip: '10.77.0.1' })
  await until('the new address is known', async () => (await app.receivers())[0]?.ip === '10.77.0.1')
  const polls = shure.requests.count('/api/v1/devices')
  await until('the system is polled again', () => shure.requests.count('/api/v1/devices') > polls + 2)
  const { json } = await app.get('/api/movements/unacknowledged/')
  expect(json.results.map(({ new_ip }: { new_ip: string }) => new_ip)).toEqual(['10.77.0.1'])
})
