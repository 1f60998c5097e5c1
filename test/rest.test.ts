/** The REST interface: response bodies, pagination, caching and error responses. */

import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { defaultSettings } from '../src/contract/settings.ts'
import { connectionsOf } from './support/admin-lists.ts'
import { configFor, deviceOf, startApp, startSennheiser, startShure, until, withoutPush } from './support/app.ts'
import { expectError } from './support/expect-error.ts'
import { device, respondJson, startSystem } from './support/faults/system.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Starts a service with three receivers of one manufacturer and two of another. */
async function startService(config: Record<string, unknown> = {}, source: object = {}) {
  const shure = withoutPush(await startShure({ receivers: 3 }))
  const sennheiser = withoutPush(await startSennheiser({ receivers: 2 }))
  const app = await startApp({ config, manufacturers: [configFor(shure, source), configFor(sennheiser, source)] })
  await until('all five receivers are known', async () => (await app.receivers()).length === 5)
  return { app, shure, sennheiser }
}

describe('reads', () => {
  // Conformance: S-1.22, S-2.5, S-4.4, C-2.6.
  it('return all data at both URLs, for all manufacturers or for one', async () => {
    const { app } = await startService()
    const all = (await app.get('/api/data.json')).json
    expect(all).toEqual({
      receivers: expect.any(Array),
      discovered: [],
      config: { ...defaultSettings, version: 0 },
      groups: [],
      assignments: [],
      placeholders: [],
      slot_records: expect.any(Array),
    })
    for (const path of ['/api/data/', '/api/data', '/api/data.json/']) {
      expect((await app.get(path)).json.receivers).toHaveLength(5)
    }
    const slots = all.receivers.flatMap((receiver: { channels: { slot: number }[] }) =>
      receiver.channels.map(({ slot }) => slot),
    )
    expect(slots.toSorted((a: number, b: number) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const filtered = (await app.get('/api/data/?manufacturer=sennheiser')).json
    expect(filtered.receivers.map((receiver: { manufacturer: string }) => receiver.manufacturer)).toEqual([
      'sennheiser',
      'sennheiser',
    ])
    expect(filtered.config.polling_interval).toBe(1)
    expect((await app.get('/api/data/?manufacturer=nobody')).json.receivers).toEqual([])
  })

  it('never return the cached response of another request', async () => {
    const { app } = await startService()
    const count = async (path: string, query: string) => {
      const { json } = await app.get(`${path}?${query}`)
      return (json.receivers ?? json.results ?? json).length
    }
    const unusualQueries = ['/api/receivers/?page=1', 'page:/api/receivers/?page=1'].map(
      (code) => `manufacturer=${encodeURIComponent(code)}`,
    )
    for (let round = 0; round < 3; round += 1) {
      for (const path of ['/api/receivers/', '/api/data/', '/api/data.json']) {
        const queries =
          round === 1 ? ['', 'page=1', ...unusualQueries] : [...unusualQueries, 'page=1', 'manufacturer=', '']
        for (const query of queries)
          expect([path, query, await count(path, query)]).toEqual([path, query, unusualQueries.includes(query) ? 0 : 5])
      }
    }
  })

  // Conformance: S-2.7, S-4.11.
  it('return the effective settings', async () => {
    const { app } = await startService({ settings: { DEFAULT_POLLING_INTERVAL: 7 } })
    const config = { ...defaultSettings, polling_interval: 7, version: 0 }
    expect((await app.get('/api/config/')).json).toEqual(config)
    expect((await app.get('/api/config/?manufacturer=shure')).json).toEqual({ ...config, polling_interval: 1 })
  })

  // Conformance: C-5.21.
  it('return 304 for a current ETag, and gzip if accepted', async () => {
    const { app, shure } = await startService()
    for (const path of ['/api/data.json', '/api/receivers/']) {
      const first = await app.get(path)
      const etag = String(first.headers.etag)
      expect(first.headers['content-encoding']).toBeUndefined()
      // If a level has changed in between, a new tag and a complete response are correct.
      await until('the response is unchanged', async () => {
        const { headers } = await app.get(path)
        const again = await app.get(path, { 'if-none-match': `"other", ${headers.etag}` })
        return again.status === 304 && again.bytes.length === 0 && again.headers.etag === headers.etag
      })
      expect((await app.get(path, { 'if-none-match': '"other"' })).status).toBe(200)
      expect(etag).toMatch(/^(W\/)?"[^"]+"$/)
    }
    await until('the gzip response has the same content', async () => {
      const compressed = await app.get('/api/data.json', { 'accept-encoding': 'br, gzip;q=0.8' })
      expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
      return gunzipSync(compressed.bytes).equals((await app.get('/api/data.json')).bytes)
    })
    const plain = await app.get('/api/data.json', { 'accept-encoding': 'gzip;q=0' })
    expect(plain.headers['content-encoding']).toBeUndefined()

    const stale = String((await app.get('/api/data.json')).headers.etag)
    shure.show.set(deviceOf(shure).id, { name: 'Other Rack' })
    await until('the change is published', async () => {
      const response = await app.get('/api/data.json', { 'if-none-match': stale })
      return response.status === 200 && response.bytes.includes('Other Rack')
    })
  })
})

describe('reads of lists', () => {
  // Conformance: S-4.5, C-5.4, C-5.8.
  it('list receivers bare or paginated, ordered by id', async () => {
    // The times of the last reports do not change between the requests.
    const { app } = await startService({}, { poll_interval: 3600 })
    const { json } = await app.get('/api/receivers/')
    const ids = json.map(({ id }: { id: number }) => id)
    expect(ids).toHaveLength(5)
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b))
    expect((await app.get('/api/receivers?manufacturer=shure')).json).toHaveLength(3)
    expect((await app.get('/api/receivers/?manufacturer=nobody')).json).toEqual([])

    const first = (await app.get('/api/receivers/?page_size=2')).json
    expect(first).toEqual({
      count: 5,
      next: '/api/receivers/?page_size=2&page=2',
      previous: null,
      results: expect.any(Array),
    })
    const second = (await app.get(first.next)).json
    const third = (await app.get(second.next)).json
    expect(third.next).toBeNull()
    expect([first, second, third].flatMap(({ results }) => results)).toEqual(json)
    expect((await app.get(third.previous)).json).toEqual(second)

    const { json: paged } = await app.get('/api/receivers/?manufacturer=shure&page=2&page_size=2')
    expect(new URLSearchParams(paged.previous.split('?')[1])).toEqual(
      new URLSearchParams({ manufacturer: 'shure', page: '1', page_size: '2' }),
    )
    expect((await app.get('/api/receivers/?page=1')).json).toMatchObject({ count: 5, next: null, previous: null })
    expect((await app.get('/api/receivers/?page_size=5000')).json.results).toHaveLength(5)
    expect((await app.get('/api/receivers/?manufacturer=nobody&page=1')).json).toEqual({
      count: 0,
      next: null,
      previous: null,
      results: [],
    })
  })

  // Conformance: S-4.6, C-5.7.
  it('limit a page to 1000 and default to 100', async () => {
    const shure = withoutPush(await startShure({ receivers: 1005, channelsPerReceiver: 1, richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('all receivers are known', async () => (await app.get('/api/receivers/')).json.length === 1005)
    expect((await app.get('/api/receivers/?page_size=1001')).json.results).toHaveLength(1000)
    const second = (await app.get('/api/receivers/?page=2')).json
    expect(second.results).toHaveLength(100)
    expect(second.next).toBe('/api/receivers/?page=3')
  })

  // Conformance: C-5.5.
  it.each(['page=0', 'page=-1', 'page=', 'page=1.5', 'page=x', 'page=1&page=2'])('reject %s', async (query) => {
    const app = await startApp()
    expectError(await app.get(`/api/receivers/?${query}`), 400, /page/)
  })

  it.each(['page_size=0', 'page_size=-5', 'page_size=ten', 'page_size='])('reject %s', async (query) => {
    const app = await startApp()
    expectError(await app.get(`/api/receivers/?${query}`), 400, /page_size/)
  })

  // Conformance: S-4.7, C-5.6, C-5.11.
  it('return 404 past the last page and for an unknown receiver', async () => {
    const { app } = await startService()
    expectError(await app.get('/api/receivers/?page=6&page_size=1'), 404)
    expectError(await app.get('/api/receivers/?page=99999999999999999999'), 404)
    expectError(await app.get('/api/receivers/4711/'), 404)
    for (const id of ['0', '-1', 'abc', '1.5', '9007199254740992', '%00', '1%2F2']) {
      expectError(await app.get(`/api/receivers/${id}/`), 400)
    }
    const [{ id }] = (await app.get('/api/receivers/?manufacturer=shure')).json
    expect((await app.get(`/api/receivers/${id}?manufacturer=shure`)).status).toBe(200)
    expectError(await app.get(`/api/receivers/${id}/?manufacturer=sennheiser`), 404)
    expectError(await app.get(`/api/receivers/${id}/?manufacturer=nobody`), 404)
  })
})

describe('reads that clients of the live interface need', () => {
  // Conformance: C-9b.16.
  it('returns data.json without last_seen, so that its ETag stays while nothing changes', async () => {
    const shure = await startShure({ now: () => 1_800_000_000_000 })
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 2)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    const { headers, json } = await app.get('/api/data.json')
    expect(JSON.stringify(json)).not.toContain('last_seen')
    const seen = (await app.summaries())[0]?.last_seen
    await until('the system was polled again', async () => (await app.summaries())[0]?.last_seen !== seen)
    expect((await app.get('/api/data.json')).headers.etag).toBe(headers.etag)
  })

  // Conformance: C-9b.17, C-5.61.
  it('returns single records, and 404 for those that do not exist', async () => {
    const { app } = await startService()
    await app.post('/api/group/', { title: 'Band', slots: [1] })
    await app.post('/api/performers/', { name: 'Nora' })
    for (const path of ['channels', 'groups', 'performers', 'units', 'chassis']) {
      // Levels may change between the two requests.
      await until(`a single record of ${path} is like that of the list`, async () => {
        const { json: all } = await app.get(`/api/${path}/`)
        expect(all.length, path).toBeGreaterThan(0)
        expect((await app.get(`/api/${path}/${all[0].id}/`)).json, path).toEqual(all[0])
        return true
      })
      expect((await app.get(`/api/${path}/999999/`)).status, path).toBe(404)
      expect((await app.get(`/api/${path}/01/`)).status, path).toBe(400)
    }
    const receiver = (await app.receivers()).find(({ manufacturer }) => manufacturer === 'shure')
    const [channel] = receiver?.channels ?? []
    const { json } = await app.get(`/api/channels/${channel?.id}/?manufacturer=shure`)
    expect(json).toMatchObject({ id: channel?.id, receiver_id: receiver?.id, manufacturer: 'shure' })
    expect((await app.get(`/api/channels/${channel?.id}/?manufacturer=nobody`)).status).toBe(404)
    expect((await app.get('/api/channels/?page=1&page_size=1')).json.results).toHaveLength(1)
  })
})

describe('health', () => {
  // Conformance: S-4.8, C-5.32, C-5.33.
  it('is healthy without manufacturers', async () => {
    const app = await startApp()
    expect((await app.get('/api/health/')).json).toMatchObject({
      status: 'healthy',
      vendor_api: { status: 'unconfigured', base_url: '', consecutive_failures: 0 },
      timestamp: expect.stringMatching(/Z$/),
      manufacturers: [],
    })
    expect((await app.get('/healthz')).json).toEqual({ status: 'ok' })
    expect((await app.get('/readyz')).status).toBe(200)
  })

  // Conformance: S-1.25, S-6.4, C-5.23, C-5.27, C-7.9.
  it('distinguishes failing from healthy manufacturers, and reports the worst status unless one is named', async () => {
    const { app, shure, sennheiser } = await startService()
    await until('all manufacturers are healthy', async () => (await app.get('/api/health')).json.status === 'healthy')
    await until('both subscriptions were rejected', async () => {
      const states = (await connectionsOf(app)).map(({ status }) => status)
      return states.length === 5 && states.every((state) => state === 'error')
    })
    const socket = await app.socket()
    shure.setFault({ type: 'reset' })
    await until(
      'the status is degraded',
      async () => (await app.get('/api/health')).json.vendor_api.status === 'degraded',
    )
    await until(
      'the status is unhealthy',
      async () => (await app.get('/api/health')).json.vendor_api.status === 'unhealthy',
    )
    const { status, json } = await app.get('/api/health/')
    expect([status, json.status]).toEqual([200, 'degraded'])
    expect(json.vendor_api).toMatchObject({ base_url: shure.baseUrl, consecutive_failures: expect.any(Number) })
    expect(json.vendor_api.consecutive_failures).toBeGreaterThanOrEqual(3)
    const findManufacturer = (code: string) =>
      json.manufacturers.find((manufacturer: { code: string }) => manufacturer.code === code)
    expect(findManufacturer('shure')).toMatchObject({ status: 'unhealthy', error: expect.stringMatching(/\w+ \w+/) })
    expect(findManufacturer('sennheiser')).toMatchObject({ status: 'healthy', consecutive_failures: 0, error: null })
    expect((await app.get('/api/health/?manufacturer=sennheiser')).json.vendor_api).toEqual({
      status: 'healthy',
      base_url: sennheiser.baseUrl,
      consecutive_failures: 0,
      error: null,
      overruns: expect.any(Number),
      details: [],
      sources: [
        { source: sennheiser.baseUrl, status: 'healthy', consecutive_failures: 0, error: null, silent_since: null },
      ],
      device_errors: [],
      more: 0,
    })
    expect((await app.get('/api/health/?manufacturer=nobody')).json.vendor_api.status).toBe('unconfigured')
    expect((await app.get('/readyz')).status).toBe(200)
    expect(await app.receivers()).toHaveLength(5)

    shure.setFault(null)
    await until('the status is healthy again', async () => (await app.get('/api/health')).json.status === 'healthy')
    await socket.receiveAll()
    const messages = socket.ofType('status_update').filter(({ about }) => about === 'upstream')
    expect(messages.map(({ status }) => status)).toEqual(['degraded', 'unhealthy', 'healthy'])
    for (const message of socket.ofType('status_update')) {
      expect(message).toMatchObject({ manufacturer: 'shure', message: expect.stringMatching(/shure/i) })
    }
  })

  // Conformance: S-1.11, C-5.29.
  it('ignores a disabled manufacturer', async () => {
    const shure = await startShure()
    const app = await startApp({ manufacturers: [{ ...configFor(shure), api_enabled: false }] })
    const { json } = await app.get('/api/health/')
    expect([json.status, json.manufacturers[0].status]).toEqual(['healthy', 'disabled'])
    expect(shure.requests.total).toBe(0)
  })

  // Conformance: C-3.27.
  it('responds for others while one system hangs', async () => {
    const shure = withoutPush(await startShure())
    const sennheiser = withoutPush(await startSennheiser())
    shure.setFault({ type: 'hang' })
    const app = await startApp({ manufacturers: [configFor(shure, { timeout: 60 }), configFor(sennheiser)] })
    const { id } = deviceOf(sennheiser)
    await until('the other system is listed', () => app.receiver(id), 3000)
    const polled = () => sennheiser.requests.count('/api/v1/devices')
    const before = polled()
    await until('the other system is still polled', () => polled() >= before + 2, 4000)
    const requestedAt = performance.now()
    expect((await app.get('/healthz')).status).toBe(200)
    expect(performance.now() - requestedAt).toBeLessThan(timeLimit(500))
    expect(shure.requests.entries.filter(({ status }) => status === null)).toHaveLength(1)
    const closingAt = performance.now()
    await app.close()
    expect(performance.now() - closingAt).toBeLessThan(timeLimit(5000))
  })
})

describe('refresh', () => {
  // Conformance: S-4.10, S-4.17, C-1.15, C-5.10, C-5.38.
  it('polls all or one manufacturer now, and returns the number of devices', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const sennheiser = withoutPush(await startSennheiser({ receivers: 2 }))
    const idlePolling = { poll_interval: 3600 }
    const disabled = { code: 'spare', plugin: 'shure', config: { ...shure.config, enabled: false } }
    const app = await startApp({
      manufacturers: [configFor(shure, idlePolling), configFor(sennheiser, idlePolling), disabled],
    })
    await until('all receivers are known', async () => (await app.receivers()).length === 5)

    const { id } = deviceOf(shure)
    shure.show.set(id, { name: 'Renamed Rack' })
    const refreshed = await app.post('/api/refresh/')
    expect([refreshed.status, refreshed.json]).toEqual([
      200,
      { status: 'success', receivers_updated: 5, timestamp: expect.stringMatching(/Z$/) },
    ])
    expect(await app.receiver(id)).toMatchObject({ name: 'Renamed Rack' })
    expect((await app.post('/api/refresh?manufacturer=sennheiser', {})).json.receivers_updated).toBe(2)
    expectError(await app.post('/api/refresh/?manufacturer=nobody'), 404)
    expectError(await app.post('/api/refresh/?manufacturer=spare'), 409)

    shure.setFault({ type: 'status', status: 500 })
    const partial = (await app.post('/api/refresh/')).json
    expect(partial).toMatchObject({ status: 'partial', receivers_updated: 2 })
    expect(partial.errors).toEqual([{ manufacturer: 'shure', source: shure.baseUrl, error: expect.any(String) }])
    const failed = await app.post('/api/refresh/?manufacturer=shure')
    expectError(failed, 503)
    expect(Number(failed.headers['retry-after'])).toBeGreaterThan(0)
  })

  // Conformance: C-5.10.
  it('does nothing without manufacturers', async () => {
    const app = await startApp()
    expect((await app.post('/api/refresh')).json).toMatchObject({ status: 'success', receivers_updated: 0 })
  })

  // Conformance: C-4.2, C-4.3.
  it('waits for the identities of its poll, even when it joins one that is running', async () => {
    const shure = withoutPush(await startShure({ receivers: 20, channelsPerReceiver: 1 }))
    const rate = { calls_per_second: 10, burst: 5, poll_interval: 1 }
    const app = await startApp({ manufacturers: [configFor(shure, rate)] })
    await until('the first cycle is running', () => shure.requests.count('/api/v1/devices') > 0)
    expect((await app.post('/api/refresh/')).json).toMatchObject({ status: 'success', receivers_updated: 20 })
    expect(await app.receivers()).toHaveLength(20)
  })
})

describe('error responses', () => {
  // Conformance: S-4.1, S-7.1, S-7.3, C-5.13, C-5.14, C-6.13.
  // Reliability: 3.12.12.
  it('have one schema', async () => {
    const app = await startApp()
    for (const path of ['/nothing', '/api/', '/api/nothing/', '/api/receivers/1/2', '/assets/none.js']) {
      expectError(await app.get(path), 404)
    }
    expectError(await app.send('POST', '/nothing'), 404)
    for (const [method, path, allow] of [
      ['POST', '/api/data.json', 'GET'],
      ['DELETE', '/api/receivers/1/', 'GET'],
      ['GET', '/api/refresh/', 'POST'],
      ['PUT', '/healthz', 'GET'],
      ['PATCH', '/api/health', 'GET'],
    ] as const) {
      const response = await app.send(method, path)
      expectError(response, 405)
      expect(String(response.headers.allow).split(', ')).toContain(allow)
    }
    const json = { 'content-type': 'application/json' }
    expectError(await app.send('POST', '/api/refresh/', { headers: json, body: '{"a":' }), 400, /^body/)
    expectError(await app.send('POST', '/api/refresh/', { headers: json, body: '{"__proto__":{}}' }), 400)
    const withCharset = { 'content-type': 'application/json;charset="UTF-8"' }
    expect((await app.send('POST', '/api/refresh/', { headers: withCharset, body: '{}' })).status).toBe(200)
    const text = { 'content-type': 'text/plain' }
    expectError(await app.send('POST', '/api/refresh/', { headers: text, body: '{}' }), 415)
    for (const empty of [{}, text, { 'content-length': 0 }, { 'transfer-encoding': 'chunked' }]) {
      const response = await app.send('POST', '/api/refresh/', { headers: empty })
      expect([empty, response.status]).toEqual([empty, 200])
      expectError(await app.send('POST', '/api/config/', { headers: empty }), 400, /^body|missing/)
    }
    const jsonp = { 'content-type': 'application/jsonp' }
    expectError(await app.send('POST', '/api/refresh/', { headers: jsonp, body: '{}' }), 415)
    const body = Buffer.alloc(1024 * 1024 + 1, ' ')
    expectError(await app.send('POST', '/api/refresh/', { headers: json, body }), 413)
    const plain = await app.get('/ws')
    expectError(plain, 426, /ws:/)
    expect(plain.headers).toMatchObject({ upgrade: 'websocket', connection: 'upgrade' })
    for (const path of ['/%ff', '/api/receivers/%', '/api/receivers/%E0%A4%A']) {
      expectError(await app.get(path), 400)
    }
  })

  // Conformance: S-7.1.
  it('have the same schema for malformed requests', async () => {
    const app = await startApp()
    const bodyOf = (response: string) => JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))
    const nonsense = await app.raw('NONSENSE\r\n\r\n')
    expect(nonsense).toMatch(/^HTTP\/1\.1 400 /)
    expect(bodyOf(nonsense)).toEqual({ error: expect.any(String), status: 400 })
    const longHead = await app.raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(longHead).toMatch(/^HTTP\/1\.1 431 /)
    expect(bodyOf(longHead)).toEqual({ error: expect.any(String), status: 431 })
  })
})

