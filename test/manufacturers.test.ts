/** Manufacturers are added, changed and removed while the service runs. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSecrets } from '../src/storage/secrets.ts'
import { saveManufacturer } from '../src/storage/settings.ts'
import { auditOf, connectionsOf } from './support/admin-lists.ts'
import {
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  type TestAppOptions,
  until,
  withoutPush,
} from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { blockPort } from './support/internals.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const path = '/api/admin/manufacturers/'

type Config = Readonly<Record<string, unknown>>

/** Starts a service, and returns functions that send requests to it as an administrator. */
async function startAdmin(options: TestAppOptions = {}) {
  const app = await startApp(options)
  const headers = await tokenHeaders(app, 'admin')
  return { app, ...adminClient(app, headers) }
}

function adminClient(app: TestApp, headers: Record<string, string>) {
  const json = { 'content-type': 'application/json', ...headers }
  const send = (method: string, code: string, body?: unknown) =>
    body === undefined
      ? app.send(method, path + code, { headers })
      : app.send(method, path + code, { headers: json, body: JSON.stringify(body) })
  return {
    list: async () => (await send('GET', '')).json,
    add: (body: unknown) => send('POST', '', body),
    change: (code: string, body: unknown) => send('PATCH', `${code}/`, body),
    remove: (code: string) => send('DELETE', `${code}/`),
    test: (code: string) => send('POST', `${code}/test`),
    testSettings: (body: unknown) => send('POST', 'test', body),
  }
}

/** Returns since when each subscription has been connected, which changes if a source is started again. */
const startsOf = async (app: TestApp, manufacturer: string) =>
  (await connectionsOf(app, manufacturer)).map(({ id, status, connected_at }) => ({ id, status, connected_at }))

