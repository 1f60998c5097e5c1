import { describe, expect, test } from 'vitest'
import type { ChannelReading } from '../../../domain/equipment/receiver.ts'
import { readMeters } from './families.ts'
import { toDeviceReport } from './session.ts'

const endpoint = { host: '10.0.0.9', ip: '10.0.0.9', name: null, channels: [1] }
const toReport = (values: Record<string, unknown>) => toDeviceReport(new Map(Object.entries(values)), endpoint)

const ewdx = {
  '/device/identity/product': 'EWDXEM2',
  '/device/identity/version': '3.0.4',
  '/device/name': 'RACK',
  '/device/network/ether/macs': ['00:1b:66:01:02:03', '00:1b:66:01:02:04'],
  '/rx1/name': 'LEAD',
  '/rx1/frequency': 538_225,
  '/rx1/warnings': [],
  '/m/rx1/rssi': -61,
  '/m/rx1/af': -20.4,
  '/mates/tx1/name': 'HAND',
  '/mates/tx1/battery/gauge': 71,
  '/mates/tx1/battery/lifetime': 412,
  '/mates/tx1/battery/type': 'Primary Cell',
  '/mates/tx1/type': 'SKM',
  '/mates/tx1/mute': true,
  '/mates/tx1/trim': -3,
  '/mates/tx1/capsule': 'MMD_815_1',
  '/mates/tx1/lowcut': '120 Hz',
  '/m/rx1/rsqi': 93,
  '/m/rx1/divi': 2,
  '/rx1/mute': false,
  '/rx1/gain': 12,
  '/device/encryption': true,
}

const transmitterAddresses = Object.keys(ewdx).filter((address) => address.startsWith('/mates/'))
const rejectedTransmitter = Object.fromEntries(transmitterAddresses.map((address) => [address, null]))

/** Returns `rf_low`, `rf_overload`, `overload` and `battery_low` as text. */
function warningsOf({ details, transmitter }: Partial<ChannelReading> = {}): string {
  return [details?.rf_low, details?.rf_overload, details?.overload, transmitter?.details?.battery_low].join()
}

describe('EW-DX', () => {
  test('converts a receiver with a transmitter', () => {
    expect(toReport(ewdx)).toEqual({
      id: 'ssc1:00:1B:66:01:02:03',
      kind: 'receiver',
      name: 'RACK',
      device_type: 'ewdx',
      model_name: 'EWDXEM2',
      online: true,
      serial_number: null,
      mac_address: '00:1B:66:01:02:03',
      ip: '10.0.0.9',
      firmware_version: '3.0.4',
      channels: [
        {
          channel: 1,
          name: 'LEAD',
          frequency: '538.225',
          rf_level: -61,
          audio_level: -20,
          details: {
            ...{ antennas: 'B', quality: 93, audio_peak: -20, muted: false, gain_db: 12, encryption: 'on' },
            ...{ rf_low: false, rf_overload: false, overload: false },
          },
          transmitter: {
            name: 'HAND',
            upstream_slot: 1,
            battery: 71,
            details: {
              ...{ model: 'SKM', capsule: 'MMD 815-1', muted: true, gain_db: -3, low_cut_hz: 120 },
              ...{ battery_minutes: 412, battery_type: 'cells' },
            },
          },
        },
      ],
    })
  })

  test.each([
    ['for a NoLink warning', { '/rx1/warnings': ['NoLink', 'LowSignal'] }],
    ['if all addresses of the transmitter are rejected', rejectedTransmitter],
  ])('reports no transmitter %s', (_, values) => {
    expect(toReport({ ...ewdx, ...values }).channels?.[0]?.transmitter).toBeNull()
  })

  test('reports an unknown charge for a transmitter with primary cells', () => {
    const [channel] = toReport({ ...ewdx, '/mates/tx1/battery/gauge': null }).channels ?? []
    expect(channel?.transmitter).toMatchObject({ name: 'HAND', upstream_slot: 1, battery: null })
  })

  test.each([
    [{ '/rx1/warnings': ['LowSignal'] }, 'true,false,false,false'],
    [{ '/rx1/warnings': ['RfPeak'] }, 'false,true,false,false'],
    [{ '/rx1/warnings': ['AfPeak'] }, 'false,false,true,false'],
    [{ '/mates/tx1/warnings': ['AfPeak', 'LowBattery'] }, 'false,false,true,true'],
    [{ '/rx1/warnings': ['NoLink'], '/mates/tx1/warnings': ['AfPeak', 'LowBattery'] }, 'false,false,false,'],
    [{ '/rx1/warnings': null, '/mates/tx1/warnings': null }, ',,,'],
  ])('reports the warnings %j', (warnings, expected) => {
    const [channel] = toReport({ ...ewdx, '/mates/tx1/warnings': [], ...warnings }).channels ?? []
    expect(warningsOf(channel)).toBe(expected)
  })

  test.each([
    ['None', 'Off', { capsule: null, low_cut_hz: 0 }],
    ['Unknown', 'off', { capsule: null, low_cut_hz: 0 }],
    ['KK_205', '30Hz', { capsule: 'KK 205', low_cut_hz: 30 }],
    [null, 3, { capsule: null, low_cut_hz: null }],
  ])('converts the capsule %j and the low cut %j', (capsule, lowcut, details) => {
    const values = { '/mates/tx1/capsule': capsule, '/mates/tx1/lowcut': lowcut }
    expect(toReport({ ...ewdx, ...values }).channels?.[0]?.transmitter).toMatchObject({ details })
  })

  test('reports a transmitter without a capsule and a low cut', () => {
    const values = { '/mates/tx1/capsule': null, '/mates/tx1/lowcut': null, '/mates/tx1/name': 'TABLE' }
    const { '/mates/tx1/type': _, ...withoutType } = ewdx
    expect(toReport({ ...withoutType, ...values }).channels?.[0]?.transmitter).toMatchObject({ name: 'TABLE' })
  })

  test('converts the levels of a channel without a transmitter, as an EM 2 sends them', () => {
    const meters = { '/m/rx1/rssi': -107, '/m/rx1/rsqi': 0, '/m/rx1/divi': 0, '/m/rx1/af': -138.5 }
    expect(toReport({ ...ewdx, ...meters }).channels?.[0]).toMatchObject({
      ...{ rf_level: -107, audio_level: -138 },
      details: { quality: 0, antennas: '', audio_peak: -138 },
    })
  })

  test('reports a different key as an encryption error, even if encryption is enabled', () => {
    const [channel] = toReport({ ...ewdx, '/rx1/warnings': ['Aes256Error'] }).channels ?? []
    expect(channel?.details?.encryption).toBe('error')
  })
})

