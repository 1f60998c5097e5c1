/** Devices that are pending review: real polls, the queue, approval, and the effect in every process and client. */

import { describe, expect, it } from 'vitest'
import type { Simulator } from '../simulators/show/simulator.ts'
import { auditOf } from './support/admin-lists.ts'
import {
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { device, startSystem } from './support/faults/system.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Polls only on request. */
const idlePolling = { poll_interval: 3600 }
const queuePath = '/api/admin/discovery-queue'

async function poll(app: TestApp) {
  const { status, json } = await app.post('/api/refresh/')
  expect([status, json.status]).toEqual([200, 'success'])
}

async function startService(simulators: readonly Simulator[], options: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp({
    manufacturers: simulators.map((simulator) => configFor(simulator, idlePolling)),
    ...options,
  })
  const count = simulators.reduce((sum, { deviceCount }) => sum + deviceCount, 0)
  await until('all receivers are known', async () => (await app.receivers()).length === count)
  // Waits for the first cycle if it is still running, so that every later poll is a separate cycle.
  await poll(app)
  const admin = await tokenHeaders(app, 'admin')
  const queue = async (query = '') => (await app.get(`${queuePath}/${query}`, admin)).json
  const review = (action: string, ids: readonly number[]) => app.post(`${queuePath}/${action}/`, { ids }, admin)
  return Object.assign(app, { admin, queue, review })
}

/** Adds a second device with the IP address of the first one. */
function addConflict(shure: Simulator, serial_number = 'VISITOR-1') {
  const holder = deviceOf(shure)
  const id = shure.show.add('shure', { ip: holder.ip, name: 'Visiting Rack', serial_number, channels: 2 })
  return { id, holder }
}

describe.each(engines)('approving (%s)', (engine) => {
  // Conformance: S-2.15, S-3.8, S-5.8, C-4.15, C-5.48.
  it('creates a complete receiver immediately', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure], { engine })
    const { id, holder } = addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    expect(entry).toMatchObject({
      status: 'pending',
      conflict_type: 'ip_conflict',
      reviewed_by: null,
      existing: { id: entry.existing_device, ip: holder.ip, serial_number: holder.serial_number },
      metadata: { device_id: id },
    })
    const pending = (await app.get('/api/discovery/pending/')).json
    expect(pending).toMatchObject({
      count: 1,
      results: [{ id: entry.id, manufacturer: 'shure', serial_number: 'VISITOR-1', ip: holder.ip, status: 'pending' }],
    })
    const socket = await app.socket()

    const { status, json } = await app.review('approve', [entry.id])
    expect([status, json]).toEqual([200, { message: 'Approved and imported 1 device(s).', updated: 1, failed: [] }])

    const created = await app.receiver(id)
    expect(created).toMatchObject({ name: 'Visiting Rack', ip: holder.ip, serial_number: 'VISITOR-1', is_active: true })
    expect(created.channels.map(({ channel, slot }) => [channel, slot])).toEqual([
      [1, 5],
      [2, 6],
    ])
    await socket.next(({ receiver_id }) => receiver_id === created.id)
    expect(await app.queue()).toMatchObject([
      {
        status: 'imported',
        existing_device: created.id,
        reviewed_by: "a test's admin",
        reviewed_at: expect.any(String),
      },
    ])
    expect((await app.get('/api/discovery/pending/')).json).toEqual({ count: 0, results: [] })

    await poll(app)
    await poll(app)
    expect(await app.receivers()).toHaveLength(3)
    expect(await app.queue()).toHaveLength(1)
    expect((await app.receiver(id)).id).toBe(created.id)
    expect((await app.receiver(holder.id)).is_active).toBe(true)
  })

  // Conformance: C-4.7.
  it('a device whose serial number belongs to another manufacturer creates a separate receiver', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const sennheiser = withoutPush(await startSennheiser({ richList: true }))
    const app = await startService([shure, sennheiser], { engine })
    const { serial_number } = deviceOf(shure)
    const id = sennheiser.show.add('sennheiser', { serial_number, ip: '10.88.0.1' })
    await poll(app)
    const [entry] = await app.queue('?manufacturer=sennheiser')
    expect(entry.conflict_type).toBe('manufacturer_mismatch')
    await app.review('approve', [entry.id])
    await poll(app)
    expect(await app.receiver(id)).toMatchObject({ manufacturer: 'sennheiser', serial_number })
    expect(await app.receivers()).toHaveLength(5)
  })

  // Conformance: C-4.13.
  it('links the entry to an existing receiver that now matches the device', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure], { engine })
    addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    const manual = { manufacturer: 'shure', name: 'By hand', mac_address: entry.mac_address }
    const created = await app.post('/api/admin/receivers/', manual, app.admin)
    expect(created.status).toBe(201)
    expect((await app.review('approve', [entry.id])).json).toMatchObject({ updated: 1 })
    expect(await app.queue()).toMatchObject([{ status: 'imported', existing_device: created.json.id }])
    expect(await app.receivers()).toHaveLength(3)
  })

  it('by two administrators at once takes effect once', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure], { engine })
    addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    const responses = await Promise.all(Array.from({ length: 4 }, () => app.review('approve', [entry.id])))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    const error = `Entry ${entry.id} has already been reviewed: it is imported.`
    expect(responses.find(({ status }) => status === 409)?.json).toEqual({
      error: 'Nothing was changed.',
      status: 409,
      details: error,
      failed: [{ id: entry.id, error }],
    })
    expect(await app.receivers()).toHaveLength(3)
  })

  // Conformance: C-1.8.
  it('in one process reaches the clients of another', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure], { engine })
    const second = await startApp({ databaseUrl: app.databaseUrl, servesOnly: true })
    const { id } = addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    const socket = await second.socket()
    const { json } = await second.post(`${queuePath}/approve`, { ids: [entry.id] }, app.admin)
    expect(json.updated).toBe(1)
    const created = await until('the receiver is listed', () => app.receiver(id), 3_000)
    await socket.next(({ receiver_id }) => receiver_id === created.id)
    await poll(app)
    expect(await app.receivers()).toHaveLength(3)
  })
})

