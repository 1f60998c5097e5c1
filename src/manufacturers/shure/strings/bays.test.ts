import { expect, test } from 'vitest'
import { findTold, follow, linkToDevice } from '../../../../test/device-kit.ts'
import { expectCommonFormat } from '../../../../test/plugin-kit-fixtures.ts'
import { until } from '../../../../test/plugin-kit-resources.ts'
import { atEnd } from '../../../../test/scope.ts'
import { shure } from '../index.ts'
import { startChargerSimulator } from './simulator/charger.ts'

async function start(...options: Parameters<typeof startChargerSimulator>) {
  const charger = await startChargerSimulator(...options)
  const linked = linkToDevice(shure, charger.url)
  atEnd(() => charger.close())
  atEnd(() => linked.client.close())
  return { charger, linked, list: () => linked.form.listDevices(linked.client) }
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
] as const)('%s is one device without channels, and the packs in it are its units', async (model, bays, units) => {
  const { charger, linked, list } = await start({ model, name: 'Backstage', bays })
  const { devices } = await list()
  const [report, ...others] = devices.map((one) => linked.form.transformDeviceData(one))
  if (report === undefined) throw new Error('nothing is listed')
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

test('a pack is followed as it charges, is taken out and put in; the others stay', async () => {
  const { charger, linked } = await start({ model: 'SBC220', name: 'Backstage', bays: [80, 100] })
  const events = follow(linked, new AbortController().signal)
  expect((await events.next()).value).toEqual({ type: 'open' })
  const tells = async (units: readonly object[]) => {
    const { value } = await events.next()
    expect(value).toMatchObject({ type: 'told', isWhole: true, observation: { kind: 'receiver', channels: [] } })
    expect(value.observation.units).toEqual(units)
  }
  await tells([pack(1, 80), pack(2, 100)])
  charger.charge(1, 81)
  await tells([pack(1, 81), pack(2, 100)])
  charger.charge(1, null)
  await tells([pack(2, 100)])
  charger.charge(1, 40)
  await tells([pack(1, 40), pack(2, 100)])
  await events.return?.()
})

test.each([
  ['SBC220', [80, 80, 80, 80, 80, 80, 80, 80], [1, 2, 3, 4, 5, 6, 7, 8]],
  ['SBC220', [80, 80, 80, 80, null, 80], [1, 2, 3, 4, 6]],
  ['SBC441', [80, 80, 80, 80], [1, 2, 3, 4]],
  ['SBC840M', [80, null, 80, 80, 80, 80, 80, 80], [1, 3, 4, 5, 6, 7, 8]],
] as const)('%s has the bays that answer: %j', async (model, bays, occupied) => {
  const { linked, list } = await start({ model, name: 'Backstage', bays })
  const { devices } = await list()
  const [report] = devices.map((one) => linked.form.transformDeviceData(one))
  expect(report?.units).toEqual(occupied.map((bay) => pack(bay, 80)))
})

test('a failed pack is reported with its reason until the fault ends', async () => {
  const { charger, linked } = await start({ model: 'SBC220', name: 'Backstage', bays: [80, { charge: 0, error: 7 }] })
  const events = follow(linked, new AbortController().signal)
  const faults = async () => {
    const { units } = await findTold(events, () => true)
    return units?.map(({ battery, details }) => [battery, details?.fault])
  }
  const next = (wanted: unknown) => expect.poll(faults).toEqual(wanted)
  await next([
    [80, null],
    [null, 'communication_failure'],
  ])
  charger.charge(2, { charge: 30, state: 'COLD' })
  await next([
    [80, null],
    [30, 'too_cold'],
  ])
  charger.charge(2, 31)
  await next([
    [80, null],
    [31, null],
  ])
  charger.setStorageMode(true)
  await next([
    [80, 'storage_mode'],
    [31, 'storage_mode'],
  ])
  charger.charge(2, null)
  await next([[80, 'storage_mode']])
  await events.return?.()
})

test('a charger of which nothing changes is not lost: it answers', async () => {
  const { charger, linked } = await start({ model: 'SBC240', name: 'Backstage', bays: [100, 100] })
  const events = follow(linked, new AbortController().signal)
  const since = performance.now()
  // Open, and the whole charger three times: longer than a device may be silent.
  for (let nth = 0; nth < 4; nth += 1) expect((await events.next()).done).toBe(false)
  expect(performance.now() - since).toBeGreaterThan(5_500)
  expect(charger.clients).toBe(1)
  await charger.close()
  await expect(events.next()).rejects.toThrow(/closed/)
}, 20_000)
