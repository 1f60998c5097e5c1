/**
 * Tests that every protocol adapter for an individual device must pass, over real sockets against its own simulator.
 * The test of an adapter calls `describeDevices` with its kinds of devices and adds its own tests.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ChannelReading, DeviceReport } from '../../../src/domain/equipment/receiver.ts'
import type { OnProblems, Plugin, ProtocolAdapter, PushEvent } from '../../../src/manufacturers/plugin.ts'
import { createUpstreamClient, type UpstreamClient } from '../../../src/upstream/client.ts'
import { onTestEnd } from '../cleanup.ts'
import { timeLimit } from '../time-limit.ts'
import { openDrippingLine } from './dripping-line.ts'
import { expectCommonFormat, freeze } from './plugin-kit-fixtures.ts'
import { countResources, minResources, rejectionOf, until } from './plugin-kit-resources.ts'

export interface SimulatedDevice {
  readonly url: string
  /** Number of open sessions. */
  readonly clients: number
  /**
   * `silent`: the device sends nothing; `foreign`: it responds like another kind of device; `noise`: it also sends
   * messages that must be ignored.
   */
  setFault(fault: 'silent' | 'foreign' | 'noise' | null): void
  change(channel: number, change: { readonly name?: string; readonly transmitter?: boolean }): void
  close(): Promise<void>
}

export interface DeviceUnderTest {
  readonly name: string
  readonly plugin: Plugin
  start(): Promise<SimulatedDevice>
  /** Returns true if a channel was renamed to `Else`. Compares its name by default. */
  readonly isRenamed?: (channel: ChannelReading) => boolean
}

const rate = { calls_per_second: 1000, burst: 1000 }
const noTargets = { ids: () => [], changed: () => new Promise<void>(() => {}) }

export interface DeviceConnection {
  readonly adapter: ProtocolAdapter
  readonly client: UpstreamClient
}

/** Creates the protocol adapter and the client that the plugin selects for this device. */
export function connectToDevice(plugin: Plugin, url: string, config: object = {}): DeviceConnection {
  const [settings] = plugin.listSources({ ...rate, timeout: 3, ...config, devices: [url] })
  if (settings === undefined || 'default' in settings.adapter) throw new Error(`no device is detected at ${url}`)
  return { adapter: settings.adapter, client: createUpstreamClient({ settings, errors: plugin.errors }) }
}

export function follow(
  { adapter, client }: DeviceConnection,
  signal: AbortSignal,
  onProblems?: OnProblems,
): AsyncIterator<PushEvent> {
  const events = adapter.subscribe?.(client, noTargets, signal, undefined, onProblems)
  if (events === undefined) throw new Error('the adapter cannot subscribe')
  return events[Symbol.asyncIterator]()
}

/** Returns the first matching event. */
export async function findEvent(
  events: AsyncIterator<PushEvent>,
  matches: (event: PushEvent) => unknown,
): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('the subscription ended')
    if (matches(value)) return value
  }
}

/** Returns the first matching report. */
export async function findReport(
  events: AsyncIterator<PushEvent>,
  matches: (report: DeviceReport) => unknown,
): Promise<DeviceReport> {
  const event = await findEvent(events, (each) => each.type === 'report' && matches(each.report))
  if (event.type !== 'report') throw new Error('the event is no report')
  return event.report
}

/**
 * Tests the devices at the same time, because the tests wait more than they compute. The tests that count the open
 * resources of this process run afterwards, one at a time.
 */
export function describeDevices(devices: readonly DeviceUnderTest[]): void {
  for (const device of devices) describe.concurrent(device.name, () => testSessions(device))
  for (const device of devices) describe(device.name, () => testAborts(device))
}

const startDevice = async (device: DeviceUnderTest) => {
  const started = await device.start()
  onTestEnd(() => started.close())
  return started
}

const connect = (plugin: Plugin, url: string, config?: object) => {
  const connection = connectToDevice(plugin, url, config)
  onTestEnd(() => connection.client.close())
  return connection
}

const list = ({ adapter, client }: DeviceConnection, signal?: AbortSignal) => adapter.listDevices(client, signal)

