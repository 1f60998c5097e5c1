import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type DpaSimulatorOptions, startDpaSimulator } from '../../../simulators/dpa/ndr1.ts'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { connectToDevice, describeDevices, findReport, follow } from '../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import { rejectionOf, until } from '../../../test/support/plugins/plugin-kit-resources.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import type { LevelSample } from '../../domain/levels/level-sample.ts'
import { encodeMessage, type OscMessage } from '../../domain/osc/packet.ts'
import { encodeSubscription, formatPackets, parsePacket, splitPackets } from './codec.ts'
import { toDeviceReport } from './device.ts'
import { dpa } from './index.ts'

describeDevices(
  (['length', 'slip'] as const).map((framing) => ({
    name: `N-DR1 with ${framing} frames`,
    plugin: dpa,
    async start() {
      const simulator = await startDpaSimulator({ framing, story: false })
      return Object.assign(simulator, { url: simulator.urls[0] ?? '' })
    },
  })),
)

async function start(options: DpaSimulatorOptions = {}) {
  const simulator = await startDpaSimulator({ story: false, ...options })
  onTestEnd(() => simulator.close())
  const connection = connectToDevice(dpa, simulator.urls[0] ?? '')
  onTestEnd(() => connection.client.close())
  return { simulator, connection }
}

interface Fixture {
  readonly source: string
  readonly received: readonly OscMessage[]
  /** The expected report of a device at 192.0.2.7. */
  readonly report: DeviceReport
}

const folder = new URL('./fixtures/', import.meta.url)

test.each(readdirSync(folder))('%s', (file) => {
  const { source, received, report } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Fixture
  expect(source.length).toBeGreaterThan(20)
  const text = formatPackets(received.map(encodeMessage), 'length')
  const messages = splitPackets(text).messages.flatMap((packet) => parsePacket(packet) ?? [])
  expect(messages).toHaveLength(received.length)
  const values = new Map(messages.map(({ address, args }) => [address, args]))
  const converted = toDeviceReport(values, { host: '192.0.2.7', ip: '192.0.2.7', name: null })
  expectCommonFormat(converted)
  expect(converted).toEqual(report)
})

test('a charge of 0 with unknown minutes and no health is unknown', () => {
  const values = new Map<string, readonly number[]>([['/ch/1/tx/active', [1]]])
  const batteryOf = (status: readonly number[]) =>
    toDeviceReport(values.set('/ch/1/tx/batterystatus', status), { host: '192.0.2.7', ip: null, name: null })
      .channels?.[0]?.transmitter
  const unknown = { battery_minutes: null, battery_health: null }
  expect(batteryOf([0, 65_535, 0, 0, 0])).toEqual({ battery: null, details: unknown })
  expect(batteryOf([0, 2, 97, 0, 0])).toEqual({ battery: 0, details: { battery_minutes: 2, battery_health: 97 } })
})

describe('packets', () => {
  const packets = [encodeSubscription('/ch/1/audiolevel', 192), encodeMessage({ address: '/serial', args: ['ÛÀ'] })]
  const texts = packets.map((packet) => Buffer.from(packet).toString('latin1'))

  test.each(['length', 'slip'] as const)('are joined from %s frames that arrive in parts', (framing) => {
    const received: string[] = []
    let rest = ''
    for (const byte of formatPackets(packets, framing)) {
      const split = splitPackets(rest + byte)
      received.push(...split.messages)
      rest = split.rest
    }
    expect(received).toEqual(texts)
    expect(rest).toBe(framing === 'slip' ? '\xc0' : '')
  })

  test('that cannot be a frame are dropped', () => {
    expect(splitPackets('HTTP/1.1 400')).toEqual({ messages: [], rest: '' })
    expect(splitPackets('\x00\x00')).toEqual({ messages: [], rest: '\x00\x00' })
    expect(parsePacket('junk')).toBeNull()
  })

  test('with the type I contain numbers', () => {
    const packet = Buffer.from(encodeMessage({ address: '/ch/1/audiolevel', args: [-183] })).toString('latin1')
    expect(parsePacket(packet.replace(',i', ',I'))).toEqual([{ address: '/ch/1/audiolevel', args: [-183] }])
  })

  test('contain a subscription as the public programs send it', () => {
    const blob = '\x2fserial\0,\0\0\0'
    expect(Buffer.from(encodeSubscription('/serial', 100)).toString('latin1')).toBe(
      `/subscribe\0\0,iib\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x0c${blob}`,
    )
  })
})

