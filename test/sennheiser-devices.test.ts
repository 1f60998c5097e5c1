/** Sennheiser's individual devices in the whole service: detected, subscribed to, lost and restored. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startMcpSimulator } from '../simulators/sennheiser/mcp.ts'
import { startSennheiserRack } from '../simulators/sennheiser/rack.ts'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startSsc2Simulator } from '../simulators/sennheiser/ssc2.ts'
import { meters } from '../simulators/sennheiser/ssc2-resources.ts'
import { healthOf } from './support/admin-lists.ts'
import { channelOf, startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { tokenHeaders } from './support/tokens.ts'

function closeAfterTest<T extends { close(): unknown }>(device: T): T {
  onTestEnd(() => device.close())
  return device
}

const password = 'stage-right-password'

function sennheiserDevices(...devices: readonly unknown[]) {
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 1 }
  return { code: 'sennheiser', config: { devices, password, timeout: 3, ...rate } }
}

async function connectionsOf(app: TestApp) {
  const { json } = await app.get('/api/admin/realtime-connections/', await tokenHeaders(app, 'admin'))
  return json as { transport: string; status: string }[]
}

async function waitForSubscriptions(app: TestApp, count: number): Promise<void> {
  await until('all subscriptions are connected', async () => {
    const connections = await connectionsOf(app)
    return connections.length === count && connections.every(({ status }) => status === 'connected')
  })
}

// Conformance: C-3.20.
test.concurrent('detects a rack of every family, subscribes to it, and does not poll it', async () => {
  // An ew device sends its responses to its own port number, whatever port a request came from. If it had the service's
  // IP address, it would send them to itself.
  const ew = closeAfterTest(await startMcpSimulator({ host: '127.0.0.2', state: { name: 'EW 1' } }))
  const ewdx = closeAfterTest(await startSsc1Simulator({ mac: '00:1B:66:00:00:01', host: '127.0.0.3' }))
  const d6000 = closeAfterTest(
    await startSsc1Simulator({ model: 'EM6000', mac: '00:1B:66:00:00:02', host: '127.0.0.4' }),
  )
  const ewdx4 = closeAfterTest(await startSsc2Simulator({ product: 'EWDX4CHDS', serial: '4004', host: '127.0.0.5' }))
  const spectera = closeAfterTest(
    await startSsc2Simulator({ product: 'Spectera Base Station', serial: '5005', host: '127.0.0.6' }),
  )
  const devices = [ew, ewdx, d6000, ewdx4, spectera]
  const app = await startApp({ manufacturers: [sennheiserDevices(...devices.map(({ url }) => url))] })
  const receivers = await until('all receivers are listed', async () => {
    const found = await app.receivers()
    return found.length === devices.length && found
  })
  const listed = Object.fromEntries(
    receivers.map(({ ip, device_type, channels }) => [ip, [device_type, channels.length]]),
  )
  expect(listed).toEqual({
    '127.0.0.2': ['ew', 1],
    '127.0.0.3': ['ewdx', 2],
    '127.0.0.4': ['d6000', 2],
    '127.0.0.5': ['ewdx', 4],
    '127.0.0.6': ['spectera', 2],
  })
  await waitForSubscriptions(app, devices.length)
  expect([...new Set((await connectionsOf(app)).map(({ transport }) => transport))].sort()).toEqual(['sse', 'udp'])

  ew.set({ battery: '30', isTxMuted: true })
  ewdx.set({ '/mates/tx1/battery/gauge': 31, '/m/rx1/rssi': -71 })
  d6000.set({ '/rx1/skx/battery': ['30%', '1:10'] })
  ewdx4.set('/api/transmitters/0/battery', { gauge: 33 })
  spectera.set('/api/mts/paired/all', [
    { mtUid: 11, name: 'LEAD', state: 'Connected', micAudiolinkId: 0, batteryFillLevel: 34 },
  ])
  const batteries = async () =>
    (await app.receivers()).map((receiver) => [receiver.ip, channelOf(receiver).transmitter?.battery]).sort()
  await until('the changes are visible', async () => {
    const all = [30, 31, 30, 33, 34].map((battery, index) => [`127.0.0.${index + 2}`, battery])
    return JSON.stringify(await batteries()) === JSON.stringify(all)
  })
  const channelAt = async (ip: string) =>
    channelOf((await app.receivers()).find((receiver) => receiver.ip === ip) as never)
  const expectChannel = (ip: string) => eventually(() => channelAt(ip))
  // Other values may arrive in other datagrams than the battery.
  await expectChannel('127.0.0.2').toMatchObject({ name: 'EW 1', transmitter: { details: { muted: true } } })
  await expectChannel('127.0.0.3').toMatchObject({ rf_level: -71, details: { quality: 100, antennas: 'A' } })
  await expectChannel('127.0.0.4').toMatchObject({ details: { rf_a: -86, rf_b: -101, antennas: 'AB' } })

  const countIdentityRequests = () => ewdx4.requests.filter((request) => request === 'GET /api/device/identity').length
  const before = countIdentityRequests()
  await pause(2500)
  expect(countIdentityRequests()).toBe(before)
  expect((await app.receivers()).every(({ is_active }) => is_active)).toBe(true)
  await eventually(async () => (await healthOf(app)).map(({ status }) => status)).toEqual(['healthy'])

  await app.close()
  await eventually(() => [ew, ewdx, d6000].map(({ subscriptions }) => subscriptions)).toEqual([0, 0, 0])
  await eventually(() => [ewdx4, spectera].map(({ sessions }) => sessions)).toEqual([0, 0])
})

test.concurrent('shows every device of a demo rack in its own protocol', async () => {
  const {
    close,
    played: _,
    ...config
  } = await startSennheiserRack({ seed: 1, firstPerformer: 0, startedAt: Date.now() })
  closeAfterTest({ close })
  const app = await startApp({ manufacturers: [{ code: 'sennheiser', config: { ...config, poll_interval: 1 } }] })
  await waitForSubscriptions(app, config.devices.length)
  const levels = async () =>
    (await app.receivers()).map(({ name, channels }) => [name, channels.map(({ rf_level }) => rf_level)])
  const before = JSON.stringify(await levels())
  await until('some level changes', async () => JSON.stringify(await levels()) !== before)
  const types = (await app.receivers()).map(({ device_type }) => device_type).sort()
  expect(types).toEqual(['chg70n', 'd6000', 'ew', 'ewdx', 'ewdx', 'spectera'])
})

test('marks silent or disconnected devices as offline, and subscribes again when they are back', async () => {
  const ewdx = closeAfterTest(await startSsc1Simulator())
  const ewdx4 = await startSsc2Simulator({ product: 'EWDX4CHDS', host: '127.0.0.5' })
  const config = { stream_timeout: 2 }
  const { code, config: settings } = sennheiserDevices({ url: ewdx.url, name: 'Stage left' }, ewdx4.url)
  const app = await startApp({ manufacturers: [{ code, config: { ...settings, ...config } }] })
  await waitForSubscriptions(app, 2)
  ewdx.udp.network.content = 'none'
  await ewdx4.close()
  await until(
    'both subscriptions are lost',
    async () => (await connectionsOf(app)).every(({ status }) => status !== 'connected'),
    20_000,
  )
  ewdx.udp.network.content = 'valid'
  ewdx.set({ '/mates/tx1/battery/gauge': 21 })
  const restarted = closeAfterTest(
    await startSsc2Simulator({ product: 'EWDX4CHDS', host: '127.0.0.5', port: Number(new URL(ewdx4.url).port) }),
  )
  restarted.set('/api/transmitters/0/battery', { gauge: 22 })
  await until(
    'both devices report their new values',
    async () => {
      const found = await app.receivers()
      const batteries = found.map((receiver) => channelOf(receiver).transmitter?.battery).sort()
      return JSON.stringify(batteries) === '[21,22]' && found.every(({ is_active }) => is_active)
    },
    45_000,
  )
  expect(await app.receivers()).toHaveLength(2)
})

test.concurrent('reports the receive-only packs of a base station as units, and publishes the levels of the other packs', async () => {
  const spectera = closeAfterTest(await startSsc2Simulator({ product: 'Spectera Base Station', serial: '5005' }))
  const app = await startApp({ manufacturers: [sennheiserDevices(spectera.url)] })
  const listIemUnits = async () =>
    (await app.get('/api/units/?device_type=iem_receiver')).json as { base_chassis: number | null; status: string }[]
  await until('the unit has its base station', async () => (await listIemUnits())[0]?.base_chassis != null)
  expect(await listIemUnits()).toMatchObject([
    { name: 'DRUMS', model: 'SEK', battery_percentage: 74, status: 'online', details: { battery_minutes: 301 } },
  ])
  const audio = async () => channelOf((await app.receivers())[0] as never).audio_level
  await until('the meters are received', async () => (await audio()) === -20)
  spectera.set('/api/audio/metering', meters([{ peak: -1, rms: -7 }]))
  await until('the changed meter is received', async () => (await audio()) === -7)
  // The pack is assigned a microphone, so from now on it is reported on a channel.
  spectera.send('{"/api/mts/paired/13":{"micAudiolinkId":9}}')
  await until('the separate unit is offline', async () => (await listIemUnits())[0]?.status === 'offline')
  const listChannels = async () => (await app.receivers())[0]?.channels.map(({ channel }) => channel)
  await eventually(listChannels).toEqual([1, 4, 10])
})

test.concurrent('shows a SpeechLine receiver, which reports the quality of the link instead of a frequency and an RF level', async () => {
  const receiver = closeAfterTest(await startSsc1Simulator({ model: 'SLDW4CH', host: '127.0.0.8' }))
  const app = await startApp({ manufacturers: [sennheiserDevices(receiver.url)] })
  await waitForSubscriptions(app, 1)
  receiver.set({ '/rx1/rf_quality': 41, '/mates/tx1/bat_gauge': 38, '/rx1/mute_state': true })
  const firstChannel = async () => channelOf((await app.receivers())[0] as never)
  const channel = await until('the changes are visible', async () => {
    const { details, transmitter, ...rest } = await firstChannel()
    const isVisible = details?.quality === 41 && transmitter?.battery === 38 && transmitter.details?.muted === true
    return isVisible && rest
  })
  expect(channel).toMatchObject({ name: 'rx1', frequency: null, rf_level: null, audio_level: -20 })
  receiver.setLinked(1, false)
  await until('the transmitter is gone', async () => (await firstChannel()).transmitter === null)
})

test.concurrent('reports packs in a charger as units as long as they are in it', async () => {
  const charger = closeAfterTest(await startSsc1Simulator({ model: 'CHG70N', host: '127.0.0.7' }))
  const app = await startApp({ manufacturers: [sennheiserDevices(charger.url)] })
  const units = async () => (await app.get('/api/units/')).json
  const [unit] = await until('the pack is listed with its charger', async () => {
    const all = await units()
    return all.length === 1 && all[0].base_chassis !== null && all
  })
  const [chassis] = (await app.get('/api/chassis/')).json
  expect(chassis).toMatchObject({ model: 'CHG70N', status: 'online' })
  expect(unit).toEqual({
    id: expect.any(Number),
    name: 'EW-DX SK, bay 1',
    device_type: 'mic_transmitter',
    model: 'EW-DX SK',
    manufacturer: 'sennheiser',
    battery_percentage: 64,
    base_chassis: chassis.id,
    channel: null,
    slot: null,
    status: 'online',
    details: { battery_health: 97, battery_cycles: 41, battery_minutes_to_full: 75, fault: null },
  })
  await waitForSubscriptions(app, 1)
  charger.set({ '/bays/warnings': [['OvercurrentDetected'], []] })
  const faults = async () => (await app.get('/api/alerts/?state=open')).json
  await eventually(faults).toMatchObject([{ kind: 'charger_fault', data: { fault: 'charge_failed' } }])
  charger.set({ '/bays/warnings': [[], []] })
  await eventually(faults).toEqual([])
  const pack = { type: 'EW-DX SK', serial: '1054000123', gauge: 65, minutesToFull: 74 }
  charger.dock(1, null)
  await until('the pack is removed', async () => (await units())[0].status === 'offline')
  await eventually(units).toMatchObject([{ id: unit.id, base_chassis: null }])
  charger.dock(2, pack)
  await until('the pack is listed in the other bay', async () => (await units())[0].battery_percentage === 65)
  await eventually(units).toMatchObject([{ id: unit.id, name: 'EW-DX SK, bay 2', base_chassis: chassis.id }])
})

// Conformance: C-24.13.
test.concurrent('raises equipment_fault with the words of a base station, and clears it when the faults end', async () => {
  const spectera = closeAfterTest(await startSsc2Simulator({ product: 'Spectera Base Station', serial: '5006' }))
  const app = await startApp({ manufacturers: [sennheiserDevices(spectera.url)] })
  await waitForSubscriptions(app, 1)
  spectera.set('/api/health/psu', { psu1: 'disconnected' })
  const alerts = async () => (await app.get('/api/alerts/?state=open')).json
  const faults = [{ part: 'psu1', word: 'disconnected' }]
  await eventually(alerts).toMatchObject([
    {
      ...{ kind: 'equipment_fault', severity: 'warning', channel_id: null },
      message: 'RACK: a power supply has failed (psu1 disconnected)',
      data: { fault: 'supply_failed', faults },
    },
  ])
  expect((await app.receiver('sscv2:5006')).details).toMatchObject({ fault: 'supply_failed', faults })
  spectera.set('/api/health/psu', { psu1: 'connected' })
  await eventually(alerts).toEqual([])
  const { details } = await app.receiver('sscv2:5006')
  expect([details?.fault, details?.faults]).toEqual([undefined, undefined])
})

test.concurrent('reports refused requests of a device once, in the details of the source', async () => {
  const without = ['/api/audio/metering']
  const spectera = closeAfterTest(await startSsc2Simulator({ product: 'Spectera Base Station', without }))
  const app = await startApp({
    manufacturers: [sennheiserDevices({ url: spectera.url, password: 'stage-right-password' })],
  })
  const details = async () => (await healthOf(app))[0]?.details ?? []
  await until('the path is named', async () => (await details()).some((text) => text.includes('/api/audio/metering')))
  await app.post('/api/refresh/', {})
  expect((await details()).filter((text) => text.includes('/api/audio/metering'))).toHaveLength(1)
})

test.concurrent('sends only two requests to a device that rejects the password', async () => {
  const ewdx = closeAfterTest(await startSsc2Simulator())
  const app = await startApp({ manufacturers: [sennheiserDevices({ url: ewdx.url, password: 'wrong' })] })
  const error = async () => (await healthOf(app))[0]?.error ?? ''
  await until('the reason is reported', async () => /no requests are sent/.test(await error()))
  for (let times = 0; times < 3; times += 1) await app.post('/api/refresh/', {})
  expect(ewdx.requests).toEqual(['GET /api/device/identity', 'GET /api/device/site'])
  expect(ewdx.isLocked).toBe(false)
})
