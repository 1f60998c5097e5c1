import { describe, expect, it } from 'vitest'
import {
  type Assignment,
  draftChannelUnits,
  findRenamedUnits,
  planReportedUnits,
  setActive,
  toUnitBody,
  type Unit,
  type UnitIndex,
  unitTypeOf,
} from './hardware.ts'
import { type DeviceReport, emptyChannel, type Receiver, type Transmitter } from './receiver.ts'

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
  device_type: 'mic_transmitter',
  battery: null,
  details: null,
  is_online: true,
}
const pack: Unit = { ...unit, id: 4, channel_id: null, receiver_id: null, api_device_id: 'pack-1', battery: 30 }

function index(...units: readonly Unit[]): UnitIndex {
  return {
    ofChannel: (id) => units.find((one) => one.channel_id === id),
    ofDevice: (manufacturer, id) => units.find((one) => one.manufacturer === manufacturer && one.api_device_id === id),
    reportedBy: (id) => units.filter((one) => one.receiver_id === id && one.channel_id === null),
  }
}

describe('units on channels', () => {
  it('are made where a transmitter is heard for the first time', () => {
    expect(draftChannelUnits(index(), [receiver])).toMatchObject([
      { channel_id: 11, receiver_id: 1, name: 'Host', device_type: 'mic_transmitter' },
    ])
    expect(draftChannelUnits(index(unit), [receiver])).toEqual([])
  })

  it('take the name that was told last', () => {
    expect(findRenamedUnits(index(unit), [receiver])).toEqual([{ ...unit, name: 'Host' }])
    expect(findRenamedUnits(index({ ...unit, name: 'Host' }), [receiver])).toEqual([])
  })

  it('are as live as the channel', () => {
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
    const silent = { ...receiver, channels: [emptyChannel(11, 1, 5)] }
    expect(toUnitBody(unit, silent, 'healthy')).toMatchObject({
      name: 'Guest',
      battery_percentage: null,
      status: 'offline',
    })
  })

  it('have the model that the channel reports of its transmitter', () => {
    const channels = receiver.channels.map((channel) => {
      return { ...channel, transmitter: channel.transmitter && { ...channel.transmitter, details: { model: 'ULXD2' } } }
    })
    expect(toUnitBody(unit, { ...receiver, channels }, 'healthy').model).toBe('ULXD2')
    expect(toUnitBody(unit, receiver, 'healthy').model).toBeNull()
  })
})

describe('units of their own', () => {
  const report: DeviceReport = { id: 'pack-1', kind: 'transmitter', name: 'Pack', model_name: 'AD1', device_type: 'ad' }
  const plan = (known: UnitIndex, reports: readonly DeviceReport[], missing: readonly string[] = []) =>
    planReportedUnits(known, {
      manufacturer: 'shure',
      reports,
      missing,
      receiverOf: (id) => (id === 'charger' ? 9 : undefined),
    })

  it('are made, followed and missed', () => {
    expect(plan(index(), [report, report]).drafts).toMatchObject([
      { api_device_id: 'pack-1', name: 'Pack', model: 'AD1', is_online: true, channel_id: null },
    ])
    const told = { ...report, channels: [{ channel: 1, transmitter: { battery: 12 } }] }
    expect(plan(index(pack), [told]).changed).toMatchObject([{ id: 4, battery: 12, name: 'Pack' }])
    expect(plan(index(pack), [], ['pack-1']).changed).toMatchObject([{ id: 4, is_online: false }])
    expect(plan(index(pack), [], ['somebody']).changed).toEqual([])
  })

  it('are none of the receivers', () => {
    expect(plan(index(), [{ ...report, kind: 'receiver' }])).toEqual({ drafts: [], changed: [] })
  })

  it('keep what was told of them beside what is told now', () => {
    const known: Unit = { ...pack, name: 'Pack', model: 'AD1', details: { battery_health: 98, battery_cycles: 40 } }
    expect(plan(index(known), [{ ...report, details: { battery_cycles: 41 } }]).changed).toMatchObject([
      { details: { battery_health: 98, battery_cycles: 41 } },
    ])
    expect(plan(index(known), [{ ...report, details: { battery_cycles: 40 } }]).changed).toEqual([])
  })

  it('carry what was told of them', () => {
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

  describe('that another device tells of', () => {
    const charger: DeviceReport = { id: 'charger', kind: 'receiver', units: [{ ...report, battery: 80 }] }
    const docked: Unit = { ...pack, name: 'Pack', model: 'AD1', battery: 80, receiver_id: 9 }

    it('are made once it is known, and belong to it', () => {
      expect(plan(index(), [charger]).drafts).toMatchObject([{ battery: 80, receiver_id: 9, channel_id: null }])
      expect(plan(index(), [{ ...charger, id: 'another' }]).drafts).toEqual([])
      expect(plan(index(pack), [charger]).changed).toEqual([docked])
      expect(plan(index(docked), [charger]).changed).toEqual([])
    })

    it('are gone when it tells of them no more, and only then', () => {
      const left = { ...docked, receiver_id: null, is_online: false }
      expect(plan(index(docked), [{ ...charger, units: [] }]).changed).toEqual([left])
      expect(plan(index(docked), [{ id: 'charger', kind: 'receiver' }]).changed).toEqual([])
      expect(plan(index(docked), [{ ...charger, id: 'another', units: [] }]).changed).toEqual([])
    })

    it('are still there when they moved to another, whichever speaks first', () => {
      const other: DeviceReport = { ...charger, id: 'other', units: [] }
      const receivers = new Map([
        ['charger', 9],
        ['other', 8],
      ])
      for (const observations of [
        [charger, other],
        [other, charger],
      ]) {
        const told = {
          manufacturer: 'shure',
          reports: observations,
          missing: [],
          receiverOf: (id: string) => receivers.get(id),
        }
        expect(planReportedUnits(index({ ...docked, receiver_id: 8 }), told).changed).toEqual([docked])
      }
    })

    it('are as near as it is', () => {
      const body = (is_active: boolean) => toUnitBody(docked, { ...receiver, id: 9, is_active }, 'healthy')
      expect(body(true)).toMatchObject({ status: 'online', base_chassis: 9, channel: null })
      expect(body(false)).toMatchObject({ status: 'offline', battery_percentage: 80 })
    })
  })
})

it.each([
  ['ulxd', 'mic_transmitter'],
  ['ad', 'mic_transmitter'],
  ['psm1000', 'iem_receiver'],
  ['P10T IEM', 'iem_receiver'],
] as const)('what belongs to %s is a %s', (family, type) => expect(unitTypeOf(family)).toBe(type))

it('an assignment knows when it began and ended', () => {
  const worn: Assignment = { id: 1, performer: 1, wireless_unit: 1, is_active: true, started_at: 10, ended_at: null }
  expect(setActive(worn, true, 20)).toBe(worn)
  const ended = setActive(worn, false, 20)
  expect(ended).toMatchObject({ is_active: false, started_at: 10, ended_at: 20 })
  expect(setActive(ended, true, 30)).toMatchObject({ is_active: true, started_at: 30, ended_at: null })
})
