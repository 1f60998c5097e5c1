/**
 * Tests that every manufacturer's plugin must pass, over real sockets against its own simulator: the ten checks of
 * docs/adding-a-manufacturer.md. The test of a plugin calls `describePlugin` and adds its own tests.
 */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { ShowDevice } from '../simulators/show/cast.ts'
import type { Fault } from '../simulators/show/faults.ts'
import type { Simulator, SimulatorOptions } from '../simulators/show/simulator.ts'
import type { ChannelReading, DeviceReport } from '../src/domain/equipment/receiver.ts'
import type { LiveMessage } from '../src/domain/sites/followed-receiver.ts'
import { plugins } from '../src/manufacturers/index.ts'
import {
  getDevices,
  type Plugin,
  type PluginConfig,
  type ProtocolAdapter,
  type PushEvent,
  reportHealth,
  type SubscriptionTargets,
} from '../src/manufacturers/plugin.ts'
import { createUpstreamClient, type UpstreamClient } from '../src/upstream/client.ts'
import { createRequestThrottle, type RequestThrottle } from '../src/upstream/request-throttle.ts'
import { expectCommonFormat, freeze, readFixtures, serveFixture } from './plugin-kit-fixtures.ts'
import { countResources, minResources, rejectionOf, until } from './plugin-kit-resources.ts'
import { serveHttp } from './plugin-kit-server.ts'
import { timeLimit } from './time-limit.ts'

export interface PluginUnderTest {
  readonly plugin: Plugin
  /** The protocol adapter that matches the simulator; by default the plugin's first. */
  readonly adapter?: ProtocolAdapter
  startSimulator(options: SimulatorOptions): Promise<Simulator>
  /** `new URL('./fixtures/', import.meta.url)`; its parent is the plugin's folder. */
  readonly fixtures: URL
  /** Returns the id under which the system lists a device of the simulated show; by default its id in the show. */
  readonly idOf?: (device: ShowDevice) => string
  /**
   * Whether a reading has the transmitter name, levels and battery of `change`; by default only the battery is
   * compared.
   */
  readonly showsChange?: (channel: ChannelReading) => boolean
  /** Whether removed devices stay in the list as offline. */
  readonly keepsDevices?: boolean
  /** Whether the system reports serial numbers; true by default. */
  readonly hasSerials?: boolean
  /** The limits in the connection settings of every client; by default a time limit and the highest request rate. */
  readonly limits?: PluginConfig
  /** The key of the password or token in the configuration; by default `shared_key` or `password`. */
  readonly secret?: string
  /** Returns the configuration with which only one certificate is trusted; by default an entry of `devices`. */
  readonly pin?: (config: PluginConfig, fingerprint: string) => PluginConfig
  /** What the error says about a response that is no device list. */
  readonly wrongShape?: RegExp
}

const change = { name: 'Understudy', rf_level: -71, audio_level: -9, transmitter: true, battery: 7 }
const hasBattery = ({ transmitter }: ChannelReading) => transmitter?.battery === change.battery

const lateMs = 1000
const unlimitedRate = { perSecond: 10_000, burst: 10_000 }
const usualLimits = { timeout: 60, calls_per_second: unlimitedRate.perSecond, burst: unlimitedRate.burst }
const selfSigned = readFileSync(new URL('./fixtures/self-signed.pem', import.meta.url))

/**
 * Each fault results in the manufacturer's ApiError. `message` matches the message for the operator, by default
 * `wrongShape`; `isLate`: the error is thrown only at the deadline.
 */
const failures: readonly { fault: Fault; message?: RegExp; isLate?: boolean }[] = [
  { fault: { type: 'hang' }, message: /no response .* within 1 s/, isLate: true },
  { fault: { type: 'drip' }, message: /no response .* within 1 s/, isLate: true },
  { fault: { type: 'reset' }, message: /closed before the response was complete/ },
  { fault: { type: 'status', status: 500 }, message: /responded with status 500/ },
  { fault: { type: 'html' }, message: /web page/ },
  { fault: { type: 'not-json' }, message: /not JSON/ },
  { fault: { type: 'wrong-shape' } },
  { fault: { type: 'truncated' }, message: /closed before the response was complete/ },
  { fault: { type: 'huge' }, message: /larger than/ },
  { fault: { type: 'gzip-bomb' }, message: /larger than/ },
  { fault: { type: 'deep' }, message: /nested deeper/ },
]

