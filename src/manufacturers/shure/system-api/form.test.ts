import { afterEach, describe, expect, test } from 'vitest'
import { describePlugin } from '../../../../test/plugin-kit.ts'
import type { DeviceReport } from '../../../model/receiver.ts'
import { createUpstreamClient } from '../../../upstream/client.ts'
import { getDevices, type PushEvent } from '../../plugin.ts'
import { openSource } from '../../sources.ts'
import { shure } from '../index.ts'
import { startShureSimulator } from '../simulator.ts'
import { system } from '../system.ts'
import { systemApi } from './index.ts'
import { type SystemApiOptions, startSystemApiSimulator, systemIdOf } from './simulator.ts'

const idOf = (device: Parameters<typeof systemIdOf>[0]) => systemIdOf(device).toLowerCase()

describePlugin({
  plugin: shure,
  adapter: systemApi,
  startSimulator: startSystemApiSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
  idOf,
  // It tells of no transmitter but the channel's name.
  showsChange: ({ name }) => name === 'Understudy',
  keepsDevices: true,
})

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function start(options: SystemApiOptions = {}) {
  const quick = { rateLimit: { perSecond: 10_000, burst: 10_000 }, story: false, pushesPerSecond: 0, receivers: 2 }
  const simulator = await startSystemApiSimulator({ ...quick, ...options })
  open.push(simulator)
  return { simulator, source: hear(simulator.config) }
}

function hear(config: Readonly<Record<string, unknown>>) {
  const [settings] = shure.listSources({ ...config, calls_per_second: 10_000, burst: 10_000 })
  if (settings === undefined) throw new Error('no source')
  const client = createUpstreamClient({ settings, errors: shure.errors })
  open.push(client)
  return openSource({ id: 'shure:test', manufacturer: 'shure', plugin: shure, settings, client })
}

describe('which form a system speaks is found out', () => {
  // Conformance: C-3.12.
  test('by its device list, at the price of one more request', async () => {
    const { simulator, source } = await start()
    expect(source.adapter).toBe(system)
    expect((await source.listDevices()).devices).toHaveLength(2)
    expect(source.adapter).toBe(systemApi)
    const { total } = simulator.requests
    await source.listDevices()
    expect(simulator.requests.total).toBe(total + 1)
  })

  test('again when it speaks otherwise, as after an update', async () => {
    const { simulator, source } = await start()
    expect(await source.findAdapter()).toBe(systemApi)
    await simulator.close()
    const port = Number(new URL(simulator.baseUrl).port)
    open.push(await startShureSimulator({ port, receivers: 3, story: false, pushesPerSecond: 0 }))
    expect((await source.listDevices()).devices).toHaveLength(3)
    expect(source.adapter).toBe(system)
  })

  test('and never by an answer that makes no sense at all', async () => {
    const { simulator, source } = await start()
    simulator.setFault({ type: 'html' })
    await expect(source.listDevices()).rejects.toThrow(/web page/)
    simulator.setFault({ type: 'wrong-shape' })
    await expect(source.listDevices()).rejects.toThrow(/not a list of devices/)
    expect(source.adapter).toBe(system)
  })
})

test('a server that asks for a digest never sees the key', async () => {
  const { simulator, source } = await start({ digest: true })
  expect((await source.listDevices()).devices).toHaveLength(2)
  const refused = simulator.requests.entries.flatMap(({ refusal }) => refusal ?? [])
  expect(refused).toEqual(['no-credentials'])
})

describe('the list', () => {
  test('is read to its last page, and once where the server knows no pages', async () => {
    const { source } = await start({ receivers: 7, pageSize: 3 })
    expect((await source.listDevices()).devices).toHaveLength(7)
    const { source: unpaged } = await start({ receivers: 7, pageSize: 3, ignoresPaging: true })
    expect((await unpaged.listDevices()).devices).toHaveLength(3)
  })

  test('that stays empty says where to look', async () => {
    const { source } = await start({ wrongAdapter: true })
    await source.findAdapter()
    expect(await source.listDevices()).toMatchObject({
      devices: [],
      complaints: [{ about: 'the list', problem: expect.stringContaining('NetworkInterfaceId') }],
    })
  })

  test('holds packs as transmitters, and leaves out the charger they are in', async () => {
    const { source } = await start({ receivers: 1, dockedPacks: 2 })
    const form = await source.findAdapter()
    const told = (await getDevices(form, source.client)).map((device) => form.transformDeviceData(device))
    expect(told.map(({ kind }) => kind)).toEqual(['receiver', 'transmitter', 'transmitter'])
    expect(told[1]).toMatchObject({
      model_name: 'ULXD1',
      battery: expect.any(Number),
      name: expect.any(String),
      details: { battery_minutes: expect.any(Number), battery_health: 97, battery_cycles: 31 },
    })
  })
})