describe('Digital 6000', () => {
  const d6000 = {
    '/device/identity/product': 'EM6000',
    '/rx1/name': 'SOLO',
    '/rx1/carrier': 482_400,
    '/mm': [[83, 0, 53, 0, 1, 1, 128, 165, 0]],
    '/rx1/skx/battery': ['70%', '5:12'],
    '/rx1/skx/name': 'SK 1',
  }

  test("converts the meters in the guide's example", () => {
    expect(readMeters(d6000['/mm'], 1)).toEqual({ rf_a: -86, rf_b: -101, antennas: 'AB', quality: 50, audio: -45 })
    const unknown = { rf_a: null, rf_b: null, antennas: null, quality: null, audio: null }
    expect(readMeters([[83, 0, 'x', 0, 1, 2, 256, -1, 0]], 1)).toEqual({ ...unknown, rf_a: -86 })
    expect(readMeters([[]], 1)).toEqual(unknown)
  })

  test('converts a receiver with a transmitter', () => {
    expect(toReport(d6000)).toMatchObject({
      id: 'ssc1:10.0.0.9',
      device_type: 'd6000',
      channels: [
        {
          name: 'SOLO',
          frequency: '482.400',
          rf_level: -86,
          audio_level: -45,
          details: { rf_a: -86, rf_b: -101, antennas: 'AB', quality: 50 },
          transmitter: { name: 'SK 1', upstream_slot: 1, battery: 70, details: { battery_minutes: 312 } },
        },
      ],
    })
  })

  test.each([
    [['LowSignal'], 'true,false,false,false'],
    [['RFPeak'], 'false,true,false,false'],
    [['AFPeak'], 'false,false,true,false'],
    [['LowBattery'], 'false,false,false,true'],
    [[], 'false,false,false,false'],
    [null, ',,,'],
    [undefined, ',,,'],
  ])('reports the warnings %j', (active_warnings, expected) => {
    const [channel] = toReport({ ...d6000, '/rx1/active_warnings': active_warnings }).channels ?? []
    expect(warningsOf(channel)).toBe(expected)
  })

  test.each([
    [['NoClock'], ['NoClock'], 'no_clock', ['NoClock']],
    [[], ['BadClock', 'LowSignal'], 'bad_clock', ['BadClock']],
    [['NoLink', 'AnT1ABNCShorted'], [], 'antenna_short', ['AnT1ABNCShorted']],
    [['AnT2BBNCShorted'], ['NoClock'], 'no_clock', ['NoClock', 'AnT2BBNCShorted']],
  ])('reports the faults in the warnings %j and %j', (first, second, fault, words) => {
    const report = toReport({ ...d6000, '/rx1/active_warnings': first, '/rx2/active_warnings': second })
    expect(report.details).toEqual({ fault, faults: words.map((word) => ({ part: null, word })) })
  })

  test('reports no fault for warnings about a channel', () => {
    const warnings = { '/rx1/active_warnings': ['LowBattery'], '/rx2/active_warnings': [] }
    expect(toReport({ ...d6000, ...warnings }).details).toEqual({ fault: null })
  })

  test('reports no fault before the warnings are known', () => {
    expect(toReport({ ...d6000, '/rx1/active_warnings': undefined }).details).toBeUndefined()
  })

  test.each([
    [['b1', 12], 'B1,12'],
    [['U6', 0], 'U6,0'],
    [['--', 0], null],
    [['b1'], null],
    [['b1', -1], null],
    [['x,y', 1], null],
    ['b1', null],
    [undefined, undefined],
  ])('converts the bank and channel %j', (active_bank_channel, expected) => {
    const [channel] = toReport({ ...d6000, '/rx1/active_bank_channel': active_bank_channel }).channels ?? []
    expect(channel?.details?.group_channel).toBe(expected)
  })

  test.each([
    [true, true],
    [false, false],
    [1, null],
    [undefined, undefined],
  ])('converts the booster setting %j of the receiver', (booster, expected) => {
    const [channel] = toReport({ ...d6000, '/sys/booster': booster }).channels ?? []
    expect(channel?.details?.booster_feed).toBe(expected)
  })

  test.each([
    [['low', '0:20'], { battery: 10, details: { battery_minutes: 20 } }],
    [['100%', '-:--'], { battery: 100, details: { battery_minutes: null } }],
    [['??', '-:--'], { battery: null }],
    [[], null],
  ])('converts the battery state %j', (battery, transmitter) => {
    const [channel] = toReport({ ...d6000, '/rx1/skx/battery': battery }).channels ?? []
    if (transmitter === null) expect(channel?.transmitter).toBeNull()
    else expect(channel?.transmitter).toMatchObject(transmitter)
  })

  test.each([[undefined], ['x'], [[7]], [[]]])('readMeters returns undefined for %j', (mm) => {
    expect(readMeters(mm, 1)).toBeUndefined()
  })

  // Conformance: C-24.70.
  test.each([
    [['SyncFail', 'SyncResultTimeout'], 'Timeout'],
    [['SyncFail', 'SyncResultFreqRejected'], 'FreqRejected'],
    [['SyncOK', 'SyncResultAdapted'], 'Adapted'],
    [['SyncOK', 'None'], 'SyncOK'],
    [['Identified', 'None'], undefined],
    [[], undefined],
    ['SyncOK', undefined],
  ])('reads the result of a sync from %j', (status, result) => {
    const { channels, details } = toReport({ ...d6000, '/rx1/active_status': status })
    expect(channels?.[0]?.details?.sync_result).toBe(result)
    expect(details?.faults).toBeUndefined()
  })
})

