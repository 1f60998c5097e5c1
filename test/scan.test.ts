/** Scanning a network, and registering addresses from the command line. */

import { describe, expect, it } from 'vitest'
import { auditOf } from './support/admin-lists.ts'
import {
  configFor,
  createInstallation,
  deviceOf,
  startApp,
  startLectrosonics,
  startSennheiser,
  startShure,
  startSystemApi,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { certify } from './support/certificates.ts'
import { tokenHeaders } from './support/tokens.ts'

const idlePolling = { poll_interval: 3600 }
/** A rate limit that no test reaches. */
const unlimitedScans = {
  rate_limit: { overrides: { 'POST /api/discover/': { max_requests: 1_000, window_seconds: 1 } } },
}
const scan = (subnet: string) => ({ scan_subnet: subnet })

describe.concurrent('a scan', () => {
  // Conformance: S-4.9, C-5.36.
  it('registers the addresses, polls, and lists the devices that it found', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 2)
    const found = shure.show.add('shure', { ip: '10.123.4.9', channels: 3, model: 'ULXD4Q' })
    const elsewhere = shure.show.add('shure', { ip: '10.123.5.9' })
    const { status, json } = await app.post('/api/discover/', scan('10.123.4.77/28'))
    expect([status, json]).toEqual([200, { discovered: 0, devices: [] }])
    const all = await app.post('/api/discover/', scan('10.123.4.0/27'))
    expect(all.json).toEqual({ discovered: 1, devices: [{ ip: '10.123.4.9', device_type: 'ulxd', channels: 3 }] })
    expect(shure.discoveryIps).toHaveLength(44)
    expect(shure.discoveryIps).toContain('10.123.4.30')
    expect(await app.receiver(found)).toMatchObject({ ip: '10.123.4.9' })
    expect(await app.receiver(elsewhere)).toMatchObject({ ip: '10.123.5.9' })
    const rows = await auditOf(app, 'network.scan')
    expect(rows.toReversed().map(({ target, result }) => [target, result])).toEqual([
      ['10.123.4.64/28', 'ok'],
      ['10.123.4.0/27', 'ok'],
    ])
  })

  // Conformance: S-2.20, C-5.19.
  it('lists a device that is not a receiver yet until it is one', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)] })
    await until('all receivers are known', async () => (await app.receivers()).length === 2)
    const { ip } = deviceOf(shure)
    shure.show.add('shure', { ip, serial_number: 'VISITOR-1', channels: 1, model: 'QLXD4' })
    const { json } = await app.post('/api/discover/', scan(`${ip}/32`))
    expect(json.discovered).toBe(2)
    const discovered = async (query = '') => (await app.get(`/api/data.json${query}`)).json.discovered
    expect(await discovered()).toEqual([
      {
        id: expect.any(Number),
        ip,
        device_type: 'qlxd',
        channels: 1,
        manufacturer: 'shure',
        discovered_at: expect.stringMatching(/Z$/),
      },
    ])
    expect(await discovered('?manufacturer=sennheiser')).toEqual([])
    const { json: pending } = await app.get('/api/discovery/pending/')
    const approve = '/api/admin/discovery-queue/approve'
    await app.post(approve, { ids: [pending.results[0].id] }, await tokenHeaders(app, 'admin'))
    expect(await discovered()).toEqual([])
    expect(await app.receivers()).toHaveLength(3)
  })

  // Conformance: C-1.9, C-5.34.
  // Reliability: 1.14, 3.9.2.
  it('rejects networks that are not private', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const config = { ...unlimitedScans, discovery_ranges: ['203.0.113.0/24'] }
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)], config })
    for (const subnet of ['8.8.8.0/24', '10.0.0.0/21', '127.0.0.0/24', '10.0.0.1', 'fe80::/120', '', '10.0.0.0/24/1']) {
      const { status, json } = await app.post('/api/discover/', scan(subnet))
      expect([subnet, status, json.details]).toEqual([subnet, 400, expect.stringContaining('scan_subnet')])
    }
    for (const body of [{}, { scan_subnet: 10 }, { scan_subnet: null }, []]) {
      expect((await app.post('/api/discover/', body)).status).toBe(400)
    }
    expect((await app.post('/api/discover/', scan('203.0.113.0/30'))).status).toBe(200)
    expect((await app.post('/api/discover/?manufacturer=nobody', scan('10.0.0.0/30'))).status).toBe(404)
  })

  // Conformance: C-5.35.
  // Reliability: 1.14, 3.9.2.
  it('is rejected while another scan runs', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, idlePolling)], config: unlimitedScans })
    const responses = await Promise.all([1, 2, 3].map(() => app.post('/api/discover/', scan('10.0.0.0/28'))))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect((await app.post('/api/discover/', scan('10.0.0.0/28'))).status).toBe(200)
  })

  // Conformance: C-5.37.
  it('returns 503 if no system responds, and otherwise names those that failed', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const sennheiser = withoutPush(await startSennheiser({ richList: true }))
    const app = await startApp({
      manufacturers: [configFor(shure, idlePolling), configFor(sennheiser, idlePolling)],
      config: unlimitedScans,
    })
    await until('all receivers are known', async () => (await app.receivers()).length === 4)
    shure.setFault({ type: 'reset' })
    const { status, json } = await app.post('/api/discover/', scan('10.0.0.0/28'))
    const errors = [{ manufacturer: 'shure', source: shure.baseUrl, error: expect.any(String) }]
    expect([status, json.errors]).toEqual([200, errors])
    const single = await app.post('/api/discover/?manufacturer=shure', scan('10.0.0.0/28'))
    expect([single.status, single.headers['retry-after'], single.json.status]).toEqual([503, expect.any(String), 503])
    shure.setFault({ type: 'status', status: 404 }, { path: 'discovery' })
    const unsupported = await app.post('/api/discover/?manufacturer=shure', scan('10.0.0.0/28'))
    expect([unsupported.status, unsupported.json.errors]).toEqual([200, errors])
  })
})