describe('a manufacturer', () => {
  // Conformance: S-2.10, C-5.52, C-5.57.
  // Reliability: 3.8.1.
  it('is added, polled at once, changed and listed without its secrets', async () => {
    const simulator = await startShure()
    const { app, add, list, change } = await startAdmin()
    const config: Config = configFor(simulator).config
    const added = await add({ code: 'shure', config })
    expect(added.status).toBe(201)
    expect(added.json).toMatchObject({ code: 'shure', name: 'Shure', plugin: 'shure', api_enabled: true })
    expect(added.json.config).toMatchObject({ shared_key: '********' })
    await until('the receivers are listed', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => simulator.push.connections > 0)
    const getStatus = async () => (await app.get('/api/health/?manufacturer=shure')).json.vendor_api.status
    await eventually(getStatus).toBe('healthy')

    const [listed] = await list()
    expect(JSON.stringify(listed)).not.toContain(String(config.shared_key))
    const subscriptions = await startsOf(app, 'shure')
    // Sending back the listed configuration, with masked secrets, changes nothing.
    const { status, json } = await change('shure', { name: 'Stage left', config: listed.config })
    expect(status).toBe(200)
    expect(json).toMatchObject({ name: 'Stage left', config: listed.config })
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect(await startsOf(app, 'shure')).toEqual(subscriptions)
    expect((await app.get('/api/health/?manufacturer=shure')).json.vendor_api).toMatchObject({
      status: 'healthy',
      consecutive_failures: 0,
    })

    const rows = await auditOf(app)
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['manufacturer.create', 'manufacturer.change']),
    )
    expect(JSON.stringify(rows)).not.toContain(String(config.shared_key))
  })

  // Reliability: 2.1.3.
  it('with wrong credentials is polled again as soon as they are corrected', async () => {
    const simulator = withoutPush(await startShure({ sharedKey: 'the right one' }))
    const { config } = configFor(simulator)
    const { app, change } = await startAdmin({
      manufacturers: [{ code: 'shure', config: { ...config, shared_key: 'wrong' } }],
    })
    await until(
      'the credentials are rejected',
      async () => (await app.get('/api/health/')).json.manufacturers[0].error !== null,
    )
    expect((await change('shure', { config: { shared_key: 'the right one' } })).status).toBe(200)
    await until('the receivers are listed', async () => (await app.receivers()).length === 2, 3000)
    await until('the status is healthy', async () => (await app.get('/api/health/')).json.status === 'healthy', 3000)
  })

  // Conformance: S-1.11.
  it('that is disabled is neither polled nor subscribed to, and others continue', async () => {
    const [shure, sennheiser] = [await startShure(), await startSennheiser()]
    const { app, change } = await startAdmin({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    await until('both subscriptions are connected', () => shure.push.connections > 0 && sennheiser.push.connections > 0)
    const subscriptions = await startsOf(app, 'sennheiser')
    const links = sennheiser.push.connections
    expect((await change('shure', { api_enabled: false })).json.status).toBe('disabled')
    await until('the subscription has ended', () => shure.push.connections === 0, 5000)
    const requestsBefore = shure.requests.count('/api/v1/devices')
    expect((await app.post('/api/refresh/?manufacturer=shure')).status).toBe(409)
    const before = sennheiser.requests.count('/api/v1/devices')
    if (before > 0) {
      await until('the other system is polled', () => sennheiser.requests.count('/api/v1/devices') > before)
    }
    expect(shure.requests.count('/api/v1/devices')).toBe(requestsBefore)
    expect(await startsOf(app, 'sennheiser')).toEqual(subscriptions)
    expect(sennheiser.push.connections).toBe(links)
    expect((await app.receivers()).length).toBe(4)

    await change('shure', { api_enabled: true })
    await until('the subscription is connected again', () => shure.push.connections > 0)
  })

  // Conformance: C-5.52.
  it('can be removed only if it has no receivers', async () => {
    const simulator = withoutPush(await startShure())
    const { app, add, remove, list } = await startAdmin({ manufacturers: [configFor(simulator)] })
    await until('the receivers are listed', async () => (await app.receivers()).length === 2)
    const rejected = await remove('shure')
    expect(rejected.status).toBe(409)
    expect(rejected.json.details).toContain('receivers')
    await add({ code: 'spare', plugin: 'sennheiser', config: { api_base_url: 'http://127.0.0.1:9', password: 'x' } })
    await app.post('/api/config/?manufacturer=spare', { key: 'polling_interval', value: '9' })
    expect((await remove('spare')).status).toBe(204)
    expect((await remove('spare')).status).toBe(404)
    expect((await list()).map((item: { code: string }) => item.code)).toEqual(['shure'])
    expect((await app.get('/api/health/?manufacturer=spare')).json.vendor_api.status).toBe('unconfigured')
  })
})

