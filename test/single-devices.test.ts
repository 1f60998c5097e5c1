/** Individual devices in the whole service: detected, subscribed to, lost and restored, in every protocol. */

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createShow } from '../simulators/show/show.ts'
import { startChargerSimulator } from '../simulators/shure/strings/charger.ts'
import { type StringsSimulatorOptions, startStringsSimulator } from '../simulators/shure/strings.ts'
import type { UnitBody } from '../src/contract/hardware.ts'
import type { OnlineState } from '../src/contract/values.ts'
import { healthOf } from './support/admin-lists.ts'
import { channelOf, createInstallation, startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { channelIn } from './support/socket-client.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startDevice(options: StringsSimulatorOptions) {
  const device = await startStringsSimulator(options)
  onTestEnd(() => device.close())
  return device
}

function shureDevices(...devices: readonly unknown[]) {
  return { code: 'shure', config: { devices, calls_per_second: 1000, burst: 1000, poll_interval: 1, timeout: 3 } }
}

async function connectionsOf(app: TestApp) {
  const { json } = await app.get('/api/admin/realtime-connections/', await tokenHeaders(app, 'admin'))
  return json as { transport: string; status: string; receiver: number }[]
}

it.concurrent('are the only sources of the receivers that they report', async () => {
  const show = createShow({ story: false, manufacturers: { shure: 0 } })
  const devices = await Promise.all((['ulxd', 'qlxd'] as const).map((family) => startDevice({ family, show })))
  const app = await startApp({ manufacturers: [shureDevices(...devices.map(({ url }) => url))] })
  const receivers = await until('both receivers are listed', async () => {
    const found = await app.receivers()
    return found.length === 2 && found
  })
  const details = () => Promise.all(receivers.map(async ({ id }) => (await app.get(`/api/receivers/${id}/`)).json))
  // The source of a new receiver is known with its next report.
  const known = await until('all sources are known', async () => {
    const current = await details()
    return current.every(({ sources }) => sources.length > 0) && current
  })
  const sources = Object.fromEntries(known.map(({ device_type, sources }) => [device_type, sources]))
  expect(sources).toEqual({ ulxd: [devices[0]?.url], qlxd: [devices[1]?.url] })
})

it.concurrent('shows packs that are switched on for the first time in quick succession', async () => {
  const device = await startDevice({ family: 'ulxd' })
  for (const channel of [1, 2, 3, 4]) device.change(channel, { transmitter: false })
  const app = await startApp({ manufacturers: [shureDevices(device.url)] })
  const isOn = async () => ((await app.receivers())[0]?.channels ?? []).map(({ transmitter }) => transmitter !== null)
  await until('the receiver is listed', async () => (await isOn()).length === 4)
  for (const channel of [1, 2, 3, 4]) {
    // Levels that arrive while the unit of a new pack is stored are newer than the report of the pack.
    device.change(channel, { transmitter: true, rf_level: -50 })
    await pause(90)
  }
  // Before the session queries the device again, which it does every 30 seconds.
  await until('all packs are shown', async () => (await isOn()).every(Boolean), 15_000)
})

