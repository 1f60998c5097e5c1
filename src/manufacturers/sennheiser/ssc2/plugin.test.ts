/** An individual Sennheiser device with SSC 2: it is detected, read and subscribed to, and never locks Micwatch out. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Ssc2SimulatorOptions, startSsc2Simulator } from '../../../../simulators/sennheiser/ssc2.ts'
import { meters } from '../../../../simulators/sennheiser/ssc2-resources.ts'
import { startSennheiserSimulator } from '../../../../simulators/sennheiser/system.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { openDrippingLine } from '../../../../test/support/plugins/dripping-line.ts'
import { expectCommonFormat } from '../../../../test/support/plugins/plugin-kit-fixtures.ts'
import {
  countResources,
  minResources,
  rejectionOf,
  until,
} from '../../../../test/support/plugins/plugin-kit-resources.ts'
import { serveHttp } from '../../../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../../../test/support/time-limit.ts'
import { createUpstreamClient } from '../../../upstream/client.ts'
import { getDevices, type OnProblems, type PushEvent, type SubscriptionTargets } from '../../plugin.ts'
import { openSource } from '../../sources.ts'
import { sennheiser } from '../index.ts'
import { ssc2 } from './adapter.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})
const closeAfterTest = <T extends { close(): unknown }>(resource: T): T => {
  open.push(resource)
  return resource
}

const password = 'stage-right-password'
const neverAborted = new AbortController().signal
const noTargets: SubscriptionTargets = { ids: () => [], changed: () => new Promise(() => {}) }
const { ApiError } = sennheiser.errors

async function start(options: Ssc2SimulatorOptions = {}) {
  return closeAfterTest(await startSsc2Simulator(options))
}

function openTestSource(device: string | object, config: object = {}) {
  const [settings] = sennheiser.listSources({
    devices: [device],
    password,
    timeout: 20,
    calls_per_second: 1000,
    ...config,
  })
  if (settings === undefined) throw new Error('the configuration names no source')
  const client = closeAfterTest(createUpstreamClient({ settings, errors: sennheiser.errors }))
  return openSource({ id: 'sennheiser:test', manufacturer: 'sennheiser', plugin: sennheiser, settings, client })
}

/** Subscribes, and returns the events after the session was opened. */
async function follow(source: ReturnType<typeof openTestSource>, signal = neverAborted, onProblems?: OnProblems) {
  const { subscribe } = await source.findAdapter()
  const events = subscribe?.(source.client, noTargets, signal, undefined, onProblems)
  if (events === undefined) throw new Error('it cannot subscribe')
  const iterator = events[Symbol.asyncIterator]()
  open.push({ close: () => iterator.return?.() })
  expect((await iterator.next()).value).toEqual({ type: 'open' })
  return iterator
}

async function find(iterator: AsyncIterator<PushEvent>, matches: (event: PushEvent) => unknown): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) throw new Error('the subscription ended')
    if (matches(value)) return value
  }
}

async function drain(iterator: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await iterator.next()).done);
}

const transmitterOf = (event: PushEvent) =>
  event.type === 'report' ? event.report.channels?.[0]?.transmitter : undefined

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
    const simulator = closeAfterTest(await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password }))
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
    closeAfterTest(await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password, port }))
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

