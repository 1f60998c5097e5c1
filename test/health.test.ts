/** Health, refreshes, scans and commands with sources and devices that fail or have not responded yet. */

import { describe, expect, it } from 'vitest'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { ServiceHealth } from '../src/domain/equipment/health.ts'
import { createInstallation, startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { device, respondError, respondJson, startSystem } from './support/faults/system.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

type Manufacturer = ServiceHealth['manufacturers'][number]

async function manufacturersOf(app: Pick<TestApp, 'get'>): Promise<Map<string, Manufacturer>> {
  const { manufacturers } = (await app.get('/api/health/')).json
  return new Map(manufacturers.map((manufacturer: Manufacturer) => [manufacturer.code, manufacturer]))
}

/** Returns a URL whose port nothing listens on. */
async function unusedUrl(): Promise<string> {
  const { createServer } = await import('node:net')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

describe.concurrent.each(engines)('a system that always sends Retry-After (%s)', (engine) => {
  // Conformance: C-5.59.
  // Reliability: U30.
  it('is unknown, raises an alert, and does not prevent the statuses of others from being stored', async () => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const limited = await startSystem(respondError(429, { 'retry-after': '1' }))
    const reachable = await startSystem(respondJson({ devices: [device(1)] }))
    const failingSystem = await startSystem(respondError(500))
    const manufacturers = [limited.entry('limited'), reachable.entry('well'), failingSystem.entry('dead')]
    const app = await startApp({ databaseUrl: database.url, manufacturers })
    const screen = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true })
    for (const service of [app, screen]) {
      await until(
        'three cycles have failed',
        async () => {
          const all = await manufacturersOf(service)
          return all.get('dead')?.status === 'unhealthy' && all.get('well')?.status === 'healthy'
        },
        20_000,
      )
      await eventually(async () => (await manufacturersOf(service)).get('limited')).toMatchObject({
        status: 'unknown',
        consecutive_failures: 0,
        details: [expect.stringContaining('rate limited')],
        sources: [{ source: limited.url, status: 'unknown', error: expect.stringContaining('rate limited') }],
      })
      const { json } = await service.get('/api/health/')
      expect([json.status, json.vendor_api.status]).toEqual(['degraded', 'unhealthy'])
      await until('both alerts are raised', async () => {
        const alerts: { kind: string; manufacturer: string }[] = (await service.get('/api/alerts/?state=raised')).json
        const failing = alerts.filter(({ kind }) => kind === 'upstream_failing')
        return (
          failing
            .map(({ manufacturer }) => manufacturer)
            .sort()
            .join() === 'dead,limited'
        )
      })
    }

    limited.respondWith(respondJson({ devices: [device(2)] }))
    await until('the system responds', async () => (await manufacturersOf(screen)).get('limited')?.status === 'healthy')
    limited.respondWith(respondError(429, { 'retry-after': '60' }))
    const limitedAgain = await until('the system sends Retry-After', async () => {
      const limitedStatus = (await manufacturersOf(screen)).get('limited')
      return limitedStatus !== undefined && limitedStatus.details.length > 0 && limitedStatus
    })
    expect(limitedAgain).toMatchObject({
      status: 'healthy',
      error: null,
      sources: [{ status: 'healthy', error: null }],
    })
  })
})

// Conformance: C-5.59.
it.concurrent('a new manufacturer is unknown until its system responds, also after it was removed and added again', async () => {
  let respond = () => {}
  const system = await startSystem((request, response) => {
    respond = () => respondJson({ devices: [] })(request, response)
  })
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  const { code, config } = system.entry('shure')
  for (let round = 0; round < 2; round += 1) {
    const requestsBefore = system.requests.length
    const added = await app.post('/api/admin/manufacturers/', { code, name: 'Shure', config }, admin)
    expect([added.status, added.json.status]).toEqual([201, 'unknown'])
    const { json } = await app.get('/api/health/')
    expect([json.status, json.vendor_api.status, json.vendor_api.error]).toEqual(['degraded', 'unknown', null])
    await until('the system receives a request', () => system.requests.length > requestsBefore)
    respond()
    await until('the status is healthy', async () => (await app.get('/api/health/')).json.status === 'healthy')
    expect((await app.send('DELETE', '/api/admin/manufacturers/shure/', { headers: admin })).status).toBe(204)
  }
})

it('shows the new name of a renamed manufacturer', async () => {
  const system = await startSystem(respondJson({ devices: [] }))
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  const { code, config } = system.entry('shure')
  await app.post('/api/admin/manufacturers/', { code, name: 'Shure', config }, admin)
  const listNames = async () =>
    (await app.get('/api/health/')).json.manufacturers.map(({ name }: { name: string }) => name)
  expect(await listNames()).toEqual(['Shure'])
  await app.send('PATCH', '/api/admin/manufacturers/shure/', {
    headers: { 'content-type': 'application/json', ...admin },
    body: JSON.stringify({ name: 'Stage left' }),
  })
  expect(await listNames()).toEqual(['Stage left'])
})