describe('the connection of a manufacturer', () => {
  it('can be tested without waiting for a poll', async () => {
    const simulator = withoutPush(await startShure({ sharedKey: 'right' }))
    const { config } = configFor(simulator)
    const { add, change, test } = await startAdmin()
    await add({ code: 'shure', api_enabled: false, config: { ...config, shared_key: 'wrong' } })
    const failed = await test('shure')
    expect(failed.status).toBe(200)
    expect(failed.json).toMatchObject({ status: 'unhealthy' })
    expect(failed.json.sources[0].error).toContain('credentials rejected')
    await change('shure', { config: { shared_key: 'right' } })
    expect((await test('shure')).json).toEqual({
      status: 'healthy',
      sources: [{ base_url: simulator.baseUrl, status: 'healthy', error: null, devices: 2 }],
    })
    await change('shure', { config: { api_base_url: null } })
    expect((await test('shure')).json).toEqual({ status: 'unconfigured', sources: [] })
    expect((await test('nobody')).status).toBe(404)
  })

  it('can be tested before it is stored, and with other settings without storing them', async () => {
    const simulator = withoutPush(await startShure({ sharedKey: 'right' }))
    const { config } = configFor(simulator)
    const { app, add, list, testSettings } = await startAdmin()
    const healthy = { status: 'healthy', sources: [{ base_url: simulator.baseUrl, error: null, devices: 2 }] }
    expect((await testSettings({ plugin: 'shure', config })).json).toMatchObject(healthy)
    expect(await list()).toEqual([])

    await add({ code: 'stage', plugin: 'shure', api_enabled: false, config })
    // `********` stands for the stored value; omitted fields keep their stored values.
    expect((await testSettings({ code: 'stage', config: { shared_key: '********', timeout: 30 } })).json).toMatchObject(
      healthy,
    )
    const failed = await testSettings({ code: 'stage', config: { shared_key: 'wrong' } })
    expect(failed.json.sources[0]).toMatchObject({
      status: 'unhealthy',
      devices: null,
      error: expect.stringContaining('credentials rejected'),
    })
    const [stored] = await list()
    expect(stored.config).not.toHaveProperty('timeout')
    expect((await testSettings({ code: 'stage', config: {} })).json.status).toBe('healthy')

    for (const [body, details] of [
      [{ config }, 'plugin: missing'],
      [{ plugin: 'shure', config: { shared_key: '********' } }, 'config.shared_key: ********'],
      [{ code: 'nobody', config }, 'code: there is no manufacturer nobody'],
      [{ code: 'stage', config: { timeout: 'long' } }, 'config.timeout: expected whole seconds from 1 to 60'],
      [{ plugin: 'shure', config: { ...config, api_base_url: 'http://169.254.169.254' } }, 'sends no requests to'],
    ] as const) {
      const rejected = await testSettings(body)
      expect({ status: rejected.status, details: rejected.json.details }).toEqual({
        status: 400,
        details: expect.stringContaining(details),
      })
    }
    const operator = await tokenHeaders(app, 'operator')
    expect((await app.post(`${path}test`, { plugin: 'shure', config }, operator)).status).toBe(403)
    const rows = await auditOf(app)
    expect(rows.filter(({ action }) => action === 'manufacturer.test')).toHaveLength(4)
    expect(JSON.stringify(rows)).not.toContain('wrong')
    const { json: plugins } = await app.get('/api/admin/plugins/', operator)
    expect(plugins).toContainEqual({
      code: 'shure',
      name: 'Shure',
      transport: 'websocket',
      has_discovery_list: true,
    })
  })
})

it('a system that sent Retry-After is not called before the given time, whatever is changed meanwhile', async () => {
  const simulator = withoutPush(await startShure())
  const { app, change } = await startAdmin({ manufacturers: [configFor(simulator)] })
  await until('the receivers are listed', async () => (await app.receivers()).length === 2)
  simulator.setFault({ type: 'status', status: 429, headers: { 'retry-after': '60' } }, { path: /\/devices/ })
  await until(
    'the system has sent Retry-After',
    async () => (await app.get('/api/health/')).json.vendor_api.details.length > 0,
  )
  const requestsBefore = simulator.requests.count('/api/v1/devices')
  await change('shure', { config: { timeout: 7 } })
  await new Promise((resolve) => setTimeout(resolve, 1200))
  expect(simulator.requests.count('/api/v1/devices')).toBe(requestsBefore)
})

it('health reports that a system has sent Retry-After to a subscription', async () => {
  const simulator = await startShure()
  simulator.setFault({ type: 'status', status: 429, headers: { 'retry-after': '60' } }, { path: /\/ws$/ })
  const { app } = await startAdmin({ manufacturers: [configFor(simulator, { poll_interval: 60 })] })
  const shure = async () => (await app.get('/api/health/')).json.manufacturers[0]
  const { status, details } = await until('the change is published', async () => {
    const manufacturer = await shure()
    return manufacturer.details.length > 0 && manufacturer
  })
  expect([status, details]).toEqual(['healthy', [expect.stringContaining('rate limited')]])
})