describe('a session', () => {
  test('reports everything, then changes; unknown messages are ignored', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await find(iterator, (event) => transmitterOf(event)?.battery === 30)
    simulator.send('no sense')
    await find(iterator, ({ type }) => type === 'ignored')
    simulator.send('{"path":"/api/transmitters/0/battery","value":{"gauge":12}}')
    await find(iterator, (event) => transmitterOf(event)?.battery === 12)
  })

  test('reports the warnings of a channel and its transmitter until they end', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    const hasWarnings = (expected: string) => (event: PushEvent) => {
      const { details, transmitter } = (event.type === 'report' && event.report.channels?.[0]) || {}
      return [details?.overload, details?.rf_low, transmitter?.details?.battery_low].join() === expected
    }
    await find(iterator, hasWarnings('false,false,false'))
    simulator.set('/api/channel/0/warnings', ['LowSignal'])
    simulator.set('/api/transmitters/0/warnings', ['LowBattery', 'AfPeak'])
    await find(iterator, hasWarnings('true,true,true'))
    simulator.set('/api/channel/0/warnings', [])
    simulator.set('/api/transmitters/0/warnings', [])
    await find(iterator, hasWarnings('false,false,false'))
  })

  test('reports the capsule and the low cut of a transmitter', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    const hasCapsule = (expected: string) => (event: PushEvent) => {
      const details = transmitterOf(event)?.details
      return [details?.capsule, details?.low_cut_hz].join() === expected
    }
    await find(iterator, hasCapsule('MMD 835,80'))
    simulator.set('/api/transmitters/0', { capsule: 'KK_205', lowcut: 'Off' })
    await find(iterator, hasCapsule('KK 205,0'))
  })

  test('continues if one path is rejected, and requests it again when a transmitter is linked', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    simulator.setLinked(1, false)
    const iterator = await follow(openTestSource(simulator.url))
    const removed = await find(iterator, (event) => transmitterOf(event) === null)
    expect(removed).toMatchObject({ type: 'report', isComplete: true })
    await eventually(() => simulator.requests.filter((request) => request.endsWith('/add')).length).toBeGreaterThan(10)
    simulator.setLinked(1, true)
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.setLinked(1, false)
    await find(iterator, (event) => transmitterOf(event) === null)
  })

  // Conformance: C-22.7.
  test('names what a device refuses, and what it reports in an undocumented form', async () => {
    const without = ['/api/audio/metering', '/api/health/psu']
    const simulator = await start({ product: 'Spectera Base Station', without })
    let problems: readonly string[] = []
    const iterator = await follow(openTestSource(simulator.url), neverAborted, (all) => {
      problems = all.map(({ subject, problem }) => `${subject}: ${problem}`)
    })
    const refused = `${new URL(simulator.url).host}: the device refuses /api/health/psu (status 400), /api/audio/metering (status 400), so these values are unknown`
    await eventually(() => problems).toEqual([refused])
    simulator.send('{"/api/mts/paired/11":{"batteryFillLevel":"full"},"/api/rf/antennas":7}')
    const report = await find(iterator, (event) => transmitterOf(event)?.battery === null)
    expect(report).toMatchObject({ report: { channels: [{ name: 'LEAD' }, {}] } })
    const both = `${refused.replace(', so these values are unknown', '')}, and the device reports /api/mts/paired/* batteryFillLevel, /api/rf/antennas/* in an undocumented form, so these values are unknown`
    expect(problems).toEqual([both])
    simulator.send('{"/api/mts/paired/11":{"batteryFillLevel":74}}')
    await find(iterator, (event) => transmitterOf(event)?.battery === 74)
    expect(problems.at(-1)).not.toMatch(/batteryFillLevel/)
  })

  // Conformance: C-24.16.
  test.each([17, 18] as const)('reads meters, interfaces and clocks of API %i without refused paths', async (api) => {
    const simulator = await start({ product: 'Spectera Base Station', api })
    let problems: readonly unknown[] = []
    const iterator = await follow(openTestSource(simulator.url), neverAborted, (all) => {
      problems = all
    })
    const complete = await find(
      iterator,
      (event) =>
        event.type === 'report' &&
        event.report.channels?.[0]?.audio_level === -20 &&
        event.report.firmware_version !== undefined,
    )
    expect(complete).toMatchObject({
      report: {
        details: {
          interfaces: { aoip: { type: 'Dante', status: 'Locked' }, madi1: { clock_source: 'Internal48kHz' } },
        },
      },
    })
    const source = openTestSource(simulator.url)
    await source.listDevices()
    const devices = await getDevices(source.adapter, source.client)
    const [polled] = devices.map((device) => source.adapter.transformDeviceData(device))
    expect(polled).toMatchObject({ channels: [{ audio_level: -20 }, {}], details: { interfaces: { aoip: {} } } })
    expect([problems, devices.flatMap((device) => source.adapter.problemsOf?.(device) ?? [])]).toEqual([[], []])
  })

  test('supports many packs of one base station', async () => {
    const simulator = await start({ product: 'Spectera Base Station' })
    const iterator = await follow(openTestSource(simulator.url))
    const names = (event: PushEvent) =>
      event.type === 'report' ? event.report.channels?.map(({ channel, name }) => `${channel} ${name}`).join() : ''
    await find(iterator, (event) => names(event) === '1 LEAD,4 BASS')
    simulator.send('{"/api/mts/paired/all":{},"/api/mts/paired/12":{"name":"BASS 2"}}')
    await find(iterator, (event) => names(event) === '1 LEAD,4 BASS 2')
    simulator.send('{"/api/mts/paired/12":null}')
    const removed = await find(iterator, (event) => names(event) === '1 LEAD,4 undefined')
    expect(removed).toMatchObject({
      report: { channels: [{}, { channel: 4, rf_level: null, transmitter: null }] },
    })
  })

  test('reports fast meters ten times a second, and everything else at once', async () => {
    const simulator = await start({ product: 'Spectera Base Station', levelIntervalMs: 10 })
    const iterator = await follow(openTestSource(simulator.url))
    const audioOf = (event: PushEvent) => event.type === 'report' && event.report.channels?.[0]?.audio_level
    await find(iterator, (event) => audioOf(event) === -20)
    const startedAt = performance.now()
    let reportCount = 0
    await find(iterator, () => ++reportCount > 4 && performance.now() - startedAt > 1000)
    expect(reportCount).toBeLessThanOrEqual((performance.now() - startedAt) / 100 + 2)
    simulator.set('/api/audio/metering', meters([{ peak: -3, rms: -9 }]))
    simulator.set('/api/mts/paired/all', [
      { mtUid: 11, name: 'LEAD', state: 'Connected', micAudiolinkId: 0, batteryFillLevel: 12 },
    ])
    // On a busy machine, one more report of the meters may come first.
    const next = [await find(iterator, () => true), await find(iterator, () => true)]
    expect(next.map((event) => transmitterOf(event)?.battery)).toContain(12)
    await find(iterator, (event) => audioOf(event) === -9)
  })
})

