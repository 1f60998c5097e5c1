import { describe, expect, it, test } from 'vitest'
import { defaultSettings, isSettingKey, type SettingKey, settingKeys, settingKinds } from '../contract/settings.ts'
import {
  explainSettings,
  getEffectiveSettings,
  globalScope,
  indexSettings,
  parseSetting,
  type SettingRecord,
  valueInForce,
} from './settings.ts'

test.each<[SettingKey, string, unknown]>([
  ['polling_interval', '1', 1],
  ['polling_interval', '3600', 3600],
  ['polling_interval', '0', null],
  ['polling_interval', '3601', null],
  ['polling_interval', '1.5', null],
  ['alert_battery_threshold', '0', 0],
  ['alert_battery_threshold', '-1', null],
  ['alert_battery_threshold', '101', null],
  ['enable_websocket', 'false', false],
  ['enable_websocket', 'no', null],
  ['MINUTES_LOW', '1440', 1440],
  ['MINUTES_LOW', '1441', null],
  ['RF_WEAK_DBM', '-120', -120],
  ['RF_WEAK_DBM', '-121', null],
  ['RF_NOISE_DBM', '-20', -20],
  ['RF_NOISE_DBM', '-19', null],
  ['NO_AUDIO_MINUTES', '241', null],
  ['MUTE_ATTENTION', 'always', 'always'],
  ['MUTE_ATTENTION', 'sometimes', null],
  ['alert_rf_weak_enabled', 'false', false],
  ['alert_rf_weak_delay_seconds', '3600', 3600],
  ['alert_rf_weak_delay_seconds', '3601', null],
  ['alert_rf_weak_severity', 'info', 'info'],
  ['alert_rf_weak_severity', 'ok', null],
  ['HISTORY', 'false', false],
  ['HISTORY_SECONDS_DAYS', '1', 1],
  ['HISTORY_SECONDS_DAYS', '0', null],
  ['HISTORY_SECONDS_DAYS', '1.5', null],
  ['HISTORY_MINUTES_DAYS', '3650', 3650],
  ['HISTORY_MINUTES_DAYS', '3651', null],
  ['HISTORY_MAX_GB', '0.00001', 0.00001],
  ['HISTORY_MAX_GB', '0.000001', null],
  ['HISTORY_MAX_GB', '2.5', 2.5],
  ['HISTORY_MAX_GB', '-1', null],
  ['HISTORY_MAX_GB', '1e3', null],
])('parseSetting of %s = %s', (key, text, expected) => {
  const parsed = parseSetting(key, text)
  expect(parsed.ok ? parsed.value : null).toBe(expected)
})

test('isSettingKey accepts only known keys', () => {
  expect(['polling_interval', '__proto__', 'toString', 'other'].map(isSettingKey)).toEqual([true, false, false, false])
})

test('every default is a valid value', () => {
  for (const key of settingKeys) {
    expect(parseSetting(key, String(defaultSettings[key]))).toEqual({ ok: true, value: defaultSettings[key] })
  }
})

const historyKeys = ['HISTORY', 'HISTORY_SECONDS_DAYS', 'HISTORY_MINUTES_DAYS', 'HISTORY_MAX_GB']
const globalKeys = [
  ...historyKeys,
  'IDENTIFY',
  'IDENTIFY_DURING_SHOWS',
  'AUDIO_EVIDENCE_ALWAYS',
  'AUDIO_EVIDENCE_KINDS',
  'AUDIO_EVIDENCE_MAX_GB',
  'AUDIO_EVIDENCE_DAYS',
  'MAX_LISTENERS',
  'MAX_LISTENERS_PER_PERSON',
  'REGION',
  'TV_IN_USE',
  'TIME_ZONE',
  'PAPER',
  'LANGUAGE',
]

// Conformance: C-27.72.
test('a list of events with sound accepts only their names', () => {
  const parse = (text: string) => parseSetting('AUDIO_EVIDENCE_KINDS', text)
  expect(parse('rf_dropout, marker')).toEqual({ ok: true, value: 'rf_dropout, marker' })
  expect(parse('')).toEqual({ ok: true, value: '' })
  expect(parse('rf_dropout,muted')).toEqual({
    ok: false,
    expected: 'some of rf_dropout, interference, audio_dropout, audio_clipping, marker, separated by commas',
  })
})

test('settings of polling cannot be set per group, and those of the history, of lights and of documents are always global', () => {
  const ofPolling = ['polling_interval', 'enable_websocket']
  expect(settingKeys.filter((key) => !settingKinds[key].isPerGroup)).toEqual([...ofPolling, ...globalKeys])
  expect(settingKeys.filter((key) => !settingKinds[key].isPerManufacturer)).toEqual(globalKeys)
})

/** A stored setting of a manufacturer (text), a group (number), or all (null). */
function record(scope: string | number | null, key: string, value: unknown): SettingRecord {
  const [manufacturer, group] = typeof scope === 'number' ? [null, scope] : [scope, null]
  return { manufacturer, group, key, value: String(value) }
}

