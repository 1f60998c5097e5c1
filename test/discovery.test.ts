/** Identifies devices in real polls, on both engines. The rules are in section C-4 of docs/conformance.md. */

import { describe, expect, it } from 'vitest'
import type { ShowDevice } from '../simulators/show/cast.ts'
import type { Simulator } from '../simulators/show/simulator.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { type Engine, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Polls only on request. */
const idlePolling = { poll_interval: 3600 }

async function poll(app: TestApp) {
  const { status, json } = await app.post('/api/refresh/')
  expect([status, json.status]).toEqual([200, 'success'])
}

const listAdmin = async (app: TestApp, list: string) =>
  (await app.get(`/api/admin/${list}/`, await tokenHeaders(app, 'admin'))).json
const queue = (app: TestApp) => listAdmin(app, 'discovery-queue')
const movements = (app: TestApp) => listAdmin(app, 'movements')
const listIds = async (app: TestApp) => (await app.receivers()).map(({ id }) => id)

async function startService(engine: Engine, simulators: readonly Simulator[]) {
  const app = await startApp({
    engine,
    manufacturers: simulators.map((simulator) => configFor(simulator, idlePolling)),
  })
  const count = simulators.reduce((sum, { deviceCount }) => sum + deviceCount, 0)
  await until('all receivers are known', async () => (await app.receivers()).length === count)
  // Waits for the first cycle if it is still running, so that every later poll is a separate cycle.
  await poll(app)
  return app
}

describe.each(engines)('a device in a poll (%s)', (engine) => {
  // Conformance: S-1.9, S-3.3.
  it('becomes a receiver once, and is recognised afterwards', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService(engine, [shure])
    const before = await listIds(app)
    const device = deviceOf(shure)
    shure.show.set(device.id, {
      name: 'Renamed',
      firmware_version: '9.9.9',
      mac_address: device.mac_address?.toLowerCase(),
    })
    await poll(app)
    expect(await app.receiver(device.id)).toMatchObject({ name: 'Renamed', firmware_version: '9.9.9' })
    const added = shure.show.add('shure', { name: 'Guest Rack', channels: 3 })
    await poll(app)
    expect(await listIds(app)).toEqual([...before, expect.any(Number)])
    const guest = await app.receiver(added)
    expect(guest).toMatchObject({ name: 'Guest Rack', is_active: true })
    expect(guest.channels.map(({ slot }) => slot)).toEqual([5, 6, 7])
    expect([await queue(app), await movements(app)]).toEqual([[], []])
  })

  // Conformance: S-1.10, S-2.16, S-3.4, S-6.8, C-4.19.
  // Reliability: 1.12, 1.13.
  it('keeps its record when its address changes, and the movement is recorded once', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService(engine, [shure])
    const { id, ip } = deviceOf(shure)
    const receiver = await app.receiver(id)
    const socket = await app.socket()
    shure.show.set(id, { ip: '10.77.0.1' })
    await poll(app)
    await poll(app)
    expect(await app.receiver(id)).toMatchObject({ id: receiver.id, ip: '10.77.0.1' })
    expect(await movements(app)).toMatchObject([
      {
        device: { id: receiver.id },
        old_ip: ip,
        new_ip: '10.77.0.1',
        detected_by: 'sync',
        movement_type: 'ip_only',
        acknowledged: false,
        acknowledged_by: null,
      },
    ])
    await socket.next(({ receiver_id, data }) => receiver_id === receiver.id && data.ip === '10.77.0.1')
    expect(await queue(app)).toEqual([])
  })

  // Conformance: C-4.10.
  it('records two movements when it swaps addresses with another device', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService(engine, [shure])
    const [a, b] = [deviceOf(shure, 0), deviceOf(shure, 1)]
    shure.show.set(a.id, { ip: b.ip })
    shure.show.set(b.id, { ip: a.ip })
    await poll(app)
    expect([(await app.receiver(a.id)).ip, (await app.receiver(b.id)).ip]).toEqual([b.ip, a.ip])
    expect(await movements(app)).toHaveLength(2)
    expect(await queue(app)).toEqual([])
  })

  // Conformance: C-4.14.
  it('is one receiver even if it is listed twice', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const duplicate: ShowDevice = deviceOf(shure)
    shure.show.add('shure', { ...duplicate, id: 'the-same-again', ip: '10.66.0.1' })
    const app = await startApp({ engine, manufacturers: [configFor(shure, idlePolling)] })
    await until('the receivers are known', async () => (await app.receivers()).length > 0)
    await poll(app)
    await poll(app)
    expect(await app.receivers()).toHaveLength(2)
    expect([await queue(app), await movements(app)]).toEqual([[], []])
  })
})

