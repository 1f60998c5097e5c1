import { describe, expect, it } from 'vitest'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { buildAlert, buildGroup } from '../../test/support/builders.ts'
import { type AlarmChoice, everyAlarm, formatAlarmChoice, listAlarms, parseAlarmChoice } from './alarm-choice.ts'
import type { WatchState } from './watch-state.ts'

const band = buildGroup(3, { title: 'Band', slots: [11] })

/** Receiver 1 has channel 1 in slot 11 and channel 2 in slot 12. */
function ids(alerts: readonly AlertBody[], choice: Partial<AlarmChoice> = {}, groups = [band]): number[] {
  const channels = [1, 2].map((id) => ({ id, slot: 10 + id }))
  const receivers = new Map([[1, { id: 1, channels }]]) as unknown as WatchState['receivers']
  return listAlarms({ alerts, receivers, groups }, { ...everyAlarm, ...choice }).map(({ id }) => id)
}

describe('listAlarms', () => {
  it('leaves out alerts that are acknowledged, snoozed, silenced or only for information', () => {
    const alerts = [
      buildAlert({ id: 1 }),
      buildAlert({ id: 2, state: 'acknowledged' }),
      buildAlert({ id: 3, state: 'snoozed' }),
      buildAlert({ id: 4, silenced: true }),
      buildAlert({ id: 5, severity: 'info' }),
      buildAlert({ id: 6, severity: 'critical', kind: 'kind_of_a_newer_version' }),
    ]
    expect(ids(alerts)).toEqual([1, 6])
  })

  it('follows the severity and the kinds of the device', () => {
    const alerts = [
      buildAlert({ id: 1, severity: 'critical', kind: 'battery_critical' }),
      buildAlert({ id: 2, kind: 'rf_weak' }),
      buildAlert({ id: 3, kind: 'battery_low' }),
    ]
    expect(ids(alerts, { severity: 'critical' })).toEqual([1])
    expect(ids(alerts, { mutedKinds: ['rf_weak'] })).toEqual([1, 3])
  })

  it('follows the groups of the device; alerts about a source concern every group', () => {
    const alerts = [
      buildAlert({ id: 1, channel_id: 1 }),
      buildAlert({ id: 2, channel_id: 2 }),
      buildAlert({ id: 3, channel_id: null, kind: 'receiver_offline' }),
      buildAlert({ id: 4, channel_id: null, receiver_id: null, kind: 'upstream_failing' }),
      buildAlert({ id: 5, channel_id: 9, receiver_id: 9 }),
    ]
    expect(ids(alerts, { groups: [3] })).toEqual([1, 3, 4])
    expect(ids(alerts, { groups: [99] })).toEqual([1, 2, 3, 4, 5])
  })
})

describe('parseAlarmChoice', () => {
  it('keeps a valid choice', () => {
    const choice: AlarmChoice = { severity: 'critical', mutedKinds: ['rf_weak'], groups: [3] }
    expect(parseAlarmChoice(formatAlarmChoice(choice))).toEqual(choice)
  })

  // Conformance: C-21.96.
  it('mutes the kinds that did not exist when it was stored', () => {
    const stored = { severity: 'warning', mutedKinds: ['rf_weak'], groups: [] }
    expect(parseAlarmChoice(JSON.stringify(stored)).mutedKinds).toEqual([
      'levels_lost',
      'rf_weak',
      'audio_dropout',
      'audio_clipping',
      'muted',
      'off_plan',
      'unknown_carrier',
      'equipment_fault',
      'backup_failed',
    ])
    expect(parseAlarmChoice(null)).toEqual(everyAlarm)
  })

  it.each(['', '[]', '{"severity": 1, "mutedKinds": ["x", 2], "groups": ["3"]}'])(
    'replaces the invalid parts of %s by the defaults of 1.0.0',
    (text) =>
      expect(parseAlarmChoice(text)).toEqual({
        ...everyAlarm,
        mutedKinds: [
          'levels_lost',
          'audio_dropout',
          'audio_clipping',
          'muted',
          'off_plan',
          'unknown_carrier',
          'equipment_fault',
          'backup_failed',
        ],
      }),
  )
})