const families = ['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'psm1000', 'uhfr', 'mxw', 'mxwnext'] as const

// Conformance: C-3.20.
it.concurrent('detects a rack of every family, subscribes to it, and does not poll it', async () => {
  const show = createShow({ story: false, manufacturers: { shure: 0 } })
  const devices = await Promise.all(families.map((family) => startDevice({ family, show })))
  const app = await startApp({ manufacturers: [shureDevices(...devices.map(({ url }) => url))] })
  const receivers = await until('all receivers are listed', async () => {
    const found = await app.receivers()
    return found.length === devices.length && found
  })
  expect(receivers.map(({ device_type }) => device_type).sort()).toEqual([
    'ad',
    'mxw',
    'mxw',
    'psm1000',
    'qlxd',
    'slxd',
    'slxd',
    'uhfr',
    'ulxd',
  ])
  await until('all subscriptions are connected', async () => {
    const connections = await connectionsOf(app)
    return connections.length === devices.length && connections.every(({ status }) => status === 'connected')
  })
  expect([...new Set((await connectionsOf(app)).map(({ transport }) => transport))].sort()).toEqual(['tcp', 'udp'])

  // Within its session, an MXW access point is asked every few seconds which microphones are available.
  const isRequest = (command: string) => command.startsWith('GET') && !command.endsWith('TX_AVAILABLE')
  const requestCounts = () => devices.map(({ commands }) => commands.filter(isRequest).length)
  let before = requestCounts()
  // A poll that began before the subscription was connected may still be running.
  await until('no poll is running', async () => {
    const earlier = before
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    before = requestCounts()
    return String(before) === String(earlier)
  })
  const [ulxd] = devices
  ulxd?.change(2, { name: 'Else', battery: 7, transmitter: true, rf_level: -61, audio_level: -17, muted: true })
  const getChanged = async () => {
    const receiver = (await app.receivers()).find((receiver) => receiver.device_type === 'ulxd')
    return receiver && channelOf(receiver, 2)
  }
  await eventually(getChanged).toMatchObject({
    name: 'Else',
    details: { muted: true, antennas: 'A', encryption: 'on' },
    transmitter: {
      ...{ battery: 7, rf_level: -61, audio_level: -17 },
      details: { model: 'ULXD2', battery_minutes: 42, battery_cycles: 42 },
    },
  })
  await until('some cycles have passed', async () => (await healthOf(app)).every(({ status }) => status === 'healthy'))
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect(requestCounts()).toEqual(before)
  expect((await app.receivers()).every(({ is_active }) => is_active)).toBe(true)

  await app.close()
  await eventually(() => devices.map(({ clients }) => clients)).toEqual(devices.map(() => 0))
  expect(devices.some(({ isLockedUp }) => isLockedUp)).toBe(false)
})

it.concurrent('reports packs in a charger as units that charge, are removed and return; the charger is subscribed to and not polled', async () => {
  const charger = await startChargerSimulator({ model: 'SBC220', name: 'Backstage', bays: [80, null] })
  onTestEnd(() => charger.close())
  const app = await startApp({ manufacturers: [shureDevices(charger.url)] })
  const units = async () => (await app.get('/api/units/')).json as UnitBody[]
  const waitForUnits = (
    expected: readonly (readonly [name: string, percent: number, chassis: number | null, OnlineState])[],
  ) =>
    until(`units are ${JSON.stringify(expected)}`, async () => {
      const listed = (await units()).map((unit) => [unit.name, unit.battery_percentage, unit.base_chassis, unit.status])
      return JSON.stringify(listed) === JSON.stringify(expected)
    })
  // On a busy machine, the first report can lack answers that the next one contains.
  const chassis = await until('the charger has reported its name', async () =>
    (await app.get('/api/chassis/')).json.find(({ name }: { name: string }) => name === 'Backstage'),
  )
  expect(chassis).toMatchObject({ model: 'SBC220', status: 'online', firmware_version: '1.4.27' })
  await waitForUnits([['Backstage, bay 1', 80, chassis.id, 'online']])
  const [first] = await units()
  await until('the subscription is connected', async () => (await connectionsOf(app))[0]?.status === 'connected')
  const countSessions = () => charger.commands.filter((command) => command === 'GET MODEL').length
  // More than one if a busy machine has answered the first request too late.
  const before = countSessions()

  charger.charge(1, 81)
  await waitForUnits([['Backstage, bay 1', 81, chassis.id, 'online']])
  charger.charge(1, null)
  charger.charge(2, 40)
  await waitForUnits([
    ['Backstage, bay 1', 81, null, 'offline'],
    ['Backstage, bay 2', 40, chassis.id, 'online'],
  ])
  charger.charge(1, 12)
  await waitForUnits([
    ['Backstage, bay 1', 12, chassis.id, 'online'],
    ['Backstage, bay 2', 40, chassis.id, 'online'],
  ])
  const details = { battery_health: 99, battery_cycles: 40, battery_minutes_to_full: 176 }
  await eventually(units).toMatchObject([{ id: first?.id, device_type: 'mic_transmitter', channel: null, details }, {}])
  const headers = await tokenHeaders(app, 'admin')
  const listUnplaced = async () => (await app.get('/api/admin/hardware-layout/', headers)).json.unplaced
  await eventually(listUnplaced).toMatchObject([
    { id: chassis.id, channels: [], units: [{ details }, { battery: 40 }] },
  ])
  expect(await app.receivers()).toMatchObject([{ id: chassis.id, device_type: 'charger', channels: [] }])

  await pause(2_500)
  expect(countSessions()).toBe(before)
  await eventually(() => healthOf(app)).toMatchObject([{ status: 'healthy' }])
  await charger.close()
  await waitForUnits([
    ['Backstage, bay 1', 12, chassis.id, 'unknown'],
    ['Backstage, bay 2', 40, chassis.id, 'unknown'],
  ])
})

it.concurrent('assigns packs to a new charger at once if they are reported together with it', async () => {
  const charger = await startChargerSimulator({ model: 'SBC240', name: 'Backstage', bays: [80, 60] })
  onTestEnd(() => charger.close())
  const installation = await createInstallation({ manufacturers: [shureDevices(charger.url)] })
  expect((await installation.run(['poll_devices', '--once'])).code).toBe(0)
  const { databaseUrl } = installation
  const app = await startApp({ databaseUrl, dataDir: join(installation.path, 'data'), servesOnly: true })
  const [chassis] = (await app.get('/api/chassis/')).json
  expect((await app.get(`/api/units/?base_chassis=${chassis.id}`)).json).toMatchObject([
    { name: 'Backstage, bay 1', battery_percentage: 80 },
    { name: 'Backstage, bay 2', battery_percentage: 60 },
  ])
})

it.concurrent('keeps details over a restart', async () => {
  const device = await startDevice({ family: 'ad' })
  const first = await startApp({ manufacturers: [shureDevices(device.url)] })
  const detailsIn = async (app: TestApp) => (await app.receivers())[0]?.channels[0]?.details
  const before = await until(
    'the details are reported',
    async () => (await detailsIn(first))?.encryption && detailsIn(first),
  )
  await first.close()
  await device.close()
  const second = await startApp({ ...first, manufacturers: [], servesOnly: true })
  expect(await detailsIn(second)).toMatchObject({ encryption: before.encryption, muted: before.muted })
})

// Conformance: C-3.30.
it('reports a failed self-test as a fault of the receiver, also after a restart, until the device passes it', async () => {
  const failed = await startDevice({ family: 'ad', hasFailedSelfTest: true })
  const first = await startApp({ manufacturers: [shureDevices(failed.url)] })
  const detailOf = async (app: TestApp, id: number) => (await app.get(`/api/receivers/${id}/`)).json
  const receiver = await until('the device is known', async () => (await first.receivers())[0])
  await eventually(() => detailOf(first, receiver.id)).toMatchObject({
    firmware_version: expect.stringMatching(/^[\d.]+$/),
    details: { fault: 'self_test_failed' },
  })
  await first.close()
  const port = Number(new URL(failed.url).port)
  await failed.close()
  const screen = await startApp({ ...first, manufacturers: [], servesOnly: true })
  expect(await detailOf(screen, receiver.id)).toMatchObject({ details: { fault: 'self_test_failed' } })
  await screen.close()
  const repaired = await startDevice({ family: 'ad', port })
  const second = await startApp({ ...first, manufacturers: [shureDevices(repaired.url)] })
  await until('the fault is cleared', async () => (await detailOf(second, receiver.id)).details === undefined)
})

it.concurrent('marks a silent device as offline, and subscribes again when it responds', async () => {
  const device = await startDevice({ family: 'slxd' })
  const app = await startApp({ manufacturers: [shureDevices({ url: device.url, name: 'Stage left' })] })
  const status = async () => (await connectionsOf(app))[0]?.status
  await until('the subscription is connected', async () => (await status()) === 'connected')
  device.setFault('silent')
  await until('the subscription is lost', async () => (await status()) !== 'connected', 15_000)
  await until('polling reports the failure', async () => (await healthOf(app))[0]?.status !== 'healthy', 15_000)
  device.setFault(null)
  device.change(1, { battery: 40, transmitter: true })
  await until('the subscription is connected again', async () => (await status()) === 'connected', 30_000)
  const battery = async () => channelOf((await app.receivers())[0] ?? { channels: [] }).transmitter?.battery
  await until('the new values are reported', async () => (await battery()) === 40)
})

it.concurrent('polls a device whose subscription is stopped', async () => {
  const device = await startDevice({ family: 'ulxd' })
  const app = await startApp({ manufacturers: [shureDevices(device.url)] })
  const headers = await tokenHeaders(app, 'admin')
  const [followed] = await until('the subscription is connected', async () => {
    const connections = await connectionsOf(app)
    return connections[0]?.status === 'connected' && connections
  })
  await app.post('/api/admin/realtime-connections/stop', { ids: [followed?.receiver] }, headers)
  await until('the subscription is closed', () => device.clients === 0)
  device.change(1, { battery: 33, transmitter: true })
  const battery = async () => channelOf((await app.receivers())[0] ?? { channels: [] }).transmitter?.battery
  await until('a poll reports the value', async () => (await battery()) === 33)
})

it('sends every field of the common model over REST and the WebSocket; fields that a protocol does not report stay null', async () => {
  const [axient, slxd] = [await startDevice({ family: 'ad' }), await startDevice({ family: 'slxd' })]
  const app = await startApp({ manufacturers: [shureDevices(axient.url, slxd.url)] })
  const completeChannel = async (type: string) => {
    const receiver = (await app.receivers()).find(({ device_type }) => device_type === type)
    return receiver && channelOf(receiver)
  }
  axient.change(1, { transmitter: true, battery: 52, rf_level: -61, audio_level: -17, muted: true })
  slxd.change(1, { transmitter: true, battery: 40, rf_level: -70 })
  const number = expect.any(Number)
  const channelDetails = {
    rf_a: number,
    rf_b: number,
    audio_peak: number,
    audio_rms: number,
    quality: number,
    gain_db: number,
  }
  const battery = { battery_minutes: number, battery_type: expect.any(String), battery_health: number }
  const transmitterDetails = {
    model: expect.any(String),
    muted: expect.any(Boolean),
    gain_db: number,
    power_mw: number,
    ...battery,
  }
  const expectedDetails = {
    details: { ...channelDetails, antennas: expect.any(String), muted: true, encryption: 'on' },
    transmitter: { details: transmitterDetails },
  }
  const levels = { rf_level: -61, transmitter: { battery: 52, details: transmitterDetails } }
  await eventually(() => completeChannel('ad')).toMatchObject({ ...expectedDetails, ...levels })
  const socket = await app.socket()
  axient.change(1, { battery: 51 })
  const update = await socket.next((message) => channelIn(message)?.transmitter?.battery === 51)
  expect(channelOf(update.data)).toMatchObject(expectedDetails)

  const slxdChannel = await until('the SLX-D receiver is complete', async () => {
    const channel = await completeChannel('slxd')
    return channel?.transmitter?.battery === 40 && channel
  })
  const { details = {}, transmitter } = slxdChannel
  for (const field of ['antennas', 'quality', 'muted', 'encryption'] as const) expect(details[field] ?? null).toBeNull()
  for (const field of ['muted', 'battery_health', 'battery_cycles'] as const) {
    expect(transmitter?.details?.[field] ?? null).toBeNull()
  }
})
