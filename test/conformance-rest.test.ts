/** Statements of docs/conformance.md about REST that no other test covers: fields, URLs, error responses. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultSettings } from '../src/contract/settings.ts'
import { configFor, deviceOf, startApp, startSennheiser, startShure, until, withoutPush } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import type { HttpResponse } from './support/http-client.ts'
import { withDatabase } from './support/store/databases.ts'
import { startPostgres } from './support/store/postgres.ts'
import { tokenHeaders } from './support/tokens.ts'

const idlePolling = { poll_interval: 3600 }

/**
 * Starts a service with three receivers of one manufacturer and two of another, a pending conflict and an
 * unacknowledged movement.
 */
async function startService(config: object = {}) {
  const shure = withoutPush(await startShure({ receivers: 3, richList: true }))
  const sennheiser = withoutPush(await startSennheiser({ receivers: 2, richList: true }))
  const app = await startApp({
    config,
    manufacturers: [configFor(shure, idlePolling), configFor(sennheiser, idlePolling)],
  })
  await until('all five receivers are known', async () => (await app.receivers()).length === 5)
  shure.show.set(deviceOf(shure, 1).id, { ip: '10.77.0.1' })
  shure.show.add('shure', { ip: deviceOf(shure).ip, serial_number: 'VISITOR-1', name: 'Visiting Rack' })
  expect((await app.post('/api/refresh/')).json.status).toBe('success')
  const admin = await tokenHeaders(app, 'admin')
  const sendAsAdmin = (method: string, path: string, body?: unknown) => {
    const headers = body === undefined ? admin : { ...admin, 'content-type': 'application/json' }
    return app.send(method, path, { headers, body: JSON.stringify(body) })
  }
  return { app, shure, sennheiser, admin, sendAsAdmin }
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
const text = expect.any(String)
const flag = expect.any(Boolean)
const integer = expect.toSatisfy((value: unknown) => Number.isSafeInteger(value), 'a whole number')
const megahertz = expect.stringMatching(/^\d+\.\d{3}$/)
const ipv4 = expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/)

const channel = {
  id: integer,
  channel: integer,
  slot: integer,
  name: text,
  frequency: megahertz,
  audio_level: expect.anything(),
  rf_level: expect.anything(),
}
const transmitter = {
  slot: integer,
  battery: integer,
  audio_level: integer,
  rf_level: integer,
  frequency: megahertz,
  name: text,
}
const summary = { id: integer, name: text, device_type: text, ip: ipv4, is_active: flag, last_seen: time }

