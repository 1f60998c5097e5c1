/** An individual Sennheiser device with SSC 2: it is detected and read, and never locks Micwatch out. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { startSennheiserSimulator } from '../../../../simulators/sennheiser/system.ts'
import { onTestEnd } from '../../../../test/support/cleanup.ts'
import { findEvent } from '../../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat } from '../../../../test/support/plugins/plugin-kit-fixtures.ts'
import { serveHttp } from '../../../../test/support/plugins/plugin-kit-server.ts'
import { drain, follow, openTestSource, password, start, transmitterOf } from '../../../../test/support/plugins/ssc2.ts'
import { getDevices } from '../../plugin.ts'
import { sennheiser } from '../index.ts'
import { ssc2 } from './adapter.ts'

const { ApiError } = sennheiser.errors

describe('detection of the protocol at a web address', () => {
  // Conformance: C-3.12.
  test('uses the device protocol if there is no list of devices', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    const source = openTestSource(simulator.url)
    const { devices } = await source.listDevices()
    expect(devices).toMatchObject([{ id: 'sscv2:1234567890' }])
    await source.listDevices()
    expect(simulator.requests.filter((request) => request.includes('/api/v1/'))).toEqual([])
  })

  test('keeps the protocol of a system, also when it rejects a request', async () => {
    const simulator = await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password })
    onTestEnd(() => simulator.close())
    const source = openTestSource(simulator.baseUrl)
    expect((await source.listDevices()).devices).toHaveLength(2)
    simulator.setFault({ type: 'status', status: 404 })
    await expect(source.listDevices()).rejects.toMatchObject({ status: 404 })
    simulator.setFault({ type: 'status', status: 401 })
    await expect(source.listDevices()).rejects.toMatchObject({ status: 401 })
    simulator.setFault(null)
    expect((await source.listDevices()).devices).toHaveLength(2)
  })

  test('detects the protocol again after a system has replaced the device at the address', async () => {
    const simulator = await start()
    const source = openTestSource(simulator.url)
    await source.listDevices()
    await simulator.close()
    const port = Number(new URL(simulator.url).port)
    const system = await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password, port })
    onTestEnd(() => system.close())
    // The connection kept open from the first request may fail, so the list is then requested again.
    const { devices } = await source.listDevices().catch(() => source.listDevices())
    expect(devices).toHaveLength(2)
  })
})

describe('reading each resource', () => {
  test('names what a device refuses, except for transmitters that are not linked', async () => {
    const simulator = await start({ product: 'EWDX4CHDS', without: ['/api/rf/transmission'] })
    simulator.setLinked(1, false)
    const source = openTestSource(simulator.url)
    await source.listDevices()
    const { adapter, client } = source
    const devices = await getDevices(adapter, client)
    const problem = 'the device refuses /api/rf/transmission (status 404), so these values are unknown'
    expect(devices.flatMap((device) => adapter.problemsOf?.(device) ?? [])).toEqual([
      { subject: new URL(simulator.url).host, problem },
    ])
  })

  // Conformance: C-24.53.
  test('reads a device whose site is not available', async () => {
    const simulator = await start()
    // It is then refused with 422.
    simulator.set('/api/device/site', null)
    const source = openTestSource({ url: simulator.url, name: 'STAGE' })
    const devices = await getDevices(source.adapter, source.client)
    expect(devices.map((device) => source.adapter.transformDeviceData(device).name)).toEqual(['STAGE'])
  })

  test.each(['EWDX2CHS', 'EWDX4CHDS', 'Spectera Base Station'] as const)(
    'transforms %s to the common format',
    async (product) => {
      const simulator = await start({ product })
      const source = openTestSource(simulator.url)
      await source.listDevices()
      const devices = await getDevices(source.adapter, source.client)
      const reports = devices.map((device) => source.adapter.transformDeviceData(device))
      for (const report of reports) expectCommonFormat(report)
      expect(reports[0]?.channels?.[0]?.transmitter?.battery).toEqual(expect.any(Number))
      expect(source.adapter.hasIdentity(devices[0] ?? { id: '' })).toBe(true)
    },
  )

  test('ignores a transmitter that is not linked', async () => {
    const simulator = await start()
    simulator.setLinked(2, false)
    const source = openTestSource(simulator.url)
    await source.listDevices()
    const [device] = await getDevices(source.adapter, source.client)
    const channels = device && source.adapter.transformDeviceData(device).channels
    expect(channels?.map(({ transmitter }) => transmitter === null)).toEqual([false, true])
  })

  test('recognises a known device by its identity', async () => {
    const simulator = await start()
    const source = openTestSource(simulator.url)
    const [first] = (await source.listDevices()).devices
    if (first === undefined) throw new Error('no device')
    const before = await source.adapter.readPart(source.client, first, 'identity')
    const [second] = (await source.listDevices()).devices
    if (second === undefined) throw new Error('no device')
    expect(source.adapter.isSameIdentity(second, before)).toBe(true)
    expect(source.adapter.hasIdentity(source.adapter.withEarlierIdentity(second, before))).toBe(true)
    simulator.set('/api/device/site', { deviceName: 'OTHER' })
    const [renamed] = (await source.listDevices()).devices
    expect(renamed && source.adapter.isSameIdentity(renamed, before)).toBe(false)
  })
})

describe('authentication', () => {
  // Conformance: C-24.55.
  test.each([
    ['site', false],
    ['identity', true],
  ])('sends nothing more after one wrong password for the %s, for any call', async (_, hidesIdentity) => {
    const simulator = await start({ hidesIdentity })
    const source = openTestSource(simulator.url, { password: 'wrong' })
    await expect(source.listDevices()).rejects.toMatchObject({
      status: 401,
      message: expect.stringMatching(/for the user api; check the key or password .* no requests are sent/),
    })
    const { length } = simulator.requests
    source.client.allowTest()
    for (let times = 0; times < 10; times += 1)
      await expect(source.listDevices()).rejects.toMatchObject({ status: 401 })
    expect(await source.checkHealth()).toMatchObject({ status: 'unhealthy' })
    expect(simulator.requests).toHaveLength(length)
    expect(simulator.isLocked).toBe(false)
    expect((await openTestSource(simulator.url).listDevices()).devices).toHaveLength(1)
  })

  // Conformance: C-24.1.
  test.each([
    ['controlSennheiser on a Spectera', 'Spectera Base Station', 'controlSennheiser', {}],
    ['api on an EW-DX', 'EWDX2CHS', 'api', {}],
    ['the configured user name on a Spectera', 'Spectera Base Station', 'guest', { username: 'guest' }],
    ['the configured user name on an EW-DX', 'EWDX2CHS', 'guest', { username: 'guest' }],
  ] as const)('signs in as %s', async (_, product, user, config) => {
    const simulator = await start({ product, user, maxWrongPasswords: 1 })
    const source = openTestSource(simulator.url, config)
    expect((await source.listDevices()).devices).toHaveLength(1)
    await follow(source)
  })

  test('signs in to a Spectera that is configured as a system, after one attempt as api', async () => {
    const simulator = await start({ product: 'Spectera Base Station' })
    const source = openTestSource([], { devices: [], api_base_url: simulator.url })
    expect((await source.listDevices()).devices).toHaveLength(1)
    expect(simulator.requests).toEqual([
      'GET /api/v1/devices',
      ...['GET /api/device/identity', 'GET /api/device/identity', 'GET /api/device/site'],
    ])
  })

  // Conformance: C-24.1.
  test('names the user that a Spectera rejects', async () => {
    const simulator = await start({ product: 'Spectera Base Station' })
    const source = openTestSource(simulator.url, { username: 'api' })
    await expect(source.listDevices()).rejects.toMatchObject({
      status: 401,
      message: expect.stringMatching(/for the user api; check/),
    })
  })

  // Conformance: C-24.1.
  test.each([401, 403])(
    'sends a Spectera nothing more after one retry with status %i, until a test',
    async (status) => {
      const simulator = await start({ product: 'Spectera Base Station', user: 'someone else' })
      if (status === 403) simulator.setAccess(false)
      const source = openTestSource(simulator.url)
      const rejection = await source.listDevices().catch((error: unknown) => error)
      expect(rejection).toMatchObject({ status, message: expect.stringMatching(/the user controlSennheiser; check/) })
      const { message } = rejection as Error
      expect(message.match(/no requests are sent/g)).toHaveLength(1)
      const { length } = simulator.requests
      expect(simulator.requests.filter((request) => request.endsWith('/site'))).toHaveLength(2)
      await expect(source.listDevices()).rejects.toMatchObject({ status, message })
      await expect(source.checkHealth()).resolves.toMatchObject({ error: message })
      expect(simulator.requests).toHaveLength(length)
      source.client.allowTest()
      await expect(source.listDevices()).rejects.toMatchObject({ status, message })
      expect(simulator.requests).toHaveLength(length + 3)
    },
  )

  test('needs one attempt after the password was changed on the device', async () => {
    const simulator = await start()
    const source = openTestSource(simulator.url)
    const iterator = await follow(source)
    simulator.setPassword('another-password')
    await expect(drain(iterator)).rejects.toThrow(/closed the session/)
    const { length } = simulator.requests
    for (let times = 0; times < 5; times += 1) await expect(source.listDevices()).rejects.toMatchObject({ status: 401 })
    expect(simulator.requests.length - length).toBe(2)
  })

  test('reports what to do if access is disabled, and tries again', async () => {
    const simulator = await start()
    const source = openTestSource(simulator.url)
    await source.listDevices()
    simulator.setAccess(false)
    await expect(source.listDevices()).rejects.toMatchObject({
      status: 403,
      message: expect.stringMatching(/disabled .* enable/),
    })
    simulator.setAccess(true)
    expect((await source.listDevices()).devices).toHaveLength(1)
  })
})

test('trusts a self-signed certificate if it is pinned', async () => {
  const pem = readFileSync(new URL('../../../../test/fixtures/self-signed.pem', import.meta.url))
  const simulator = await start({ tls: { key: pem, cert: pem } })
  await expect(openTestSource(simulator.url).listDevices()).rejects.toThrow(/certificate/)
  const source = openTestSource({ url: simulator.url, fingerprint: new X509Certificate(pem).fingerprint256 })
  expect((await source.listDevices()).devices).toHaveLength(1)
  await findEvent(await follow(source), (event) => transmitterOf(event)?.battery === 83)
})

test.each([
  ['no identity', '[]', 'application/json', /expected an object that identifies the device/],
  ['a web page', '<html>', 'text/html', /web page/],
])('throws its ApiError if a device responds with %s', async (_, body, type, message) => {
  const server = await serveHttp({
    onRequest: (_request, response) => response.writeHead(200, { 'content-type': type }).end(body),
  })
  onTestEnd(() => server.close())
  const { client } = openTestSource(server.url)
  await expect(ssc2.listDevices(client)).rejects.toBeInstanceOf(ApiError)
  await expect(ssc2.listDevices(client)).rejects.toThrow(message)
})
