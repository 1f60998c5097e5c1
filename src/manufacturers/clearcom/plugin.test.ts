import { describe, expect, test } from 'vitest'
import { type ClearcomOptions, startClearcomSimulator } from '../../../simulators/clearcom/station.ts'
import type { Fault } from '../../../simulators/show/faults.ts'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { connectToDevice, describeDevices, findReport, follow } from '../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat, freeze, readFixtures } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import { rejectionOf } from '../../../test/support/plugins/plugin-kit-resources.ts'
import { serveHttp } from '../../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../../test/support/time-limit.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import { getDevices, type Plugin } from '../plugin.ts'
import { identifyStation, stations } from './clearcom.ts'
import { clearcom } from './index.ts'
import { StationSession } from './session.ts'

const password = 'intercom-password'
const products = { Arcadia: 1, 'FreeSpeak II Base II': 2 }
/** The kit configures no passwords. */
const withPassword: Plugin = {
  ...clearcom,
  listSources: (config) => clearcom.listSources({ password, ...config }),
}

async function startSimulator(options: ClearcomOptions = {}) {
  const simulator = await startClearcomSimulator({ password, receivers: 1, story: false, ...options })
  onTestEnd(() => simulator.close())
  const [state] = simulator.show.devicesAt(0)
  const id = state?.device.id ?? ''
  return { simulator, change: (channel: number, change: object) => simulator.show.set(id, change, channel), id }
}

function connect(url: string, config: object = { password }) {
  const connection = connectToDevice(clearcom, url, config)
  onTestEnd(() => connection.client.close())
  return connection
}

async function list(url: string, config?: object) {
  const { adapter, client } = connect(url, config)
  const { devices, malformed } = await adapter.listDevices(client)
  return { reports: devices.map((device) => adapter.transformDeviceData(device)), malformed, adapter, devices }
}

describeDevices(
  Object.entries(products).map(([name, firstNumber]) => ({
    name,
    plugin: withPassword,
    async start() {
      const simulator = await startClearcomSimulator({ password, receivers: 1, firstNumber, story: false })
      const [state] = simulator.show.devicesAt(0)
      return {
        url: simulator.baseUrl,
        get clients() {
          return simulator.active
        },
        setFault(fault) {
          const faults: Readonly<Record<string, Fault>> = { silent: { type: 'hang' }, foreign: { type: 'wrong-shape' } }
          simulator.setFault(faults[String(fault)] ?? null)
          if (fault === 'noise') simulator.setStatus({ keyState: [{ keysetIndex: 0, talk: true }], callState: 'x' })
        },
        change: (channel, change) => simulator.show.set(state?.device.id ?? '', change, channel),
        close: () => simulator.close(),
      }
    },
  })),
)

const folder = new URL('./fixtures/', import.meta.url)

// Conformance: C-24.31, C-24.32.
test.each(readFixtures(folder))('fixture $name', async ({ fixture }) => {
  const server = await serveHttp({
    onRequest({ url = '' }, response) {
      const body = (fixture.answers as Record<string, unknown>)[url]
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    },
  })
  onTestEnd(() => server.close())
  const devices = await getDevices(stations, connect(server.url).client)
  const reports = devices.map((device) => stations.transformDeviceData(freeze(device)))
  for (const report of reports) expectCommonFormat(report)
  const text = JSON.stringify(reports.map(({ metadata, ...report }) => report))
  expect(JSON.parse(text.replaceAll(new URL(server.url).host, 'HOST'))).toEqual(fixture.reports)
})

// Conformance: C-24.31.
test.each(Object.entries(products))(
  '%s has one channel for each pack, with battery, minutes and RSSI',
  async (name, firstNumber) => {
    const { simulator, change } = await startSimulator({ firstNumber })
    change(1, { name: 'Stage manager', battery: 64, transmitter: true })
    change(2, { transmitter: false })
    const { reports } = await list(simulator.baseUrl)
    expect(reports).toHaveLength(1)
    const [report] = reports
    expect(report).toMatchObject({ device_type: 'clearcom', details: { state: 'online', temperature: '51 °C' } })
    expect(report?.details?.antennas).toHaveLength(2)
    expect(report?.channels?.map(({ channel }) => channel)).toEqual(
      name === 'Arcadia' ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 4, 5],
    )
    const [on, off] = report?.channels ?? []
    expect(on).toMatchObject({ name: 'Stage manager', transmitter: { name: 'BP 1', battery: 64, rf_level: null } })
    expect(on?.transmitter?.details).toMatchObject({
      ...{ battery_minutes: expect.any(Number), battery_type: 'Li-Ion', antenna: 2 },
      ...{ rssi: expect.any(Number), rssi_2: expect.any(Number), link_quality: expect.any(Number) },
    })
    expect(off).toMatchObject({ channel: 2, transmitter: null })
  },
)