async function startUnsupported(port = 0) {
  const device = await startStringsSimulator({ family: 'ulxd', model: 'XYZ9', port })
  onTestEnd(() => device.close())
  return device
}

describe.concurrent('every failing source and device', () => {
  // Conformance: C-5.58.
  it('is named with its reason in every status', async () => {
    const nameless = device(2, { device_id: undefined })
    const invalid = device(3, { battery_percentage: 'x' })
    const system = await startSystem(respondJson({ devices: [device(1), nameless, invalid] }))
    const unsupported = await startUnsupported()
    const deadUrl = (await unusedUrl()).replace('http:', 'tcp:')
    const entry = system.entry('shure', { devices: [unsupported.url, deadUrl], timeout: 20 })
    const app = await startApp({ manufacturers: [entry] })
    const failing = [
      { source: unsupported.url, error: expect.stringContaining('is a XYZ9, which Micwatch does not support') },
      { source: deadUrl, error: expect.stringContaining('connection refused') },
    ]
    const health = await until('all sources have been contacted', async () => {
      const status = (await manufacturersOf(app)).get('shure')
      return status?.sources.every(({ status }) => status !== 'unknown') && status
    })
    expect(health).toMatchObject({
      status: 'degraded',
      sources: [{ source: system.url, status: 'healthy', error: null }, ...failing],
      device_errors: [
        { device: 'entry 2 of the list', error: 'it has no device_id' },
        { device: 'd3', error: 'battery_percentage cannot be read' },
      ],
      more: 0,
    })
    const admin = await tokenHeaders(app, 'admin')
    const [record] = (await app.get('/api/admin/manufacturers/', admin)).json
    expect(record).toMatchObject({
      sources: health.sources.map(({ source }) => ({ source })),
      device_errors: health.device_errors,
    })

    const errors = failing.map((failure) => ({ manufacturer: 'shure', ...failure }))
    const refreshed = await app.post('/api/refresh/')
    expect(refreshed.json).toMatchObject({ status: 'partial', receivers_updated: 2, errors })
    const scanned = await app.post('/api/discover/', { scan_subnet: '10.77.0.0/30' })
    expect([scanned.status, scanned.json.discovered]).toEqual([200, 0])
    expect(scanned.json.errors).toEqual(expect.arrayContaining(errors))

    const installation = await createInstallation({ manufacturers: [entry] })
    const healthCheck = await installation.run(['check_api_health', '--json'])
    expect([healthCheck.code, healthCheck.json()]).toMatchObject([1, { status: 'degraded', errors }])
    expect(healthCheck.err).toMatch(/XYZ9.*\n.*refused/)
    const polled = await installation.run(['poll_devices', '--once', '--json'])
    expect(polled.json().manufacturers[0].error).toMatch(/^(?=.*XYZ9)(?=.*connection refused).*; /)
    const checked = await installation.run(['check_connections', '--json'])
    expect([checked.code, checked.json()]).toMatchObject([0, { errors }])
  })

  // Conformance: C-5.60.
  it('is reachable if it responded: a scan lists devices found and devices that cannot be used', async () => {
    const { url } = await startUnsupported(2202)
    const error = expect.stringContaining('is a XYZ9, which Micwatch does not support')
    const errors = [{ manufacturer: 'shure', source: url, error }]
    const scan = { scan_subnet: '127.0.0.0/30' }
    const config = { discovery_ranges: ['127.0.0.0/30'] }
    for (const devices of [[], [url]]) {
      const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices, timeout: 2 } }], config })
      // A scan waits half a second for a connection. On a busy machine this may be too short, so the scan is repeated.
      const { status, json } = await until('the scan has responded', async () => {
        const response = await app.post('/api/discover/', scan)
        return response.json.errors !== undefined && response
      })
      expect([devices, status, json]).toEqual([devices, 200, { discovered: 0, devices: [], errors }])
      await app.close()
    }
    const installation = await createInstallation({ manufacturers: [{ code: 'shure' }], ...config })
    const added = await until('the scan has responded', async () => {
      const ended = await installation.run(['add_shure_devices', '--ips', '127.0.0.1', '--json'])
      return ended.err !== '' && ended
    })
    expect([added.code, added.json()]).toMatchObject([0, { found: [], errors }])
    expect(added.err).toContain('XYZ9')
  })

  // Conformance: C-5.60.
  it('is unreachable if it does not respond at all', async () => {
    const system = await startSystem((request) => request.destroy())
    const app = await startApp({ manufacturers: [system.entry('shure')] })
    const scanned = await app.post('/api/discover/', { scan_subnet: '10.77.0.0/30' })
    expect([scanned.status, scanned.json.details]).toEqual([503, expect.stringMatching(/^shure: invalid response/)])
  })
})
