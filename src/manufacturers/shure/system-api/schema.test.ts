import { describe, expect, test } from 'vitest'
import {
  channelNumber,
  isDevicePage,
  macOf,
  parseActivity,
  parseAudioChannels,
  parseBatteryHealth,
  parseBatteryLevel,
  parseDeviceNode,
  parseDevicePage,
} from './schema.ts'

const node = {
  compatibility: 'COMPATIBLE_LATEST',
  deviceState: 'ONLINE',
  hardwareIdentity: { deviceId: 'DD4C009A-0000-11dd-a000-000eddcccccc', serialNumber: '4192630196' },
  softwareIdentity: { firmwareVersion: '2.7.6.0', firmwareValid: true, model: 'ULXD4D' },
  communicationProtocol: { name: 'ESTA.DMP', address: '10.20.1.11' },
  capabilities: ['audio-channels', 'name'],
}

test('parseDeviceNode reads a device node', () => {
  expect(parseDeviceNode(node)).toEqual({
    id: 'dd4c009a-0000-11dd-a000-000eddcccccc',
    deviceId: 'DD4C009A-0000-11dd-a000-000eddcccccc',
    state: 'ONLINE',
    model: 'ULXD4D',
    serialNumber: '4192630196',
    firmwareVersion: '2.7.6.0',
    ip: '10.20.1.11',
    isTooOld: false,
    capabilities: ['audio-channels', 'name'],
  })
  expect(parseDeviceNode({ ...node, compatibility: 'INCOMPATIBLE_TOO_OLD' })).toMatchObject({ isTooOld: true })
  expect(
    parseDeviceNode({ ...node, capabilities: null, softwareIdentity: 7, communicationProtocol: [] }),
  ).toMatchObject({ capabilities: [], model: null, firmwareVersion: null, ip: null })
  for (const broken of [null, 'x', {}, { ...node, deviceState: 'ASLEEP' }, { ...node, hardwareIdentity: {} }]) {
    expect(parseDeviceNode(broken)).toBeNull()
  }
})

describe('a page of devices', () => {
  test.each([
    ['edges', { edges: [{ cursor: 'a', node }] }],
    ['items', { items: [node] }],
    ['a bare array', [node]],
  ])('in %s', (_, body) => {
    expect(isDevicePage(body)).toBe(true)
    expect(parseDevicePage(body)).toMatchObject({ nodes: [{ model: 'ULXD4D' }], next: null })
  })

  test('has the cursor of the next page, if there is one', () => {
    const pageInfo = { hasNextPage: true, endCursor: 'abc' }
    expect(parseDevicePage({ pageInfo, edges: [] })).toEqual({ nodes: [], next: 'abc' })
    expect(parseDevicePage({ pageInfo: { ...pageInfo, hasNextPage: false }, edges: [] })?.next).toBeNull()
    expect(parseDevicePage({ pageInfo: { ...pageInfo, endCursor: {} }, edges: [null] })).toEqual({
      nodes: [null],
      next: null,
    })
  })

  test('is distinguished from a list of the common device API', () => {
    for (const body of [{ devices: [{ device_id: 'x' }] }, [{ id: 'x' }], [], {}, null, { devices: [] }]) {
      expect(isDevicePage(body)).toBe(false)
    }
    expect(isDevicePage({ edges: [] })).toBe(true)
    expect(parseDevicePage({ devices: null })).toBeUndefined()
  })
})

test('reads the number of an audio channel from its id', () => {
  const idOf = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64')
  const first = idOf({ t: 'AudioChannel', c: 'ADTQ', v: 131_088, s: 'CH', i: 0 })
  expect(channelNumber(first)).toBe(1)
  expect(channelNumber(idOf({ t: 'AudioChannel', index: 3 }))).toBe(4)
  for (const id of ['', 'CH1', idOf({ i: -1 }), idOf({ i: '0' }), idOf([])]) expect(channelNumber(id)).toBeNull()
  // Longer ids are not parsed.
  expect(channelNumber(idOf({ i: 0, s: 'x'.repeat(1000) }))).toBeNull()
  expect(parseAudioChannels([{ id: first, role: 'SOURCE', capabilities: ['name', 7] }, { id: 'x' }, null])).toEqual([
    { id: first, number: 1, capabilities: ['name'] },
  ])
  expect(parseAudioChannels({ channels: [] })).toEqual([])
})

test('a battery level is a percentage or null', () => {
  expect(parseBatteryLevel({ percentage: 71, status: { currentState: 'DISCHARGING' } })).toMatchObject({ battery: 71 })
  expect(parseBatteryLevel({ percentage: 101 })).toMatchObject({ battery: null })
  expect(parseBatteryLevel('x')).toBeUndefined()
})

test.each([
  ['DISCHARGING', 'EMPTY', 'PT853M', 853, null],
  ['CHARGING', 'FULL', 'PT1H5M', null, 65],
  ['CHARGING', 'FULL', 'PT2H', null, 120],
  ['CALCULATING', null, null, null, null],
  ['FULL', null, 'PT3M', null, null],
  ['DISCHARGING', 'FULL', 'PT3M', null, null],
  ['CHARGING', 'FULL', 'PT', null, null],
  ['CHARGING', 'FULL', 'tomorrow', null, null],
  ['CHARGING', 'FULL', 'PT9999H', null, null],
])('%s to %s in %s', (currentState, targetState, timeToTargetState, battery_minutes, battery_minutes_to_full) => {
  const body = { percentage: 50, status: { currentState, targetState, timeToTargetState } }
  expect(parseBatteryLevel(body)?.details).toEqual({ battery_minutes, battery_minutes_to_full })
})

test('parseBatteryHealth reads health and cycles', () => {
  expect(parseBatteryHealth({ percentage: 98, cycleCount: 31 })).toEqual({ battery_health: 98, battery_cycles: 31 })
  expect(parseBatteryHealth({})).toEqual({ battery_health: null, battery_cycles: null })
  expect(parseBatteryHealth(null)).toBeUndefined()
})

test.each([
  ['GOOD', 'good'],
  ['CLIPPING', 'clipping'],
  ['LOUD', null],
  [7, null],
])('parseActivity reads an audio level of %s', (audioLevel, activity) =>
  expect(parseActivity({ audioLevel })).toBe(activity),
)

test('reads the MAC address from an id with the known ending', () => {
  expect(macOf('dd4c009a-0000-11dd-a000-000eddcccccc')).toBe('00:0E:DD:4C:00:9A')
  expect(macOf('dd47e0d7-0000-11dd-a000-000eddcccccc')).toBe('00:0E:DD:47:E0:D7')
  expect(macOf('34ee1234-0000-11dd-a000-d834eecccccc')).toBeNull()
  expect(macOf('dd4c009a')).toBeNull()
})