describe('SpeechLine', () => {
  const slMcr = {
    '/device/identity/product': 'SLDW4CH',
    '/device/identity/serial': '1050000515',
    '/rx1/name': 'PULPIT',
    '/rx1/rf_quality': 87,
    '/rx1/warnings': [''],
    '/rx1/mute_state': true,
    '/audio/rx1/gain': -6,
    '/m/rx1/level': -31,
    '/mates/tx1/active': true,
    '/mates/tx1/device_type': 'HANDHELD',
    '/mates/tx1/acoustic': 'MMD815_1',
    '/mates/tx1/bat_type': 'RECHARGEABLE',
    '/mates/tx1/bat_gauge': 67,
    '/mates/tx1/bat_lifetime': 36_240,
    '/mates/tx1/bat_health': 99,
    '/mates/tx1/bat_cycles': 12,
    '/mates/tx1/warnings': [''],
  }
  const slRack = {
    ...slMcr,
    '/device/identity/product': 'SLDW',
    '/device/name': 'Chapel',
    '/rx1/name': undefined,
    '/mates/active': ['tx1'],
    '/mates/tx1/active': undefined,
    '/mates/tx1/device_type': 1,
    '/mates/tx1/bat_type': 0,
    '/audio/out1/gain_db': 0,
    '/audio/out1/level_db': -18,
  }
  const channelOf = (values: Record<string, unknown>) => toReport(values).channels?.[0]

  test('converts a channel of an SL MCR DW, which has neither a frequency nor an RF level', () => {
    expect(toReport(slMcr)).toMatchObject({ id: 'ssc1:1050000515', device_type: 'slmcr' })
    expect(channelOf(slMcr)).toEqual({
      channel: 1,
      name: 'PULPIT',
      audio_level: -31,
      details: { quality: 87, rf_low: false, gain_db: -6 },
      transmitter: {
        upstream_slot: 1,
        battery: 67,
        details: {
          ...{ model: 'Handheld', capsule: 'MMD815-1', muted: true, battery_minutes: 604 },
          ...{ battery_type: 'rechargeable', battery_health: 99, battery_cycles: 12, battery_low: false },
        },
      },
    })
  })

  test('converts an SL Rack Receiver DW, which reports indexes and one name', () => {
    expect(toReport(slRack)).toMatchObject({ name: 'Chapel', device_type: 'slrack' })
    expect(channelOf(slRack)).toMatchObject({
      name: 'Chapel',
      audio_level: -18,
      details: { gain_db: -24 },
      transmitter: { details: { model: 'Bodypack', battery_type: 'cells' } },
    })
  })

  test.each(['SL MCR 2 DW', 'SLDW2CH', 'SLDW4CH'])('recognises %s as an SL MCR DW', (product) => {
    expect(toReport({ ...slMcr, '/device/identity/product': product }).device_type).toBe('slmcr')
  })

  test.each(['SL Rack Receiver DW', 'SLDW'])('recognises %s as an SL Rack Receiver DW', (product) => {
    expect(toReport({ ...slRack, '/device/identity/product': product }).device_type).toBe('slrack')
  })

  test.each([
    ['for the warning No Link', { ...slMcr, '/rx1/warnings': ['No Link'] }],
    ['if it is not active', { ...slMcr, '/mates/tx1/active': false }],
    ['if its state is rejected', { ...slMcr, '/mates/tx1/active': null }],
    ['if it is not among the active ones', { ...slRack, '/mates/active': [] }],
  ])('reports no transmitter %s', (_, values) => {
    expect(channelOf(values)?.transmitter).toBeNull()
  })

  test('reports a transmitter whose state is unknown', () => {
    const { '/mates/tx1/active': _, ...unknown } = slMcr
    expect(channelOf(unknown)?.transmitter).toMatchObject({ battery: 67 })
  })

  test.each([
    [{ '/rx1/warnings': ['Bad Link'] }, 'true,,,false'],
    [{ '/mates/tx1/warnings': ['Low Bat'] }, 'false,,,true'],
    [{ '/rx1/warnings': null, '/mates/tx1/warnings': null }, ',,,'],
  ])('reports the warnings %j', (warnings, expected) => {
    expect(warningsOf(channelOf({ ...slMcr, ...warnings }))).toBe(expected)
  })

  test.each([
    [{ '/device/warnings': ['MIXERDSP_FAILURE'] }, 'hardware_failure', null, 'MIXERDSP_FAILURE'],
    [{ '/device/warnings': ['SETTINGS_DEFAULTD'] }, 'settings_lost', null, 'SETTINGS_DEFAULTD'],
    [{ '/rx1/warnings': ['Bad Link', 'TX OTA FWU failed'] }, 'update_failed', 'rx1', 'TX OTA FWU failed'],
  ])('reports the fault of %j', (warnings, fault, part, word) => {
    expect(toReport({ ...slMcr, ...warnings }).details).toEqual({ fault, faults: [{ part, word }] })
  })

  test.each([['NONE'], ['A_NEW_WORD']])('reports no fault for the warning %s', (warning) => {
    expect(toReport({ ...slMcr, '/device/warnings': [warning] }).details).toEqual({ fault: null })
  })

  test.each([
    [{ '/mates/tx1/bat_lifetime': 0 }, { battery_minutes: null }],
    [{ '/mates/tx1/bat_lifetime': 59 }, { battery_minutes: 0 }],
    [{ '/mates/tx1/acoustic': '' }, { capsule: null }],
    [{ '/mates/tx1/acoustic': 'INCOMPATIBLE' }, { capsule: null }],
    [{ '/mates/tx1/device_type': 7 }, { model: null }],
    [{ '/mates/tx1/bat_type': 'SOLAR' }, { battery_type: null }],
  ])('converts %j', (values, details) => {
    expect(channelOf({ ...slMcr, ...values })?.transmitter).toMatchObject({ details })
  })
})
