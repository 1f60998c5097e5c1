/** Responses that are partly invalid: valid parts are used, the rest is ignored and logged once. */

import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from '../support/app.ts'
import {
  acceptSubscription,
  device,
  type Responder,
  respondError,
  respondJson,
  startSystem,
} from '../support/faults/system.ts'
import { pollNow } from '../support/internals.ts'
import { engines, withDatabase } from '../support/store/databases.ts'
import { tokenHeaders } from '../support/tokens.ts'

const poll = async (app: TestApp) => {
  const { status, json } = await app.post('/api/refresh/')
  expect([status, json.status]).toEqual([200, 'success'])
  return json
}
const readVendorApi = async (app: TestApp) => (await app.get('/api/health/')).json.vendor_api

describe('listed devices', () => {
  // Reliability: 1.10, U14.
  it('that are invalid are skipped or read as far as possible, and logged once an hour; health stays healthy', async () => {
    const { device_id: _, ...nameless } = device(2)
    const invalid = [
      device(3, { battery_percentage: 'x' }),
      device(4, { battery_percentage: -3 }),
      device(5, { device_name: { first: { of: 'many' } } }),
    ]
    const body = JSON.stringify({ devices: [device(1), nameless, 'no object', ...invalid, device(6)] })
    // Values that JSON.stringify cannot produce.
    const text = body.replace('"battery_percentage":80,"rf_level":-60,"serial_number":"S6"', '"rf_level":1e309')
    expect(text).toContain('1e309')
    const system = await startSystem((_request, response) => response.writeHead(200).end(text))
    const logged: { level: number; msg: string }[] = []
    const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) })
    const app = await startApp({ manufacturers: [system.entry('odd', { poll_interval: 3600 })], log })
    for (let polls = 0; polls < 3; polls += 1) expect((await poll(app)).receivers_updated).toBe(5)

    expect((await app.receivers()).map(({ name }) => name)).toEqual(['Rack 1', 'Rack 3', 'Rack 4', 'ULXD4', 'Rack 6'])
    const { status, consecutive_failures, details } = await readVendorApi(app)
    expect([status, consecutive_failures]).toEqual(['healthy', 0])
    expect(details).toEqual([expect.stringMatching(/^entry 2 of the list: it has no device_id \(and 5 more\)$/)])
    const logMessages = logged.map(({ msg }) => msg).filter((msg) => /^(entry|device) /.test(msg))
    expect(logMessages).toEqual([
      'entry 2 of the list: it has no device_id',
      'entry 3 of the list: it is not an object',
      'device d3: battery_percentage cannot be read',
      'device d4: battery_percentage cannot be read',
      'device d5: device_name cannot be read',
      'device d6: rf_level cannot be read',
    ])
  })

  // Reliability: 1.10, U15.
  it('are read once when listed twice: the first entry is used, and no movement is recorded', async () => {
    const duplicate = device(1)
    const system = await startSystem(
      respondJson({
        devices: [duplicate, { ...duplicate, device_name: 'Again' }, device(2), device(3, { serial_number: 'S2' })],
      }),
    )
    const app = await startApp({ manufacturers: [system.entry('twice', { poll_interval: 3600 })] })
    for (let polls = 0; polls < 3; polls += 1) expect((await poll(app)).receivers_updated).toBe(2)
    const receivers = await app.receivers()
    expect(receivers.map(({ name, ip }) => [name, ip])).toEqual([
      ['Rack 1', '10.0.0.1'],
      ['Rack 2', '10.0.0.2'],
    ])
    expect((await app.get('/api/movements/unacknowledged/')).json.count).toBe(0)
    expect((await app.get('/api/discovery/pending/')).json.count).toBe(0)
    expect(await pollNow(app, 'twice')).toMatchObject({ duplicates: 4, moved: 0, created: 0 })
  })

  it.each([
    ['the list', device(1), '/api/v1/devices'],
    ['its channels', device(1, { channels: undefined, transmitters: undefined }), '/api/v1/devices/d1/channels'],
  ])('keep newer levels from the subscription when levels of %s arrive late', async (_, listed, slowPath) => {
    const read = (changedLevels: object) => ({
      channels: [{ channel: 1, audio_level: -20, ...changedLevels }],
      transmitters: [{ channel: 1, battery: 80 }],
    })
    /** Delayed responses; each has the state at the time of the request. */
    const delayed: (() => unknown)[] = []
    let isDelayed = true
    let levels = {}
    const system = await startSystem((request, response) => {
      const isList = request.url === '/api/v1/devices'
      const isSlow = isDelayed && request.url === slowPath
      const body = isList ? { devices: [{ ...listed, ...(slowPath === request.url && read(levels)) }] } : read(levels)
      const respond: Responder = respondJson(body)
      if (isSlow) delayed.push(() => respond(request, response))
      else respond(request, response)
    })
    const subscription = acceptSubscription(system)
    const app = await startApp({ manufacturers: [system.entry('late')] })
    await until('the first request arrives', () => delayed.length === 1)
    levels = { audio_level: -35 }
    delayed.pop()?.()
    await until('the subscription is connected', () => subscription.isUp)
    await until('the levels are requested again', () => delayed.length === 1)
    const channel = async () => channelOf(await app.receiver('d1'))
    expect(await channel()).toMatchObject({ audio_level: -20, transmitter: { battery: 80 } })
    subscription.send({ type: 'device_update', device_id: 'd1', transmitters: [{ channel: 1, battery: 33 }] })
    await until('the change is published', async () => (await channel()).transmitter?.battery === 33)
    const requestsBefore = system.requests.length
    isDelayed = false
    delayed.pop()?.()
    await until('polling continues', () => system.requests.length > requestsBefore + 1)
    expect(await channel()).toMatchObject({ audio_level: -35, transmitter: { battery: 33 } })
  })
})

