import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { startMcpSimulator } from '../../../simulators/sennheiser/mcp.ts'
import type { SimulatedUdpSocket } from '../../../simulators/sennheiser/simulated-udp.ts'
import { startSsc1Simulator } from '../../../simulators/sennheiser/ssc1.ts'
import { startWsmSimulator } from '../../../simulators/sennheiser/wsm.ts'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { connectToDevice, describeDevices, findReport, follow } from '../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { sennheiser } from './index.ts'

const closeAtEnd = <T extends { close(): unknown }>(one: T): T => {
  onTestEnd(() => one.close())
  return one
}
const never = new AbortController().signal

function connect(url: string, config: object = {}) {
  const connection = connectToDevice(sennheiser, url, { timeout: 20, ...config })
  closeAtEnd(connection.client)
  return connection
}

function subscribe(url: string, config: object = {}) {
  const iterator = follow(connect(url, config), never)
  onTestEnd(() => iterator.return?.())
  return iterator
}

const hasBattery =
  (battery: number | null) =>
  ({ channels }: DeviceReport) =>
    channels?.[0]?.transmitter?.battery === battery
/** `expected` is `overload`, `rf_low` and `battery_low` of the first channel. */
const hasWarnings =
  (expected: string) =>
  ({ channels }: DeviceReport) => {
    const { details, transmitter } = channels?.[0] ?? {}
    return [details?.overload, details?.rf_low, transmitter?.details?.battery_low].join() === expected
  }
const anyReport = () => true

/** Adapts a simulator to the interface of the device kit. */
function toSimulatedDevice(simulator: {
  url: string
  udp: SimulatedUdpSocket
  subscriptions: number
  close(): Promise<void>
}) {
  const { url, udp } = simulator
  return {
    url,
    datagrams: udp,
    get clients() {
      return simulator.subscriptions
    },
    setFault(fault: 'silent' | 'foreign' | 'noise' | null) {
      udp.network.content = ({ silent: 'none', foreign: 'garbage', noise: 'both' } as const)[fault ?? 'noise']
    },
    close: () => simulator.close(),
  }
}

// An ew device replies to its own port number, so the client needs the same port on another address.
const secondLoopback = '127.0.0.2'
const devices = [
  {
    name: 'ew G4',
    async start(port = 0) {
      const simulator = await startMcpSimulator({ host: secondLoopback, port })
      const change = (_channel: number, { name = 'EM300' }) => simulator.set({ name })
      return Object.assign(toSimulatedDevice(simulator), { change, setBattery: () => simulator.set({ battery: '30' }) })
    },
  },
  {
    name: 'ew G3 before firmware 1.7',
    async start(port = 0) {
      // A client cannot cancel its registration, so the device forgets it soon.
      const simulator = await startWsmSimulator({ host: secondLoopback, port, registrationMs: 2_200 })
      const change = (_channel: number, { name = 'ew300 G3' }) => simulator.set({ name: name.slice(0, 8) })
      return Object.assign(toSimulatedDevice(simulator), { change, setBattery: () => simulator.set({ battery: 2 }) })
    },
  },
  {
    name: 'EW-DX',
    async start(port = 0) {
      const simulator = await startSsc1Simulator({ port })
      const change = (channel: number, { name = '' }) => simulator.set({ [`/rx${channel}/name`]: name })
      const setBattery = () => simulator.set({ '/mates/tx1/battery/gauge': 30 })
      return Object.assign(toSimulatedDevice(simulator), { change, setBattery })
    },
  },
  {
    name: 'Digital 6000',
    async start(port = 0) {
      const simulator = await startSsc1Simulator({ model: 'EM6000', port })
      const change = (channel: number, { name = '' }) => simulator.set({ [`/rx${channel}/name`]: name })
      const setBattery = () => simulator.set({ '/rx1/skx/battery': ['30%', '1:10'] })
      return Object.assign(toSimulatedDevice(simulator), { change, setBattery })
    },
  },
]

/** These send nothing as long as nothing changes. */
const speechLineDevices = [
  {
    name: 'SL MCR 4 DW',
    async start() {
      const simulator = await startSsc1Simulator({ model: 'SLDW4CH' })
      const change = (channel: number, { name = '' }) => simulator.set({ [`/rx${channel}/name`]: name })
      return Object.assign(toSimulatedDevice(simulator), { change })
    },
  },
  {
    name: 'SL Rack Receiver DW',
    async start() {
      const simulator = await startSsc1Simulator({ model: 'SLDW' })
      const change = (_channel: number, { name = '' }) => simulator.set({ '/device/name': name })
      return Object.assign(toSimulatedDevice(simulator), { change })
    },
  },
]

describeDevices(
  [...devices, ...speechLineDevices].map(({ name, start }) => ({ name, plugin: sennheiser, start: () => start() })),
)