describe.concurrent('a session', () => {
  test('passes levels on, and reports mutes, warnings and transmitters', async () => {
    const { simulator, connection } = await start()
    const samples: LevelSample[] = []
    const noTargets = { ids: () => [], changed: () => new Promise<void>(() => {}) }
    const stop = new AbortController()
    const events = connection.adapter
      .subscribe?.(connection.client, noTargets, stop.signal, (_, received) => samples.push(...received) > 0)
      [Symbol.asyncIterator]()
    if (events === undefined) throw new Error('The adapter cannot subscribe.')
    simulator.change(1, { transmitter: true, battery: 12, rf_level: -60, audio_level: -21, muted: true })
    const channel = ({ channels }: DeviceReport) => channels?.find((candidate) => candidate.channel === 1)
    const report = await findReport(events, (report) => channel(report)?.transmitter?.details?.battery_low === true)
    expect(channel(report)).toMatchObject({
      details: { muted: true, interference: false, rf_low: false },
      transmitter: { battery: 12 },
    })
    simulator.change(1, { rf_level: -47, hasInterference: true })
    await findReport(events, (report) => channel(report)?.details?.interference === true)
    expect(samples).toContainEqual({ channel: 1, audio_level: -21, rf_level: -47, details: { rf_a: -47, rf_b: -51 } })
    simulator.change(1, { transmitter: false })
    await findReport(events, (report) => channel(report)?.transmitter === null)
    stop.abort()
  })

  test('names what a receiver does not answer or reports in another form, and reads the rest', async () => {
    const { simulator, connection } = await start()
    simulator.change(1, { transmitter: true, battery: 64 })
    simulator.override('/ch/1/rx/mute', null)
    simulator.override('/ch/2/audiolevel', null)
    simulator.override('/advanced/1/antenna/rfstrength', [-612, -748])
    simulator.override('/warning/criticaltemp', [1])
    let problems: readonly string[] = []
    const stop = new AbortController()
    const events = follow(connection, stop.signal, (all) => {
      problems = all.map(({ problem }) => problem)
    })
    const report = await findReport(events, () => true)
    expect(report).toMatchObject({ details: { fault: 'device_too_hot' } })
    expect(report.channels?.[0]).toMatchObject({ rf_level: null, transmitter: { battery: 64 } })
    expect(report.channels?.[0]?.details).not.toHaveProperty('muted')
    const form = 'the device reports /advanced/*/antenna/rfstrength in an undocumented form'
    expect(problems).toEqual([`${form}, so these values are unknown`])
    await findReport(events, () => problems[0]?.includes('refuses'))
    expect(problems).toEqual([
      `the device refuses /ch/*/rx/mute (no answer), /ch/*/audiolevel (no answer), and ${form}, so these values are unknown`,
    ])
    stop.abort()
  })

  test('does not take a forwarded address for that of the receiver', async () => {
    const { simulator, connection } = await start()
    const { devices } = await connection.adapter.listDevices(connection.client)
    const [report] = devices.map((device) => connection.adapter.transformDeviceData(device))
    const [state] = simulator.show.devicesAt(0, 'dpa')
    expect(report?.id).toBe(`dpa:${state?.device.serial_number}`)
    expect(report).not.toHaveProperty('ip')
  })

  test('subscribes again when a transmitter appears', async () => {
    const { simulator, connection } = await start()
    simulator.change(1, { transmitter: false })
    const stop = new AbortController()
    const events = follow(connection, stop.signal)
    await findReport(events, () => true)
    const count = () => simulator.received.filter((address) => address === '/subscribe').length
    const before = count()
    simulator.change(1, { transmitter: true })
    const isOn = ({ channels }: DeviceReport) => channels?.[0]?.transmitter != null
    await findReport(events, isOn)
    await until(() => count() === 2 * before)
    stop.abort()
  })

  test('that is not answered names the setting of the receiver, and one with another protocol does not', async () => {
    const { simulator, connection } = await start()
    const list = () => rejectionOf(connection.adapter.listDevices(connection.client))
    simulator.setFault('silent')
    expect(await list()).toMatchObject({ message: expect.stringMatching(/enable OSC over TCP/), failureKind: 'none' })
    simulator.setFault('foreign')
    expect(await list()).toMatchObject({ name: 'DpaApiError', failureKind: 'unusable' })
    expect(await list()).toBeInstanceOf(dpa.errors.ApiError)
  })

  test('fails when the receiver falls silent', async () => {
    const { simulator, connection } = await start()
    const events = follow(connection, new AbortController().signal)
    await findReport(events, () => true)
    simulator.setFault('silent')
    await expect(findReport(events, () => false)).rejects.toThrow(/stopped sending data/)
  })
})