describe('listed devices with missing or excess data', () => {
  // Reliability: 1.10, U16.
  it('are not deleted by an empty list; the third empty list in a row makes them inactive', async () => {
    const system = await startSystem(respondJson({ devices: Array.from({ length: 50 }, (_, index) => device(index)) }))
    const app = await startApp({ manufacturers: [system.entry('gone', { poll_interval: 3600 })] })
    expect((await poll(app)).receivers_updated).toBe(50)
    const before = await app.summaries()
    system.respondWith(respondJson({ devices: [] }))
    for (const isActive of [true, true, false]) {
      expect((await poll(app)).receivers_updated).toBe(0)
      const after = await app.summaries()
      expect(after.map(({ last_seen }) => last_seen)).toEqual(before.map(({ last_seen }) => last_seen))
      expect([...new Set(after.map(({ is_active }) => is_active))]).toEqual([isActive])
    }
    expect(await app.receivers()).toHaveLength(50)
    expect((await readVendorApi(app)).status).toBe('healthy')
  })

  // Reliability: 1.9, U18, 3.12.7.
  it('beyond the first ten thousand are ignored, and health reports it', async () => {
    const noChannels = { channels: [], transmitters: [] }
    const devices = Array.from({ length: 10_003 }, (_, index) => device(index, noChannels))
    const system = await startSystem(respondJson({ devices }))
    const app = await startApp({ manufacturers: [system.entry('many', { poll_interval: 3600 })] })
    const page = async (size: number) => (await app.get(`/api/receivers/?page=10&page_size=${size}`)).json
    await until('all receivers are listed', async () => (await page(1)).count === 10_000, 40_000)
    expect((await page(1000)).results.at(-1).name).toBe('Rack 9999')
    await until('the message is logged', async () => (await readVendorApi(app)).details.length > 0)
    const { status, details } = await readVendorApi(app)
    expect(status).toBe('healthy')
    expect(details).toEqual(['the list: only the first 10000 of 10003 devices are read'])
  })

  // Reliability: U26.
  it('keep known values when detail requests fail, and the cycle succeeds', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await poll(app)
    const [first, second] = [deviceOf(shure), deviceOf(shure, 1)]
    const before = [await app.receiver(first.id), await app.receiver(second.id)]
    for (const status of [404, 500]) {
      shure.setFault({ type: 'status', status }, { path: new RegExp(`/devices/${first.id}`) })
      shure.show.set(first.id, { name: `Renamed ${status}` })
      shure.show.set(second.id, { battery: 33 }, 1)
      await poll(app)
      const after = await app.receiver(first.id)
      const { serial_number, mac_address, ip, firmware_version } = before[0] as never
      expect(after).toMatchObject({ name: `Renamed ${status}`, serial_number, mac_address, ip, firmware_version })
      if (status === 500) expect(after.channels).toHaveLength(2)
      expect(channelOf(await app.receiver(second.id)).transmitter?.battery).toBe(33)
      expect(await readVendorApi(app)).toMatchObject({ status: 'healthy', consecutive_failures: 0 })
      expect(await app.receivers()).toHaveLength(3)
    }
  })
})