// Conformance: C-24.33.
test.each(Object.entries(products))(
  '%s is only read, and the remote mic kill is never requested',
  async (_, firstNumber) => {
    const { simulator } = await startSimulator({ firstNumber })
    const controller = new AbortController()
    const events = follow(connect(simulator.baseUrl), controller.signal)
    for (let reports = 0; reports < 3; reports += 1) await findReport(events, () => true)
    controller.abort()
    const { entries } = simulator.requests
    const writes = entries.filter(({ method }) => method !== 'GET').map(({ path }) => path)
    expect(new Set(writes)).toEqual(new Set(firstNumber === 1 ? ['/auth/local/login'] : []))
    expect(entries.filter(({ path }) => /rmk|call|reboot/.test(path))).toEqual([])
  },
)

// Conformance: C-24.34.
test('sends the password only to a station that requests it, in the form that it requests', async () => {
  const { simulator: arcadia } = await startSimulator()
  await list(arcadia.baseUrl)
  expect(
    arcadia.requests.entries.map(({ method, path, authorization }) => [method, path, authorization?.split(' ')[0]]),
  ).toEqual([
    ['GET', '/api/1/devices/1', undefined],
    ['POST', '/auth/local/login', undefined],
    ...['/api/1/devices/1', '/api/1/devices/endpoints', '/api/2/rolesets'].map((path) => ['GET', path, 'Bearer']),
  ])
  const { simulator: baseTwo } = await startSimulator({ firstNumber: 2 })
  await list(baseTwo.baseUrl)
  expect(
    baseTwo.requests.entries.map(({ method, path, authorization }) => [method, path, authorization?.split(' ')[0]]),
  ).toEqual([
    ['GET', '/api/1/devices/1', undefined],
    ['GET', '/api/1/devices/1', 'Basic'],
    ['GET', '/api/1/devices/1/endpoints/', 'Basic'],
  ])
})

// Conformance: C-24.34.
test.each(Object.entries(products))(
  '%s rejects a wrong password and a wrong user with an error that names the user',
  async (_, firstNumber) => {
    const { simulator } = await startSimulator({ firstNumber })
    const attempts = [
      [{ password: 'wrong' }, 'admin'],
      [{ password, username: 'guest' }, 'guest'],
    ] as const
    for (const [config, user] of attempts) {
      const error = await rejectionOf(list(simulator.baseUrl, config))
      expect(error).toMatchObject({ status: 401, message: expect.stringContaining(`of the user ${user}; check`) })
    }
    simulator.requests.clear()
    expect(await rejectionOf(list(simulator.baseUrl, {}))).toMatchObject({ status: 401 })
    expect(simulator.requests.total).toBe(1)
  },
)

test('signs in again after a restart and after its token has expired', async () => {
  const { simulator } = await startSimulator({ tokenSeconds: 1 })
  const events = follow(connect(simulator.baseUrl), new AbortController().signal)
  await findReport(events, () => true)
  await findReport(events, () => true)
  expect(simulator.requests.count('/auth/local/login')).toBe(2)
  simulator.restart()
  await findReport(events, () => true)
  expect(simulator.requests.count('/auth/local/login')).toBe(3)
  simulator.setPassword('changed')
  expect(await rejectionOf(findReport(events, () => false))).toMatchObject({ status: 401 })
})

test('renews its token before it expires', async () => {
  const { simulator } = await startSimulator()
  const { client } = connect(simulator.baseUrl)
  const session = new StationSession(client, new AbortController().signal, 0)
  await session.readDevice()
  await session.keepAlive()
  await session.readDevice()
  expect(simulator.requests.entries.map(({ path, status }) => [path, status])).toEqual([
    ['/api/1/devices/1', 401],
    ['/auth/local/login', 200],
    ['/api/1/devices/1', 200],
    ['/auth/refresh', 200],
    ['/api/1/devices/1', 200],
  ])
})