describe('the socket', () => {
  const unchanged = () => new Promise<void>(() => {})

  async function follow(options: SystemApiOptions = {}) {
    const { simulator, source } = await start(options)
    const devices = simulator.show.devicesAt(0).map(({ device }) => device)
    const { subscribe } = await source.findAdapter()
    const stop = new AbortController()
    open.push({ close: () => stop.abort() })
    const interest = { ids: () => devices.map(idOf), changed: unchanged }
    const events = subscribe?.(source.client, interest, stop.signal)[Symbol.asyncIterator]()
    if (events === undefined) throw new Error('it cannot subscribe')
    return { simulator, events, showId: devices[0]?.id ?? '' }
  }

  async function find(events: AsyncIterator<PushEvent>, isIt: (told: DeviceReport) => unknown) {
    for (;;) {
      const { value, done } = await events.next()
      if (done) throw new Error('the subscription ended')
      if (value.type === 'told' && isIt(value.report)) return value.report
    }
  }

  test('tells what was so before anybody asked, then what changes', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    expect((await events.next()).value).toEqual({ type: 'open' })
    await find(events, ({ name }) => name !== undefined)
    await find(events, ({ channels }) => channels?.some(({ channel, name }) => channel === 4 && name))
    simulator.show.set(showId, { name: 'Foldback' })
    simulator.push.flush()
    expect(await find(events, ({ name }) => name === 'Foldback')).toMatchObject({ kind: 'receiver' })
    // The list, the name of the device, activity, gain and name of its four channels.
    expect(simulator.subscriptions).toHaveLength(14)
    expect(simulator.requests.entries.filter(({ status }) => status === 400)).toEqual([])
  })

  test('tells how loud a channel is in a word', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    const isSaid = (word: string) => (told: DeviceReport) =>
      told.channels?.some(({ channel, details }) => channel === 2 && details?.audio_activity === word)
    simulator.show.set(showId, { audio_level: -80 }, 2)
    await find(events, isSaid('low'))
    simulator.show.set(showId, { audio_level: -1 }, 2)
    simulator.push.flush()
    await find(events, isSaid('clipping'))
  })

  test('subscribes a device as soon as it can be spoken with', async () => {
    const { events, simulator, showId } = await follow({ receivers: 1 })
    simulator.setDiscovered(showId, true)
    await events.next()
    const waiting = find(events, ({ channels }) => channels?.some(({ channel, name }) => channel === 4 && name))
    await expect.poll(() => simulator.subscriptions).toEqual([''])
    await expect.poll(() => simulator.requests.count('/api/v1/devices', 'GET')).toBeGreaterThan(1)
    simulator.setDiscovered(showId, false)
    await waiting
    await expect.poll(() => simulator.subscriptions).toHaveLength(14)
  })

  test('that is not there leads to the one of the specification', async () => {
    const { source, simulator } = await start()
    await source.findAdapter()
    simulator.setFault({ type: 'status', status: 404 }, { path: '/websocket/create' })
    const { subscribe } = source.adapter
    const events = subscribe?.(source.client, { ids: () => [], changed: unchanged }, new AbortController().signal)
    await expect(events?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 404 })
    expect(simulator.requests.count('/api/v1/ws')).toBe(1)
  })

  test('that never says its name is given up', { timeout: 15_000 }, async () => {
    const { events, simulator } = await follow()
    simulator.setFault({ type: 'silent-links' })
    await expect(events.next()).rejects.toThrow(/names no transport/)
  })
})