/** A plugin, with functions that start its simulator and connect to it until the end of the test. */
interface PluginKit extends Required<Omit<PluginUnderTest, 'secret'>>, Pick<PluginUnderTest, 'secret'> {
  start(options?: SimulatorOptions): Promise<Simulator>
  connect(config: PluginConfig, throttle?: RequestThrottle): UpstreamClient
  closeAfterTest<T extends Closable>(resource: T): T
  /** Closes what was opened last before the test ends. */
  closeLast(): Promise<void>
}

interface Closable {
  close(): unknown
}

export function describePlugin(options: PluginUnderTest): void {
  const kit = createKit(options)
  testCode(kit)
  describeFixtures(kit)
  describeDevices(kit)
  testCredentials(kit)
  testRetryAfter(kit)
  describeFailures(kit)
  testAbort(kit)
  testRateLimit(kit)
  describePush(kit)
}

function createKit(options: PluginUnderTest): PluginKit {
  const { plugin, startSimulator, limits = usualLimits } = options
  const open: Closable[] = []
  const closeLast = async () => void (await open.pop()?.close())
  afterEach(async () => {
    while (open.length > 0) await closeLast()
  })
  const closeAfterTest = <T extends Closable>(resource: T): T => {
    open.push(resource)
    return resource
  }
  const settingsOf = (config: PluginConfig) => {
    const [source] = plugin.listSources({ ...limits, ...config })
    if (source === undefined) throw new Error('the configuration names no source')
    return source
  }
  return {
    adapter: defaultAdapter(plugin),
    idOf: ({ id }) => id,
    showsChange: hasBattery,
    keepsDevices: false,
    hasSerials: true,
    limits,
    pin: ({ api_base_url: url, ...config }, fingerprint) => ({ ...config, devices: [{ url, fingerprint }] }),
    wrongShape: /not a list of devices/,
    ...options,
    start: async (simulatorOptions) =>
      closeAfterTest(
        await startSimulator({
          rateLimit: unlimitedRate,
          story: false,
          pushesPerSecond: 0,
          receivers: 3,
          ...simulatorOptions,
        }),
      ),
    connect: (config, throttle = createRequestThrottle()) =>
      closeAfterTest(createUpstreamClient({ settings: settingsOf(config), errors: plugin.errors, throttle })),
    closeAfterTest,
    closeLast,
  }
}

function testCode({ plugin, fixtures }: PluginKit): void {
  // Conformance: S-1.6.
  test('1: its code is the name of its folder and unique in the list, and it has a name', () => {
    expect(fileURLToPath(fixtures)).toMatch(new RegExp(`/manufacturers/${plugin.code}/(.+/)?fixtures/$`))
    expect(plugins.filter(({ code }) => code === plugin.code)).toEqual([plugin])
    expect(plugin.name).not.toBe('')
  })
}

function describeFixtures({ adapter, fixtures, secret = 'password', connect, closeAfterTest }: PluginKit): void {
  describe('2: fixtures', () => {
    // Conformance: S-1.2, S-2.22, C-2.9, C-3.2, C-3.9.
    test.each(readFixtures(fixtures))(
      '$name is transformed to the common format, twice with the same result',
      async ({ fixture }) => {
        const server = closeAfterTest(await serveFixture(fixture))
        const devices = await getDevices(adapter, connect({ api_base_url: server.url, [secret]: 'x' }))
        const reports = devices.map((device) => adapter.transformDeviceData(freeze(device)))
        for (const report of reports) expectCommonFormat(report)
        expect(devices.map((device) => adapter.transformDeviceData(device))).toEqual(reports)
        expect(reports.map(({ metadata, ...report }) => report)).toEqual(fixture.reports)
      },
    )
  })
}

