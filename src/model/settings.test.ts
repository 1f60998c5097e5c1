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
] as const)('%s = %s', (key, text, expected) => {
  const parsed = parseSetting(key, text)
  expect(parsed.ok ? parsed.value : null).toBe(expected)
})

test('only the known keys are keys', () => {
  expect(['polling_interval', '__proto__', 'toString', 'other'].map(isSettingKey)).toEqual([true, false, false, false])
})

describe('the interval in force', () => {
  const global = { manufacturer: null, key: 'polling_interval', value: '20' }
  const own = { manufacturer: 'shure', key: 'polling_interval', value: '3' }
  // Conformance: C-1.16.
  test.each([
    ['its own record', [global, own], 7, 3, 'stored'],
    ['its configuration', [global], 7, 7, 'configured'],
    ['the global record', [global], undefined, 20, 'global'],
    ['the default', [], undefined, 10, 'default'],
    ['the default, when a record cannot be read', [{ ...global, value: 'x' }], undefined, 10, 'default'],
  ])('%s', (_name, records, configuredInterval, expected, source) => {
    const options = { records, manufacturer: 'shure', configuredInterval, defaultInterval: 10, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: expected, source })
    const settings = getEffectiveSettings(options)
    expect(settings).toEqual({ polling_interval: expected, alert_battery_threshold: 20, enable_websocket: true })
  })

  it('is the file’s where that says another than the built-in one, and stored where the global scope is asked', () => {
    const options = { records: [], manufacturer: null, defaultInterval: 5, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: 5, source: 'configured' })
    expect(explainSettings({ ...options, records: [global] }).polling_interval.source).toBe('stored')
  })
})

describe('real-time updates in force', () => {
  const record = (manufacturer: string | null, value: boolean) => ({
    manufacturer,
    key: 'enable_websocket',
    value: String(value),
  })
  test.each([
    ['nothing is set', [], true, { value: true, source: 'default' }],
    ['its own record switches them off', [record('shure', false)], true, { value: false, source: 'stored' }],
    ['the global record switches them off', [record(null, false)], true, { value: false, source: 'global' }],
    [
      'the global record switches them off and its own on',
      [record(null, false), record('shure', true)],
      true,
      { value: false, source: 'global' },
    ],
    ['its own record switches them on', [record('shure', true)], true, { value: true, source: 'stored' }],
    [
      'the configuration switches them off',
      [record(null, true), record('shure', true)],
      false,
      { value: false, source: 'configured' },
    ],
  ])('when %s', (_name, records, isBroadcasting, expected) => {
    const options = { records, manufacturer: 'shure', defaultInterval: 10, isBroadcasting }
    expect(explainSettings(options).enable_websocket).toEqual(expected)
  })
})
