import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type StringsSimulatorOptions, startStringsSimulator } from '../../../../simulators/shure/strings.ts'
import { onTestEnd } from '../../../../test/support/cleanup.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { connectToDevice, describeDevices, findReport, follow } from '../../../../test/support/plugins/device-kit.ts'
import { rejectionOf, until } from '../../../../test/support/plugins/plugin-kit-resources.ts'
import { timeLimit } from '../../../../test/support/time-limit.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { shure } from '../index.ts'
import { detectFamily } from './families.ts'
import { createDeviceCheck } from './session.ts'
import type { StringsDevice } from './translate.ts'
import { toDeviceReport } from './translate.ts'

const noTargets = { ids: () => [], changed: () => new Promise<void>(() => {}) }
const families = ['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'psm1000', 'uhfr', 'mxw', 'mxwnext'] as const

describeDevices(
  ([...families, 'anx4'] as const).map((family) => ({
    name: family,
    plugin: shure,
    start: () => startStringsSimulator({ family }),
  })),
)

async function start(options: StringsSimulatorOptions, config: object = {}) {
  const device = await startStringsSimulator(options)
  const linked = connectToDevice(shure, device.url, config)
  onTestEnd(() => device.close())
  onTestEnd(() => linked.client.close())
  return { device, linked, list: () => linked.adapter.listDevices(linked.client) }
}

async function getReport({ list }: Awaited<ReturnType<typeof start>>) {
  const { devices } = await list()
  return devices.map((device) => toDeviceReport(device as unknown as StringsDevice))[0]
}

describe.concurrent('the identity', () => {
  test.each(families)('of %s is read from its answers', async (family) => {
    const started = await start({ family })
    const { device, channels } = started.device.state
    const report = await getReport(started)
    expect(report).toMatchObject({ device_type: device.device_type, channels: { length: channels.length } })
    const reportsMac = ['ulxd', 'qlxd', 'slxd+', 'ad'].includes(family)
    expect(report?.mac_address).toBe(reportsMac ? device.mac_address : undefined)
    // The simulator's port is not the usual one, so the address may be a port forwarding. Only an address that the
    // device itself reports is used.
    expect(report?.ip).toBe(reportsMac && family !== 'qlxd' ? device.ip : undefined)
  })

  test('of an older ULX-D has the default model', async () => {
    const report = await getReport(await start({ family: 'ulxd', unknownKeys: ['MODEL', 'NET_SETTINGS SC'] }))
    expect(report).toMatchObject({ device_type: 'ulxd', model_name: 'ULXD4', channels: { length: 4 } })
  })

  test.each([
    ['SBC450', /is a SBC450, which Micwatch does not support/],
    ['AXT600', /is a AXT600, which Micwatch does not support/],
  ])('of %s is rejected with its model', async (model, message) => {
    const { list } = await start({ family: 'ulxd', model })
    await expect(list()).rejects.toThrow(message)
  })

  test('that is refused names the setting of an SLX-D', async () => {
    const { device, list } = await start({ family: 'slxd' })
    await device.close()
    await expect(list()).rejects.toThrow(/connection refused by .* allow Controller Access/)
  })

  test('of an SLX-D without Controller Access is rejected with a hint', async () => {
    const { device, list } = await start({ family: 'slxd' })
    device.setFault('silent')
    await expect(list()).rejects.toThrow(/allow Controller Access/)
  })
})

test.concurrent.each(families)('%s: reports levels, battery and mute as the device does', async (family) => {
  const started = await start({ family })
  started.device.change(1, { transmitter: true, battery: 60, rf_level: -63, audio_level: -20, transmitterMuted: true })
  const getChannel = async () => (await getReport(started))?.channels?.[0]
  // A list does not wait for the meters of a slow device.
  if (!['uhfr', 'mxw'].includes(family)) await eventually(async () => (await getChannel())?.audio_level).toBe(-20)
  const reportsRf = !['psm1000', 'uhfr', 'mxw'].includes(family)
  await eventually(async () => (await getChannel())?.rf_level ?? null).toBe(reportsRf ? -63 : null)
  const channel = await getChannel()
  if (family !== 'psm1000') expect(channel?.transmitter?.battery).toBe(60)
  const reportsMute = ['ulxd', 'qlxd', 'ad', 'psm1000', 'mxw', 'mxwnext'].includes(family)
  expect(channel?.transmitter?.details?.muted).toBe(reportsMute ? true : undefined)
  started.device.change(1, { transmitter: false })
  const empty = (await getReport(started))?.channels?.[0]
  if (family === 'psm1000') expect(empty?.transmitter).toBeDefined()
  else expect(empty?.transmitter).toBeNull()
})

// Conformance: C-3.29.
describe.concurrent('missing channels and keys', () => {
  test('an SLX-D+ is listed with a channel that was never paired', async () => {
    const started = await start({ family: 'slxd+' })
    started.device.change(2, { neverPaired: true })
    const [paired, other] = (await getReport(started))?.channels ?? []
    expect(paired).toMatchObject({ channel: 1, details: { antennas: expect.any(String) } })
    expect(paired?.frequency).toBeDefined()
    expect(other).toEqual({ channel: 2, transmitter: null, details: { band: 'H57', encryption: 'on', slots: [] } })
  })

  test('an AD4Q is listed without the channels that are silent in Quadversity', async () => {
    const started = await start({ family: 'ad' })
    for (const channel of [3, 4]) started.device.change(channel, { isSilent: true })
    expect((await getReport(started))?.channels?.map(({ channel }) => channel)).toEqual([1, 2])
  })

  test.each([1, 16, 24])('an ANX4 has as many channels as it answers for: %i', async (channels) => {
    const started = await start({ family: 'anx4', channels })
    const report = await getReport(started)
    expect(report).toMatchObject({ device_type: 'ad', model_name: 'ANX4' })
    expect(report?.channels?.map(({ channel }) => channel)).toEqual(
      Array.from({ length: channels }, (_, index) => index + 1),
    )
    // A list does not wait for the meters of a slow device.
    const listLevels = async () => (await getReport(started))?.channels?.map(({ rf_level }) => typeof rf_level)
    await eventually(listLevels).toEqual(Array.from({ length: channels }, () => 'number'))
  })

  test('a PSM 1000 without DEVICE_NAME is detected by AUDIO_IN_LVL', async () => {
    const report = await getReport(await start({ family: 'psm1000', unknownKeys: ['DEVICE_NAME'] }))
    expect(report).toMatchObject({ device_type: 'psm1000', name: 'P10T', channels: { length: 2 } })
  })
})

describe.concurrent('what a device refuses or reports in an undocumented form', () => {
  test.each(families)('is nothing for %s, which refuses only the probes of other families', async (family) => {
    const { list } = await start({ family })
    expect((await list()).problems).toEqual([])
  })

  // Conformance: C-22.7.
  test('is named once with its keys, and the rest is reported', async () => {
    const { device, linked, list } = await start({ family: 'ulxd', unknownKeys: ['FW_VER', 'HIGH_DENSITY'] })
    device.change(2, { transmitter: true, battery: 60, raw: { BATT_RUN_TIME: '2:30', BATT_CYCLE: '-' } })
    const { hostname, port } = new URL(device.url)
    const problem = {
      subject: `${hostname}:${port}`,
      problem:
        'the device refuses FW_VER (REP ERR), HIGH_DENSITY (REP ERR), and the device reports BATT_RUN_TIME, BATT_CYCLE in an undocumented form, so these values are unknown',
    }
    expect((await list()).problems).toEqual([problem])

    const seen: unknown[] = []
    const ended = new AbortController()
    const events = linked.adapter.subscribe?.(linked.client, noTargets, ended.signal, undefined, (problems) =>
      seen.push(...problems),
    )
    if (events === undefined) throw new Error('the adapter cannot subscribe')
    const iterator = events[Symbol.asyncIterator]()
    const report = await findReport(iterator, ({ channels }) => channels?.length === 4)
    expect(report.channels?.[1]?.transmitter).toMatchObject({ battery: 60, details: { battery_minutes: null } })
    device.change(2, { name: 'ELSE' })
    await findReport(iterator, ({ channels }) => channels?.some(({ name }) => name === 'ELSE'))
    ended.abort()
    expect(seen).toEqual([problem])
  })

  test('contains meters with another layout until they have the documented one', () => {
    const family = detectFamily({ MODEL: 'ULXD4' })
    if (family === null) throw new Error('The family was not detected.')
    const check = createDeviceCheck('10.0.0.7', family)
    check.received('1 SAMPLE', 'AX 100 030')
    expect(check.listProblems(false)).toEqual([])
    check.received('1 SAMPLE', 'AX 100')
    const problem = 'the device reports SAMPLE in an undocumented form, so these values are unknown'
    expect(check.listProblems(false)).toEqual([{ subject: '10.0.0.7', problem }])
    check.metered(2)
    expect(check.listProblems(false)).toHaveLength(1)
    check.metered(1)
    expect(check.listProblems(false)).toEqual([])
  })
})

test.concurrent('reports the second carrier of an FD-C channel and its interference', async () => {
  const started = await start({ family: 'ad' })
  const details = async () => (await getReport(started))?.channels?.[0]?.details
  started.device.change(1, { secondCarrier: { frequency: 602.125, interference: false } })
  expect(await details()).toMatchObject({ second_frequency: '602.125', interference: false })
  started.device.change(1, { secondCarrier: { frequency: 602.125, interference: true } })
  expect(await details()).toMatchObject({ second_frequency: '602.125', interference: true })
})

test('reports a spare transmitter of an Axient Digital channel until it is switched off', async () => {
  const { device, linked } = await start({ family: 'ad' })
  const stop = new AbortController()
  const events = follow(linked, stop.signal)
  const spareOf = ({ channels }: DeviceReport) =>
    channels?.find(({ channel }) => channel === 1)?.details?.slots?.find(({ slot }) => slot === 2)
  device.change(1, { transmitter: true, spare: { name: 'Spare', battery: 87 } })
  const report = await findReport(events, (report) => spareOf(report)?.battery === 87)
  expect(spareOf(report)).toMatchObject({ status: 'active', on_air: false, name: 'Spare', rf_muted: true })
  expect(report.channels?.[0]?.transmitter?.upstream_slot).toBe(1)
  device.change(1, { spare: { name: 'Spare', battery: null } })
  await findReport(events, (report) => spareOf(report)?.status === 'inactive')
  stop.abort()
})

describe.concurrent('MXW', () => {
  test('reports the serial number of an MXW neXt access point, and the number of channels in the name of an MXW one', async () => {
    const next = await start({ family: 'mxwnext' })
    const serial = next.device.state.device.serial_number
    expect(await getReport(next)).toMatchObject({
      id: `strings:${serial}`,
      serial_number: serial,
      model_name: 'MXWAPX4',
    })
    expect(await getReport(await start({ family: 'mxw', channels: 8 }))).toMatchObject({ model_name: 'MXWAPT8' })
  })

  test('reports the secondary microphone of a channel, on air while the primary one is off', async () => {
    const started = await start({ family: 'mxw' })
    started.device.change(1, { transmitter: true, spare: { name: 'Lapel', battery: 40 } })
    const channel = async () => (await getReport(started))?.channels?.[0]
    const both = await channel()
    expect(both?.details?.slots).toMatchObject([
      { slot: 1, status: 'active', on_air: true, model: 'MXW2' },
      { slot: 2, status: 'active', on_air: false, model: 'MXW1', name: 'Lapel', battery: 40 },
    ])
    expect(both?.transmitter?.upstream_slot).toBe(1)
    started.device.change(1, { transmitter: false })
    const secondary = await channel()
    expect(secondary?.transmitter).toMatchObject({ upstream_slot: 2, name: 'Lapel', battery: 40 })
    expect(secondary?.details?.slots).toMatchObject([{ status: 'inactive' }, { on_air: true }])
  })

  test.each(['mxw', 'mxwnext'] as const)(
    '%s: restarts the meters of a channel whose microphone was off',
    async (family) => {
      const { device, linked } = await start({ family })
      device.change(1, { transmitter: true, rf_level: -60 })
      const stop = new AbortController()
      const events = follow(linked, stop.signal)
      const isOn = (expected: boolean) => (report: DeviceReport) =>
        report.channels?.some(({ channel, transmitter }) => channel === 1 && (transmitter != null) === expected)
      await findReport(events, isOn(true))
      device.change(1, { transmitter: false, isOnCharger: true })
      await findReport(events, isOn(false))
      device.change(1, { transmitter: true, rf_level: -50 })
      const percent = Math.round((100 * 60) / 96)
      await findReport(events, ({ channels }) =>
        channels?.some(
          ({ channel, rf_level, details }) => channel === 1 && (rf_level === -50 || details?.rf_percent === percent),
        ),
      )
      stop.abort()
    },
  )

  // Conformance: C-24.21.
  test.each(['mxw', 'mxwnext'] as const)('%s: reports a microphone in its charger', async (family) => {
    const started = await start({ family })
    started.device.change(1, { transmitter: false, isOnCharger: true })
    const channel = async () => (await getReport(started))?.channels?.[0]
    expect(await channel()).toMatchObject({ transmitter: null, details: { charging: 'charging' } })
    started.device.change(1, { transmitter: true })
    expect((await channel())?.details?.charging).toBeNull()
    started.device.change(1, { transmitter: false, isOnCharger: false })
    expect(await channel()).toMatchObject({ transmitter: null, details: { charging: null } })
  })

  test('stays connected while every microphone is off', async () => {
    const { device, linked } = await start({ family: 'mxw' })
    for (const { channel } of device.state.channels) device.change(channel, { transmitter: false })
    const stop = new AbortController()
    const events = follow(linked, stop.signal)
    const ended = findReport(events, () => false).catch((error) => error)
    const presence = () => device.commands.filter((command) => command === 'GET 0 TX_AVAILABLE').length
    await until(() => presence() > 2)
    expect(device.clients).toBe(1)
    stop.abort()
    expect(await ended).toMatchObject({ message: 'the subscription ended' })
  })
})

test('reports the second link of an SLX-D+', async () => {
  const started = await start({ family: 'slxd+' })
  started.device.change(1, { transmitter: true, spare: { name: '', battery: 50 } })
  expect((await getReport(started))?.channels?.[0]?.details?.slots).toEqual([
    { slot: 1, status: 'active', on_air: true, model: 'SLXD2+' },
    { slot: 2, status: 'active', on_air: false, model: 'SLXD1+' },
  ])
})

test('reports an overload of an Axient Digital channel until it ends', async () => {
  const { device, linked } = await start({ family: 'ad' })
  const stop = new AbortController()
  // As in the service, levels bypass the reports.
  const events = linked.adapter.subscribe?.(linked.client, noTargets, stop.signal, () => true)[Symbol.asyncIterator]()
  if (events === undefined) throw new Error('the adapter cannot subscribe')
  const isOverloaded = (expected: boolean) => (report: DeviceReport) =>
    report.channels?.some(({ channel, details }) => channel === 1 && details?.overload === expected)
  device.change(1, { transmitter: true, overload: false })
  await findReport(events, isOverloaded(false))
  device.change(1, { overload: true })
  await findReport(events, isOverloaded(true))
  device.change(1, { overload: false })
  await findReport(events, isOverloaded(false))
  stop.abort()
})

// Conformance: C-3.30.
test.concurrent.each(['ulxd', 'ad', 'slxd+'] as const)(
  '%s: reports the asterisk of a failed self-test as a fault and not in the version',
  async (family) => {
    const healthy = await getReport(await start({ family }))
    const failed = await getReport(await start({ family, hasFailedSelfTest: true }))
    expect(healthy?.details).toEqual({ fault: null })
    expect(failed?.details).toEqual({
      fault: 'self_test_failed',
      faults: [{ part: null, word: expect.stringMatching(/^FW_VER [\d.]+\*$/) }],
    })
    expect(failed?.firmware_version).toMatch(/^[\d.]+$/)
  },
)

// Conformance: C-3.28.
test.concurrent.each(['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'anx4'] as const)(
  '%s: does not report battery codes as readings',
  async (family) => {
    const started = await start({ family })
    started.device.change(1, { transmitter: true, batteryCodes: true })
    const { battery, details } = (await getReport(started))?.channels?.[0]?.transmitter ?? {}
    expect(battery).toBeNull()
    for (const [name, value] of Object.entries(details ?? {}))
      if (/^battery_/.test(name)) expect(value).not.toBeTypeOf('number')
  },
)

describe.concurrent('a session', () => {
  test('switches meters off before it ends, so that a QLX-D does not hang', async () => {
    const { device, linked: connection, list } = await start({ family: 'qlxd' })
    await list()
    const stop = new AbortController()
    const events = follow(connection, stop.signal)
    await events.next()
    stop.abort()
    await until(() => device.clients === 0)
    await pause(50)
    expect(device.isLockedUp).toBe(false)
    expect(device.commands.filter((command) => command === 'SET 1 METER_RATE 00000')).toHaveLength(2)
    // Like the device, the simulator hangs if the connection is lost during metering.
    const interrupted = follow(connection, new AbortController().signal)
    await interrupted.next()
    device.disconnectAll()
    await until(() => device.isLockedUp)
    await interrupted.return?.()
  })

  test('accepts frames that arrive byte by byte or late', async () => {
    const split = await getReport(await start({ family: 'ad', splitsFrames: true }))
    expect(split?.channels).toHaveLength(4)
    const late = await start({ family: 'ulxd' }, { timeout: 10 })
    late.device.setFault('late')
    const report = await getReport(late)
    expect(report?.mac_address).toBe(late.device.state.device.mac_address)
    expect(report?.channels?.every(({ frequency }) => frequency)).toBe(true)
  })

  test("is rejected above the device's connection limit", async () => {
    const { linked: connection, list } = await start({ family: 'ulxd', maxClients: 1 })
    const stop = new AbortController()
    const events = follow(connection, stop.signal)
    await events.next()
    expect(await rejectionOf(list())).toBeInstanceOf(shure.errors.ApiError)
    stop.abort()
    await events.return?.()
  })

  test('fails when the device closes the connection or is silent for five seconds', async () => {
    const { device: closing, linked: closingConnection } = await start({ family: 'ad' })
    const closed = follow(closingConnection, new AbortController().signal)
    await closed.next()
    closing.disconnectAll()
    await expect(findReport(closed, () => false)).rejects.toThrow(/closed/)
    const silent = await Promise.all(families.map((family) => start({ family })))
    const endings = silent.map(async ({ device, linked: connection }) => {
      const events = follow(connection, new AbortController().signal)
      await events.next()
      device.setFault('silent')
      const startedAt = performance.now()
      await expect(findReport(events, () => false)).rejects.toThrow(/stopped sending data/)
      return performance.now() - startedAt
    })
    for (const durationMs of await Promise.all(endings)) {
      expect(durationMs).toBeGreaterThan(3_500)
      expect(durationMs).toBeLessThan(timeLimit(7_500))
    }
  })

  test('reports unchanged meters too, because levels that do not arrive again become unknown', async () => {
    const { device, linked: connection } = await start({ family: 'ulxd' })
    for (const { channel } of device.state.channels)
      device.change(channel, { transmitter: false, rf_level: -110, audio_level: -90 })
    const events = follow(connection, new AbortController().signal)
    await events.next()
    await events.next()
    const levels = await findReport(events, ({ channels }) => channels?.some(({ channel }) => channel === 2))
    expect(levels.channels).toContainEqual(expect.objectContaining({ channel: 2, rf_level: -110 }))
    device.change(2, { name: 'News' })
    await findReport(events, ({ channels }) => channels?.some(({ name }) => name === 'News'))
    await events.return?.()
  })
})