function describeDevices({ adapter, hasSerials, start, connect }: PluginKit): void {
  describe('3: devices', () => {
    // Conformance: S-1.6, S-4.21.
    test.each([{ richList: false }, { richList: true }])('returns all devices (%o)', async (options) => {
      const simulator = await start({ receivers: 7, ...options })
      const devices = await getDevices(adapter, connect(simulator.config))
      expect(devices).toHaveLength(simulator.deviceCount)
      const online = devices.map((device) => adapter.transformDeviceData(device)).filter((report) => report.online)
      expect(online.length).toBeGreaterThan(0)
      for (const { serial_number, channels } of online) {
        expect(channels).not.toHaveLength(0)
        if (hasSerials) expect(serial_number).toBeTruthy()
      }
    })

    test('skips and counts a malformed device, and returns the others', async () => {
      const simulator = await start()
      const client = connect(simulator.config)
      simulator.setFault({ type: 'malformed-device', how: 'id-missing' })
      expect(await adapter.listDevices(client)).toMatchObject({ devices: { length: 2 }, malformed: 1 })
      for (const how of ['battery-word', 'name-object'] as const) {
        simulator.setFault({ type: 'malformed-device', how })
        const { devices } = await adapter.listDevices(client)
        expect(devices).toHaveLength(3)
        for (const device of devices) expectCommonFormat(adapter.transformDeviceData(device))
      }
    })
  })
}

function testCredentials({ plugin, adapter, secret: key, start, connect }: PluginKit): void {
  const { ApiError } = plugin.errors
  // Conformance: S-5.3, S-7.7.
  test('4: accepts valid credentials, and distinguishes wrong ones from disabled access, with instructions', async () => {
    const simulator = await start()
    await adapter.listDevices(connect(simulator.config))
    const secret = key ?? ('shared_key' in simulator.config ? 'shared_key' : 'password')
    const before = simulator.requests.total
    const wrong = await rejectionOf(adapter.listDevices(connect({ ...simulator.config, [secret]: 'wrong' })))
    expect(wrong).toBeInstanceOf(ApiError)
    expect(wrong).toMatchObject({ status: 401, message: expect.stringMatching(/check the key or password/) })
    expect(simulator.requests.total - before).toBeLessThanOrEqual(2)
    simulator.setFault({ type: 'status', status: 403 })
    const closed = await rejectionOf(adapter.listDevices(connect(simulator.config)))
    expect(closed).toBeInstanceOf(ApiError)
    expect(closed).toMatchObject({ status: 403, message: expect.stringMatching(/disabled .* enable/) })
  })
}

function testRetryAfter({ plugin, adapter, start, connect }: PluginKit): void {
  const { ApiRateLimitError } = plugin.errors
  // Conformance: S-7.10, C-3.21.
  test.each([
    { format: 'seconds', value: () => '7', minSeconds: 7 },
    { format: 'a date', value: () => new Date(Date.now() + 120_000).toUTCString(), minSeconds: 118 },
  ])(
    '5: 429 with $format throws its rate-limit error, and nothing is sent meanwhile',
    async ({ value, minSeconds }) => {
      const simulator = await start()
      const client = connect(simulator.config)
      simulator.setFault({ type: 'status', status: 429, headers: { 'retry-after': value() } })
      const limited = await rejectionOf(adapter.listDevices(client))
      expect(limited).toBeInstanceOf(ApiRateLimitError)
      expect(limited).toMatchObject({ status: 429, retryAfter: expect.any(Number) })
      expect((limited as InstanceType<typeof ApiRateLimitError>).retryAfter).toBeGreaterThanOrEqual(minSeconds)
      expect((limited as InstanceType<typeof ApiRateLimitError>).retryAfter).toBeLessThanOrEqual(minSeconds + 2)
      const { total } = simulator.requests
      for (const { run } of callsOf(adapter, client)) await rejectionOf(run(new AbortController().signal))
      expect(simulator.requests.total).toBe(total)
      expect(await checkHealth(adapter, client)).toMatchObject({ status: 'degraded', error: expect.any(String) })
    },
  )
}