describe('valueInForce', () => {
  test.each<[SettingKey, unknown, unknown]>([
    ['alert_rf_weak_enabled', true, false],
    ['alert_rf_weak_delay_seconds', 0, 5],
    ['alert_rf_weak_severity', 'warning', 'info'],
    ['alert_rf_weak_severity', 'critical', 'warning'],
  ])('of several groups, %s = %s warns earlier than %s', (key, earlier, later) => {
    const scopes = { global: {}, manufacturer: {} }
    expect(valueInForce(key, { ...scopes, groups: [{ [key]: earlier }, {}, { [key]: later }] })).toBe(earlier)
    expect(valueInForce(key, { ...scopes, groups: [{ [key]: later }, { [key]: earlier }] })).toBe(earlier)
  })
})

describe('explainSettings', () => {
  const explain = (records: readonly SettingRecord[], scope: Partial<typeof globalScope>) =>
    explainSettings({
      stored: indexSettings(records),
      scope: { ...globalScope, ...scope },
      defaultInterval: 10,
      isBroadcasting: true,
    })

  it('returns the default of every key if nothing is stored', () => {
    const explained = explain([], {})
    expect(Object.keys(explained)).toEqual(settingKeys)
    for (const key of settingKeys) expect(explained[key]).toEqual({ value: defaultSettings[key], source: 'default' })
  })

  it('prefers the value of the scope, then that of the manufacturer, then the global one', () => {
    const records = [
      record(null, 'RF_WEAK_DBM', -80),
      record('shure', 'RF_WEAK_DBM', -90),
      record(7, 'RF_WEAK_DBM', -95),
    ]
    const valueIn = (scope: Partial<typeof globalScope>, from = records) => explain(from, scope).RF_WEAK_DBM
    expect(valueIn({})).toEqual({ value: -80, source: 'stored' })
    expect(valueIn({ manufacturer: 'shure' })).toEqual({ value: -90, source: 'stored' })
    expect(valueIn({ manufacturer: 'sennheiser' })).toEqual({ value: -80, source: 'global' })
    expect(valueIn({ group: 7 })).toEqual({ value: -95, source: 'stored' })
    expect(valueIn({ group: 8 })).toEqual({ value: -80, source: 'global' })
    expect(valueIn({ group: 8, manufacturer: 'shure' })).toEqual({ value: -90, source: 'manufacturer' })
  })

  it('ignores stored values that are invalid', () => {
    const records = [record(null, 'RF_WEAK_DBM', 0), record(null, 'unknown', 0)]
    expect(explain(records, {}).RF_WEAK_DBM).toEqual({ value: -85, source: 'default' })
  })
})

describe('the effective polling interval', () => {
  const global = record(null, 'polling_interval', 20)
  const local = record('shure', 'polling_interval', 3)
  // Conformance: C-1.16.
  test.each([
    ['the manufacturer’s record', [global, local], 7, 3, 'stored'],
    ['the manufacturer’s configuration', [global], 7, 7, 'configured'],
    ['the global record', [global], undefined, 20, 'global'],
    ['the default', [], undefined, 10, 'default'],
    ['the default if the record is invalid', [{ ...global, value: 'x' }], undefined, 10, 'default'],
  ])('comes from %s', (_name, records, configuredInterval, expected, source) => {
    const stored = indexSettings(records)
    const scope = { manufacturer: 'shure', group: null }
    const options = { stored, scope, configuredInterval, defaultInterval: 10, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: expected, source })
    expect(getEffectiveSettings(options)).toEqual({ ...defaultSettings, polling_interval: expected })
  })

  it('comes from the configuration file if that overrides the default, unless a global record exists', () => {
    const options = { stored: indexSettings([]), scope: globalScope, defaultInterval: 5, isBroadcasting: true }
    expect(explainSettings(options).polling_interval).toEqual({ value: 5, source: 'configured' })
    const stored = indexSettings([global])
    expect(explainSettings({ ...options, stored }).polling_interval.source).toBe('stored')
  })
})

describe('the effective setting for real-time updates', () => {
  const enabled = (scope: string | null, value: boolean) => record(scope, 'enable_websocket', value)
  test.each([
    ['there is no record', [], true, { value: true, source: 'default' }],
    ['the manufacturer’s record disables them', [enabled('shure', false)], true, { value: false, source: 'stored' }],
    ['the global record disables them', [enabled(null, false)], true, { value: false, source: 'global' }],
    [
      'the global record disables them and the manufacturer’s enables them',
      [enabled(null, false), enabled('shure', true)],
      true,
      { value: false, source: 'global' },
    ],
    ['the manufacturer’s record enables them', [enabled('shure', true)], true, { value: true, source: 'stored' }],
    [
      'the configuration disables them',
      [enabled(null, true), enabled('shure', true)],
      false,
      { value: false, source: 'configured' },
    ],
  ])('is resolved when %s', (_name, records, isBroadcasting, expected) => {
    const scope = { manufacturer: 'shure', group: null }
    const options = { stored: indexSettings(records), scope, defaultInterval: 10, isBroadcasting }
    expect(explainSettings(options).enable_websocket).toEqual(expected)
  })
})
