import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startShureSimulator } from '../../../../simulators/shure/device-api.ts'
import { type SystemApiOptions, startSystemApiSimulator, systemIdOf } from '../../../../simulators/shure/system-api.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { describePlugin } from '../../../../test/support/plugins/plugin-kit.ts'
import { rejectionOf } from '../../../../test/support/plugins/plugin-kit-resources.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { createUpstreamClient } from '../../../upstream/client.ts'
import { getDevices, type PushEvent } from '../../plugin.ts'
import { openSource } from '../../sources.ts'
import { shure } from '../index.ts'
import { system } from '../system.ts'
import { toDeviceReport } from './device.ts'
import { systemApi } from './index.ts'

const idOf = (device: Parameters<typeof systemIdOf>[0]) => systemIdOf(device).toLowerCase()

describePlugin({
  plugin: shure,
  adapter: systemApi,
  startSimulator: startSystemApiSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
  idOf,
  // The channel name is all that the API reports about a transmitter.
  showsChange: ({ name }) => name === 'Understudy',
  keepsDevices: true,
})

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})

async function start(options: SystemApiOptions = {}) {
  const quick = { rateLimit: { perSecond: 10_000, burst: 10_000 }, story: false, pushesPerSecond: 0, receivers: 2 }
  const simulator = await startSystemApiSimulator({ ...quick, ...options })
  resources.push(simulator)
  return { simulator, source: createSource(simulator.config) }
}

function createSource(config: Readonly<Record<string, unknown>>) {
  const [settings] = shure.listSources({ ...config, calls_per_second: 10_000, burst: 10_000 })
  if (settings === undefined) throw new Error('The configuration names no source.')
  const client = createUpstreamClient({ settings, errors: shure.errors })
  resources.push(client)
  return openSource({ id: 'shure:test', manufacturer: 'shure', plugin: shure, settings, client })
}

describe('the API of a system is detected', () => {
  // Conformance: C-3.12.
  test('from its device list with one additional request', async () => {
    const { simulator, source } = await start()
    expect(source.adapter).toBe(system)
    expect((await source.listDevices()).devices).toHaveLength(2)
    expect(source.adapter).toBe(systemApi)
    const { total } = simulator.requests
    await source.listDevices()
    expect(simulator.requests.total).toBe(total + 1)
  })

  test('again when it changes, as after an update', async () => {
    const { simulator, source } = await start()
    expect(await source.findAdapter()).toBe(systemApi)
    await simulator.close()
    const port = Number(new URL(simulator.baseUrl).port)
    resources.push(await startShureSimulator({ port, receivers: 3, story: false, pushesPerSecond: 0 }))
    expect((await source.listDevices()).devices).toHaveLength(3)
    expect(source.adapter).toBe(system)
  })

  test('but not from a response of an unknown format', async () => {
    const { simulator, source } = await start()
    simulator.setFault({ type: 'html' })
    await expect(source.listDevices()).rejects.toThrow(/web page/)
    simulator.setFault({ type: 'wrong-shape' })
    await expect(source.listDevices()).rejects.toThrow(/not a list of devices/)
    expect(source.adapter).toBe(system)
  })
})

test('does not send the key to a server that requires a digest', async () => {
  const { simulator, source } = await start({ digest: true })
  expect((await source.listDevices()).devices).toHaveLength(2)
  const refused = simulator.requests.entries.flatMap(({ refusal }) => refusal ?? [])
  expect(refused).toEqual(['no-credentials'])
})

describe('the list', () => {
  test('is read to its last page, and once if the server ignores paging', async () => {
    const { source } = await start({ receivers: 7, pageSize: 3 })
    expect((await source.listDevices()).devices).toHaveLength(7)
    const { source: unpaged } = await start({ receivers: 7, pageSize: 3, ignoresPaging: true })
    expect((await unpaged.listDevices()).devices).toHaveLength(3)
  })

  test('reports a problem when it is empty', async () => {
    const { source } = await start({ wrongAdapter: true })
    await source.findAdapter()
    expect(await source.listDevices()).toMatchObject({
      devices: [],
      problems: [{ subject: 'the list', problem: expect.stringContaining('NetworkInterfaceId') }],
    })
  })

  test('contains docked packs as transmitters, without their charger', async () => {
    const { source } = await start({ receivers: 1, dockedPacks: 2 })
    const adapter = await source.findAdapter()
    const reports = (await getDevices(adapter, source.client)).map((device) => adapter.transformDeviceData(device))
    expect(reports.map(({ kind }) => kind)).toEqual(['receiver', 'transmitter', 'transmitter'])
    expect(reports[1]).toMatchObject({
      model_name: 'ULXD1',
      battery: expect.any(Number),
      name: expect.any(String),
      details: { battery_minutes: expect.any(Number), battery_health: 97, battery_cycles: 31 },
    })
  })
})

// Conformance: C-22.7.
test('names what a device refuses, and what it reports in an undocumented form', async () => {
  const { simulator, source } = await start({ receivers: 1, dockedPacks: 1 })
  const adapter = await source.findAdapter()
  const listProblems = async () =>
    (await getDevices(adapter, source.client)).flatMap((device) => adapter.problemsOf?.(device) ?? [])
  expect(await listProblems()).toEqual([])
  simulator.setFault({ type: 'status', status: 500 }, { path: '/battery-health' })
  const subject = { subject: 'device ULXD1', device: expect.stringMatching(/^ULXD1/) }
  const refused = 'the device refuses battery-health (status 500), so these values are unknown'
  expect(await listProblems()).toEqual([{ ...subject, problem: refused }])
  simulator.setFault({ type: 'wrong-shape' }, { path: '/battery-level' })
  const form = 'the device reports battery-level in an undocumented form, so these values are unknown'
  expect(await listProblems()).toEqual([{ ...subject, problem: form }])
})

