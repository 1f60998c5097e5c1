import { afterEach, expect, test } from 'vitest'
import { follow, linkToDevice } from '../../../../test/device-kit.ts'
import { until } from '../../../../test/plugin-kit-resources.ts'
import { shure } from '../index.ts'
import { startChargerSimulator } from './simulator/charger.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function start(...options: Parameters<typeof startChargerSimulator>) {
  const charger = await startChargerSimulator(...options)
  open.push(charger)
  const linked = linkToDevice(shure, charger.url)
  open.push(linked.link)
  return { charger, linked }
}

const pack = (bay: number, battery: number) => ({
  id: `strings:00:0E:DD:C0:FF:EE:${bay}`,
  kind: 'transmitter',
  device_type: 'charger',
  name: `Backstage ${bay}`,
  online: true,
  battery,
  details: {
    battery_health: 100 - bay,
    battery_cycles: 40 * bay,
    battery_minutes_to_full: battery === 100 ? 0 : 2 * (100 - battery),
  },
})

test('the packs in a charger are listed, each by its bay', async () => {
  const bays = [80, null, 5, null, null, null, null, 100]
  const { charger, linked } = await start({ model: 'SBRC', name: 'Backstage', bays })
  const { devices } = await linked.form.listDevices(linked.link)
  expect(devices.map((one) => linked.form.transformDeviceData(one))).toEqual([pack(1, 80), pack(3, 5), pack(8, 100)])
  await until(() => charger.clients === 0)
})

test('a pack is followed as it charges, is taken out and put in', async () => {
  const { charger, linked } = await start({ model: 'SBC220', name: 'Backstage', bays: [80, null] })
  const events = follow(linked, new AbortController().signal)
  const next = async () => (await events.next()).value
  expect(await next()).toEqual({ type: 'open' })
  expect(await next()).toMatchObject({ type: 'told', observation: pack(1, 80) })
  charger.charge(1, 81)
  expect(await next()).toMatchObject({ type: 'told', observation: pack(1, 81) })
  charger.charge(1, null)
  expect(await next()).toEqual({ type: 'removed', id: pack(1, 0).id })
  charger.charge(2, 40)
  expect(await next()).toMatchObject({ type: 'told', isWhole: true, observation: pack(2, 40) })
  await events.return?.()
})

test('a charger of which nothing changes is not lost: it answers', async () => {
  const { charger, linked } = await start({ model: 'SBC240', name: 'Backstage', bays: [100, 100] })
  const events = follow(linked, new AbortController().signal)
  const since = performance.now()
  // Open, and both packs three times: longer than a device may be silent.
  for (let nth = 0; nth < 7; nth += 1) expect((await events.next()).done).toBe(false)
  expect(performance.now() - since).toBeGreaterThan(5_500)
  expect(charger.clients).toBe(1)
  await charger.close()
  await expect(events.next()).rejects.toThrow(/closed/)
}, 20_000)