/** Starts a server that rejects all requests, and returns the headers that it has received as one text. */
async function startSpy() {
  const received: unknown[] = []
  const server = createServer(({ url, headers }, response) => {
    received.push(url, headers)
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen: () => JSON.stringify(received) }
}

// Reliability: 3.8.6.
describe('a stored secret', () => {
  const secret = 'stored-secret'
  const mask = '********'
  const away = 'http://127.0.0.1:9'
  const system = { api_base_url: away, auth_header: true, shared_key: secret }
  type Change = (spy: string) => Config

  it.each<[string, string, Config, Change]>([
    ['another address', 'shure', system, (spy) => ({ api_base_url: spy, shared_key: mask })],
    ['another scheme', 'shure', system, () => ({ api_base_url: away.replace('http', 'https') })],
    ['the other spelling', 'shure', system, (spy) => ({ api_base_url: null, BASE_URL: spy })],
    ['a WebSocket', 'shure', system, (spy) => ({ websocket_url: spy.replace('http', 'ws') })],
    ['a device', 'shure', system, (spy) => ({ devices: [spy] })],
    ['a device instead', 'shure', system, (spy) => ({ api_base_url: null, devices: [{ url: spy, name: 'x' }] })],
    ['a device with Basic', 'sennheiser', { api_base_url: away, password: secret }, (spy) => ({ devices: [spy] })],
    ['another site', 'micwatch', { api_base_url: away, token: secret }, (spy) => ({ api_base_url: spy })],
  ])('is not sent to %s, neither for a test nor after a change', async (_, plugin, config, change) => {
    const spy = await startSpy()
    const { add, change: patch, testSettings } = await startAdmin()
    expect((await add({ code: 'venue', plugin, config })).status).toBe(201)
    const [key = ''] = Object.entries(config).find(([, value]) => value === secret) ?? []
    const expected = [400, expect.stringContaining(`config.${key}: enter it again`)]
    for (const response of [
      await testSettings({ code: 'venue', config: change(spy.url) }),
      await patch('venue', { config: change(spy.url) }),
    ]) {
      expect([response.status, response.json.details]).toEqual(expected)
    }
    expect(spy.seen()).toBe('[]')
    expect((await patch('venue', { config: { ...change(spy.url), [key]: 'entered again' } })).status).toBe(200)
    await until(
      'the new secret is used',
      () => spy.seen() !== '[]' || !JSON.stringify(change(spy.url)).includes(spy.url),
    )
    expect(spy.seen()).not.toContain(secret)
  })

  it('is kept if only the path, the name or other settings change, and lost with its last address', async () => {
    const { add, change } = await startAdmin()
    await add({ code: 'shure', config: system })
    const kept = { name: 'Stage', config: { api_base_url: `${away}/api`, timeout: 5, shared_key: mask } }
    expect((await change('shure', kept)).status).toBe(200)
    expect((await change('shure', { config: { api_base_url: null } })).status).toBe(200)
    expect((await change('shure', { config: { api_base_url: away } })).json.details).toContain('config.shared_key: ')
  })
})

// Conformance: C-1.19.
const valid = { api_base_url: 'http://127.0.0.1:9', shared_key: 'x' }

describe('invalid settings', () => {
  it.each([
    [{ config: valid }, 'code: missing'],
    [{ code: 'Shure', config: valid }, 'code: expected a lower-case letter'],
    [{ code: 'acme', config: valid }, 'plugin: No plugin found for manufacturer code: acme'],
    [{ code: 'shure', config: { ...valid, colour: 'blue' } }, 'config.colour: unknown key'],
    [{ code: 'shure', config: { ...valid, timeout: 'long' } }, 'config.timeout: expected whole seconds from 1 to 60'],
    [
      { code: 'shure', config: { ...valid, TIMEOUT: 5, timeout: 6 } },
      'config.timeout: timeout and TIMEOUT have different values',
    ],
    [{ code: 'shure', config: { shared_key: '********' } }, 'config.shared_key: ********'],
    [{ code: 'shure', api_enabled: 'yes' }, 'api_enabled: expected true or false'],
    [{ code: 'shure', config: 'none' }, 'config: expected an object'],
    [{ code: 'shure', enabled: true }, 'enabled: unknown field'],
    [{ code: 'shure', config: { ...valid, api_base_url: 'ftp://10.0.0.1' } }, 'config.api_base_url: expected'],
    [
      { code: 'shure', config: { ...valid, api_base_url: 'http://a:b@10.0.0.1' } },
      'expected an address without credentials',
    ],
    [{ code: 'shure', config: { ...valid, api_base_url: 'http://10.0.0.1/#x' } }, 'config.api_base_url: expected'],
    [{ code: 'shure', config: { ...valid, api_base_url: 'http://169.254.169.254' } }, 'config.api_base_url: expected'],
    [{ code: 'shure', config: { ...valid, api_base_url: 'http://[::ffff:a9fe:a9fe]' } }, 'sends no requests to'],
    [{ code: 'shure', config: { ...valid, api_base_url: 'http://224.0.0.1' } }, 'sends no requests to'],
    [
      { code: 'shure', config: { ...valid, websocket_url: 'ws://10.0.0.1' } },
      'config.websocket_url: expected the same',
    ],
    [
      { code: 'shure', config: { ...valid, auth_header: true, auth_header_name: 'X Key' } },
      'config.auth_header_name: ',
    ],
    [{ code: 'shure', config: { ...valid, auth_header: true, shared_key: 'key\n' } }, 'config.shared_key: expected'],
    [{ code: 'shure', config: { ...valid, username: 'b€nutzer' } }, 'config.username: expected'],
    [
      {
        code: 'shure',
        config: { ...valid, websocket_url: 'ws://169.254.169.254', websocket_other_host: true },
      },
      'config.websocket_url: expected',
    ],
  ])('%j are rejected', async (body, details) => {
    const { add } = await startAdmin()
    const { status, json } = await add(body)
    expect({ status, details: json.details }).toEqual({ status: 400, details: expect.stringContaining(details) })
  })

  it('are rejected in the configuration file as well, and stored ones are reported as unhealthy by name', async () => {
    const config = { ...valid, username: 'b€nutzer' }
    await expect(startApp({ manufacturers: [{ code: 'shure', config }] })).rejects.toThrow(
      /manufacturers\.0\.config\.username: expected/,
    )
    const { databaseUrl, dataDir } = await startApp()
    const secrets = await openSecrets(dataDir)
    const record = {
      code: 'shure',
      name: 'Shure',
      plugin: 'shure',
      api_enabled: true,
      config,
      secretsUnreadable: false,
    }
    await withDatabase({ databaseUrl }, (db) => db.transaction((tx) => saveManufacturer(tx, secrets, record)))
    const { list, change } = await startAdmin({ databaseUrl, dataDir })
    const error = expect.stringContaining('username: expected')
    expect(await list()).toMatchObject([{ code: 'shure', status: 'unhealthy', error }])
    expect((await change('shure', { config: { username: null } })).json).toMatchObject({ error: null })
  })

  it('are not accepted from users who are not administrators', async () => {
    const app = await startApp()
    expect((await app.get(path)).status).toBe(401)
    const headers = await tokenHeaders(app, 'operator')
    expect((await app.get(path, headers)).status).toBe(200)
    expect((await app.post(path, { code: 'shure' }, headers)).status).toBe(403)
  })
})

// Conformance: C-1.19.
describe('settings with a forbidden destination', () => {
  // Reliability: 1.15, 3.9.1.
  it('are rejected if the URL is this service itself, by any name', async () => {
    const { app, add, change } = await startAdmin()
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      const rejected = await add({
        code: 'shure',
        config: { api_base_url: `http://${host}:${app.port}`, shared_key: 'x' },
      })
      expect({ host, status: rejected.status }).toEqual({ host, status: 400 })
    }
    const config = { api_base_url: `http://127.0.0.1:${app.port + 1}`, shared_key: 'x' }
    expect((await add({ code: 'shure', config })).status).toBe(201)
    expect((await add({ code: 'shure', config })).status).toBe(409)
    expect((await change('shure', { code: 'other' })).status).toBe(400)
    expect((await change('nobody', { name: 'x' })).status).toBe(404)
  })

  // Reliability: 1.15, 3.9.1.
  it('are checked again when the connection is opened', async () => {
    const listener = createServer((_request, response) => response.end('{"devices":[]}'))
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void listener.close())
    const { port } = listener.address() as AddressInfo
    let requests = 0
    listener.on('request', () => {
      requests += 1
    })
    const { app, add, test } = await startAdmin()
    blockPort(app, port + 1)
    await add({
      code: 'shure',
      config: { api_base_url: `http://localhost:${port}`, shared_key: 'x', poll_interval: 1 },
    })
    await until('the system receives a request', () => requests > 0)
    // The address was allowed when the manufacturer was added, and is blocked only now.
    blockPort(app, port)
    listener.closeAllConnections()
    await until(
      'the reason is reported',
      async () => {
        const { json } = await app.get('/api/health/')
        return String(json.manufacturers[0].error).includes('nothing is sent to')
      },
      15_000,
    )
    const before = requests
    expect((await test('shure')).status).toBe(400)
    expect(requests).toBe(before)
  })
})