describe.each(engines)('a device that contradicts a known receiver (%s)', (engine) => {
  // Conformance: S-1.10, S-2.14, S-3.5, S-6.8, C-4.8.
  // Reliability: 1.12.
  it('is queued for review once when its address is in use', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService(engine, [shure])
    const holder = deviceOf(shure)
    const conflicting = shure.show.add('shure', { ip: holder.ip, name: 'Visiting Rack', serial_number: 'VISITOR-1' })
    const before = await listIds(app)
    for (let polls = 0; polls < 3; polls += 1) await poll(app)
    expect(await listIds(app)).toEqual(before)
    expect(await queue(app)).toMatchObject([
      {
        manufacturer: 'shure',
        api_device_id: conflicting,
        serial_number: 'VISITOR-1',
        ip: holder.ip,
        device_type: 'receiver',
        status: 'pending',
        conflict_type: 'ip_conflict',
        is_duplicate: false,
        is_ip_conflict: true,
        existing_device: (await app.receiver(holder.id)).id,
        metadata: { device_id: conflicting, device_name: 'Visiting Rack', serial_number: 'VISITOR-1' },
      },
    ])
    expect(await app.receiver(holder.id)).toMatchObject({ ip: holder.ip, serial_number: holder.serial_number })
  })

  // Conformance: S-3.6, C-4.7.
  // Reliability: 1.13.
  it('is queued for review when its serial number belongs to another manufacturer', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const sennheiser = withoutPush(await startSennheiser({ richList: true }))
    const app = await startService(engine, [shure, sennheiser])
    const { id, serial_number } = deviceOf(shure)
    sennheiser.show.add('sennheiser', { serial_number: ` ${serial_number?.toLowerCase()} `, ip: '10.88.0.1' })
    await poll(app)
    await poll(app)
    expect(await app.receivers()).toHaveLength(4)
    expect(await queue(app)).toMatchObject([
      {
        manufacturer: 'sennheiser',
        status: 'pending',
        conflict_type: 'manufacturer_mismatch',
        is_ip_conflict: false,
        existing_device: (await app.receiver(id)).id,
      },
    ])
  })

  // Conformance: C-4.5.
  it('is queued for review when its hardware was replaced under the same id', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startService(engine, [shure])
    const { id, serial_number, mac_address, ip } = deviceOf(shure)
    shure.show.set(id, { serial_number: 'NEW-1', mac_address: '00:0E:DD:FE:FE:01', ip: '10.99.0.1' })
    await poll(app)
    expect(await queue(app)).toMatchObject([{ conflict_type: 'hardware_changed', status: 'pending' }])
    // The old device is no longer listed, and becomes inactive after three such polls in a row.
    for (const is_active of [true, true, false]) {
      expect(await app.receiver(id)).toMatchObject({ serial_number, is_active })
      await poll(app)
    }
    expect((await app.receiver(deviceOf(shure, 1).id)).is_active).toBe(true)
    shure.show.set(id, { serial_number, mac_address, ip })
    await poll(app)
    expect(await app.receiver(id)).toMatchObject({ serial_number, is_active: true })
  })

  it('does not update the old receiver through a subscription when its hardware was replaced', async () => {
    const shure = await startShure({ richList: true, pushesPerSecond: 0 })
    const app = await startService(engine, [shure])
    await until('the subscription is connected', () => shure.push.connections === 1)
    const { id } = deviceOf(shure)
    const old = await app.receiver(id)
    const push = (battery: number) =>
      shure.push.send(JSON.stringify({ type: 'device_update', device_id: id, transmitters: [{ channel: 1, battery }] }))
    push(44)
    await until('the receivers are listed', async () => channelOf(await app.receiver(id)).transmitter?.battery === 44)
    shure.show.set(id, { serial_number: 'NEW-1', mac_address: '00:0E:DD:FE:FE:01', ip: '10.99.0.1' })
    for (let polls = 0; polls < 3; polls += 1) await poll(app)
    expect((await app.receiver(id)).is_active).toBe(false)
    push(33)
    const other = deviceOf(shure, 1).id
    shure.push.send(
      JSON.stringify({ type: 'device_update', device_id: other, transmitters: [{ channel: 1, battery: 55 }] }),
    )
    await until(
      'the next push is received',
      async () => channelOf(await app.receiver(other)).transmitter?.battery === 55,
    )
    expect(await app.receiver(id)).toMatchObject({ id: old.id, is_active: false })
    expect(channelOf(await app.receiver(id)).transmitter?.battery).toBe(44)
  })
})