describe.concurrent.each(devices)('$name', ({ start }) => {
  test('tolerates the loss of a third of all datagrams and a delay of all others', async () => {
    const device = closeAtEnd(await start())
    device.datagrams.network.dropEvery = 3
    device.datagrams.network.delayMs = 150
    const iterator = subscribe(device.url)
    await findReport(iterator, anyReport)
    device.setBattery()
    await findReport(iterator, hasBattery(30))
  })

  test('ignores and counts invalid datagrams', async () => {
    const device = closeAtEnd(await start())
    const iterator = subscribe(device.url)
    await findReport(iterator, anyReport)
    device.setFault('noise')
    for (;;) {
      const { value } = await iterator.next()
      if (value.type === 'ignored') break
    }
    await findReport(iterator, anyReport)
  })

  test('throws when the device falls silent', async () => {
    const device = closeAtEnd(await start())
    const iterator = subscribe(device.url, { stream_timeout: 2 })
    await findReport(iterator, anyReport)
    device.setFault('silent')
    await expect(findReport(iterator, () => false)).rejects.toThrow(/stopped sending data/)
  })

  test('throws for a closed port, and lists the device when the port is open', async () => {
    const device = await start()
    const { adapter, client } = connect(device.url)
    await device.close()
    await expect(adapter.listDevices(client)).rejects.toThrow(/connection refused/)
    closeAtEnd(await start(device.datagrams.port))
    expect((await adapter.listDevices(client)).devices).toHaveLength(1)
  })
})

describe('ew G4', () => {
  test('distinguishes the devices that reply to the same local port', async () => {
    const first = closeAtEnd(await startMcpSimulator({ host: '127.0.0.2', state: { name: 'ONE' } }))
    const second = closeAtEnd(
      await startMcpSimulator({ host: '127.0.0.3', port: first.udp.port, state: { name: 'TWO' } }),
    )
    const names = [first, second].map(async ({ url }) => {
      const iterator = subscribe(url)
      for (let count = 0; count < 3; count += 1) await findReport(iterator, anyReport)
      return (await findReport(iterator, anyReport)).name
    })
    expect(await Promise.all(names)).toEqual(['ONE', 'TWO'])
  })

  test('throws an error that names the local port if another program uses it', async () => {
    const other = createSocket('udp4').bind(0, '127.0.0.1')
    onTestEnd(() => other.close())
    await once(other, 'listening')
    const { adapter, client } = connect(`mcp://127.0.0.2:${other.address().port}`)
    await expect(adapter.listDevices(client)).rejects.toThrow(/in use by another program/)
  })

  test('renews a subscription that the device dropped while muted', async () => {
    const simulator = closeAtEnd(await startMcpSimulator({ host: '127.0.0.2', endsSubscriptionsWhileMuted: true }))
    const iterator = subscribe(simulator.url)
    await findReport(iterator, anyReport)
    simulator.set({ isTxMuted: true })
    await eventually(() => simulator.subscriptions).toBe(0)
    simulator.set({ isTxMuted: false, battery: '30' })
    await findReport(iterator, hasBattery(30))
    // The time limit covers the eight seconds until the subscription is renewed.
  })

  test('reports the name, frequency and audio level of an SR', async () => {
    const simulator = closeAtEnd(await startMcpSimulator({ host: '127.0.0.2', kind: 'SR', state: { name: 'IEM 1' } }))
    const { adapter, client } = connect(simulator.url)
    const [device] = (await adapter.listDevices(client)).devices
    expect(device && adapter.transformDeviceData(device)).toMatchObject({
      name: 'IEM 1',
      device_type: 'ew-iem',
      channels: [{ frequency: '606.200', audio_level: -20 }],
    })
  })
})

