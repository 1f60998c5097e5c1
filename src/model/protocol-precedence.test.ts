import { describe, expect, test } from 'vitest'
import { applyUpdate, createIngestPlan } from './ingest-plan.ts'
import { createProtocolPrecedence } from './protocol-precedence.ts'
import { type DeviceReport, emptyChannel } from './receiver.ts'
import { createKnownReceivers } from './reconcile.ts'

const mac_address = '00:0E:DD:00:00:01'
const system: DeviceReport = {
  id: 'X1',
  kind: 'receiver',
  name: 'In the system',
  serial_number: 'S1',
  mac_address,
  ip: '10.0.0.1',
  firmware_version: '2.4',
  channels: [{ channel: 1, name: 'Sys', transmitter: { battery: 50, name: 'Pack' } }],
}
const direct: DeviceReport = {
  id: 'direct:1',
  kind: 'receiver',
  name: 'On the device',
  mac_address,
  ip: '10.0.0.1',
  channels: [{ channel: 1, frequency: '540.000', transmitter: { battery: 42 }, details: { muted: true } }],
}

/** One house in memory, told by either form at the time given. */
function createHouse() {
  const known = createKnownReceivers()
  let now = 0
  const silentMs = (id: number) => now - (known.get(id)?.last_seen ?? 0)
  const precedence = createProtocolPrecedence((id) => (id.startsWith('direct:') ? 1 : 0), silentMs)
  const tell = (report: DeviceReport, at: number) => {
    now = at
    const { plan, add } = createIngestPlan({ known, manufacturer: 'shure', at, precedence })
    add(report)
    for (const { draft, readings } of plan.creations) {
      const channels = readings.map(({ channel }) => emptyChannel(channel, channel, channel))
      known.put(applyUpdate({ ...draft, id: 1, channels }, { fields: {}, readings }))
    }
    for (const update of plan.updates) {
      known.put(applyUpdate(known.get(update.receiver.id) ?? update.receiver, update))
    }
    return plan
  }
  const receiver = () => {
    const all = [...known.receivers()]
    expect(all).toHaveLength(1)
    return all[0]
  }
  return { tell, receiver }
}

describe.each([
  ['the system is heard first', [system, direct, system]],
  ['the device is heard first', [direct, system, direct, system]],
])('one receiver, told in two forms: %s', (_, order) => {
  const listen = () => {
    const house = createHouse()
    for (const [at, report] of order.entries()) house.tell(report, 1000 * at)
    return house
  }

  test('each field is the better one’s, what it does not tell is the other’s', () => {
    expect(listen().receiver()).toMatchObject({
      api_device_id: 'direct:1',
      name: 'On the device',
      serial_number: 'S1',
      firmware_version: '2.4',
      channels: [
        { name: 'Sys', frequency: '540.000', transmitter: { battery: 42, name: 'Pack' }, details: { muted: true } },
      ],
    })
  })

  test('the other neither moves it, nor makes it heard, nor takes its transmitter away', () => {
    const { tell, receiver } = listen()
    const before = receiver()
    const gone = { ...system, ip: '10.0.0.9', online: false, channels: [{ channel: 1, transmitter: null }] }
    expect(tell(gone, 10_000)).toMatchObject({ moves: [], updates: [{ isNews: false, isHeard: false }] })
    expect(receiver()).toEqual(before)
  })

  test('the other takes over once the better one has been silent for long, and gives it back', () => {
    const { tell, receiver } = listen()
    tell(system, 25_000)
    expect(receiver()).toMatchObject({ name: 'On the device', api_device_id: 'direct:1' })
    tell(system, 60_000)
    expect(receiver()).toMatchObject({
      ...{ name: 'In the system', api_device_id: 'X1', is_active: true, last_seen: 60_000 },
      channels: [{ transmitter: { battery: 50 }, details: { muted: true } }],
    })
    tell(direct, 61_000)
    tell({ ...system, firmware_version: '2.5' }, 62_000)
    expect(receiver()).toMatchObject({
      ...{ name: 'On the device', api_device_id: 'direct:1', firmware_version: '2.5' },
      channels: [{ transmitter: { battery: 42 } }],
    })
  })
})

test('a process that does not hear the better one itself leaves what is known alone', () => {
  const house = createHouse()
  house.tell({ ...direct, serial_number: 'S1' }, 0)
  house.tell({ ...system, channels: [{ channel: 1, name: 'Sys', transmitter: { battery: 50 } }] }, 1000)
  expect(house.receiver()).toMatchObject({
    name: 'On the device',
    ip: '10.0.0.1',
    channels: [{ name: 'Sys', transmitter: { battery: 42 } }],
  })
})

test('a new id of the same form is taken over at once', () => {
  const house = createHouse()
  house.tell(system, 0)
  house.tell({ ...system, id: 'X2', name: 'Renamed' }, 1)
  expect(house.receiver()).toMatchObject({ api_device_id: 'X2', name: 'Renamed' })
})
