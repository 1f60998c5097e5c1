/** Groups, slots on the wall, chassis, wireless units, and the performers with assigned units. */

import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { channelOf, configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import type { HttpClient } from './support/http-client.ts'
import { channelIn } from './support/socket-client.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'

function write(app: HttpClient, method: string, path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  return app.send(method, path, { headers, body: JSON.stringify(body) })
}

/** Starts a service that knows two receivers of two channels each and polls them every second. */
async function startRack(engine: (typeof engines)[number] = 'sqlite') {
  const simulator = withoutPush(await startShure())
  const app = await startApp({ engine, manufacturers: [configFor(simulator)] })
  await until('both receivers are known', async () => (await app.receivers()).length === 2)
  return { simulator, app }
}

describe.concurrent('groups', () => {
  // Conformance: S-2.9, S-4.13, S-4.14, C-5.42.
  it('are created, changed, listed and removed', async () => {
    const app = await startApp({ manufacturers: [{ code: 'shure', config: {} }] })
    const created = await app.post('/api/group/', { title: 'Choir', slots: [3, 1, 2] })
    expect(created.status).toBe(201)
    const choir = {
      id: created.json.id,
      title: 'Choir',
      slots: [3, 1, 2],
      hide_charts: false,
      zone: null,
      manufacturer: null,
      version: created.json.version,
    }
    expect(created.json).toEqual(choir)
    const band = await app.post('/api/group/', { title: 'Band', hide_charts: true, zone: null, manufacturer: 'shure' })
    expect(band.json).toMatchObject({ slots: [], hide_charts: true, zone: null, manufacturer: 'shure' })
    expect((await app.get('/api/data.json')).json.groups).toEqual([choir, band.json])
    expect((await app.get('/api/groups/?manufacturer=shure')).json).toEqual([band.json])
    expect((await app.get('/api/groups/?manufacturer=nobody')).json).toEqual([])
    expect((await app.get('/api/groups/?page_size=1')).json).toMatchObject({ count: 2, results: [choir] })

    const put = await write(app, 'PUT', `/api/groups/${choir.id}/`, { slots: [7] })
    expect({ status: put.status, json: put.json }).toEqual({
      status: 200,
      json: { ...choir, slots: [7], version: expect.any(Number) },
    })
    const unchanged = await write(app, 'PUT', `/api/groups/${choir.id}/`, put.json)
    expect({ status: unchanged.status, json: unchanged.json }).toEqual({ status: 200, json: put.json })
    const otherId = await write(app, 'PUT', `/api/groups/${choir.id}/`, band.json)
    expect({ status: otherId.status, json: otherId.json }).toMatchObject({
      status: 400,
      json: { details: expect.stringContaining('id') },
    })
    expect((await app.get('/api/data/')).json.groups[0].slots).toEqual([7])
    const posted = await app.post('/api/group/', { id: choir.id, title: 'Chorus', hide_charts: true })
    expect({ status: posted.status, json: posted.json }).toEqual({
      status: 200,
      json: { ...choir, title: 'Chorus', slots: [7], hide_charts: true, version: expect.any(Number) },
    })
    expect((await app.send('DELETE', `/api/groups/${choir.id}/`)).status).toBe(204)
    expect((await app.send('DELETE', `/api/groups/${choir.id}/`)).status).toBe(404)
    expect((await app.get('/api/data.json')).json.groups).toEqual([band.json])
  })

  // Conformance: C-5.41.
  it.each([
    [{}, 'title: missing'],
    [{ title: '' }, 'title: expected text of 1 to 255'],
    [{ title: 'x'.repeat(256) }, 'title: expected'],
    [{ title: 5 }, 'title: expected'],
    [{ title: 'A', slots: [1, 1] }, 'slots: expected at most 10000 distinct'],
    [{ title: 'A', slots: [0] }, 'slots.0: expected a whole number from 1 to 65535'],
    [{ title: 'A', slots: [65_536] }, 'slots.0'],
    [{ title: 'A', slots: ['1'] }, 'slots.0'],
    [{ title: 'A', slots: Array.from({ length: 10_001 }, (_, index) => index + 1) }, 'slots: expected at most 10000'],
    [{ title: 'A', hide_charts: 'no' }, 'hide_charts: expected true or false'],
    [{ title: 'A', manufacturer: 'nobody' }, 'manufacturer: there is no'],
    [{ id: 99, title: 'A' }, 'id: there is no group 99'],
    [{ title: 'A', colour: 'blue' }, 'colour: unknown field'],
  ])('are rejected with the reason for an invalid field (case %#)', async (body, details) => {
    const app = await startApp()
    const { status, json } = await app.post('/api/group/', body)
    expect({ status, details: json.details }).toEqual({ status: 400, details: expect.stringContaining(details) })
  })

  // Conformance: C-5.41.
  // Reliability: 3.12.10.
  it('can have 10,000 slots; unknown ids and manufacturers are rejected', async () => {
    const app = await startApp()
    const slots = Array.from({ length: 10_000 }, (_, index) => 65_535 - index)
    expect((await app.post('/api/group/', { title: 'ä'.repeat(255), slots })).json.slots).toEqual(slots)
    expect((await write(app, 'PUT', '/api/groups/99/', { title: 'A' })).status).toBe(404)
    expect((await app.post('/api/group/?manufacturer=nobody', { title: 'A' })).status).toBe(404)
    expect((await app.post('/api/performers/?manufacturer=nobody', { name: 'A' })).status).toBe(404)
    expect((await app.send('PATCH', '/api/groups/1/')).status).toBe(405)
    expect((await write(app, 'PUT', '/api/groups/0/', { title: 'A' })).status).toBe(400)
  })

  it.each(engines)('are visible to other processes (%s)', async (engine) => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const first = await startApp({ databaseUrl: database.url })
    const other = await startApp({ databaseUrl: database.url })
    await first.post('/api/group/', { title: 'Choir' })
    await until('the group is listed', async () => (await other.get('/api/data.json')).json.groups.length === 1, 1500)
  })
})