function describeFailures(kit: PluginKit): void {
  const { plugin, adapter, pin, wrongShape, start, startSimulator, connect, closeAfterTest } = kit
  const { ApiError } = plugin.errors
  const listens = adapter.subscribe !== undefined || adapter.follow !== undefined
  describe('6 and 7: failures throw the ApiError of the plugin, and checkHealth reports them', () => {
    const expectFailure = async (config: PluginConfig, message: RegExp) => {
      const [error, health] = await Promise.all([
        rejectionOf(adapter.listDevices(connect(config))),
        checkHealth(adapter, connect(config)),
      ])
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ message: expect.stringMatching(message) })
      expect(health).toEqual({ status: 'unhealthy', error: expect.stringMatching(message) })
    }

    // Conformance: S-1.6, S-7.9, S-7.10, C-3.21.
    test.each(failures)('$fault.type', async ({ fault, message = wrongShape, isLate }) => {
      const simulator = await start()
      simulator.setFault(fault)
      const startedAt = performance.now()
      if (!isLate) await expectFailure(simulator.config, message)
      else {
        await expectFailure({ ...simulator.config, timeout: lateMs / 1000 }, message)
        expect(performance.now() - startedAt).toBeLessThan(lateMs + timeLimit(500))
      }
      simulator.setFault(null)
      const client = connect(simulator.config)
      expect(await checkHealth(adapter, client)).toEqual({ status: 'healthy', error: null })
    })

    // Conformance: C-3.25.
    test('does not follow a redirect', async () => {
      let visits = 0
      const otherServer = closeAfterTest(
        await serveHttp({ onRequest: (_request, response) => response.end(String(visits++)) }),
      )
      const simulator = await start()
      simulator.setFault({ type: 'status', status: 302, headers: { location: otherServer.url } })
      await expectFailure(simulator.config, /unexpected redirect/)
      expect(visits).toBe(0)
    })

    // Conformance: S-7.9.
    test('reports a refused connection', async () => {
      const simulator = await startSimulator({ pushesPerSecond: 0 })
      await simulator.close()
      await expectFailure(simulator.config, /connection refused/)
    })

    // Conformance: S-2.24, S-5.6, S-7.9.
    test('sends no credentials with an untrusted certificate, and works with verification disabled', async () => {
      const simulator = await start({ tls: { key: selfSigned, cert: selfSigned } })
      await expectFailure({ ...simulator.config, ssl_verify: true }, /certificate .* not accepted/)
      if (listens) {
        const events = listen(adapter, connect({ ...simulator.config, ssl_verify: true }), neverAborted)
        expect(await rejectionOf(drain(events))).toBeInstanceOf(ApiError)
      }
      expect(simulator.requests.total).toBe(0)
      const unverified = connect({ ...simulator.config, ssl_verify: false })
      expect((await adapter.listDevices(unverified)).devices).toHaveLength(simulator.deviceCount)
    })

    test('trusts only the pinned certificate, and sends nothing with another one', async () => {
      const simulator = await start({ tls: { key: selfSigned, cert: selfSigned } })
      const pinned = (fingerprint: string) => connect({ ...pin(simulator.config, fingerprint), ssl_verify: true })
      const other = pinned('00'.repeat(32))
      expect(await rejectionOf(adapter.listDevices(other))).toBeInstanceOf(ApiError)
      if (listens) {
        expect(await rejectionOf(drain(listen(adapter, other, neverAborted)))).toMatchObject({
          message: expect.stringMatching(/a different certificate than the pinned one/),
        })
      }
      expect(simulator.requests.total).toBe(0)
      const client = pinned(new X509Certificate(selfSigned).fingerprint256)
      expect((await adapter.listDevices(client)).devices).toHaveLength(simulator.deviceCount)
      for await (const event of listens ? listen(adapter, client, neverAborted) : []) {
        expect(event).toMatchObject({ type: firstEvent(adapter) })
        break
      }
    })
  })
}