describe('a report', () => {
  const channel = { id: 'x', number: 1, capabilities: [] }
  const node = {
    id: 'dd',
    deviceId: 'DD',
    state: 'ONLINE',
    serialNumber: null,
    firmwareVersion: null,
    ip: null,
    isTooOld: false,
    capabilities: ['audio-channels'],
  } as const

  // Conformance: C-24.50.
  test.each([
    ['has a transmitter for each channel of an in-ear rack unit', 'ADTQ', { channel: 1, transmitter: {} }],
    ['leaves the transmitters of a receiver unknown', 'ULXD4D', { channel: 1 }],
  ])('%s', (_, model, reading) => {
    const report = toDeviceReport({ id: 'dd', node: { ...node, model }, channels: [channel], values: {} })
    expect(report.channels).toEqual([reading])
  })

  // Conformance: C-24.51.
  test('never has levels, so none are missed', async () => {
    const { source } = await start()
    await source.listDevices()
    expect(source.adapter.levels?.('adpsm', { perSecond: 10, burst: 20 })).toEqual({ rf: null, audio: null })
  })
})

describe('the socket', () => {
  const unchanged = () => new Promise<void>(() => {})

  async function follow(options: SystemApiOptions = {}) {
    const { simulator, source } = await start(options)
    const devices = simulator.show.devicesAt(0).map(({ device }) => device)
    const { subscribe } = await source.findAdapter()
    const stop = new AbortController()
    resources.push({ close: () => stop.abort() })
    const targets = { ids: () => devices.map(idOf), changed: unchanged }
    const events = subscribe?.(source.client, targets, stop.signal)[Symbol.asyncIterator]()
    if (events === undefined) throw new Error('The adapter has no subscribe function.')
    return { simulator, events, showId: devices[0]?.id ?? '' }
  }

  async function find(events: AsyncIterator<PushEvent>, matches: (report: DeviceReport) => unknown) {
    for (;;) {
      const { value, done } = await events.next()
      if (done) throw new Error('The subscription ended.')
      if (value.type === 'report' && matches(value.report)) return value.report
    }
  }

  test('sends the current values first, then changes', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    expect((await events.next()).value).toEqual({ type: 'open' })
    await find(events, ({ name }) => name !== undefined)
    await find(events, ({ channels }) => channels?.some(({ channel, name }) => channel === 4 && name))
    simulator.show.set(showId, { name: 'Foldback' })
    simulator.push.flush()
    expect(await find(events, ({ name }) => name === 'Foldback')).toMatchObject({ kind: 'receiver' })
    // One for the device list, one for the device name, and three (activity, gain, name) for each of four channels.
    await eventually(() => simulator.subscriptions).toHaveLength(14)
    expect(simulator.requests.entries.filter(({ status }) => status === 400)).toEqual([])
  })

  test('reports the audio activity of a channel', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    const hasActivity = (activity: string) => (report: DeviceReport) =>
      report.channels?.some(({ channel, details }) => channel === 2 && details?.audio_activity === activity)
    simulator.show.set(showId, { audio_level: -80 }, 2)
    await find(events, hasActivity('low'))
    simulator.show.set(showId, { audio_level: -1 }, 2)
    simulator.push.flush()
    await find(events, hasActivity('clipping'))
  })

  test('subscribes to a device as soon as it is online', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    simulator.setDiscovered(showId, true)
    await events.next()
    const report = find(events, ({ channels }) => channels?.some(({ channel, name }) => channel === 4 && name))
    await eventually(() => simulator.subscriptions).toEqual([''])
    await eventually(() => simulator.requests.count('/api/v1/devices', 'GET')).toBeGreaterThan(1)
    simulator.setDiscovered(showId, false)
    await report
    await eventually(() => simulator.subscriptions).toHaveLength(14)
  })

  test('is replaced by the socket of the common device API if the server does not have it', async () => {
    const { source, simulator } = await start()
    await source.findAdapter()
    simulator.setFault({ type: 'status', status: 404 }, { path: '/websocket/create' })
    const { subscribe } = source.adapter
    const events = subscribe?.(source.client, { ids: () => [], changed: unchanged }, new AbortController().signal)
    await expect(events?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 404 })
    expect(simulator.requests.count('/api/v1/ws')).toBe(1)
  })

  test('fails if it sends no transport id', async () => {
    const { events, simulator } = await follow()
    simulator.setFault({ type: 'silent-connections' })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const failed = rejectionOf(events.next())
      await eventually(() => simulator.push.connections).toBe(1)
      // The connection opens on this side a moment later, so the time passes in steps.
      let error: unknown
      for (let seconds = 0; error === undefined && seconds < 20; seconds += 1) {
        vi.advanceTimersByTime(1000)
        error = await Promise.race([failed, pause(50)])
      }
      expect(error).toMatchObject({ message: expect.stringMatching(/sent no transport id/) })
    } finally {
      vi.useRealTimers()
    }
  })
})