describe.concurrent.each(engines)('a slot on the wall (%s)', (engine) => {
  // Conformance: C-2.7, C-5.15.
  it('is set by a user, belongs to one channel at a time, and keeps live readings', async () => {
    const { simulator, app } = await startRack(engine)
    const socket = await app.socket()
    const { id } = deviceOf(simulator)
    const channel = channelOf(await app.receiver(id), 2)
    const moved = await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 12 })
    expect(moved.status).toBe(200)
    expect(moved.json).toMatchObject({ id: channel.id, channel: 2, slot: 12 })
    expect(channelOf(await app.receiver(id), 2)).toMatchObject({ slot: 12, transmitter: { slot: 12 } })
    const update = await socket.next((message) => channelIn(message, 2)?.slot === 12)
    expect(channelOf(update.data, 2).transmitter?.battery).toEqual(expect.any(Number))

    const first = channelOf(await app.receiver(id), 1)
    const conflicting = await write(app, 'PATCH', `/api/channels/${first.id}/`, { slot: 12 })
    expect(conflicting.status).toBe(409)
    expect(conflicting.json.details).toContain(`channel ${channel.id}`)
    expect((await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 12 })).status).toBe(200)
    for (const slot of [0, 65_536, 1.5, '3', null]) {
      expect((await write(app, 'PATCH', `/api/channels/${first.id}/`, { slot })).status).toBe(400)
    }
    expect((await write(app, 'PATCH', '/api/channels/999/', { slot: 77 })).status).toBe(404)
    const foreign = `/api/channels/${first.id}/?manufacturer=sennheiser`
    expect((await write(app, 'PATCH', foreign, { slot: 77 })).status).toBe(404)
  })

  it('is not given to another channel while levels wait to be stored', async () => {
    const simulator = await startShure()
    const { id } = deviceOf(simulator)
    const app = await startApp({ engine, manufacturers: [configFor(simulator, { poll_interval: 3600 })] })
    await until('the subscription is connected', () => simulator.push.connections > 0)
    const channel = channelOf(await until('the device is known', () => app.receiver(id)))
    simulator.show.set(id, { battery: 61 }, 1)
    simulator.push.flush()
    await until('the change is published', async () => channelOf(await app.receiver(id)).transmitter?.battery === 61)
    await write(app, 'PATCH', `/api/channels/${channel.id}/`, { slot: 40 })
    expect(channelOf(await app.receiver(id))).toMatchObject({ slot: 40, transmitter: { battery: 61 } })
  })
})