describe.each(engines)('hostile text (%s)', (engine) => {
  const hostile = 'a\u0000b\u001b[31mc\ud800d\u202ee<img src=x onerror=alert(1)>'
  const sanitised = 'a b [31mc\ufffdde<img src=x onerror=alert(1)>'

  // Reliability: 1.10, U20, U21.
  it('is sanitised, truncated and stored as text, the same on every database', async () => {
    const prototypeKeys = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
    const devices = [
      device(1, { device_name: hostile, description: hostile, ...prototypeKeys }),
      device(2, { device_name: 'n'.repeat(1_000_000), description: '\u{1f3a4}'.repeat(5000) }),
      // This device has the IP address of another one, so it is queued for review with all its fields.
      device(3, { ip: '10.0.0.1', device_name: hostile, note: hostile, ...prototypeKeys, toString: 'x' }),
      device(4, { ip: '10.0.0.2', notes: 'x'.repeat(70_000) }),
      device(5, { device_id: '__proto__', device_name: 'constructor' }),
    ]
    // Keys that an object literal cannot contain.
    const text = JSON.stringify({ devices }).replaceAll('"constructor":{', '"__proto__":{"a":1},"constructor":{')
    const system = await startSystem((_request, response) => response.writeHead(200).end(text))
    const app = await startApp({ engine, manufacturers: [system.entry('evil', { poll_interval: 3600 })] })
    await poll(app)
    await poll(app)
    expect((await app.receivers()).map(({ name }) => name)).toEqual([sanitised, 'n'.repeat(255), 'constructor'])
    const [first, second] = (await app.receivers()).map(({ id }) => id)
    expect((await app.get(`/api/receivers/${first}/`)).json.description).toBe(sanitised)
    expect((await app.get(`/api/receivers/${second}/`)).json.description).toBe('\u{1f3a4}'.repeat(1024))
    expect((await app.get('/api/data.json')).headers['content-type']).toMatch(/^application\/json/)
    const admin = await tokenHeaders(app, 'admin')
    const queued = (await app.get('/api/admin/discovery-queue/', admin)).json
    expect(queued.map(({ metadata }: { metadata: object }) => metadata)).toEqual([
      expect.objectContaining({ device_name: sanitised, note: sanitised }),
      { truncated: true },
    ])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    // Reads the stored rows, not only the values in memory.
    const rows = await withDatabase(app, (db) =>
      db.read.selectFrom('receivers').select(['name', 'description']).orderBy('id').execute(),
    )
    expect(rows[0]).toEqual({ name: sanitised, description: sanitised })
    expect((await readVendorApi(app)).status).toBe('healthy')
  })
})

it('a system that responds with 401 for one device is sent no requests for the others', async () => {
  const system = await startSystem((request, response) => {
    if (request.url?.endsWith('/devices')) {
      respondJson({ devices: [{ device_id: 'a' }, { device_id: 'b' }, { device_id: 'c' }] })(request, response)
    } else respondError(401)(request, response)
  })
  const app = await startApp({ manufacturers: [system.entry('shy')] })
  await until('the poll has failed', async () => (await readVendorApi(app)).consecutive_failures > 0)
  expect(system.requests.length).toBe(2)
})
