import { describe, expect, it, test } from 'vitest'
import { explainSettings, getEffectiveSettings, isSettingKey, parseSetting } from './settings.ts'

test.each([
  ['polling_interval', '1', 1],
  ['polling_interval', '3600', 3600],
  ['polling_interval', '0', null],
  ['polling_interval', '3601', null],
  ['polling_interval', '1.5', null],
  ['alert_battery_threshold', '0', 0],
  ['alert_battery_threshold', '101', null],
  ['enable_websocket', 'false', false],
  ['enable_websocket', 'no', null],
] as const)('parseSetting of %s = %s', (key, text, expected) => {
  const parsed = parseSetting(key, text)
  expect(parsed.ok ? parsed.value : null).toBe(expected)
})

test('isSettingKey accepts only known keys', () => {
  expect(['polling_interval', '__proto__', 'toString', 'other'].map(isSettingKey)).toEqual([true, false, false, false])
})

describe('the effective polling interval', () => {
  const global = { manufacturer: null, key: 'polling_interval', value: '20' }
  const local = { manufacturer: 'shure', key: 'polling_interval', value: '3' }
  // Conformance: C-1.16.
  test.each([
    ['the manufacturer’s record', [global, local], 7, 3, 'stored'],
    ['the manufacturer’s configuration', [global], 7, 7, 'configured'],
    ['the global record', [global], undefined, 20, 'global'],
    ['the default', [], undefined, 10, 'default'],
    ['the default if the record is invalid', [{ ...global, value: 'x' }], undefined, 10, 'default'],
  ])('comes from %s', (_name, records, configuredInterval, expected, source) => {
    const options = { records, manufacturer: 'shure', configuredInterval, defaultInterval: 10, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: expected, source })
    const settings = getEffectiveSettings(options)
    expect(settings).toEqual({ polling_interval: expected, alert_battery_threshold: 20, enable_websocket: true })
  })

  it('comes from the configuration file if that overrides the default, unless a global record exists', () => {
    const options = { records: [], manufacturer: null, defaultInterval: 5, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: 5, source: 'configured' })
    expect(explainSettings({ ...options, records: [global] }).polling_interval.source).toBe('stored')
  })
})

describe('the effective setting for real-time updates', () => {
  const record = (manufacturer: string | null, value: boolean) => ({
    manufacturer,
    key: 'enable_websocket',
    value: String(value),
  })
  test.each([
    ['there is no record', [], true, { value: true, source: 'default' }],
    ['the manufacturer’s record disables them', [record('shure', false)], true, { value: false, source: 'stored' }],
    ['the global record disables them', [record(null, false)], true, { value: false, source: 'global' }],
    [
      'the global record disables them and the manufacturer’s enables them',
      [record(null, false), record('shure', true)],
      true,
      { value: false, source: 'global' },
    ],
    ['the manufacturer’s record enables them', [record('shure', true)], true, { value: true, source: 'stored' }],
    [
      'the configuration disables them',
      [record(null, true), record('shure', true)],
      false,
      { value: false, source: 'configured' },
    ],
  ])('is resolved when %s', (_name, records, isBroadcasting, expected) => {
    const options = { records, manufacturer: 'shure', defaultInterval: 10, isBroadcasting }
    expect(explainSettings(options).enable_websocket).toEqual(expected)
  })
})
