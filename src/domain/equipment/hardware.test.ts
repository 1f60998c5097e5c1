import { describe, expect, it } from 'vitest'
import { type Assignment, planReportedUnits, setActive, toUnitBody, type Unit, type UnitIndex } from './hardware.ts'
import { type DeviceReport, emptyChannel, type Receiver, type Transmitter } from './receiver.ts'
import { unitTypeOf } from './unit-type.ts'

const transmitter: Transmitter = {
  upstream_slot: 1,
  name: 'Host',
  battery: 70,
  audio_level: -9,
  rf_level: -55,
  frequency: '540.000',
}

const receiver = {
  id: 1,
  manufacturer: 'shure',
  device_type: 'ulxd',
  is_active: true,
  channels: [{ ...emptyChannel(11, 1, 5), transmitter }, emptyChannel(12, 2, 6)],
} as unknown as Receiver

const unit: Unit = {
  id: 3,
  manufacturer: 'shure',
  channel_id: 11,
  receiver_id: 1,
  api_device_id: null,
  name: 'Guest',
  model: null,
  serial_number: null,
  upstream_slot: null,
  device_type: 'mic_transmitter',
  battery: null,
  details: null,
  is_online: true,
}
const pack: Unit = { ...unit, id: 4, channel_id: null, receiver_id: null, api_device_id: 'pack-1', battery: 30 }

function index(...units: readonly Unit[]): UnitIndex {
  return {
    ofDevice: (manufacturer, id) =>
      units.find((unit) => unit.manufacturer === manufacturer && unit.api_device_id === id),
    reportedBy: (id) => units.filter((unit) => unit.receiver_id === id && unit.channel_id === null),
  }
}

describe('channel units', () => {
  // Conformance: C-24.21.
  it('has the state of a pack in its charger', () => {
    const docked = { ...emptyChannel(11, 1, 5), details: { charging: 'full' as const } }
    expect(toUnitBody(unit, { ...receiver, channels: [docked] }, 'healthy')).toMatchObject({
      status: 'offline',
      details: { charging: 'full' },
    })
  })

  it('show the live values of the channel', () => {
    expect(toUnitBody(unit, receiver, 'healthy')).toMatchObject({
      name: 'Host',
      battery_percentage: 70,
      base_chassis: 1,
      channel: 1,
      slot: 5,
      status: 'online',
    })
    expect(toUnitBody(unit, receiver, 'unhealthy').status).toBe('unknown')
    expect(toUnitBody(unit, { ...receiver, is_active: false }, 'healthy').status).toBe('offline')
    const withoutTransmitter = { ...receiver, channels: [emptyChannel(11, 1, 5)] }
    expect(toUnitBody(unit, withoutTransmitter, 'healthy')).toMatchObject({
      name: 'Guest',
      battery_percentage: null,
      status: 'offline',
    })
  })

  it('are offline without a channel, with their last name and model', () => {
    expect(toUnitBody({ ...unit, channel_id: null, receiver_id: null, model: 'ULXD1' }, undefined, 'healthy')).toEqual({
      id: 3,
      name: 'Guest',
      device_type: 'mic_transmitter',
      model: 'ULXD1',
      manufacturer: 'shure',
      battery_percentage: null,
      base_chassis: null,
      channel: null,
      slot: null,
      status: 'offline',
    })
  })

  it('show the transmitter model that the channel reports', () => {
    const channels = receiver.channels.map((channel) => {
      return { ...channel, transmitter: channel.transmitter && { ...channel.transmitter, details: { model: 'ULXD2' } } }
    })
    expect(toUnitBody(unit, { ...receiver, channels }, 'healthy').model).toBe('ULXD2')
    expect(toUnitBody(unit, receiver, 'healthy').model).toBeNull()
  })
})