function testSessions(kind: DeviceUnderTest): void {
  const { plugin } = kind
  const { ApiError } = plugin.errors

  test('lists the complete device in the common format in one short session', async () => {
    const device = await startDevice(kind)
    const connection = connect(plugin, device.url)
    const { devices, malformed } = await list(connection)
    expect({ devices: devices.length, malformed }).toEqual({ devices: 1, malformed: 0 })
    const reports = devices.map((device) => connection.adapter.transformDeviceData(freeze(device)))
    for (const report of reports) expectCommonFormat(report)
    expect(devices.map((device) => connection.adapter.transformDeviceData(device))).toEqual(reports)
    expect(reports[0]?.channels?.length).toBeGreaterThan(0)
    expect(connection.adapter.partsOf(devices[0] as never)).toEqual([])
    await until(() => device.clients === 0, 'the session is closed')
  })

  test('reports the complete device, then changes; ends without an error on abort', async () => {
    const device = await startDevice(kind)
    const controller = new AbortController()
    const events = follow(connect(plugin, device.url), controller.signal)
    expect(await events.next()).toEqual({ value: { type: 'open' }, done: false })
    const first = (await events.next()).value
    expect(first).toMatchObject({ type: 'report', isComplete: true })
    expectCommonFormat(first.report)
    const { isRenamed = ({ name }) => name === 'Else' } = kind
    device.change(1, { name: 'Else' })
    const report = await findReport(events, ({ channels }) =>
      channels?.some((channel) => channel.channel === 1 && isRenamed(channel)),
    )
    expect(report.id).toBe(first.report.id)
    const ended = (async () => {
      while (!(await events.next()).done);
    })()
    controller.abort()
    await ended
    await until(() => device.clients === 0, 'the session is closed')
  })

  test('ignores noise', async () => {
    const device = await startDevice(kind)
    device.setFault('noise')
    const { devices } = await list(connect(plugin, device.url))
    for (const listed of devices) expectCommonFormat(connect(plugin, device.url).adapter.transformDeviceData(listed))
  })

  test.each(['silent', 'foreign'] as const)(
    'throws the ApiError of the plugin within the timeout if the device is %s',
    async (fault) => {
      const device = await startDevice(kind)
      device.setFault(fault)
      const startedAt = performance.now()
      const connection = connect(plugin, device.url, { timeout: 1 })
      const events = follow(connection, new AbortController().signal)
      const [listError, subscriptionError] = await Promise.all([
        rejectionOf(list(connection)),
        rejectionOf(events.next()),
      ])
      for (const error of [listError, subscriptionError]) expect(error).toBeInstanceOf(ApiError)
      expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000))
    },
  )

  test('throws the ApiError of the plugin within the timeout if the device sends byte by byte', async () => {
    const device = await startDevice(kind)
    // Datagrams arrive whole.
    if (device.url.startsWith('udp:')) return
    const startedAt = performance.now()
    const connection = connect(plugin, await openDrippingLine(device.url), { timeout: 1 })
    const subscription = drain(follow(connection, new AbortController().signal))
    for (const error of await Promise.all([rejectionOf(list(connection)), rejectionOf(subscription)])) {
      expect(error).toBeInstanceOf(ApiError)
    }
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000))
  })

  test('throws the ApiError of the plugin if the connection is refused', async () => {
    const device = await startDevice(kind)
    await device.close()
    const connection = connect(plugin, device.url, { timeout: 1 })
    expect(await rejectionOf(list(connection))).toBeInstanceOf(ApiError)
  })
}

function testAborts(kind: DeviceUnderTest): void {
  const { plugin } = kind
  test('ends at once on an abort at any moment and leaves no open resources', async () => {
    const device = await startDevice(kind)
    for (const afterMs of [0, 3, 40, 250]) {
      const resourcesBefore = await minResources()
      const controller = new AbortController()
      // The timeout is far longer than the limit, so it cannot be what ends the requests.
      const connection = connect(plugin, device.url, { timeout: 60 })
      const listPromise = rejectionOf(list(connection, controller.signal))
      const subscriptionPromise = rejectionOf(drain(follow(connection, controller.signal)))
      await pause(afterMs)
      controller.abort('enough')
      const abortedAt = performance.now()
      const [listError, subscriptionError] = await Promise.all([listPromise, subscriptionPromise])
      expect(performance.now() - abortedAt, `after ${afterMs} ms`).toBeLessThan(timeLimit(600))
      expect([undefined, 'enough'], `after ${afterMs} ms`).toContain(listError)
      expect(subscriptionError, `after ${afterMs} ms`).toBeUndefined()
      await until(
        () => device.clients === 0 && countResources() <= resourcesBefore,
        `no open resources after ${afterMs} ms`,
      )
    }
  })
}

async function drain(events: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await events.next()).done);
}

/**
 * Follows a device until its first report, and then closes it. Returns the lists of problems that the subscription has
 * reported.
 */
export async function problemsOfSession(
  connection: Parameters<typeof follow>[0],
  simulator: { close(): Promise<unknown> },
): Promise<readonly unknown[]> {
  const problems: unknown[] = []
  const events = follow(connection, new AbortController().signal, (all) => problems.push(all))
  await findReport(events, () => true)
  const reported = [...problems]
  await simulator.close()
  await rejectionOf(findReport(events, () => false))
  return reported
}