function expectError({ status, json, headers }: HttpResponse, expected: number, details?: string): void {
  expect([status, json]).toEqual([expected, expect.objectContaining({ error: text, status: expected })])
  if (details !== undefined) expect(json.details).toContain(details)
  if (expected === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
}

describe('every documented body', () => {
  // Conformance: S-2.1, S-2.2, S-2.3, S-2.11, S-4.7, S-4.8, S-4.15, S-4.16, C-2.1, C-2.3, C-2.8, C-5.22, C-5.27.
  it('has every documented field with its type', async () => {
    const { app, shure } = await startService()
    const data = (await app.get('/api/data/')).json
    expect(data).toMatchObject({ discovered: [], config: expect.any(Object), groups: [] })
    for (const receiver of data.receivers) {
      expect(receiver).toMatchObject({ id: integer, name: text, device_type: text, ip: ipv4, manufacturer: text })
      expect(receiver.channels).toHaveLength(2)
      for (const channelBody of receiver.channels) {
        expect(Object.keys(channelBody)).toEqual(expect.arrayContaining([...Object.keys(channel), 'transmitter']))
        expect(channelBody).toMatchObject({
          id: integer,
          channel: integer,
          slot: integer,
          name: text,
          frequency: megahertz,
        })
        if (channelBody.transmitter === null) continue
        expect(channelBody.transmitter).toMatchObject(transmitter)
        expect(channelBody.transmitter.slot).toBe(channelBody.slot)
        expect(channelBody.transmitter).toHaveProperty('upstream_slot')
        expect(channelBody.transmitter.battery).toBeGreaterThanOrEqual(0)
        expect(channelBody.transmitter.battery).toBeLessThanOrEqual(100)
        expect(channelBody.transmitter.audio_level).toBeLessThanOrEqual(0)
      }
    }
    const list = (await app.get('/api/receivers/')).json
    for (const receiver of list) expect(receiver).toMatchObject(summary)
    const detail = (await app.get(`/api/receivers/${list[0].id}/`)).json
    expect(detail).toMatchObject({ ...summary, battery_health: text, signal_quality: text, manufacturer: text })
    const stored = ['api_device_id', 'serial_number', 'mac_address', 'subnet_mask', 'gateway', 'network_mode']
    const otherFields = [
      'interface_id',
      'model',
      'description',
      'firmware_version',
      'hosted_firmware_version',
      'location',
    ]
    expect(Object.keys(detail)).toEqual(expect.arrayContaining([...stored, ...otherFields, 'channels']))

    await eventually(async () => (await app.get('/api/health/')).json).toMatchObject({
      status: 'healthy',
      vendor_api: { status: 'healthy', base_url: expect.stringMatching(/[^/]$/), consecutive_failures: 0 },
      timestamp: time,
    })
    expect((await app.post('/api/refresh/')).json).toEqual({
      status: 'success',
      receivers_updated: 5,
      timestamp: time,
    })
    expect((await app.get('/api/config/')).json).toEqual({ ...defaultSettings, version: integer })
    expect((await app.get('/api/discovery/pending/')).json).toMatchObject({
      count: 1,
      results: [
        {
          id: integer,
          manufacturer: 'shure',
          serial_number: 'VISITOR-1',
          ip: deviceOf(shure).ip,
          status: 'pending',
          is_duplicate: false,
          is_ip_conflict: true,
          discovered_at: time,
        },
      ],
    })
    expect((await app.get('/api/movements/unacknowledged/')).json).toMatchObject({
      count: 1,
      results: [
        {
          id: integer,
          device: { id: integer, name: text, serial_number: text },
          old_ip: ipv4,
          new_ip: '10.77.0.1',
          movement_type: 'ip_only',
          detected_at: time,
          acknowledged: false,
        },
      ],
    })
    const found = await app.post('/api/discover/', { scan_subnet: '10.77.0.0/30' })
    expect(found.status).toBe(200)
    expect(found.json).toMatchObject({ discovered: integer })
    expect(found.json.devices).toHaveLength(found.json.discovered)
    for (const device of found.json.devices)
      expect(device).toMatchObject({ ip: ipv4, device_type: text, channels: integer })
  })
})

const publicPaths = [
  '/api/data',
  '/api/receivers',
  '/api/health',
  '/api/config',
  '/api/discovery/pending',
  '/api/movements/unacknowledged',
  '/api/groups',
  '/api/chassis',
  '/api/units',
  '/api/performers',
  '/api/assignments',
  '/api/alerts',
]
const adminPaths = [
  '/api/admin/discovery-queue',
  '/api/admin/movements',
  '/api/admin/realtime-connections',
  '/api/admin/hardware-layout',
  '/api/admin/manufacturers',
  '/api/admin/plugins',
  '/api/admin/locations',
  '/api/admin/settings',
  '/api/admin/users',
  '/api/admin/tokens',
  '/api/admin/receivers',
  '/api/admin/audit',
]
const objectPaths = ['/api/data', '/api/health', '/api/config', '/api/admin/hardware-layout']
const pagedPaths = ['/api/discovery/pending', '/api/movements/unacknowledged']

describe('every URL', () => {
  // Conformance: C-5.1.
  it('responds with and without a trailing slash', async () => {
    const { app, admin } = await startService()
    for (const path of [...publicPaths, ...adminPaths]) {
      const headers = path.includes('/admin/') ? admin : {}
      expect([path, (await app.get(path, headers)).status]).toEqual([path, 200])
      expect([path, (await app.get(`${path}/`, headers)).status]).toEqual([path, 200])
    }
  })

  // Conformance: S-4.3, C-5.2, C-5.3, C-5.5.
  it('returns lists bare or paginated, and rejects invalid page parameters', async () => {
    const { app, admin } = await startService()
    for (const path of [...publicPaths, ...adminPaths].filter((listPath) => !objectPaths.includes(listPath))) {
      const headers = path.includes('/admin/') ? admin : {}
      const get = (query: string) => app.get(`${path}/${query}`, headers)
      const bare = (await get('')).json
      if (pagedPaths.includes(path)) expect([path, Object.keys(bare)]).toEqual([path, ['count', 'results']])
      else if (path !== '/api/admin/audit') expect([path, Array.isArray(bare)]).toEqual([path, true])
      for (const query of ['?page=1', '?page_size=1', '?page_size=5000']) {
        const { json } = await get(query)
        expect([path, json]).toEqual([
          path,
          { count: integer, next: json.next, previous: null, results: expect.any(Array) },
        ])
      }
      for (const query of ['?page=0', '?page=', '?page=1.5', '?page_size=0', '?page_size=x']) {
        expect([path, query, (await get(query)).status]).toEqual([path, query, 400])
      }
      expect([path, (await get('?page=1000000')).status]).toEqual([path, 404])
    }
  })

  // Conformance: S-1.8, S-4.2, S-4.17, C-5.9.
  it('accepts the code of any manufacturer, known or not', async () => {
    const { app } = await startService()
    for (const path of publicPaths.filter(
      (listPath) => !objectPaths.includes(listPath) && !pagedPaths.includes(listPath),
    )) {
      for (const entry of (await app.get(`${path}/?manufacturer=shure`)).json) {
        if (path === '/api/receivers')
          expect((await app.get(`/api/receivers/${entry.id}`)).json.manufacturer).toBe('shure')
        else if ('manufacturer' in entry) expect([path, entry.manufacturer]).toEqual([path, 'shure'])
      }
    }
    for (const path of ['/api/receivers', '/api/chassis', '/api/units', '/api/alerts', '/api/groups']) {
      expect([path, (await app.get(`${path}/?manufacturer=nobody`)).json]).toEqual([path, []])
    }
    for (const path of pagedPaths) {
      expect((await app.get(`${path}/?manufacturer=nobody`)).json).toEqual({ count: 0, results: [] })
      expect((await app.get(`${path}/?manufacturer=shure`)).json.count).toBe(1)
      expect((await app.get(`${path}/?manufacturer=sennheiser`)).json.count).toBe(0)
    }
    expect((await app.get('/api/health/?manufacturer=nobody')).json.vendor_api.status).toBe('unconfigured')
    expectError(await app.get('/api/config/?manufacturer=nobody'), 404)
    expectError(await app.post('/api/refresh/?manufacturer=nobody'), 404)
    expectError(await app.post('/api/discover/?manufacturer=nobody', { scan_subnet: '10.0.0.0/30' }), 404)
    const setting = { key: 'polling_interval', value: '7' }
    expectError(await app.post('/api/config/?manufacturer=nobody', setting), 404)
  })

  // Conformance: C-5.11.
  it('rejects an invalid id, and returns 404 for an unknown one', async () => {
    const { sendAsAdmin } = await startService()
    const body: Record<string, object> = {
      '/api/groups': { title: 'x' },
      '/api/channels': { slot: 50 },
      '/api/performers': { name: 'x' },
      '/api/assignments': { is_active: false },
      '/api/admin/locations': { name: 'x' },
      '/api/admin/receivers': { name: 'x' },
      '/api/admin/users': { role: 'viewer' },
      '/api/admin/tokens': { name: 'x' },
    }
    for (const [path, change] of Object.entries(body)) {
      const usesPut = /groups|performers|assignments/.test(path)
      const method = usesPut ? 'PUT' : 'PATCH'
      for (const id of ['0', '01', '-1', 'x', '1.5', '9007199254740992']) {
        expect([path, id, (await sendAsAdmin(method, `${path}/${id}/`, change)).status]).toEqual([path, id, 400])
      }
      expect([path, (await sendAsAdmin(method, `${path}/999999/`, change)).status]).toEqual([path, 404])
      if (path === '/api/channels') continue
      expect([path, (await sendAsAdmin('DELETE', `${path}/999999/`)).status]).toEqual([path, 404])
    }
  })
})

describe('a request body', () => {
  // Conformance: S-7.2, C-5.12, C-5.13.
  it('is rejected with the field name if a field is missing or has another type; nothing is coerced', async () => {
    const { sendAsAdmin } = await startService()
    const wrong: [string, string, unknown, string][] = [
      ['POST', '/api/discover/', {}, 'scan_subnet'],
      ['POST', '/api/discover/', { scan_subnet: 10 }, 'scan_subnet'],
      ['POST', '/api/config/', { key: 'polling_interval' }, 'value'],
      ['POST', '/api/config/', { key: 'polling_interval', value: 7 }, 'value'],
      ['POST', '/api/config/', { value: '7' }, 'key'],
      ['POST', '/api/group/', {}, 'title'],
      ['POST', '/api/group/', { title: 7 }, 'title'],
      ['POST', '/api/group/', { title: 'x', slots: ['1'] }, 'slots'],
      ['POST', '/api/group/', { title: 'x', slots: [1, 1] }, 'slots'],
      ['POST', '/api/group/', { title: 'x', hide_charts: 'true' }, 'hide_charts'],
      ['POST', '/api/performers/', {}, 'name'],
      ['POST', '/api/assignments/', { performer: '1', wireless_unit: 1 }, 'performer'],
      ['POST', '/api/assignments/', { performer: 999_999, wireless_unit: 1 }, 'performer'],
      ['POST', '/api/admin/discovery-queue/approve', { ids: ['1'] }, 'ids'],
      ['POST', '/api/admin/movements/acknowledge', {}, 'ids'],
      ['POST', '/api/admin/realtime-connections/stop', { ids: 1 }, 'ids'],
      ['POST', '/api/admin/users/', { username: 'ana', role: 'king', password: 'x'.repeat(20) }, 'role'],
      ['POST', '/api/admin/tokens/', { role: 'viewer' }, 'name'],
      ['POST', '/api/admin/locations/', {}, 'name'],
      ['POST', '/api/admin/manufacturers/', { code: 'x', api_enabled: 'yes' }, 'api_enabled'],
    ]
    for (const [method, path, body, field] of wrong) {
      const response = await sendAsAdmin(method, path, body)
      expect([path, body, response.status, response.json.details]).toEqual([
        path,
        body,
        400,
        expect.stringContaining(field),
      ])
    }
  })

  // Conformance: S-4.14, C-5.17, C-5.42, C-5.54.
  it('that creates a resource returns 201, and DELETE returns 204 without a body', async () => {
    const { sendAsAdmin, shure } = await startService()
    const created = await Promise.all([
      sendAsAdmin('POST', '/api/group/', { title: 'Stage left' }),
      sendAsAdmin('POST', '/api/performers/', { name: 'Ana' }),
      sendAsAdmin('POST', '/api/admin/locations/', { name: 'Venue' }),
      sendAsAdmin('POST', '/api/admin/receivers/', { manufacturer: 'shure', name: 'By hand', ip: '10.9.9.9' }),
      sendAsAdmin('POST', '/api/admin/tokens/', { name: 'wall', role: 'viewer' }),
      sendAsAdmin('POST', '/api/admin/manufacturers/', {
        code: 'spare',
        plugin: 'shure',
        api_enabled: false,
        config: { ...shure.config, api_base_url: 'http://10.255.255.1:9' },
      }),
    ])
    expect(created.map(({ status, json }) => [status, json.details])).toEqual(created.map(() => [201, undefined]))
    const [group, performer, location, receiver, token] = created.map(({ json }) => json.id)
    expect(created[4]?.json).toMatchObject({ id: token, name: 'wall', role: 'viewer', token: text })
    expect((await sendAsAdmin('POST', '/api/group/', { id: group, hide_charts: true })).status).toBe(200)
    const paths = [
      `/api/groups/${group}/`,
      `/api/performers/${performer}/`,
      `/api/admin/locations/${location}/`,
      `/api/admin/receivers/${receiver}/`,
      `/api/admin/tokens/${token}/`,
      '/api/admin/manufacturers/spare/',
    ]
    for (const path of paths) {
      const { status, bytes } = await sendAsAdmin('DELETE', path)
      expect([path, status, bytes.length]).toEqual([path, 204, 0])
    }
  })
})

describe('a write', () => {
  // Conformance: C-5.18, C-5.20.
  it('is visible in every cached response before its own response arrives', async () => {
    const { app, sendAsAdmin } = await startService({ settings: { CACHE_TIMEOUT: 3600 } })
    const data = async (query = '') => (await app.get(`/api/data.json${query}`)).json
    await data()
    await data('?manufacturer=shure')
    const { json: group } = await app.post('/api/group/', { title: 'Stage left', slots: [1, 2] })
    expect(group).toEqual({
      id: integer,
      title: 'Stage left',
      slots: [1, 2],
      hide_charts: false,
      zone: null,
      manufacturer: null,
      version: integer,
    })
    expect((await data()).groups).toEqual([group])
    expect((await app.post('/api/config/', { key: 'alert_battery_threshold', value: '35' })).json).toEqual({
      ...defaultSettings,
      alert_battery_threshold: 35,
      version: integer,
    })
    expect((await data()).config.alert_battery_threshold).toBe(35)
    expect((await data('?manufacturer=shure')).config.alert_battery_threshold).toBe(35)
    const [receiver] = await app.receivers()
    const [first] = receiver?.channels ?? []
    expect((await sendAsAdmin('PATCH', `/api/channels/${first?.id}/`, { slot: 99 })).status).toBe(200)
    expect((await app.receivers())[0]?.channels[0]?.slot).toBe(99)
    const location = await sendAsAdmin('POST', '/api/admin/locations/', { name: 'Venue' })
    await sendAsAdmin('PATCH', `/api/admin/receivers/${receiver?.id}/`, { name: 'By hand', location: location.json.id })
    expect((await app.receivers())[0]?.name).toBe('By hand')
    expect((await app.get(`/api/receivers/${receiver?.id}/`)).json.name).toBe('By hand')
    expect((await sendAsAdmin('DELETE', `/api/groups/${group.id}/`)).status).toBe(204)
    expect((await data()).groups).toEqual([])
  })

  // Conformance: S-4.12, C-1.17, C-5.39.
  it('accepts numbers as text', async () => {
    const app = await startApp()
    for (const value of ['1', '3600']) {
      const { json } = await app.post('/api/config', { key: 'polling_interval', value })
      expect(json.polling_interval).toBe(Number(value))
    }
    for (const value of ['0', '3601', '1.5', 'ten', '', '1e3']) {
      expectError(await app.post('/api/config', { key: 'polling_interval', value }), 400, 'value')
    }
    expectError(await app.post('/api/config', { key: 'nonsense', value: '1' }), 400, 'key')
  })
})

describe('an internal error', () => {
  // Conformance: S-7.5, C-5.16.
  it('returns 500 without internal details', async () => {
    const app = await startApp()
    await withDatabase(app, (db) => db.transaction(({ query }) => query.schema.dropTable('performers').execute()))
    const response = await app.get('/api/performers/')
    expectError(response, 500)
    expect(response.bytes.toString()).not.toMatch(/performers|sql|table|\bat /i)
  })

  // Conformance: S-7.6, C-5.24, C-5.33.
  // Reliability: 3.12.12.
  it('in the database returns 503 with the health object, also from readyz, while cached data is still served', async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const shure = withoutPush(await startShure())
    const app = await startApp({ databaseUrl: postgres.url, manufacturers: [configFor(shure)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await postgres.halt()
    const unhealthy = await until('the failure is detected', async () => {
      const response = await app.get('/api/health/')
      return response.status === 503 && response
    })
    expect(unhealthy.json).toMatchObject({
      status: 'unhealthy',
      vendor_api: { status: text, base_url: shure.baseUrl, consecutive_failures: integer },
      timestamp: time,
    })
    expect(unhealthy.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    const ready = await app.get('/readyz')
    expect([ready.status, ready.headers['retry-after']]).toEqual([503, unhealthy.headers['retry-after']])
    expect((await app.get('/healthz')).status).toBe(200)
    expect(await app.receivers()).toHaveLength(2)
    expectError(await app.post('/api/config/', { key: 'polling_interval', value: '7' }), 503)
  })
})

describe('pages', () => {
  // Conformance: S-4.18.
  it('serve the dashboard and the about page as HTML for any manufacturer', async () => {
    const app = await startApp()
    for (const path of ['/', '/about/', '/about', '/?manufacturer=shure']) {
      const { status, headers } = await app.get(path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
    }
  })
})