describe.concurrent.each(engines)('chassis and units (%s)', (engine) => {
  // Conformance: S-2.21, C-5.43.
  it('are derived from receivers and their transmitters', async () => {
    const { simulator, app } = await startRack(engine)
    const device = deviceOf(simulator)
    const receiver = await app.receiver(device.id)
    const { json: chassis } = await app.get('/api/chassis/')
    expect(chassis).toHaveLength(2)
    const { name, model, serial_number, mac_address, ip, firmware_version } = device
    expect(chassis[0]).toEqual({
      ...{ id: receiver.id, name, model, serial_number, mac_address, ip, firmware_version },
      ...{ manufacturer: 'shure', status: 'online', location: null },
    })
    expect((await app.get('/api/chassis/?status=offline')).json).toEqual([])
    expect((await app.get('/api/chassis/?status=online&page_size=1')).json).toMatchObject({ count: 2 })
    expect((await app.get('/api/chassis/?status=upside-down')).status).toBe(400)
    expect((await app.get('/api/chassis/?manufacturer=nobody')).json).toEqual([])

    simulator.show.set(device.id, { battery: 17, name: 'Host' }, 1)
    simulator.show.set(device.id, { battery: 80 }, 2)
    const filter = `base_chassis=${receiver.id}`
    await until(
      'the change is published',
      async () => (await app.get(`/api/units/?${filter}&battery_percentage=17`)).json.length === 1,
    )
    const [unit] = (await app.get(`/api/units/?${filter}&battery_percentage__lte=17`)).json
    expect(unit).toEqual({
      id: expect.any(Number),
      name: 'Host',
      device_type: 'mic_transmitter',
      model: null,
      manufacturer: 'shure',
      battery_percentage: 17,
      base_chassis: receiver.id,
      channel: 1,
      slot: channelOf(receiver).slot,
      status: 'online',
    })
    const [other] = (await app.get(`/api/units/?${filter}&battery_percentage__gte=80`)).json
    expect(other).toMatchObject({ channel: 2 })
    expect((await app.get('/api/units/?device_type=mic_transmitter')).json).toHaveLength(4)
    expect((await app.get('/api/units/?device_type=iem_receiver')).json).toEqual([])
    expect((await app.get('/api/units/?manufacturer=nobody')).json).toEqual([])
    for (const wrong of [
      'battery_percentage=full',
      'battery_percentage__lte=101',
      'base_chassis=0',
      'device_type=hat',
    ]) {
      expect((await app.get(`/api/units/?${wrong}`)).status).toBe(400)
    }

    // The unit stays the same when it is switched off and on again.
    simulator.show.set(device.id, { transmitter: false }, 1)
    await until('the transmitter is off', async () => (await app.get('/api/units/?status=offline')).json.length === 1)
    expect((await app.get('/api/units/?status=offline')).json[0]).toMatchObject({
      id: unit.id,
      name: 'Host',
      battery_percentage: null,
    })
    simulator.show.set(device.id, { transmitter: true }, 1)
    await until('the transmitter is on', async () => (await app.get('/api/units/?status=online')).json.length === 4)
  })

  it('keep their ids in every process', async () => {
    const simulator = withoutPush(await startShure())
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const options = { databaseUrl: database.url, manufacturers: [configFor(simulator)] }
    const first = await startApp(options)
    const screen = await startApp({ databaseUrl: database.url, servesOnly: true })
    await until('the units are listed', async () => (await screen.get('/api/units/')).json.length === 4)
    const listUnitIds = async (app: HttpClient) =>
      (await app.get('/api/units/')).json.map((unit: { id: number }) => unit.id)
    const before = await listUnitIds(first)
    expect(await listUnitIds(screen)).toEqual(before)
    await first.close()
    const second = await startApp(options)
    expect(await listUnitIds(second)).toEqual(before)
  })

  // Conformance: C-21.10.
  it('belong to the channel that receives the pack, and are kept without one', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const app = await startApp({ databaseUrl: database.url })
    const screen = await startApp({ databaseUrl: database.url, servesOnly: true })
    const pack = (channel: number, name: string, model: string) => ({
      channel,
      transmitter: { name, battery: 60 + channel, details: { model } },
    })
    const receive = (...channels: readonly object[]) =>
      app.post('/api/ingest/', { source: 'script', receivers: [{ api_device_id: 'rack', name: 'Rack', channels }] })
    const listUnits = async (process: HttpClient = app) =>
      (await process.get('/api/units/')).json.map(
        ({ id, name, model, channel, status }: Record<string, unknown>) =>
          `${id} ${name} ${model} ${channel ?? '-'} ${status}`,
      )
    const expectUnits = async (...expected: readonly string[]) => {
      const isListed = async () => isDeepStrictEqual(await listUnits(), expected)
      await until(`the units are ${expected.join(', ')}`, isListed)
      await until('another process lists them', async () => isDeepStrictEqual(await listUnits(screen), expected))
    }
    await receive(pack(1, 'H01', 'MTP60'), pack(2, 'H02', 'MTH400'))
    await expectUnits('1 H01 MTP60 1 online', '2 H02 MTH400 2 online')
    await receive(pack(1, 'Nora', 'MTP60'))
    await expectUnits('1 Nora MTP60 1 online', '2 H02 MTH400 2 online')
    await receive(pack(1, 'Spare', 'MTP61'))
    await expectUnits('1 Nora MTP60 - offline', '2 H02 MTH400 2 online', '3 Spare MTP61 1 online')
    const { json: kept } = await app.get('/api/units/1/')
    expect(kept).toMatchObject({ base_chassis: null, channel: null, slot: null, battery_percentage: null })
    await receive(pack(1, 'H02', 'MTH400'), pack(2, 'Nora', 'MTP60'))
    await expectUnits('1 Nora MTP60 2 online', '2 H02 MTH400 1 online', '3 Spare MTP61 - offline')
  })

  // Conformance: C-2.10.
  it('can be separate devices', async () => {
    const { simulator, app } = await startRack(engine)
    const id = simulator.show.add('shure', { device_type: 'bodypack transmitter', name: 'Pack 9', model: 'AD1' })
    await until('the device is known', async () => (await app.get('/api/units/')).json.length === 5)
    const [unit] = (await app.get('/api/units/')).json.filter((unit: { name: string }) => unit.name === 'Pack 9')
    expect(unit).toMatchObject({ model: 'AD1', base_chassis: null, channel: null, slot: null, status: 'online' })
    expect(await app.receivers()).toHaveLength(2)
    simulator.show.set(id, { name: 'Pack 10' })
    await until('the new name is reported', async () =>
      (await app.get('/api/units/')).json.some((candidate: { id: number; name: string }) => {
        return candidate.id === unit.id && candidate.name === 'Pack 10'
      }),
    )
    simulator.show.remove(id)
    await until('the device is offline', async () => (await app.get('/api/units/?status=offline')).json.length === 1)
    expect((await app.get('/api/units/?status=offline')).json[0].id).toBe(unit.id)
  })
})