describe.each(engines)('approving after a replacement (%s)', (engine) => {
  // Conformance: C-4.6.
  it('replaced hardware creates a new receiver, which takes over the id', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure], { engine })
    const { id, serial_number } = deviceOf(shure)
    const old = await app.receiver(id)
    shure.show.set(id, { serial_number: 'NEW-1', mac_address: '00:0E:DD:FE:FE:01', ip: '10.99.0.1' })
    await poll(app)
    const [entry] = await app.queue()
    expect(entry).toMatchObject({ conflict_type: 'hardware_changed', existing_device: old.id })
    await app.review('approve', [entry.id])
    expect(await app.receiver(id)).toMatchObject({ serial_number: 'NEW-1', ip: '10.99.0.1' })
    expect((await app.get(`/api/receivers/${old.id}/`)).json).toMatchObject({ api_device_id: null, serial_number })
    await poll(app)
    expect(await app.receivers()).toHaveLength(3)
  })

  // Conformance: C-4.21, C-21.7.
  it('replaced hardware creates its channels at once in the slots of the old receiver, even after several polls', async () => {
    // The list identifies devices but contains no channels. The requests for the channels fail later in the test.
    const responses = new Map<string, object>()
    const list = (more: object) =>
      responses.set('/api/v1/devices', {
        devices: [device(1, { channels: undefined, transmitters: undefined, ...more })],
      })
    list({})
    const { channels, transmitters } = device(1)
    responses.set('/api/v1/devices/d1/channels', { channels })
    responses.set('/api/v1/devices/d1/transmitter', { transmitters })
    const system = await startSystem(({ url = '' }, response) => {
      const body = responses.get(url)
      response.writeHead(body === undefined ? 503 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body ?? {}))
    })
    const app = await startService([], { engine, manufacturers: [system.entry('shure', idlePolling)] })
    const old = await until('the device is known', () => app.receiver('d1'))
    list({ serial_number: 'NEW-1', mac_address: '00:0E:DD:FE:FE:01', ip: '10.99.0.1' })
    await poll(app)
    responses.delete('/api/v1/devices/d1/channels')
    responses.delete('/api/v1/devices/d1/transmitter')
    for (let polls = 0; polls < 3; polls += 1) await poll(app)
    const [entry] = await app.queue()
    await app.review('approve', [entry.id])
    const created = await app.receiver('d1')
    expect(created).toMatchObject({ serial_number: 'NEW-1' })
    expect(created.id).not.toBe(old.id)
    expect(created.channels).toMatchObject([{ slot: 1, name: 'Voice 1', transmitter: { name: 'Pack 1' } }])
    expect((await app.get(`/api/receivers/${old.id}/`)).json.channels).toMatchObject([{ slot: 2 }])
  })

  // Conformance: C-4.21, C-21.7.
  it('replaced hardware creates its channels at once if the old receiver had a subscription', async () => {
    const shure = await startShure({ richList: true })
    const app = await startService([shure], { engine })
    await until('the connection is open', () => shure.push.connections > 0)
    const { id } = deviceOf(shure)
    const old = await app.receiver(id)
    await app.put('/api/slots/1/', { performer_name: 'Nora', role: 'Glinda' }, app.admin)
    const slotsOf = ({ channels }: typeof old) => channels.map(({ channel, slot }) => [channel, slot])
    shure.show.set(id, { serial_number: 'NEW-1', mac_address: '00:0E:DD:FE:FE:01', ip: '10.99.0.1' })
    for (let polls = 0; polls < 4; polls += 1) await poll(app)
    const [entry] = await app.queue()
    await app.review('approve', [entry.id])
    const created = await app.receiver(id)
    expect(slotsOf(created)).toEqual(slotsOf(old))
    for (const { transmitter } of created.channels) expect(transmitter).not.toBeNull()
    expect((await app.get('/api/slots/1/')).json).toMatchObject({
      ...{ title: 'Nora', role: 'Glinda', channel_id: created.channels[0]?.id },
    })
    expect(slotsOf((await app.get(`/api/receivers/${old.id}/`)).json)).toEqual([
      [1, 5],
      [2, 6],
    ])
    await poll(app)
    expect(slotsOf(await app.receiver(id))).toEqual(slotsOf(old))
    expect(await app.receivers()).toHaveLength(3)
  })
})

