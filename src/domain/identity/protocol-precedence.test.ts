import { describe, expect, test } from 'vitest'
import { type DeviceReport, emptyChannel } from '../equipment/receiver.ts'
import { applyUpdate, IngestPlanBuilder } from './ingest-plan.ts'
import { createProtocolPrecedence } from './protocol-precedence.ts'
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

/** Applies reports of both protocols to one receiver in memory, at the given time. */
function createIngest() {
  const known = createKnownReceivers()
  let now = 0
  const silentMs = (id: number) => now - (known.get(id)?.last_seen ?? 0)
  const precedence = createProtocolPrecedence((id) => (id.startsWith('direct:') ? 1 : 0), silentMs)
  const apply = (report: DeviceReport, at: number) => {
    now = at
    const builder = new IngestPlanBuilder({ known, manufacturer: 'shure', at, precedence })
    builder.add(report)
    const { plan } = builder
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
  return { apply, receiver }
}

describe.each([
  ['the system reports first', [system, direct, system]],
  ['the device reports first', [direct, system, direct, system]],
])('createProtocolPrecedence, when %s', (_, order) => {
  const applyAll = () => {
    const ingest = createIngest()
    for (const [index, report] of order.entries()) ingest.apply(report, 1000 * index)
    return ingest
  }

  test('prefers the fields of the higher precedence and fills gaps from the other protocol', () => {
    expect(applyAll().receiver()).toMatchObject({
      api_device_id: 'direct:1',
      name: 'On the device',
      serial_number: 'S1',
      firmware_version: '2.4',
      channels: [
        { name: 'Sys', frequency: '540.000', transmitter: { battery: 42, name: 'Pack' }, details: { muted: true } },
      ],
    })
  })

  test('ignores the address, online state and missing transmitter in reports with the lower precedence', () => {
    const { apply, receiver } = applyAll()
    const before = receiver()
    const offline = { ...system, ip: '10.0.0.9', online: false, channels: [{ channel: 1, transmitter: null }] }
    expect(apply(offline, 10_000)).toMatchObject({ moves: [], updates: [{ hasChanges: false, isReceived: false }] })
    expect(receiver()).toEqual(before)
  })

  test('switches to the lower precedence after a long silence of the higher one, and back', () => {
    const { apply, receiver } = applyAll()
    apply(system, 25_000)
    expect(receiver()).toMatchObject({ name: 'On the device', api_device_id: 'direct:1' })
    apply(system, 60_000)
    expect(receiver()).toMatchObject({
      ...{ name: 'In the system', api_device_id: 'X1', is_active: true, last_seen: 60_000 },
      channels: [{ transmitter: { battery: 50 }, details: { muted: true } }],
    })
    apply(direct, 61_000)
    apply({ ...system, firmware_version: '2.5' }, 62_000)
    expect(receiver()).toMatchObject({
      ...{ name: 'On the device', api_device_id: 'direct:1', firmware_version: '2.5' },
      channels: [{ transmitter: { battery: 42 } }],
    })
  })
})

test('keeps stored values if the process does not receive the higher precedence itself', () => {
  const ingest = createIngest()
  ingest.apply({ ...direct, serial_number: 'S1' }, 0)
  ingest.apply({ ...system, channels: [{ channel: 1, name: 'Sys', transmitter: { battery: 50 } }] }, 1000)
  expect(ingest.receiver()).toMatchObject({
    name: 'On the device',
    ip: '10.0.0.1',
    channels: [{ name: 'Sys', transmitter: { battery: 42 } }],
  })
})

test('adopts a new id of the same protocol at once', () => {
  const ingest = createIngest()
  ingest.apply(system, 0)
  ingest.apply({ ...system, id: 'X2', name: 'Renamed' }, 1)
  expect(ingest.receiver()).toMatchObject({ api_device_id: 'X2', name: 'Renamed' })
})