function testAbort({ adapter, start, connect }: PluginKit): void {
  test('8: an abort during any call ends it at once and leaves no timer and no socket', async () => {
    const simulator = await start({ receivers: 1 })
    const client = connect(simulator.config)
    const [device] = (await adapter.listDevices(client)).devices
    for (const { name, run } of callsOf(adapter, client, device)) {
      // This count includes idle connections that the client keeps for its next request.
      const resourcesBefore = await minResources()
      const controller = new AbortController()
      simulator.setFault({ type: 'hang' })
      const { total } = simulator.requests
      const ended = rejectionOf(run(controller.signal)).then((error) => ({ error, at: performance.now() }))
      await until(() => simulator.requests.total > total)
      await pause(50)
      const abortedAt = performance.now()
      controller.abort()
      const { error, at } = await ended
      expect(at - abortedAt, `${name} ends at once`).toBeLessThan(timeLimit(100))
      const isOverSocket = ['subscribe', 'follow', 'readInstallation'].includes(name)
      if (!isOverSocket && name !== 'checkHealth') expect(error, name).toBe(controller.signal.reason)
      // A simulator that hangs during a handshake does not read, so its end of the socket stays open.
      const simulatorSockets = isOverSocket ? 1 : 0
      await until(() => countResources() <= resourcesBefore + simulatorSockets, `${name} leaves no open resources`)
      simulator.setFault(null)
      await adapter.listDevices(client)
    }
  })
}

function testRateLimit({ adapter, limits, start, connect }: PluginKit): void {
  // A followed installation is not polled, so its requests are not limited.
  if (limits.burst === undefined) return
  // Conformance: S-8.6, S-8.7, C-3.11.
  // Reliability: U28.
  test('9: stays within the declared rate limit under load, with several clients', async () => {
    const rateLimit = { perSecond: 30, burst: 15 }
    // Requests may arrive up to `jitterMs` closer together than they were sent.
    const jitterMs = 300
    const burst = rateLimit.burst + (rateLimit.perSecond * jitterMs) / 1000
    const simulator = await start({ rateLimit: { ...rateLimit, burst } })
    const config = { ...simulator.config, calls_per_second: rateLimit.perSecond, burst: rateLimit.burst }
    const throttle = createRequestThrottle()
    const clients = [connect(config, throttle), connect(config, throttle)]
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => adapter.listDevices(clients[index % 2] as UpstreamClient)),
    )
    const times = simulator.requests.entries.map((entry) => entry.at)
    expect(times.length).toBeGreaterThanOrEqual(60)
    expect(simulator.requests.limited).toBe(0)
    for (const [first, from] of times.entries()) {
      for (const [count, to] of times.slice(first).entries()) {
        const allowed = ((to - from + jitterMs) / 1000) * rateLimit.perSecond + rateLimit.burst
        expect(count + 1).toBeLessThanOrEqual(allowed)
      }
    }
  })
}

function describePush(kit: PluginKit): void {
  const { plugin, adapter, idOf, showsChange, keepsDevices, start, connect, closeLast } = kit
  const { ApiError } = plugin.errors
  const listens = adapter.subscribe !== undefined || adapter.follow !== undefined
  describe.runIf(listens)('10: push', () => {
    const follow = async (options: SimulatorOptions = {}) => {
      const simulator = await start(options)
      const controller = new AbortController()
      const devices = simulator.show.devicesAt(0, simulator.manufacturer).map(({ device }) => device)
      const ids = devices.map(idOf)
      const targets = { ids: () => ids, changed: untilAborted }
      const events = listen(adapter, connect(simulator.config), controller.signal, targets)
      const iterator = events[Symbol.asyncIterator]()
      expect((await iterator.next()).value).toMatchObject({ type: firstEvent(adapter) })
      return { simulator, controller, iterator, id: ids[0] ?? '', showId: devices[0]?.id ?? '' }
    }

    if (adapter.subscribe !== undefined)
      test('reports what the system pushes, and ignores unknown messages', async () => {
        const { simulator, iterator: events, id, showId } = await follow()
        const iterator = events as AsyncIterator<PushEvent>
        simulator.push.send('no sense')
        expect(await find(iterator, (event) => event.type === 'ignored')).toBeDefined()
        simulator.show.set(showId, change, 1)
        simulator.push.flush()
        const isChange = ({ channels }: DeviceReport) =>
          channels?.some((reading) => reading.channel === 1 && showsChange(reading))
        await find(iterator, (event) => event.type === 'report' && event.report.id === id && isChange(event.report))
        simulator.show.set(showId, { online: false })
        simulator.push.flush()
        await find(iterator, (event) => event.type === 'report' && event.report.online === false)
        if (keepsDevices) return
        simulator.show.remove(showId)
        simulator.push.flush()
        await find(iterator, (event) => event.type === 'removed' && event.id === id)
      })

    test('ends without an error on abort and leaves no open resources', async () => {
      const resourcesBefore = await minResources()
      const { simulator, controller, iterator } = await follow()
      const ended = drain({ [Symbol.asyncIterator]: () => iterator })
      await pause(50)
      controller.abort()
      await ended
      await until(() => simulator.push.connections === 0)
      await closeLast()
      await closeLast()
      await until(() => countResources() <= resourcesBefore, 'the subscription leaves no open resources')
    })

    test('ends with an error when the connection is lost', async () => {
      for (const loseConnection of [
        (simulator: Simulator) => simulator.setFault({ type: 'close-connections' }),
        (simulator: Simulator) => void simulator.close(),
      ]) {
        const { simulator, iterator } = await follow()
        const ended = rejectionOf(drain({ [Symbol.asyncIterator]: () => iterator }))
        loseConnection(simulator)
        expect(await ended).toBeInstanceOf(ApiError)
      }
    })
  })
}