describe.concurrent('add_shure_devices', () => {
  // Conformance: S-1.20, C-9.15.
  it('adds addresses to the list and removes them', async () => {
    const shure = await startShure()
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const added = await installation.run(['add_shure_devices', '--ips', '10.0.0.5', '10.0.0.6', '--json'])
    expect([added.code, added.json()]).toEqual([
      0,
      {
        manufacturer: 'shure',
        action: 'add',
        addresses: 2,
        sources: [{ source: shure.baseUrl, error: null, listed: 2 }],
      },
    ])
    const more = await installation.run(['add-shure-devices', '--cidr', '192.168.7.0/30'])
    expect([more.code, more.err]).toEqual([0, ''])
    expect(shure.discoveryIps).toEqual(['10.0.0.5', '10.0.0.6', '192.168.7.1', '192.168.7.2'])
    const removed = await installation.run(['add_shure_devices', '--ips', '10.0.0.5,10.0.0.6', '--remove', '--json'])
    expect([removed.code, removed.json()]).toMatchObject([0, { action: 'remove', sources: [{ listed: 2 }] }])
    expect(shure.discoveryIps).toEqual(['192.168.7.1', '192.168.7.2'])
  })

  it('reports errors in one line', async () => {
    const shure = await startShure()
    const installation = await createInstallation({
      manufacturers: [configFor(shure), { ...configFor(shure, { enabled: false }), code: 'other', plugin: 'shure' }],
    })
    const wrong = [
      [],
      ['--ips', '10.0.0.1', '--cidr', '10.0.0.0/24'],
      ['--ips', '8.8.8.8'],
      ['--ips', '10.0.0.01'],
      ['--cidr', '10.0.0.0/8'],
      ['--ips', '10.0.0.1', '--manufacturer', 'nobody'],
      ['--ips', '10.0.0.1', '--manufacturer', 'other'],
    ]
    for (const args of wrong) {
      const { code, out, err } = await installation.run(['add_shure_devices', ...args])
      expect([args, code, out]).toEqual([args, 2, ''])
      expect(err.trimEnd().split('\n')).toHaveLength(1)
    }
    expect((await installation.run(['add_sennheiser_devices', '--ips', '10.0.0.1'])).code).toBe(2)
    shure.setFault({ type: 'reset' })
    const failed = await installation.run(['add_shure_devices', '--ips', '10.0.0.1', '--json'])
    expect([failed.code, failed.json().sources[0].error]).toEqual([1, expect.any(String)])
    expect(failed.err.trimEnd().split('\n')).toHaveLength(1)
    const listed = await installation.run(['add_shure_devices', '--ips', '10.0.0.1'])
    expect(listed.out).toMatch(/^Added nothing, manufacturer shure:\n.*failed/s)
  })
})

const range = { discovery_ranges: ['127.0.77.0/24'] }

/** Repeats a scan until it finds this many devices: it waits half a second for each, too short on a busy machine. */
function findDevices(app: TestApp, subnet: string, count: number) {
  return until(`${count} devices are found`, async () => {
    const response = await app.post('/api/discover/', scan(subnet))
    return response.json.devices.length === count && response
  })
}