describe('a session that may be interrupted', () => {
  test('ends with an error if it is closed, dropped or empty', async () => {
    const simulator = await start()
    const closed = await follow(openTestSource(simulator.url))
    simulator.setAccess(false)
    await expect(drain(closed)).rejects.toThrow(/closed the session/)
    simulator.setAccess(true)
    const dropped = await follow(openTestSource(simulator.url))
    await simulator.close()
    await expect(drain(dropped)).rejects.toBeInstanceOf(ApiError)
    const full = await start({ maxSessions: 0 })
    await expect(follow(openTestSource(full.url))).rejects.toMatchObject({ status: 503 })
  })

  test('ends within seconds if a device sends nothing and does not respond', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url, { timeout: 1 }))
    // The firmware version is the last value that is reported at the start.
    const firmware = ({ type, ...event }: PushEvent) => type === 'report' && JSON.stringify(event).includes('4.0.2')
    await find(iterator, firmware)
    await pause(100)
    simulator.setSilent(true)
    await expect(drain(iterator)).rejects.toThrow(/no response/)
    expect(simulator.requests.filter((request) => request === 'GET /api/ssc/version')).toHaveLength(2)
  })

  // Conformance: C-24.69.
  test.each(['EWDX2CHS', 'Spectera Base Station'] as const)(
    'ends within seconds if a device (%s) sends byte by byte',
    async (product) => {
      const simulator = await start({ product })
      let isDripping = false
      const config = { timeout: 1 }
      const source = openTestSource(await openDrippingLine(simulator.url, () => isDripping), config)
      const iterator = await follow(source)
      await find(iterator, ({ type }) => type === 'report')
      isDripping = true
      const startedAt = performance.now()
      expect(await rejectionOf(drain(iterator))).toBeInstanceOf(ApiError)
      const again = openTestSource(await openDrippingLine(simulator.url), config)
      for (const error of await Promise.all([rejectionOf(again.listDevices()), rejectionOf(follow(again))]))
        expect(error).toBeInstanceOf(ApiError)
      expect(performance.now() - startedAt).toBeLessThan(timeLimit(10_000))
    },
  )

  test('continues if a device has nothing to send', async () => {
    const simulator = await start({ levelIntervalMs: 1_000_000 })
    const iterator = await follow(openTestSource(simulator.url, { timeout: 2 }))
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    const next = find(iterator, (event) => transmitterOf(event)?.battery === 30)
    await pause(4000)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await next
  })

  test('ends at once on an abort at any moment and leaves no open resources', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    for (const afterMs of [0, 3, 20, 200]) {
      const resourcesBefore = await minResources()
      const source = openTestSource(simulator.url)
      const controller = new AbortController()
      const listing = rejectionOf(source.listDevices(controller.signal))
      const following = rejectionOf(follow(source, controller.signal).then(drain))
      await pause(afterMs)
      controller.abort('enough')
      const abortedAt = performance.now()
      const [listed] = await Promise.all([listing, following])
      expect(performance.now() - abortedAt, `after ${afterMs} ms`).toBeLessThan(timeLimit(600))
      expect([undefined, 'enough'], `after ${afterMs} ms`).toContain(listed)
      await source.client.close()
      await until(
        () => simulator.sessions === 0 && countResources() <= resourcesBefore,
        `no open resources after ${afterMs} ms`,
      )
    }
  })

  test('ends without an error on abort and closes the session on the device', async () => {
    const simulator = await start()
    const controller = new AbortController()
    const iterator = await follow(openTestSource(simulator.url), controller.signal)
    await find(iterator, ({ type }) => type === 'report')
    const ended = drain(iterator)
    controller.abort()
    await ended
    await eventually(() => simulator.sessions).toBe(0)
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
  await find(await follow(source), (event) => transmitterOf(event)?.battery === 83)
})

test.each([
  ['no identity', '[]', 'application/json', /expected an object that identifies the device/],
  ['a web page', '<html>', 'text/html', /web page/],
])('throws its ApiError if a device responds with %s', async (_, body, type, message) => {
  const server = await serveHttp({
    onRequest: (_request, response) => response.writeHead(200, { 'content-type': type }).end(body),
  })
  open.push(server)
  const { client } = openTestSource(server.url)
  await expect(ssc2.listDevices(client)).rejects.toBeInstanceOf(ApiError)
  await expect(ssc2.listDevices(client)).rejects.toThrow(message)
})