// --- Calls of a plugin -----------------------------------------------------------------------------------------------

const neverAborted = new AbortController().signal
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const noTargets = { ids: () => [], changed: untilAborted }
const followOptions = { resumeAfter: null, onLatency() {}, onOpen() {} }

/** Subscribes to a system, or follows another installation. */
function listen(
  { subscribe, follow }: ProtocolAdapter,
  client: UpstreamClient,
  signal: AbortSignal,
  targets: SubscriptionTargets = noTargets,
): AsyncIterable<PushEvent | LiveMessage> {
  const events = follow?.(client, signal, followOptions) ?? subscribe?.(client, targets, signal)
  if (events === undefined) throw new Error('the adapter cannot subscribe')
  return events
}

function firstEvent({ follow }: ProtocolAdapter): string {
  return follow === undefined ? 'open' : 'snapshot'
}

function defaultAdapter(plugin: Plugin): ProtocolAdapter {
  const [adapter] = plugin.adapters
  if (adapter === undefined) throw new Error(`${plugin.code} has no protocol adapter`)
  return adapter
}

function checkHealth(adapter: ProtocolAdapter, client: UpstreamClient, signal?: AbortSignal) {
  return reportHealth(client, () => adapter.listDevices(client, signal))
}

interface Call {
  readonly name: string
  run(signal: AbortSignal): Promise<unknown>
}

function callsOf(
  adapter: ProtocolAdapter,
  client: UpstreamClient,
  device?: Parameters<ProtocolAdapter['readPart']>[1],
): Call[] {
  const { subscribe, follow, readInstallation, discovery } = adapter
  const calls: Call[] = [
    { name: 'listDevices', run: (signal) => adapter.listDevices(client, signal) },
    { name: 'checkHealth', run: (signal) => checkHealth(adapter, client, signal) },
  ]
  for (const part of device === undefined ? [] : adapter.partsOf(device)) {
    calls.push({ name: part, run: (signal) => adapter.readPart(client, device as never, part, signal) })
  }
  if (subscribe) calls.push({ name: 'subscribe', run: (signal) => drain(subscribe(client, noTargets, signal)) })
  if (follow) calls.push({ name: 'follow', run: (signal) => drain(follow(client, signal, followOptions)) })
  if (readInstallation) {
    calls.push({ name: 'readInstallation', run: (signal) => readInstallation(client, signal) })
  }
  if (discovery) {
    calls.push(
      { name: 'getDiscoveryIps', run: (signal) => discovery.getDiscoveryIps(client, signal) },
      { name: 'addDiscoveryIps', run: (signal) => discovery.addDiscoveryIps(client, ['10.0.0.1'], signal) },
      { name: 'removeDiscoveryIps', run: (signal) => discovery.removeDiscoveryIps(client, ['10.0.0.1'], signal) },
    )
  }
  return calls
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

async function find(iterator: AsyncIterator<PushEvent>, matches: (event: PushEvent) => unknown): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) throw new Error('the subscription ended')
    if (matches(value)) return value
  }
}
