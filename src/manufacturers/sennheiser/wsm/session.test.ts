import { describe, expect, test } from 'vitest'
import { formatConfigurationRequest, formatRegistration, identityRequest } from './codec.ts'
import { beacon, createWsmSession } from './session.ts'

const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')
const fromHex = (text: string) => Buffer.from(text, 'hex').toString('latin1')
const start = () => createWsmSession({ host: '10.0.0.7', ip: '10.0.0.7', name: null }, '10.10.10.162')
const configuration = fromHex(
  'c8fcf7ca01001b667ade440165773530302047334ad9090014010c0100080101010101010101000d01000000',
)
const meters = (battery: string) =>
  fromHex(`29f8f7ca00001b667ade4401${battery}00000001e102250000da01fb010001010101000101010101010100`)

// The sources in the fixtures captured the expected bytes from WSM.
describe('messages to the device', () => {
  test('are those of WSM', () => {
    expect(hex(formatRegistration('10.10.10.162'))).toBe('4f1ff1ca0a0a0aa20a0a0aa2010001010101')
    expect(hex(formatConfigurationRequest('127.172.170.236'))).toBe('a4fdf7ca7facaaec010101')
    expect(identityRequest).toHaveLength(1035)
    expect(identityRequest.toString('hex')).toMatch(
      /^12070620000019005b73657276696365636f6d6d616e645d646576696e666f0d0a(00)+010101$/,
    )
  })

  test('register every two seconds, and request the configuration until it has arrived and then every 30 seconds', () => {
    const session = start()
    expect(session.takeDueMessages(0)).toHaveLength(2)
    expect(session.takeDueMessages(1999)).toEqual([])
    expect(session.takeDueMessages(2000)).toHaveLength(2)
    session.receive(configuration, 2100)
    expect(session.takeDueMessages(4000)).toEqual([formatRegistration('10.10.10.162')])
    expect(session.takeDueMessages(32_100)).toHaveLength(2)
  })
})

test('reports nothing before the configuration, and is complete with the meters', () => {
  const session = start()
  session.receive(meters('04'), 0)
  expect([session.getReport(), session.isComplete]).toEqual([null, false])
  session.receive(configuration, 1)
  expect(session.isComplete).toBe(true)
  const battery = (raw: string) => {
    session.receive(meters(raw), 2)
    return session.getReport()?.channels?.[0]?.transmitter?.battery
  }
  expect(['04', '03', '02', '01', '00', '09'].map(battery)).toEqual([100, 70, 30, 0, undefined, null])
})

test('ignores other messages of the device, and counts those of other devices', () => {
  const session = start()
  const scan = `${fromHex('29f8f7ca00001b667ade4401')}${'\x02'.repeat(98)}`
  expect(session.receive(scan, 0)).toBeNull()
  for (const text of ['', 'Push 60 500 3\r', '\x00\x25\x12\x06Model=', fromHex('29f8f7ca00001b66'), '{"osc":{}}      '])
    expect(session.receive(text, 0), text).toBe('a datagram could not be parsed')
  expect(session.getReport()).toBeNull()
})

describe('an announcement', () => {
  const announce = (model: string) =>
    beacon.read(
      Buffer.from(`\x00\x25\x12\x06Model=${model.padEnd(10)}ID=001B667A8EDB   IPA=10.10.10.73\0`, 'latin1'),
      '10.0.0.8',
    )

  test.each([
    ['EM300G3', { scheme: 'wsm:', id: 'wsm:00:1B:66:7A:8E:DB', model: 'EM 300 G3', device_type: 'ew' }],
    ['EMProG4', { scheme: 'mcp:', id: 'mcp:10.0.0.8', model: 'EM 300-500 G4', device_type: 'ew' }],
    ['SRProG4', { scheme: 'mcp:', id: 'mcp:10.0.0.8', model: 'SRProG4', device_type: 'ew-iem' }],
  ])('of an %s names its model, MAC address and protocol', (model, expected) => {
    expect(announce(model)).toEqual({ ...expected, mac_address: '00:1B:66:7A:8E:DB', channels: 1 })
  })

  test('is not the request itself or another message', () => {
    expect(beacon.read(identityRequest, '10.0.0.8')).toBeNull()
    expect(beacon.read(Buffer.from(meters('04'), 'latin1'), '10.0.0.8')).toBeNull()
  })
})
