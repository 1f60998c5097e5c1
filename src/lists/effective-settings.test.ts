import { describe, expect, it } from 'vitest'
import { buildGroup } from '../../test/support/builders.ts'
import type { SettingRecord } from '../domain/settings.ts'
import { SourceRegistry } from '../sources/source-registry.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { EffectiveSettings } from './effective-settings.ts'
import { StoredLists } from './stored-lists.ts'

const drums = buildGroup(1, { title: 'Drums', slots: [1, 2] })
const choir = buildGroup(2, { title: 'Choir', slots: [2, 3], manufacturer: 'shure' })

function open(settings: readonly SettingRecord[]) {
  const lists = new StoredLists()
  lists.current = { ...lists.current, settings, groups: [drums, choir] }
  const sourceRegistry = new SourceRegistry({ throttle: createRequestThrottle(), destinations: createDestinations() })
  return new EffectiveSettings(lists, sourceRegistry, { defaultInterval: 10, isBroadcasting: true })
}

const ofGroup = (group: number, key: string, value: string): SettingRecord => ({
  manufacturer: null,
  group,
  key,
  value,
})
const ofShure = (key: string, value: string): SettingRecord => ({ manufacturer: 'shure', group: null, key, value })

describe('EffectiveSettings', () => {
  // Conformance: C-10.11.
  it('returns the thresholds of a slot: of several groups, the one that warns earlier', () => {
    const settings = open([
      ofShure('alert_battery_threshold', '25'),
      ofGroup(1, 'alert_battery_threshold', '30'),
      ofGroup(2, 'alert_battery_threshold', '40'),
    ])
    const thresholdOf = (slot: number) => settings.thresholds('shure', slot).alert_battery_threshold
    expect([1, 2, 3, 4].map(thresholdOf)).toEqual([30, 40, 40, 25])
    expect(settings.thresholds('sennheiser', 4).alert_battery_threshold).toBe(20)
  })

  it('returns the alert settings of a channel, of a receiver and of a source', () => {
    const settings = open([
      ofShure('alert_stale_enabled', 'false'),
      ofShure('alert_stale_delay_seconds', '20'),
      ofGroup(1, 'alert_stale_enabled', 'true'),
      ofGroup(2, 'alert_stale_severity', 'critical'),
    ])
    const of = (...slots: number[]) => settings.alertSettings('stale', { manufacturer: 'shure', slots })
    expect(of()).toEqual({ isEnabled: false, delaySeconds: 20, severity: null })
    expect(of(1)).toEqual({ isEnabled: true, delaySeconds: 20, severity: null })
    expect(of(3, 1)).toEqual({ isEnabled: true, delaySeconds: 20, severity: 'critical' })
    const service = settings.alertSettings('storage_failing', { manufacturer: null, slots: [] })
    expect(service).toEqual({ isEnabled: true, delaySeconds: 0, severity: null })
  })

  it('uses the values of the manufacturer of a group that does not set its own', () => {
    const settings = open([ofShure('RF_WEAK_DBM', '-90')])
    expect(settings.inScope({ manufacturer: null, group: 1 }).RF_WEAK_DBM).toBe(-85)
    expect(settings.inScope({ manufacturer: null, group: 2 }).RF_WEAK_DBM).toBe(-90)
  })
})