describe('device units', () => {
  const report: DeviceReport = { id: 'pack-1', kind: 'transmitter', name: 'Pack', model_name: 'AD1', device_type: 'ad' }
  const plan = (known: UnitIndex, reports: readonly DeviceReport[], missing: readonly string[] = []) =>
    planReportedUnits(known, {
      manufacturer: 'shure',
      reports,
      missing,
      receiverOf: (id) => (id === 'charger' ? 9 : undefined),
    })

  it('are created, updated and set offline', () => {
    expect(plan(index(), [report, report]).drafts).toMatchObject([
      { api_device_id: 'pack-1', name: 'Pack', model: 'AD1', is_online: true, channel_id: null },
    ])
    const withBattery = { ...report, channels: [{ channel: 1, transmitter: { battery: 12 } }] }
    expect(plan(index(pack), [withBattery]).changed).toMatchObject([{ id: 4, battery: 12, name: 'Pack' }])
    expect(plan(index(pack), [], ['pack-1']).changed).toMatchObject([{ id: 4, is_online: false }])
    expect(plan(index(pack), [], ['unknown']).changed).toEqual([])
  })

  it('are not created from receivers', () => {
    expect(plan(index(), [{ ...report, kind: 'receiver' }])).toEqual({ drafts: [], changed: [] })
  })

  it('keep details that a later report leaves out', () => {
    const known: Unit = { ...pack, name: 'Pack', model: 'AD1', details: { battery_health: 98, battery_cycles: 40 } }
    expect(plan(index(known), [{ ...report, details: { battery_cycles: 41 } }]).changed).toMatchObject([
      { details: { battery_health: 98, battery_cycles: 41 } },
    ])
    expect(plan(index(known), [{ ...report, details: { battery_cycles: 40 } }]).changed).toEqual([])
  })

  it('show their own values', () => {
    expect(toUnitBody({ ...pack, details: { battery_minutes: 90 } }, undefined, 'degraded')).toMatchObject({
      battery_percentage: 30,
      base_chassis: null,
      channel: null,
      slot: null,
      status: 'online',
      details: { battery_minutes: 90 },
    })
    expect(toUnitBody(pack, undefined, 'healthy')).not.toHaveProperty('details')
  })

  describe('that another device reports', () => {
    const charger: DeviceReport = { id: 'charger', kind: 'receiver', units: [{ ...report, battery: 80 }] }
    const docked: Unit = { ...pack, name: 'Pack', model: 'AD1', battery: 80, receiver_id: 9 }

    it('are created once that device is known, and are assigned to it', () => {
      expect(plan(index(), [charger]).drafts).toMatchObject([{ battery: 80, receiver_id: 9, channel_id: null }])
      expect(plan(index(), [{ ...charger, id: 'another' }]).drafts).toEqual([])
      expect(plan(index(pack), [charger]).changed).toEqual([docked])
      expect(plan(index(docked), [charger]).changed).toEqual([])
    })

    it('go offline only when that device reports its units without them', () => {
      const removed = { ...docked, receiver_id: null, is_online: false }
      expect(plan(index(docked), [{ ...charger, units: [] }]).changed).toEqual([removed])
      expect(plan(index(docked), [{ id: 'charger', kind: 'receiver' }]).changed).toEqual([])
      expect(plan(index(docked), [{ ...charger, id: 'another', units: [] }]).changed).toEqual([])
    })

    it('stay online when they move to another device, whichever reports first', () => {
      const other: DeviceReport = { ...charger, id: 'other', units: [] }
      const receivers = new Map([
        ['charger', 9],
        ['other', 8],
      ])
      for (const reports of [
        [charger, other],
        [other, charger],
      ]) {
        const input = {
          manufacturer: 'shure',
          reports,
          missing: [],
          receiverOf: (id: string) => receivers.get(id),
        }
        expect(planReportedUnits(index({ ...docked, receiver_id: 8 }), input).changed).toEqual([docked])
      }
    })

    it('are online only while that device is', () => {
      const body = (is_active: boolean) => toUnitBody(docked, { ...receiver, id: 9, is_active }, 'healthy')
      expect(body(true)).toMatchObject({ status: 'online', base_chassis: 9, channel: null })
      expect(body(false)).toMatchObject({ status: 'offline', battery_percentage: 80 })
    })
  })
})

// Conformance: C-24.36.
it.each([
  ['clearcom', 'beltpack'],
  ['ulxd', 'mic_transmitter'],
  ['ad', 'mic_transmitter'],
  ['psm1000', 'iem_receiver'],
  ['P10T IEM', 'iem_receiver'],
] as const)('unitTypeOf %s is %s', (family, type) => expect(unitTypeOf(family)).toBe(type))

it('setActive sets the start and end times', () => {
  const active: Assignment = {
    id: 1,
    performer: 1,
    wireless_unit: 1,
    role: null,
    is_active: true,
    started_at: 10,
    ended_at: null,
  }
  expect(setActive(active, true, 20)).toBe(active)
  const ended = setActive(active, false, 20)
  expect(ended).toMatchObject({ is_active: false, started_at: 10, ended_at: 20 })
  expect(setActive(ended, true, 30)).toMatchObject({ is_active: true, started_at: 30, ended_at: null })
})