// Conformance: C-2.13.
describe('an unknown IP address and serial number', () => {
  it('are null in every body and message', async () => {
    const unknown = { ip: undefined, serial_number: undefined }
    const system = await startSystem(respondJson({ devices: [] }))
    const other = await startSystem(respondJson({ devices: [] }))
    const app = await startApp({ manufacturers: [system.entry('shure'), other.entry('sennheiser', {}, 'sennheiser')] })
    const socket = await app.socket()
    other.respondWith(respondJson({ devices: [device(1, unknown)] }))
    const admin = await tokenHeaders(app, 'admin')
    const results = async (path: string) => {
      const { json } = await app.get(path, admin)
      return json.results ?? json.receivers ?? json
    }
    await until('the receiver is known', async () => (await app.receivers()).length === 1)
    const [{ id }] = await results('/api/receivers/')
    expect(await results('/api/receivers/')).toMatchObject([{ ip: null }])
    expect(await results(`/api/receivers/${id}/`)).toMatchObject({ ip: null, serial_number: null })
    expect(await results('/api/data.json')).toMatchObject([{ ip: null }])
    expect(await results('/api/chassis/')).toMatchObject([{ ip: null, serial_number: null }])
    const update = await socket.next(({ type, receiver_id }) => type === 'device_update' && receiver_id === id)
    expect(update.data).toMatchObject({ ip: null })

    // The same MAC address in the system of another manufacturer is queued for review.
    system.respondWith(respondJson({ devices: [device(1, unknown)] }))
    const pending = await until('the device is pending review', async () => {
      const entries = await results('/api/discovery/pending/')
      return entries.length > 0 && entries
    })
    expect(pending).toMatchObject([{ ip: null, serial_number: null }])
    expect(await results('/api/admin/discovery-queue/')).toMatchObject([{ ip: null, serial_number: null }])

    await app.send('PATCH', `/api/admin/receivers/${id}/`, {
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ ip: '10.1.2.3' }),
    })
    expect(await results('/api/movements/unacknowledged/')).toMatchObject([
      { device: { serial_number: null }, old_ip: null, new_ip: '10.1.2.3' },
    ])
  })
})
