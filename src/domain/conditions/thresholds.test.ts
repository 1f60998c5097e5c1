import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ThresholdKey, thresholdKinds } from '../../contract/settings.ts'
import { resolveThresholds, type ScopeThresholds } from './condition.ts'

const defaults = {
  BATTERY_CRITICAL: 10,
  MINUTES_CRITICAL: 15,
  alert_battery_threshold: 20,
  MINUTES_LOW: 45,
  BATTERY_REPLACE_SOON: 50,
  RF_NOISE_DBM: -75,
  RF_WEAK_DBM: -85,
  NO_AUDIO_MINUTES: 0,
  MUTE_ATTENTION: 'during_shows',
}

describe('thresholdKinds', () => {
  test.each<[ThresholdKey, number, number, string]>([
    ['BATTERY_CRITICAL', 0, 100, '%'],
    ['alert_battery_threshold', 0, 100, '%'],
    ['BATTERY_REPLACE_SOON', 0, 100, '%'],
    ['MINUTES_CRITICAL', 0, 1440, 'min'],
    ['MINUTES_LOW', 0, 1440, 'min'],
    ['RF_NOISE_DBM', -120, -20, 'dBm'],
    ['RF_WEAK_DBM', -120, -20, 'dBm'],
    ['NO_AUDIO_MINUTES', 0, 240, 'min'],
  ])('%s ranges from %i to %i %s', (key, min, max, unit) => {
    expect(thresholdKinds[key]).toMatchObject({ type: 'integer', min, max, unit })
  })

  test('MUTE_ATTENTION is one of three words', () => {
    expect(thresholdKinds.MUTE_ATTENTION).toMatchObject({ values: ['never', 'during_shows', 'always'] })
  })
})

describe('resolveThresholds', () => {
  test('returns the defaults if no scope sets anything', () => {
    expect(resolveThresholds({}, {}, [])).toEqual(defaults)
    expect(resolveThresholds({}, {}, [{}, {}])).toEqual(defaults)
  })

  test.each<[ScopeThresholds, ScopeThresholds, ScopeThresholds[], number]>([
    [{ RF_WEAK_DBM: -80 }, {}, [], -80],
    [{ RF_WEAK_DBM: -80 }, { RF_WEAK_DBM: -90 }, [], -90],
    [{ RF_WEAK_DBM: -80 }, { RF_WEAK_DBM: -82 }, [{}, { RF_WEAK_DBM: -95 }], -95],
  ])('prefers the group, then the manufacturer, then the global value', (global, manufacturer, groups, expected) => {
    expect(resolveThresholds(global, manufacturer, groups).RF_WEAK_DBM).toBe(expected)
  })

  test('prefers a group for MUTE_ATTENTION too', () => {
    const global = { MUTE_ATTENTION: 'always' } as const
    const manufacturer = { MUTE_ATTENTION: 'during_shows' } as const
    expect(resolveThresholds(global, {}, []).MUTE_ATTENTION).toBe('always')
    expect(resolveThresholds(global, manufacturer, []).MUTE_ATTENTION).toBe('during_shows')
    expect(resolveThresholds(global, manufacturer, [{ MUTE_ATTENTION: 'never' }]).MUTE_ATTENTION).toBe('never')
  })

  test.each<[ScopeThresholds, ScopeThresholds, ThresholdKey]>([
    [{ BATTERY_CRITICAL: 12 }, { BATTERY_CRITICAL: 8 }, 'BATTERY_CRITICAL'],
    [{ alert_battery_threshold: 30 }, { alert_battery_threshold: 25 }, 'alert_battery_threshold'],
    [{ BATTERY_REPLACE_SOON: 60 }, { BATTERY_REPLACE_SOON: 40 }, 'BATTERY_REPLACE_SOON'],
    [{ MINUTES_CRITICAL: 20 }, { MINUTES_CRITICAL: 10 }, 'MINUTES_CRITICAL'],
    [{ MINUTES_LOW: 60 }, { MINUTES_LOW: 50 }, 'MINUTES_LOW'],
    [{ RF_NOISE_DBM: -80 }, { RF_NOISE_DBM: -70 }, 'RF_NOISE_DBM'],
    [{ RF_WEAK_DBM: -80 }, { RF_WEAK_DBM: -90 }, 'RF_WEAK_DBM'],
    [{ NO_AUDIO_MINUTES: 3 }, { NO_AUDIO_MINUTES: 5 }, 'NO_AUDIO_MINUTES'],
    [{ NO_AUDIO_MINUTES: 240 }, { NO_AUDIO_MINUTES: 0 }, 'NO_AUDIO_MINUTES'],
    [{ MUTE_ATTENTION: 'always' }, { MUTE_ATTENTION: 'during_shows' }, 'MUTE_ATTENTION'],
    [{ MUTE_ATTENTION: 'during_shows' }, { MUTE_ATTENTION: 'never' }, 'MUTE_ATTENTION'],
  ])('of several groups, %j warns earlier than %j', (earlier, later, key) => {
    expect(resolveThresholds({}, {}, [earlier, later])[key]).toBe(earlier[key])
    expect(resolveThresholds({}, {}, [later, {}, earlier])[key]).toBe(earlier[key])
  })

  test('reduces a critical bound above the low bound to it', () => {
    const global = { BATTERY_CRITICAL: 30, alert_battery_threshold: 25, MINUTES_CRITICAL: 60 }
    expect(resolveThresholds(global, {}, [])).toMatchObject({
      BATTERY_CRITICAL: 25,
      alert_battery_threshold: 25,
      MINUTES_CRITICAL: 45,
      MINUTES_LOW: 45,
    })
  })

  test('keeps the limits of every key', () => {
    const scope = fc.record(
      {
        BATTERY_CRITICAL: fc.integer({ min: 0, max: 100 }),
        alert_battery_threshold: fc.integer({ min: 0, max: 100 }),
        NO_AUDIO_MINUTES: fc.integer({ min: 0, max: 240 }),
        RF_NOISE_DBM: fc.integer({ min: -120, max: -20 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(scope, scope, fc.array(scope, { maxLength: 4 }), (global, manufacturer, groups) => {
        const thresholds = resolveThresholds(global, manufacturer, groups)
        expect(thresholds.BATTERY_CRITICAL).toBeLessThanOrEqual(thresholds.alert_battery_threshold)
        expect(resolveThresholds(global, manufacturer, [...groups].reverse())).toEqual(thresholds)
      }),
    )
  })
})