// Not concurrent, because the scan waits only a short time for the identity of the system.
describe('a system that manages several devices', () => {
  it('is found beside devices, and is not added automatically', async () => {
    const tls = await certify({ name: 'system-api.example' })
    const server = await startSystemApi({ host: '127.0.77.9', port: 10_000, tls })
    const app = await startApp({ manufacturers: [{ code: 'shure', config: {} }], config: range })
    const address = 'https://127.0.77.9:10000'
    const model = 'System API'
    const found = { ip: '127.0.77.9', device_type: 'system', channels: 0, manufacturer: 'shure', model, address }
    const { status, json } = await findDevices(app, '127.0.77.8/30', 1)
    expect([status, json]).toEqual([200, { discovered: 1, devices: [{ ...found, heard_on: ['lo'] }] }])
    expect((await app.get('/api/data.json')).json.discovered).toEqual([expect.objectContaining(found)])

    const installation = await createInstallation({ manufacturers: [{ code: 'shure' }], ...range })
    const added = await until('the system is found from the command line', async () => {
      const ended = await installation.run(['add_shure_devices', '--cidr', '127.0.77.8/30', '--json'])
      return ended.json().systems.length > 0 && ended
    })
    expect([added.code, added.json()]).toEqual([0, expect.objectContaining({ found: [], systems: [address] })])
    expect(added.err).toContain(`a system responds at ${address}: set api_base_url to that address`)
    expect([...new Set(server.requests.entries.map(({ refusal }) => refusal))]).toEqual(['no-credentials'])
  })
})

/** Starts devices at their usual port, each at a separate loopback address. */
async function startUnits() {
  await startLectrosonics({ host: '127.0.77.1', port: 4080 })
  await startLectrosonics({ host: '127.0.77.2', port: 4080, firstNumber: 2 })
}

const lectrosonics = (devices: readonly string[] = []) => ({
  code: 'lectrosonics',
  config: { devices, calls_per_second: 1000, burst: 1000, poll_interval: 1 },
})

describe('individual devices', () => {
  it('are found with their model, and no longer listed once they are monitored', async () => {
    await startUnits()
    const app = await startApp({ manufacturers: [lectrosonics(['tcp://127.0.77.2'])], config: range })
    await until('one receiver is known', async () => (await app.receivers()).length === 1)
    const address = 'tcp://127.0.77.1:4080'
    const found = { device_type: 'dsqd', channels: 4, model: 'DSQD', address, manufacturer: 'lectrosonics' }
    const { status, json } = await findDevices(app, '127.0.77.0/28', 1)
    expect([status, json.devices]).toEqual([200, [expect.objectContaining({ ...found, ip: '127.0.77.1' })]])
    expect((await app.get('/api/data.json')).json.discovered).toEqual([expect.objectContaining(found)])
  })

  it('are found before their manufacturer is configured, except by a scan of one manufacturer', async () => {
    await startUnits()
    const app = await startApp({ config: range })
    const { json } = await findDevices(app, '127.0.77.0/29', 2)
    expect(json.devices).toMatchObject([
      { manufacturer: 'lectrosonics', address: 'tcp://127.0.77.1:4080' },
      { manufacturer: 'lectrosonics', address: 'tcp://127.0.77.2:4080' },
    ])
    expect((await app.post('/api/discover/?manufacturer=lectrosonics', scan('127.0.77.0/29'))).status).toBe(404)
    const { status, json: networks } = await app.get('/api/discover/networks/')
    expect([status, Array.isArray(networks)]).toEqual([200, true])
  })

  it('are added to the configuration from the command line, and removed', async () => {
    await startUnits()
    const installation = await createInstallation({ manufacturers: [{ code: 'lectrosonics' }], ...range })
    const added = await installation.run(['add_lectrosonics_devices', '--cidr', '127.0.77.0/29', '--json'])
    expect([added.code, added.err]).toEqual([0, ''])
    expect(added.json()).toMatchObject({
      manufacturer: 'lectrosonics',
      action: 'add',
      addresses: 6,
      found: [{ address: 'tcp://127.0.77.1:4080', model: 'DSQD' }, { address: 'tcp://127.0.77.2:4080' }],
    })
    const again = await installation.run(['add_lectrosonics_devices', '--ips', '127.0.77.1', '--json'])
    expect(again.json()).toMatchObject({ found: [] })
    const polled = await installation.run(['poll_devices', '--once', '--json'])
    expect(polled.json().manufacturers).toMatchObject([{ code: 'lectrosonics', devices: 2, created: 2 }])
    const removed = await installation.run(['add_lectrosonics_devices', '--ips', '127.0.77.2', '--remove', '--json'])
    expect(removed.json()).toMatchObject({ removed: ['tcp://127.0.77.2:4080'] })
  })

  it('are not stored if the configuration file lists devices, because the file has precedence', async () => {
    await startUnits()
    const installation = await createInstallation({ manufacturers: [lectrosonics(['tcp://127.0.77.2'])], ...range })
    const { code } = await until('the device is found', async () => {
      const ended = await installation.run(['add_lectrosonics_devices', '--cidr', '127.0.77.0/29'])
      return ended.err.includes('tcp://127.0.77.1:4080') && ended
    })
    expect(code).toBe(1)
  })
})