describe('a missing device', () => {
  // Conformance: C-4.17.
  it('is kept, and inactive after three polls that omit it or report it as offline', async () => {
    const shure = withoutPush(await startShure({ receivers: 3, richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 3)
    const [missing, offline, unaffected] = [0, 1, 2].map((index) => deviceOf(shure, index).id) as [
      string,
      string,
      string,
    ]
    const { id } = await app.receiver(missing)
    const socket = await app.socket()
    shure.show.remove(missing)
    shure.show.set(offline, { online: false })
    for (let polls = 1; polls <= 3; polls += 1) {
      expect((await app.receivers()).map(({ is_active }) => is_active)).toEqual([true, true, true])
      await poll(app)
    }
    expect((await app.receiver(missing)).is_active).toBe(false)
    expect((await app.receiver(offline)).is_active).toBe(false)
    expect((await app.receiver(unaffected)).is_active).toBe(true)
    await socket.next(({ receiver_id, data }) => receiver_id === id && data.is_active === false)
    expect((await app.get('/api/health/')).json.status).toBe('healthy')

    shure.show.set(offline, { online: true })
    await poll(app)
    expect((await app.receiver(offline)).is_active).toBe(true)
  })

  it('is inactive after three polls that report it as offline, whatever its details say', async () => {
    const shure = withoutPush(await startShure())
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    const { id } = deviceOf(shure)
    await app.receiver(id)
    shure.show.set(id, { online: false })
    for (let polls = 1; polls <= 3; polls += 1) await poll(app)
    expect((await app.receiver(id)).is_active).toBe(false)
  })

  // Conformance: S-1.23.
  it('stays active when a poll fails, and when the list is empty once', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    const before = await app.summaries()
    const devices = [deviceOf(shure, 0).id, deviceOf(shure, 1).id]
    for (const id of devices) shure.show.remove(id)
    await poll(app)
    await poll(app)
    const path = /./
    for (const type of ['reset', 'html', 'wrong-shape', 'truncated', 'not-json'] as const) {
      shure.setFault({ type }, { path })
      expect((await app.post('/api/refresh/')).status).toBe(503)
    }
    const remaining = await app.summaries()
    expect(remaining.map(({ id, is_active, last_seen }) => [id, is_active, last_seen])).toEqual(
      before.map(({ id, last_seen }) => [id, true, last_seen]),
    )
    withoutPush(shure)
    await poll(app)
    expect((await app.receivers()).map(({ is_active }) => is_active)).toEqual([false, false])
  })

  it('does not affect readable devices when its entry is malformed', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 3)
    const second = deviceOf(shure, 1).id
    shure.show.set(second, { name: 'Still Updated' })
    shure.setFault({ type: 'malformed-device', how: 'id-missing' })
    await poll(app)
    expect((await app.receiver(second)).name).toBe('Still Updated')
    expect(await app.receivers()).toHaveLength(3)
  })
})