describe('SSC 1', () => {
  test.each([
    ['EWDXEM2', 2],
    ['EWDXEM4', 4],
    ['EM6000', 2],
    ['CHG70N', 0],
    ['L6000', 0],
    ['SLDW', 1],
    ['SLDW2CH', 2],
    ['SLDW4CH', 4],
    ['CHG2N', 0],
    ['CHG4N', 0],
  ] as const)('lists an %s with %i channels', async (model, count) => {
    const simulator = closeAtEnd(await startSsc1Simulator({ model }))
    const { adapter, client } = connect(simulator.url)
    const [device] = (await adapter.listDevices(client)).devices
    expect(device && adapter.transformDeviceData(device).channels).toHaveLength(count)
  })

  test.each([
    ['CHG70N', 'EW-DX SKM'],
    ['CHG2N', 1],
    ['CHG4N', 1],
  ] as const)('reports a pack that is inserted into a %s, charged and removed', async (model, type) => {
    const simulator = closeAtEnd(await startSsc1Simulator({ model }))
    const iterator = subscribe(simulator.url)
    const inBays =
      (...batteries: number[]) =>
      (report: DeviceReport) =>
        JSON.stringify(report.units?.map(({ battery }) => battery)) === JSON.stringify(batteries)
    await findReport(iterator, inBays(64))
    const pack = { type, serial: '1054000999', gauge: 20, minutesToFull: 140 }
    simulator.dock(2, pack)
    await findReport(iterator, inBays(64, 20))
    simulator.dock(2, { ...pack, gauge: 21, minutesToFull: 138 })
    const report = await findReport(iterator, inBays(64, 21))
    expect(report.units?.[1]).toMatchObject({ serial_number: '1054000999', details: { battery_minutes_to_full: 138 } })
    simulator.dock(1, null)
    await findReport(iterator, inBays(21))
  })

  test('reports the batteries in a charger, and nothing for defective modules and empty slots', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator({ model: 'L6000' }))
    const report = await findReport(subscribe(simulator.url), ({ units }) => units?.length === 2)
    expect(report.units?.map(({ name }) => name)).toEqual(['BA 60, slot 1/1', 'BA 61, slot 2/2'])
    expectCommonFormat(report)
  })

  test('reports the warnings of an EM until they end', async () => {
    const simulator = closeAtEnd(await startMcpSimulator({ host: '127.0.0.5', state: { warnings: ['AF_Peak'] } }))
    const iterator = subscribe(simulator.url)
    await findReport(iterator, hasWarnings('true,false,false'))
    simulator.set({ warnings: ['Low_RF_Signal', 'Low_Battery'] })
    await findReport(iterator, hasWarnings('false,true,true'))
    simulator.set({ warnings: [] })
    await findReport(iterator, hasWarnings('false,false,false'))
  })

  test('reports the warnings of an EW-DX and its transmitter until they end', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator())
    const iterator = subscribe(simulator.url)
    await findReport(iterator, hasWarnings('false,false,false'))
    simulator.set({ '/rx1/warnings': ['LowSignal'], '/mates/tx1/warnings': ['LowBattery', 'AfPeak'] })
    await findReport(iterator, hasWarnings('true,true,true'))
    simulator.set({ '/rx1/warnings': [], '/mates/tx1/warnings': [] })
    await findReport(iterator, hasWarnings('false,false,false'))
  })

  test('reports the capsule and the low cut of the transmitter of an EW-DX', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator())
    const iterator = subscribe(simulator.url)
    const hasCapsule =
      (expected: string) =>
      ({ channels }: DeviceReport) => {
        const details = channels?.[0]?.transmitter?.details
        return [details?.capsule, details?.low_cut_hz].join() === expected
      }
    await findReport(iterator, hasCapsule('MMD 835,80'))
    simulator.set({ '/mates/tx1/capsule': 'KK_205', '/mates/tx1/lowcut': 'Off' })
    await findReport(iterator, hasCapsule('KK 205,0'))
  })

  test('reports the bank and the booster supply of an EM 6000', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator({ model: 'EM6000' }))
    const report = await findReport(
      subscribe(simulator.url),
      ({ channels }) => channels?.[1]?.details?.group_channel === 'B1,2',
    )
    expect(report.channels?.[1]?.details).toMatchObject({ booster_feed: true })
  })

  test('reports the warnings of an EM 6000 until they end', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator({ model: 'EM6000' }))
    const iterator = subscribe(simulator.url)
    await findReport(iterator, hasWarnings('false,false,false'))
    simulator.set({ '/rx1/active_warnings': ['AFPeak', 'LowBattery'] })
    await findReport(iterator, hasWarnings('true,false,true'))
    simulator.set({ '/rx1/active_warnings': [] })
    await findReport(iterator, hasWarnings('false,false,false'))
  })

  test('reports a transmitter that is switched off and on again', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator())
    const iterator = subscribe(simulator.url)
    await findReport(iterator, hasBattery(83))
    simulator.setLinked(1, false)
    await findReport(iterator, ({ channels }) => channels?.[0]?.transmitter === null)
    simulator.set({ '/mates/tx1/battery/gauge': 55 })
    simulator.setLinked(1, true)
    await findReport(iterator, hasBattery(55))
  })

  test.each(['SLDW', 'SLDW4CH'] as const)(
    'reports the warnings of an %s, and its transmitter while it is linked',
    async (model) => {
      const simulator = closeAtEnd(await startSsc1Simulator({ model }))
      const iterator = subscribe(simulator.url)
      await findReport(iterator, hasWarnings(',false,false'))
      simulator.set({ '/rx1/warnings': ['Bad Link'], '/mates/tx1/warnings': ['Low Bat'] })
      await findReport(iterator, hasWarnings(',true,true'))
      simulator.setLinked(1, false)
      await findReport(iterator, ({ channels }) => channels?.[0]?.transmitter === null)
      simulator.set({ '/mates/tx1/bat_gauge': 55 })
      simulator.setLinked(1, true)
      await findReport(iterator, hasBattery(55))
    },
  )

  test('throws an error if the device has reached its maximum number of clients', async () => {
    const simulator = closeAtEnd(await startSsc1Simulator({ maxClients: 0 }))
    await expect(findReport(subscribe(simulator.url), anyReport)).rejects.toThrow(/rejects the subscription \(406/)
  })
})
