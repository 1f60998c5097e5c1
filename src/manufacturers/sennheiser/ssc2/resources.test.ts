import { describe, expect, test } from 'vitest'
import { createInitialResources } from '../../../../simulators/sennheiser/ssc2-resources.ts'
import { applyResource } from './resources.ts'
import { toDeviceReport } from './session.ts'

const endpoint = { host: '10.0.0.5', ip: '10.0.0.5', name: null }

function applyEvents(...events: readonly (readonly [string, unknown])[]) {
  const resources = new Map<string, unknown>()
  for (const [path, body] of events) applyResource(resources, path, body)
  return resources
}

const toReport = (product: string, ...more: readonly (readonly [string, unknown])[]) =>
  toDeviceReport(applyEvents(...Object.entries(createInitialResources(product, '123')), ...more), endpoint)

describe('applyResource', () => {
  test('merges changed properties', () => {
    const resources = applyEvents(['/api/channel/0', { name: 'A', mute: false }], ['/api/channel/0', { mute: true }])
    expect(resources.get('/api/channel/0')).toEqual({ name: 'A', mute: true })
  })

  test('stores the entries of a list as resources, which are then updated one by one', () => {
    const resources = applyEvents(
      [
        '/api/transmitters',
        [
          { id: 0, transmitter: { name: 'A' } },
          { id: 1, transmitter: { name: 'B' } },
        ],
      ],
      ['/api/transmitters/1/battery', { gauge: 7 }],
      ['/api/transmitters/0', { mute: true }],
      ['/api/transmitters', [{ id: 0, transmitter: { name: 'C' } }]],
    )
    expect(Object.fromEntries(resources)).toEqual({
      '/api/transmitters/0': { name: 'C', mute: true },
      '/api/transmitters/1': null,
      '/api/transmitters/1/battery': null,
    })
  })

  // Conformance: C-24.11.
  test('updates a single entry that is sent on the path of its list', () => {
    const path = '/api/rf/channels'
    const channels = [0, 1].map((rfChannelId) => ({ rfChannelId, frequency: 542_000 }))
    const resources = applyEvents([path, channels], [path, { rfChannelId: 1, frequency: 558_000 }])
    expect(Object.fromEntries(resources)).toEqual({
      '/api/rf/channels/0': { rfChannelId: 0, frequency: 542_000 },
      '/api/rf/channels/1': { rfChannelId: 1, frequency: 558_000 },
    })
  })

  // Conformance: C-24.11.
  test.each(['/api/mts/paired/7', '/api/mts/paired/all/7'])('updates a single pack at the path %s', (path) => {
    const resources = applyEvents(['/api/mts/paired/all', [{ mtUid: 7, name: 'A' }]], [path, { name: 'B' }])
    expect(Object.fromEntries(resources)).toEqual({ '/api/mts/paired/7': { mtUid: 7, name: 'B' } })
  })

  test('limits the number of resources', () => {
    const many = Array.from({ length: 3000 }, (_, index) => [`/api/${index}`, {}] as const)
    expect(applyEvents(...many).size).toBe(1000)
  })
})