describe('rejecting', () => {
  // Conformance: S-3.9, C-4.12, C-5.48, C-5.62.
  it('ignores a device until its entry is reopened', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure])
    const { holder } = addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    expect((await app.review('reject', [entry.id])).json).toMatchObject({
      message: 'Rejected 1 device(s).',
      updated: 1,
    })
    // The device is ignored even when the conflict is gone.
    shure.show.remove(holder.id)
    shure.show.set(entry.api_device_id, { ip: '10.44.0.1' })
    await poll(app)
    expect(await app.receivers()).toHaveLength(2)
    expect(await app.queue()).toMatchObject([{ status: 'rejected', reviewed_by: "a test's admin" }])
    for (const action of ['approve', 'reject']) {
      const rejected = await app.review(action, [entry.id, 999_999])
      const [known, unknown] = rejected.json.failed
      expect([rejected.status, known.id, unknown.id]).toEqual([409, entry.id, 999_999])
    }

    expect((await app.review('reopen', [entry.id])).json).toMatchObject({ message: 'Reopened 1 device(s).' })
    expect(await app.queue()).toMatchObject([{ status: 'pending', reviewed_by: null, reviewed_at: null }])
    await poll(app)
    expect(await app.receivers()).toHaveLength(3)
  })

  // Conformance: S-3.10, C-5.48.
  // Reliability: 3.11.2.
  it('as a duplicate marks the entry and keeps it', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure])
    addConflict(shure)
    await poll(app)
    const [entry] = await app.queue()
    const { json } = await app.review('mark-duplicate', [entry.id, 999_999])
    expect(json).toEqual({
      message: 'Marked 1 device(s) as duplicate.',
      updated: 1,
      failed: [{ id: 999_999, error: 'There is no entry 999999.' }],
    })
    await poll(app)
    expect(await app.queue()).toMatchObject([{ status: 'duplicate', is_duplicate: true }])
    expect(await app.receivers()).toHaveLength(2)
    const audited = { action: 'queue.mark_duplicate', target: `entry ${entry.id}`, result: 'ok' }
    expect(await auditOf(app)).toContainEqual(expect.objectContaining(audited))
  })
})

