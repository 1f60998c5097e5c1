import { expect, test } from 'vitest'
import { parseDatagram } from './codec.ts'
import { toDeviceReport } from './translate.ts'

const endpoint = { host: '10.0.0.7', ip: '10.0.0.7', name: null }
const toReport = (text: string) => toDeviceReport(parseDatagram(text).facts, endpoint)

test('converts an EM with a transmitter', () => {
  const configuration = 'Name LEAD\rFrequency 606200 1 3\rMute 1\rFirmwareRevision 1.7.0\r'
  const cycle = 'RF1 40 55 1\rRF2 10 30 0\rRF 50 1 1\rAF 40 65 3\rBat 70\rConfig 4\r'
  expect(toReport(configuration + cycle)).toEqual({
    id: 'mcp:10.0.0.7',
    kind: 'receiver',
    name: 'LEAD',
    device_type: 'ew',
    model_name: null,
    online: true,
    ip: '10.0.0.7',
    firmware_version: '1.7.0',
    channels: [
      {
        channel: 1,
        name: 'LEAD',
        frequency: '606.200',
        rf_level: -87,
        audio_level: -30,
        transmitter: { battery: 70, details: { muted: true } },
        details: { rf_a: -85, rf_b: -95, antennas: 'A', audio_peak: -17, muted: false },
      },
    ],
  })
})

test.each([
  ['Bat ?\rRF 3 1 0\r', null],
  ['Bat ?\rRF 60 1 1\r', { battery: null }],
  ['Bat 0\rRF 60 1 0\r', { battery: 0 }],
])('%j: a battery telegram or a pilot tone indicates a transmitter', (text, transmitter) => {
  expect(toReport(text).channels?.[0]?.transmitter).toEqual(transmitter)
})

test('an SR has no transmitter', () => {
  const report = toReport('Name IEM 1\rAf 60 64 70 72\rStates 0 0\r')
  expect(report).toMatchObject({ device_type: 'ew-iem', channels: [{ channel: 1, audio_level: -18 }] })
  expect(report.channels?.[0]).not.toHaveProperty('transmitter')
})

test('omits fields that were not reported', () => {
  expect(toReport('Msg OK\r')).toMatchObject({ name: '10.0.0.7', channels: [{ channel: 1 }] })
  expect(toReport('Msg OK\r').channels).toEqual([{ channel: 1, details: { overload: false } }])
})