describe.each(engines)('several processes (%s)', (engine) => {
  // Conformance: C-1.8.
  it('start, change and stop sources that another process administers', async () => {
    const simulator = await startShure()
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const screen = await startAdmin({ databaseUrl: database.url, servesOnly: true })
    // Both processes share the key file, as they would with a shared data folder.
    const poller = await startApp({ databaseUrl: database.url, dataDir: screen.app.dataDir })
    await screen.add({ code: 'shure', config: configFor(simulator).config })
    await until('the poller lists the receivers', async () => (await poller.receivers()).length === 2)
    await until('the screen lists the receivers', async () => (await screen.app.receivers()).length === 2)
    await until('the subscription is connected', () => simulator.push.connections > 0)
    await screen.change('shure', { api_enabled: false })
    await until('the system is no longer polled', () => simulator.push.connections === 0, 5000)
    expect((await poller.get('/api/health/?manufacturer=shure')).json.vendor_api.status).toBe('disabled')
  })
})

// Reliability: 3.8.3.
it('a manufacturer reports secrets that cannot be read until they are entered again', async () => {
  const simulator = withoutPush(await startShure())
  const database = await createTestDatabase('sqlite')
  onTestFinished(database.drop)
  const before = await startApp({ databaseUrl: database.url, manufacturers: [configFor(simulator)] })
  await until('the receivers are listed', () => before.receiver(deviceOf(simulator).id))
  await before.close()

  // A new data folder has another key.
  const { app, list, change } = await startAdmin({ databaseUrl: database.url })
  const { json } = await app.get('/api/health/?manufacturer=shure')
  expect(json.vendor_api.status).toBe('unhealthy')
  expect(json.manufacturers[0].error).toContain('credentials cannot be decrypted')
  expect(await list()).toMatchObject([{ secrets_unreadable: true, config: { shared_key: null } }])
  const renamed = await change('shure', { name: 'Main stage', config: { shared_key: '********' } })
  expect(renamed.json).toMatchObject({ name: 'Main stage', secrets_unreadable: true })
  const { shared_key }: Config = configFor(simulator).config
  const repaired = await change('shure', { config: { shared_key } })
  expect(repaired.json).toMatchObject({ secrets_unreadable: false, config: { shared_key: '********' } })
  await until('the system is polled', async () => (await app.get('/api/health/')).json.status === 'healthy')
})