describe('the review queue', () => {
  // Conformance: S-3.11, C-5.47.
  it('is filtered and paginated', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService([shure])
    for (const serial of ['V-1', 'V-2', 'V-3']) addConflict(shure, serial)
    await poll(app)
    const all = await app.queue()
    expect(all).toHaveLength(3)
    await app.review('reject', [all[1].id])
    const serials = async (query: string) => {
      const response = await app.queue(query)
      return response.map((entry: { serial_number: string }) => entry.serial_number)
    }
    expect(await serials('?status=pending')).toEqual(['V-1', 'V-3'])
    expect(await serials('?status=rejected&manufacturer=shure')).toEqual(['V-2'])
    expect(await serials('?manufacturer=nobody')).toEqual([])
    expect(await serials('?device_type=transmitter')).toEqual([])
    expect(await serials('?is_ip_conflict=true&is_duplicate=false')).toHaveLength(3)
    expect(await serials('?discovered_after=2020-01-01')).toHaveLength(3)
    expect(await serials('?discovered_before=2020-01-01T00:00:00Z')).toEqual([])
    const page = await app.queue('?status=pending&page=2&page_size=1')
    expect(page).toMatchObject({ count: 2, next: null, results: [{ serial_number: 'V-3' }] })
    expect(page.previous).toContain('status=pending')
    const pending = (await app.get('/api/discovery/pending/?page=1&page_size=1')).json
    expect(pending).toMatchObject({ count: 2, previous: null, results: [{ serial_number: 'V-1' }] })
    expect(pending.next).toBe('/api/discovery/pending/?page=2&page_size=1')
    for (const query of ['?status=nonsense', '?is_duplicate=perhaps', '?discovered_after=soon', '?page=0']) {
      expect((await app.get(`${queuePath}/${query}`, app.admin)).status).toBe(400)
    }
    expect((await app.get(`${queuePath}/?page=9`, app.admin)).status).toBe(404)
  })

  it('can be changed by administrators only', async () => {
    const app = await startApp()
    expect((await app.get(`${queuePath}/`)).status).toBe(401)
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    expect((await app.get(`${queuePath}/`, viewer)).json).toEqual([])
    for (const action of ['approve', 'reject', 'mark-duplicate', 'reopen']) {
      expect((await app.post(`${queuePath}/${action}`, { ids: [1] }, operator)).status).toBe(403)
    }
    expect((await app.post('/api/admin/movements/acknowledge', { ids: [1] }, viewer)).status).toBe(403)
    const admin = await tokenHeaders(app, 'admin')
    for (const body of [{}, { ids: [] }, { ids: ['1'] }, { ids: [0] }, { ids: [1.5] }, { ids: 1 }]) {
      const { status, json } = await app.post(`${queuePath}/approve`, body, admin)
      expect([status, json.details]).toEqual([400, expect.stringContaining('ids')])
    }
  })
})
