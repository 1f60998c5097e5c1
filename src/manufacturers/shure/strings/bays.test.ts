import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { startChargerSimulator } from '../../../../simulators/shure/strings/charger.ts'
import { onTestEnd } from '../../../../test/support/cleanup.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { connectToDevice, findReport, follow } from '../../../../test/support/plugins/device-kit.ts'
import { expectCommonFormat } from '../../../../test/support/plugins/plugin-kit-fixtures.ts'
import { until } from '../../../../test/support/plugins/plugin-kit-resources.ts'
import { shure } from '../index.ts'

async function start(...options: Parameters<typeof startChargerSimulator>) {
  const charger = await startChargerSimulator(...options)
  const connection = connectToDevice(shure, charger.url)
  onTestEnd(() => charger.close())
  onTestEnd(() => connection.client.close())
  return { charger, connection, list: () => connection.adapter.listDevices(connection.client) }
}

const mac_address = '00:0E:DD:C0:FF:EE'

const pack = (bay: number, battery: number) => ({
  id: `strings:${mac_address}:${bay}`,
  kind: 'transmitter',
  device_type: 'charger',
  name: `Backstage, bay ${bay}`,
  online: true,
  battery,
  details: {
    battery_health: 100 - bay,
    battery_cycles: 40 * bay,
    battery_minutes_to_full: battery === 100 ? 0 : 2 * (100 - battery),
    battery_temperature_c: 23,
    fault: null,
  },
})

test.each([
  ['SBRC', [80, null, 5, null, null, null, null, 100], [pack(1, 80), pack(3, 5), pack(8, 100)]],
  ['SBC220', [null, 7], [pack(2, 7)]],
  ['SBC240', [null, null], []],
] as const)('%s is listed as one device without channels, with its packs as units', async (model, bays, units) => {
  const { charger, connection, list } = await start({ model, name: 'Backstage', bays })
  const { devices } = await list()
  const [report, ...others] = devices.map((device) => connection.adapter.transformDeviceData(device))
  if (report === undefined) throw new Error('No device is listed.')
  expect(others).toEqual([])
  expectCommonFormat(report)
  expect(report).toMatchObject({
    id: `strings:${mac_address}`,
    kind: 'receiver',
    name: 'Backstage',
    device_type: 'charger',
    model_name: model,
    mac_address,
    ip: '10.20.10.50',
    firmware_version: '1.4.27',
    channels: [],
  })
  expect(report.units).toEqual(units)
  await until(() => charger.clients === 0)
})

test('reports a pack that charges, is removed and inserted, and keeps the other packs', async () => {
  const { charger, connection } = await start({ model: 'SBC220', name: 'Backstage', bays: [80, 100] })
  const events = follow(connection, new AbortController().signal)
  expect((await events.next()).value).toEqual({ type: 'open' })
  let before: unknown
  const expectUnits = async (units: readonly object[]) => {
    const next = async () => {
      const { value } = await events.next()
      expect(value).toMatchObject({ type: 'report', isComplete: true, report: { kind: 'receiver', channels: [] } })
      return value.report.units
    }
    let reported: unknown = await next()
    // A poll reports the previous packs again.
    while (isDeepStrictEqual(reported, before)) reported = await next()
    expect(reported).toEqual(units)
    before = reported
  }
  await expectUnits([pack(1, 80), pack(2, 100)])
  charger.charge(1, 81)
  await expectUnits([pack(1, 81), pack(2, 100)])
  charger.charge(1, null)
  await expectUnits([pack(2, 100)])
  charger.charge(1, 40)
  await expectUnits([pack(1, 40), pack(2, 100)])
  await events.return?.()
})

// Conformance: C-3.31.
test.each([
  ['SBC220', [80, 80, 80, 80, 80, 80, 80, 80], [1, 2, 3, 4, 5, 6, 7, 8]],
  ['SBC220', [80, 80, 80, 80, null, 80], [1, 2, 3, 4, 6]],
  ['SBC441', [80, 80, 80, 80], [1, 2, 3, 4]],
  ['SBC840M', [80, null, 80, 80, 80, 80, 80, 80], [1, 3, 4, 5, 6, 7, 8]],
] as const)('%s lists the bays that answer: %j', async (model, bays, occupied) => {
  const { connection, list } = await start({ model, name: 'Backstage', bays })
  const { devices } = await list()
  const [report] = devices.map((device) => connection.adapter.transformDeviceData(device))
  expect(report?.units).toEqual(occupied.map((bay) => pack(bay, 80)))
})

// Conformance: C-3.31.
test('reports the fault of a failed pack until it ends', async () => {
  const { charger, connection } = await start({
    model: 'SBC220',
    name: 'Backstage',
    bays: [80, { charge: 0, error: 7 }],
  })
  const events = follow(connection, new AbortController().signal)
  const faults = async () => {
    const { units } = await findReport(events, () => true)
    return units?.map(({ battery, details }) => [battery, details?.fault])
  }
  const expectFaults = (expected: unknown) => eventually(faults).toEqual(expected)
  await expectFaults([
    [80, null],
    [null, 'communication_failure'],
  ])
  charger.charge(2, { charge: 30, state: 'COLD' })
  await expectFaults([
    [80, null],
    [30, 'too_cold'],
  ])
  charger.charge(2, 31)
  await expectFaults([
    [80, null],
    [31, null],
  ])
  charger.setStorageMode(true)
  await expectFaults([
    [80, 'storage_mode'],
    [31, 'storage_mode'],
  ])
  charger.charge(2, null)
  await expectFaults([[80, 'storage_mode']])
  await events.return?.()
})

test('keeps the subscription to a charger without changes open by polling', async () => {
  const { charger, connection } = await start({ model: 'SBC240', name: 'Backstage', bays: [100, 100] })
  const events = follow(connection, new AbortController().signal)
  const startedAt = performance.now()
  // The open event and three complete reports take longer than the silence timeout.
  for (let count = 0; count < 4; count += 1) expect((await events.next()).done).toBe(false)
  expect(performance.now() - startedAt).toBeGreaterThan(5_500)
  expect(charger.clients).toBe(1)
  await charger.close()
  await expect(events.next()).rejects.toThrow(/closed/)
})
