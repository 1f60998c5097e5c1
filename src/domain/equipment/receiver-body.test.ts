import { expect, test } from 'vitest'
import { type Channel, emptyChannel, type Receiver, type Transmitter } from './receiver.ts'
import { batteryHealth, signalQuality, toChannelBody, toReceiverChange, toSingleChannelBody } from './receiver-body.ts'

const emptyTransmitter: Transmitter = {
  upstream_slot: null,
  name: null,
  battery: null,
  audio_level: null,
  rf_level: null,
  frequency: null,
}

function channel(transmitter: Partial<Transmitter> | null, fields: Partial<Channel> = {}): Channel {
  return { ...emptyChannel(1, 1, 7), ...fields, transmitter: transmitter && { ...emptyTransmitter, ...transmitter } }
}

// Conformance: C-2.4.
test('toChannelBody fills missing transmitter values from the channel, but creates no transmitter', () => {
  const fields = { name: 'Lead', frequency: '540.000', audio_level: -20, rf_level: -60 }
  expect(toChannelBody(channel({ upstream_slot: 3, battery: 80, rf_level: -50 }, fields)).transmitter).toEqual({
    slot: 7,
    upstream_slot: 3,
    name: 'Lead',
    battery: 80,
    forecast: null,
    audio_level: -20,
    rf_level: -50,
    frequency: '540.000',
  })
  expect(toChannelBody(channel(null, fields)).transmitter).toBeNull()
})

// Conformance: C-13.36, C-13.39.
test('toChannelBody rounds the forecast to 5 minutes, toSingleChannelBody does not', () => {
  const forecast = { minutes_left: 83, source: 'history', low: 72, high: 98 } as const
  const forecasted = channel({}, { forecast })
  const rounded = { minutes_left: 85, source: 'history', low: 70, high: 100 }
  expect(toChannelBody(forecasted).transmitter?.forecast).toEqual(rounded)
  expect(toSingleChannelBody(forecasted).transmitter?.forecast).toEqual(forecast)
  expect(toSingleChannelBody(channel(null, { forecast })).transmitter).toBeNull()
})

test('toChannelBody contains details only if the equipment reports any', () => {
  expect(Object.keys(toChannelBody(channel({})))).not.toContain('details')
  expect(Object.keys(toChannelBody(channel({})).transmitter ?? {})).not.toContain('details')
  const body = toChannelBody(channel({ details: { model: 'ULXD2' } }, { details: { rf_a: -60, muted: null } }))
  expect(body).toMatchObject({ details: { rf_a: -60, muted: null }, transmitter: { details: { model: 'ULXD2' } } })
})

// Conformance: C-2.11.
test.each([
  [[51, null], 'good'],
  [[80, 50], 'fair'],
  [[80, 20], 'low'],
  [[80, 10], 'critical'],
  [[null], 'unknown'],
  [[], 'unknown'],
] as const)('batteryHealth of %j is %s', (batteries, expected) => {
  expect(
    batteryHealth(
      batteries.map((battery) => channel({ battery })),
      () => 20,
    ),
  ).toBe(expected)
})

test('batteryHealth uses the threshold of each channel', () => {
  const [first, second] = [channel({ battery: 30 }), channel({ battery: 40 })]
  expect(batteryHealth([first, second], (one) => (one === second ? 45 : 20))).toBe('low')
  expect(batteryHealth([first, second], (one) => (one === second ? 35 : 20))).toBe('fair')
})

// Conformance: C-2.12.
test.each([
  [[-55], 'excellent'],
  [[-50, -70], 'good'],
  [[-85], 'fair'],
  [[-50, -86], 'poor'],
  [[null], 'unknown'],
] as const)('signalQuality of %j is %s', (levels, expected) => {
  expect(signalQuality(levels.map((rf_level) => channel({ rf_level })))).toBe(expected)
})

// Conformance: C-2.12.
test('signalQuality ignores channels without a transmitter', () => {
  expect(signalQuality([channel({ rf_level: -50 }), channel(null, { rf_level: -90 })])).toBe('excellent')
  expect(signalQuality([channel({ rf_level: -50 }), channel(null)])).toBe('excellent')
})

test('signalQuality is unknown without a transmitter, and uses the channel level if the transmitter has none', () => {
  expect(signalQuality([channel(null, { rf_level: -98 })])).toBe('unknown')
  expect(signalQuality([])).toBe('unknown')
  expect(signalQuality([channel({ rf_level: null }, { rf_level: -90 })])).toBe('poor')
})

// Conformance: C-7.5.
test('toReceiverChange contains all channels and other changed fields, and ignores last_seen alone', () => {
  // Version 1 has no `not_now`.
  const { not_now: _, ...body } = toChannelBody(channel(null))
  const before = {
    id: 1,
    name: 'Rack',
    ip: '10.0.0.1',
    is_active: true,
    last_seen: 0,
    channels: [channel(null)],
  } as unknown as Receiver
  expect(toReceiverChange(before, { ...before, last_seen: 9 })).toBeNull()
  const failed: Receiver = { ...before, details: { fault: 'self_test_failed' } }
  expect(toReceiverChange(before, failed)?.details).toEqual({ fault: 'self_test_failed' })
  expect(toReceiverChange(failed, before)?.details).toEqual({ fault: null })
  expect(toReceiverChange(before, { ...before, details: {} })).toBeNull()
  expect(toReceiverChange(before, { ...before, ip: null, is_active: false })).toEqual({
    channels: [body],
    ip: null,
    is_active: false,
    last_seen: '1970-01-01T00:00:00.000Z',
  })
})