describe.concurrent.each(engines)('performers and their units (%s)', (engine) => {
  // Conformance: S-2.21, C-5.44, C-13.50.
  it('are created, changed and removed', async () => {
    const { app } = await startRack(engine)
    const [{ id: unit }, { id: spare }] = (await app.get('/api/units/')).json
    const ada = await app.post('/api/performers/', { name: 'Ada', notes: 'left ear' })
    expect({ status: ada.status, json: ada.json }).toEqual({
      status: 201,
      json: { id: expect.any(Number), name: 'Ada', notes: 'left ear', picture: null, version: expect.any(Number) },
    })
    const bert = (await app.post('/api/performers/', { name: 'Bert', picture: 'data:image/png;base64,AA==' })).json
    const renamed = await write(app, 'PUT', `/api/performers/${bert.id}/`, { name: 'Berta' })
    expect((await write(app, 'PUT', `/api/performers/${bert.id}/`, renamed.json)).json).toEqual(renamed.json)
    expect((await write(app, 'PUT', `/api/performers/${bert.id}/`, ada.json)).status).toBe(400)
    expect(renamed.json).toEqual({ ...bert, name: 'Berta', version: renamed.json.version })
    expect((await app.get('/api/performers/')).json).toEqual([ada.json, renamed.json])

    const assigned = await app.post('/api/assignments/', { performer: ada.json.id, wireless_unit: unit })
    expect({ status: assigned.status, json: assigned.json }).toEqual({
      status: 201,
      json: {
        id: expect.any(Number),
        performer: ada.json.id,
        wireless_unit: unit,
        role: null,
        is_active: true,
        started_at: expect.stringMatching(/Z$/),
        ended_at: null,
      },
    })
    const conflicting = await app.post('/api/assignments/', { performer: bert.id, wireless_unit: unit })
    expect(conflicting.status).toBe(409)
    expect(conflicting.json.details).toContain('wireless_unit')
    const inactive = await app.post('/api/assignments/', { performer: bert.id, wireless_unit: unit, is_active: false })
    expect(inactive.json).toMatchObject({ is_active: false, ended_at: expect.any(String) })
    const change = (id: number, body: object) => write(app, 'PUT', `/api/assignments/${id}/`, body)
    const withRole = { ...assigned.json, role: 'Queen of the Night' }
    expect((await change(assigned.json.id, { role: withRole.role })).json).toEqual(withRole)
    expect((await app.get('/api/assignments/?is_active=true')).json).toEqual([withRole])
    expect((await change(assigned.json.id, { role: '' })).json.details).toBe(
      'role: expected text of 1 to 255 characters, or null',
    )
    expect((await change(assigned.json.id, { role: null })).json).toEqual(assigned.json)
    expect((await change(assigned.json.id, assigned.json)).json).toEqual(assigned.json)
    expect((await change(assigned.json.id, inactive.json)).status).toBe(400)
    expect((await change(inactive.json.id, { is_active: true })).status).toBe(409)
    const ended = await change(assigned.json.id, { is_active: false })
    expect(ended.json).toMatchObject({ is_active: false, ended_at: expect.any(String) })
    expect((await change(inactive.json.id, { is_active: true })).json).toMatchObject({
      is_active: true,
      ended_at: null,
    })
    expect((await change(inactive.json.id, { wireless_unit: spare })).json).toMatchObject({ wireless_unit: spare })
    expect((await change(assigned.json.id, { is_active: true })).status).toBe(200)

    const listAssignments = async (query: string) => (await app.get(`/api/assignments/?${query}`)).json
    expect(await listAssignments('is_active=true')).toHaveLength(2)
    expect(await listAssignments(`performer=${bert.id}`)).toMatchObject([{ id: inactive.json.id }])
    expect(await listAssignments(`wireless_unit=${unit}&is_active=true`)).toMatchObject([{ id: assigned.json.id }])
    expect(await listAssignments('manufacturer=shure')).toHaveLength(2)
    expect(await listAssignments('manufacturer=nobody')).toEqual([])
    expect(await listAssignments(`performer=${bert.id}&names=true`)).toMatchObject([{ performer_name: 'Berta' }])
    expect((await listAssignments(`performer=${bert.id}`))[0]).not.toHaveProperty('performer_name')
    const readPictureTag = async (picture: string | null) => {
      await write(app, 'PUT', `/api/performers/${bert.id}/`, { name: 'Berta', picture })
      return (await listAssignments(`performer=${bert.id}&names=true`))[0].performer_picture_tag
    }
    const createPicture = (end: string) => `data:image/jpeg;base64,/9j/${'A'.repeat(90_000)}${end}`
    const tags = [
      await readPictureTag(null),
      await readPictureTag(createPicture('bcdA')),
      await readPictureTag(createPicture('bceA')),
      await readPictureTag('/b.png'),
    ]
    expect(tags[0]).toBe(null)
    expect(new Set(tags).size).toBe(4)
    expect(tags[1].length).toBeLessThan(100)
    expect(await readPictureTag(createPicture('bcdA'))).toBe(tags[1])
    expect((await app.get('/api/assignments/?is_active=perhaps')).status).toBe(400)

    expect((await app.send('DELETE', `/api/assignments/${assigned.json.id}/`)).status).toBe(204)
    expect((await app.send('DELETE', `/api/performers/${bert.id}/`)).status).toBe(204)
    expect(await listAssignments('')).toEqual([])
    expect((await app.send('DELETE', `/api/performers/${bert.id}/`)).status).toBe(404)
    expect((await change(assigned.json.id, {})).status).toBe(404)
  })

  // Conformance: C-5.9.
  it('are listed for any known manufacturer, and for no other', async () => {
    const app = await startApp({ engine, manufacturers: [{ code: 'shure', config: {} }] })
    const { json } = await app.post('/api/performers/', { name: 'Ana' })
    expect((await app.get('/api/performers/?manufacturer=shure')).json).toEqual([json])
    expect((await app.get('/api/performers/?manufacturer=nobody')).json).toEqual([])
    expect((await app.get('/api/performers/?manufacturer=nobody&page=1')).json).toMatchObject({ count: 0, results: [] })
  })

  // Conformance: C-5.12.
  it('cannot reference anything that does not exist', async () => {
    const { app } = await startRack(engine)
    const [{ id: unit }] = (await app.get('/api/units/')).json
    const { id: performer } = (await app.post('/api/performers/', { name: 'Ada' })).json
    const rejected = async (body: object) => {
      const { status, json } = await app.post('/api/assignments/', body)
      return { status, details: json.details as string }
    }
    const details = (text: string) => ({ status: 400, details: expect.stringContaining(text) })
    expect(await rejected({ performer: 99, wireless_unit: unit })).toEqual(details('performer: there is no'))
    expect(await rejected({ performer, wireless_unit: 99 })).toEqual(details('wireless_unit: there is no'))
    expect(await rejected({ performer })).toEqual(details('wireless_unit: missing'))
    expect(await rejected({ performer: '1', wireless_unit: unit })).toEqual(details('performer: expected'))
    expect((await app.post('/api/performers/', { name: '' })).status).toBe(400)
    expect((await app.post('/api/performers/', {})).status).toBe(400)
  })

  // Conformance: C-5.44.
  it('cannot be assigned twice to a unit by concurrent requests', async () => {
    const { app } = await startRack(engine)
    const [{ id: wireless_unit }] = (await app.get('/api/units/')).json
    const { id: performer } = (await app.post('/api/performers/', { name: 'Ada' })).json
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => app.post('/api/assignments/', { performer, wireless_unit })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
  })
})