// Conformance: C-24.32.
test('names the fields of another form, and reports the rest', async () => {
  const { simulator, change } = await startSimulator()
  change(1, { transmitter: true, battery: 70 })
  simulator.setStatus({ batteryLevel: 'full', rssi: { a: 1 } })
  const { reports, adapter, devices } = await list(simulator.baseUrl)
  expect(reports[0]?.channels?.[0]?.transmitter).toMatchObject({
    battery: null,
    details: { rssi: null, battery_type: 'Li-Ion' },
  })
  const problems = devices.flatMap((device) => adapter.problemsOf?.(device) ?? [])
  expect(problems).toMatchObject([
    { problem: expect.stringMatching(/liveStatus\.batteryLevel.*liveStatus\.rssi in an undocumented form/) },
  ])
})

// Conformance: C-24.37.
describe.concurrent.each(Object.entries(products))('%s with a fault', (_, firstNumber) => {
  const late = /no response .* within 1 s/
  test.each<[Fault['type'], RegExp]>([
    ['hang', late],
    ['drip', late],
    ['reset', /closed before the response was complete/],
    ['truncated', /closed before the response was complete/],
    ['huge', /larger than/],
    ['html', /web page/],
  ])('%s, from the start and during the session', async (type, message) => {
    const { simulator, change } = await startSimulator({ firstNumber })
    const config = { password, timeout: message === late ? 1 : 20 }
    for (const scope of [{}, { path: 'endpoints' }]) {
      simulator.setFault({ type } as Fault, scope)
      const startedAt = performance.now()
      const error = await rejectionOf(list(simulator.baseUrl, config))
      expect(error).toBeInstanceOf(clearcom.errors.ApiError)
      expect(error).toMatchObject({ message: expect.stringMatching(message) })
      expect(performance.now() - startedAt).toBeLessThan(timeLimit(2_500))
    }
    simulator.setFault(null)
    change(1, { name: 'Stage manager', transmitter: true })
    const events = follow(connect(simulator.baseUrl, config), new AbortController().signal)
    await findReport(events, ({ channels }) => channels?.[0]?.name === 'Stage manager')
    simulator.setFault({ type } as Fault, { path: 'endpoints' })
    change(1, { name: 'Else', transmitter: true })
    // Nothing of an incomplete response is reported.
    const failure = await rejectionOf(findReport(events, ({ channels }) => channels?.[0]?.name === 'Else'))
    expect(failure).toMatchObject({ message: expect.stringMatching(message) })
  })
})

test('a pack that is no longer registered is off', async () => {
  let packs = [1, 2]
  const answers = (url: string) =>
    url.endsWith('endpoints')
      ? packs.map((id) => ({ id, type: 'FSII-BP', liveStatus: { status: 'online' } }))
      : { device_id: 1 }
  const server = await serveHttp({ onRequest: ({ url = '' }, response) => response.end(JSON.stringify(answers(url))) })
  onTestEnd(() => server.close())
  const events = follow(connect(server.url), new AbortController().signal)
  await findReport(events, () => true)
  packs = [1]
  const { channels } = await findReport(events, () => true)
  expect(channels).toMatchObject([
    { channel: 1, transmitter: {} },
    { channel: 2, transmitter: null },
  ])
})

// Conformance: C-24.35.
test('is identified without a password by the description of its interface', async () => {
  const identify = async (url: string) => {
    const [settings] = clearcom.listSources({ devices: [url] })
    if (settings === undefined) throw new Error('no source')
    const client = createUpstreamClient({
      settings: { ...settings, credentials: { scheme: 'none' } },
      errors: clearcom.errors,
    })
    onTestEnd(() => client.close())
    return identifyStation(client, new AbortController().signal)
  }
  const { simulator } = await startSimulator()
  expect(await identify(simulator.baseUrl)).toMatchObject({ id: 'clearcom:127.0.0.1', device_type: 'clearcom' })
  const other = await serveHttp({ onRequest: (_, response) => response.end('{"info": {"title": "Printer"}}') })
  onTestEnd(() => other.close())
  expect(await rejectionOf(identify(other.url))).toMatchObject({ failureKind: 'unusable' })
})