describe('EW-DX', () => {
  test('converts a receiver with its transmitters', () => {
    expect(toReport('EWDX2CHS')).toEqual({
      id: 'sscv2:123',
      kind: 'receiver',
      name: 'RACK',
      device_type: 'ewdx',
      model_name: 'EW-DX EM 2',
      online: true,
      serial_number: '123',
      ip: '10.0.0.5',
      description: 'Stage left',
      firmware_version: '4.0.2',
      details: { fault: null },
      channels: [1, 2].map((channel) => ({
        channel,
        name: `MIC ${channel}`,
        frequency: channel === 1 ? '538.200' : '538.800',
        rf_level: -57,
        audio_level: -22,
        details: {
          antennas: 'A',
          quality: 98,
          audio_peak: -22,
          ...{ rf_low: false, rf_overload: false, overload: false },
          muted: false,
          gain_db: 12,
          encryption: 'off',
          band: 'R1-9',
          transmission_mode: 'standard',
        },
        transmitter: {
          name: `HAND ${channel}`,
          upstream_slot: channel,
          battery: 83,
          details: {
            ...{ model: 'EW_DX_SKM_S', capsule: 'MMD 835', low_cut_hz: 80 },
            muted: false,
            gain_db: 0,
            battery_minutes: 412,
            battery_type: 'rechargeable',
            battery_low: false,
          },
        },
      })),
    })
  })

  test.each([
    ['a NoLink warning', ['/api/channel/0/warnings', ['NoLink']]],
    ['a missing transmitter resource', ['/api/transmitters/0', null]],
  ] as const)('reports no transmitter after %s', (_, event) => {
    expect(toReport('EWDX4CHDS', event).channels?.map(({ transmitter }) => transmitter === null)).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  test.each([
    [null, null],
    [0, 0],
  ])('reports no runtime of primary cells with %j, %j', (gauge, lifetime) => {
    const battery = { type: 'PrimaryCell', gauge, lifetime }
    const [channel] = toReport('EWDX2CHS', ['/api/transmitters/0/battery', battery]).channels ?? []
    expect(channel?.transmitter).toMatchObject({
      battery: gauge,
      details: { battery_minutes: null, battery_type: 'cells' },
    })
  })

  test.each([
    ['channel', ['LowSignal'], 'true,false,false,false'],
    ['channel', ['RfPeak'], 'false,true,false,false'],
    ['channel', ['AfPeak'], 'false,false,true,false'],
    ['channel', ['NoLink'], 'false,false,false,'],
    ['transmitters', ['AfPeak', 'LowBattery'], 'false,false,true,true'],
    ['transmitters', null, 'false,false,false,'],
  ])('reports the warnings of %s: %j', (resource, warnings, expected) => {
    const [channel] = toReport('EWDX2CHS', [`/api/${resource}/0/warnings`, warnings]).channels ?? []
    const { details, transmitter } = channel ?? {}
    const reported = [details?.rf_low, details?.rf_overload, details?.overload, transmitter?.details?.battery_low]
    expect(reported.join()).toBe(expected)
  })

  test('reports a different key as an encryption error', () => {
    const [channel] = toReport('EWDX2CHS', ['/api/channel/0/warnings', ['Aes256Error']]).channels ?? []
    expect(channel?.details?.encryption).toBe('error')
  })
})

describe('Spectera', () => {
  const product = 'Spectera Base Station'
  const idle = { test_tone: false, version_mismatch: false, talk_switch: false }

  test('converts packs with a microphone to channels numbered by audio link', () => {
    const { device_type, channels } = toReport(product)
    expect(device_type).toBe('spectera')
    expect(channels).toEqual([
      {
        channel: 1,
        name: 'LEAD',
        frequency: '542.000',
        rf_level: -61,
        audio_level: -20,
        details: { antennas: 'A', quality: 100, rf_concealed: false, audio_peak: -11, audio_rms: -20 },
        transmitter: {
          name: 'LEAD',
          upstream_slot: 1,
          battery: 74,
          details: { model: 'SEK', muted: false, battery_minutes: 301, battery_low: false, ...idle },
        },
      },
      expect.objectContaining({ channel: 4, name: 'BASS', audio_level: -42 }),
    ])
    expect(channels?.[1]).toMatchObject({
      details: { antennas: 'B', quality: null, rf_concealed: false },
      transmitter: { details: { muted: true } },
    })
  })

  describe('audio_level of a pack', () => {
    const outputs = (...links: number[]) =>
      ['/api/audio/outputs', links.map((micAudiolinkId, outputId) => ({ outputId, micAudiolinkId }))] as const
    const levelOf = (...events: readonly (readonly [string, unknown])[]) =>
      toReport(product, ...events).channels?.[0]?.audio_level

    test('is the highest level of its outputs on all interfaces', () => {
      const lists = { peak: [-10, -127.5, -5], rms: [-30, -127.5, -6] }
      const metering = ['/api/audio/metering', { aoIpOut: { peak: [], rms: [-127.5, -19] }, madi1Out: lists }] as const
      expect(levelOf(outputs(0, 0, 3), metering)).toBe(-19)
    })

    test('is null if it has no output', () => expect(levelOf(outputs(-1, 3, -1))).toBeNull())

    test.each([[{ aoIpOut: 7 }], [{ aoIpOut: { rms: 'loud' } }], [{ aoIpOut: { rms: ['x'] } }], [{}]])(
      'is null for the meters %j',
      (metering) => {
        const before = createInitialResources(product, '1')
        const resources = applyEvents(...Object.entries(before).filter(([path]) => path !== '/api/audio/metering'))
        applyResource(resources, '/api/audio/metering', metering)
        expect(toDeviceReport(resources, endpoint).channels?.[0]?.audio_level).toBeNull()
      },
    )
  })

  test('converts packs without a microphone to units: in-ear receivers and unused packs', () => {
    const serial = { mtUid: 14, type: 'SKM', name: '', serial: '3100', state: 'Sleeping', batteryFillLevel: -1 }
    const { units } = toReport(product, ['/api/mts/paired/14', serial])
    expect(units).toEqual([
      {
        id: 'sscv2:123/pack13',
        kind: 'transmitter',
        name: 'DRUMS',
        device_type: 'spectera-iem',
        model_name: 'SEK',
        online: true,
        serial_number: null,
        battery: 74,
        details: { battery_minutes: 301, battery_low: false, ...idle },
      },
      {
        id: 'sscv2:pack:3100',
        kind: 'transmitter',
        name: 'SKM 14',
        device_type: 'spectera',
        model_name: 'SKM',
        online: false,
        serial_number: '3100',
        battery: null,
        details: {},
      },
    ])
    expect(toReport(product, ['/api/mts/paired/13', { micAudiolinkId: 7 }]).units).toEqual([])
    expect(
      toDeviceReport(new Map([['/api/device/identity', { product, serial: '123' }]]), endpoint).units,
    ).toBeUndefined()
  })

  test.each([{ state: 'Sleeping' }, { state: 'Disconnected' }])(
    'reports no transmitter for a pack with %o',
    (change) => {
      const [channel] = toReport(product, ['/api/mts/paired/11', change]).channels ?? []
      expect(channel).toMatchObject({ channel: 1, transmitter: null, rf_level: null })
    },
  )

  test.each([
    [0, { quality: null, rf_concealed: null }, null],
    [1, { quality: null, rf_concealed: false }, true],
    [2, { quality: null, rf_concealed: true }, false],
    [3, { quality: 50, rf_concealed: false }, false],
    [4, { quality: 100, rf_concealed: false }, false],
    [5, { quality: null, rf_concealed: null }, null],
    ['4', { quality: null, rf_concealed: null }, null],
    [true, { quality: null, rf_concealed: null }, null],
  ])('reads the link quality %j as a code', (micLqi, details, muted) => {
    const [channel] = toReport(product, ['/api/mts/paired/11', { micLqi }]).channels ?? []
    expect(channel).toMatchObject({ details, transmitter: { battery: 74, details: { muted } } })
  })

  // Conformance: C-24.12.
  test.each([
    ['/api/health/psu', { psu1: 'disconnected' }, 'supply_failed', 'psu1', 'disconnected'],
    ['/api/health/psu', { psu2: 'Disconnected' }, 'supply_failed', 'psu2', 'Disconnected'],
    ['/api/health/fan/FAN_2/errorstate', { value: 'Error_1' }, 'fan_failed', 'FAN_2', 'Error_1'],
    ['/api/health/fan/FAN_2/errorstate', { value: true }, 'fan_failed', 'FAN_2', 'true'],
    ['/api/health/tempstateoverall', { value: 'critical' }, 'device_too_hot', 'temperature', 'critical'],
    ['/api/rf/antennas/a', { state: 'Error' }, 'antenna_error', 'antenna a', 'Error'],
    [
      ...(['/api/rf/antennas/a', { warningHighTemperature: true }, 'device_too_hot', 'antenna a'] as const),
      'warningHighTemperature',
    ],
    ['/api/device/state', { state: 'CriticalFailure' }, 'hardware_failure', null, 'CriticalFailure'],
  ] as const)('reads a fault of a base station from %s %j', (path, body, fault, part, word) => {
    expect(toReport(product, [path, body]).details).toMatchObject({ fault, faults: [{ part, word }] })
  })

  // Conformance: C-24.14.
  test('reports antennas, supplies, fans, clock, interfaces and activation with the words of the API', () => {
    const warm = ['/api/rf/antennas/b', { warningPacketError: true, interference: { severity: 'Mid' } }] as const
    const antenna = { state: 'Initialized', type: 'UHF', error: null, temperature_c: 41, too_hot: false }
    const off = {
      state: 'Unconnected',
      type: 'NA',
      error: null,
      temperature_c: null,
      too_hot: false,
      packet_errors: false,
    }
    expect(toReport(product, warm).details).toEqual({
      ...{ fault: null, state: 'Normal', warnings: [], temperature: 'normal', entitlement: 'ACTIVATED' },
      antennas: [
        { port: 'a', ...antenna, packet_errors: false, interference: 'None' },
        { port: 'b', ...antenna, packet_errors: true, interference: 'Mid' },
        { port: 'c', ...off },
        { port: 'd', ...off },
      ],
      supplies: { psu1: 'connected', psu2: 'unconnected' },
      fans: { FAN_1: 'Ok', FAN_2: 'Ok', FAN_3: 'Ok' },
      clock: { source: 'Internal48kHz', word_clock: 'Unlocked' },
      interfaces: {
        aoip: { type: 'Dante', status: 'Locked' },
        madi1: { type: 'Coax', status: 'NoToggle', clock_source: 'Internal48kHz' },
        madi2: { type: 'None', status: 'NoToggle', clock_source: 'Internal48kHz' },
      },
    })
  })

  // Conformance: C-24.14.
  test.each([
    ['/api/health/fan/FAN_1/errorstate', { value: 7 }, { fans: { FAN_1: null, FAN_2: 'Ok', FAN_3: 'Ok' } }],
    ['/api/health/psu', { psu1: 'glowing' }, { supplies: { psu1: 'glowing', psu2: 'unconnected' } }],
    ['/api/device/entitlement', { status: 3, code: 'NOT-A-REAL-CODE' }, { entitlement: null }],
    ['/api/audio/interface/wordclock/status', { inputStatus: 'Locked' }, { clock: { word_clock: null } }],
  ])('shows new words of %s %j, and values of another form as unknown', (path, body, details) => {
    expect(toReport(product, [path, body]).details).toMatchObject({ fault: null, ...details })
  })

  // Conformance: C-24.15.
  test.each([
    [{ versionMismatch: true }, { version_mismatch: true }],
    [{ micTestToneEnabled: true }, { test_tone: true }],
    [{ commandState: 'Latched' }, { talk_switch: true }],
    [{ commandState: 'NotAvailable' }, { talk_switch: null }],
    [
      { commandState: 1, versionMismatch: 'no' },
      { talk_switch: null, version_mismatch: null },
    ],
  ])('reports %j of a pack', (change, details) => {
    const { channels, units } = toReport(product, ['/api/mts/paired/11', change], ['/api/mts/paired/13', change])
    expect(channels?.[0]?.transmitter?.details).toMatchObject(details)
    expect(units?.[0]?.details).toMatchObject(details)
  })

  test('reports all faults, the most severe first', () => {
    const faults = [
      ['/api/rf/antennas/b', { state: 'Error' }] as const,
      ['/api/health/psu', { psu1: 'disconnected' }] as const,
    ]
    expect(toReport(product, ...faults).details).toMatchObject({
      fault: 'supply_failed',
      faults: [
        { part: 'psu1', word: 'disconnected' },
        { part: 'antenna b', word: 'Error' },
      ],
    })
  })

  test.each([
    ['/api/health/psu', { psu1: 'unconnected' }],
    ['/api/health/fan/FAN_2/errorstate', { value: 'a new word' }],
    ['/api/health/tempstateoverall', { value: 'Normal' }],
    ['/api/health/tempstateoverall', { value: 7 }],
    ['/api/device/state', { state: 'Warmup' }],
  ] as const)('reads no fault of a base station from %s %j', (path, body) => {
    const { details } = toReport(product, [path, body])
    expect(details).toMatchObject({ fault: null })
    expect(details?.faults).toBeUndefined()
  })

  test('reports the low battery of packs with and without a microphone', () => {
    const low = ['11', '13'].map((id) => [`/api/mts/paired/${id}`, { batteryLow: true }] as const)
    const { channels, units } = toReport(product, ...low)
    expect(channels?.map(({ transmitter }) => transmitter?.details?.battery_low)).toEqual([true, false])
    expect(units?.[0]?.details?.battery_low).toBe(true)
  })

  test.each([-1, 65_535])('reports the battery value %i as unknown', (batteryRuntime) => {
    const unknown = { batteryFillLevel: -1, batteryRuntime }
    const [channel] = toReport(product, ['/api/mts/paired/11', unknown]).channels ?? []
    expect(channel?.transmitter).toMatchObject({ battery: null, details: { battery_minutes: null } })
  })
})

test('converts an unknown device to a report without channels', () => {
  const identity = { product: 'TCCM', serial: '0000000000' }
  expect(
    toDeviceReport(applyEvents(['/api/device/identity', identity]), { ...endpoint, name: 'Board room' }),
  ).toMatchObject({
    id: 'sscv2:10.0.0.5',
    name: 'Board room',
    device_type: 'tccm',
    model_name: 'TCCM',
    serial_number: null,
    channels: [],
  })
})
