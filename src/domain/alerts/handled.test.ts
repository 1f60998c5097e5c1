import { describe, expect, test } from 'vitest'
import { HandledChannels } from './handled.ts'

type Alert = ConstructorParameters<typeof HandledChannels>[0] extends Iterable<infer Item> ? Item : never
type TestCondition = Parameters<HandledChannels['has']>[3]

const low: TestCondition = { state: 'battery_low', attention: true, flags: [] }
const ofChannel = { state: 'raised', silenced: false, manufacturer: 'shure', receiver_id: 1, channel_id: 11 } as const
const ofReceiver = { ...ofChannel, kind: 'receiver_offline', channel_id: null } as const
const ofSource = { ...ofReceiver, kind: 'upstream_failing', receiver_id: null } as const
const acknowledged = { state: 'acknowledged' } as const

function isHandled(condition: TestCondition, ...alerts: Alert[]): boolean {
  return new HandledChannels(alerts).has('shure', 1, 11, condition)
}

describe('HandledChannels', () => {
  test.each([
    ['raised', false, false],
    ['raised', true, true],
    ['snoozed', false, true],
    ['acknowledged', false, true],
  ] as const)('with a %s alert, silenced: %s, a channel is handled: %s', (state, silenced, expected) => {
    expect(isHandled(low, { ...ofChannel, kind: 'battery_low', state, silenced })).toBe(expected)
  })

  test('no channel is handled that needs no attention, or has no alert yet', () => {
    expect(isHandled({ ...low, attention: false }, { ...ofChannel, kind: 'battery_low', ...acknowledged })).toBe(false)
    expect(isHandled(low)).toBe(false)
  })

  test('every cause must be handled; the battery has one alert', () => {
    const battery = { ...ofChannel, kind: 'battery_critical', ...acknowledged } as const
    const critical = { ...low, state: 'battery_critical', flags: ['battery_low', 'battery_replace_soon'] }
    expect(isHandled(critical, battery)).toBe(true)
    expect(isHandled({ ...critical, flags: ['rf_weak'] }, battery)).toBe(false)
    expect(isHandled({ ...critical, flags: ['rf_weak'] }, battery, { ...ofChannel, kind: 'rf_weak' })).toBe(false)
  })

  test('the alert about the receiver covers its channels while it is offline', () => {
    const offline = { state: 'receiver_offline', attention: true, flags: ['battery_died'] }
    expect(isHandled(offline, ofReceiver)).toBe(false)
    expect(isHandled(offline, { ...ofReceiver, ...acknowledged })).toBe(true)
  })

  test('the alerts about the sources cover what follows from them, if all are handled', () => {
    const stale = { state: 'stale', attention: true, flags: [] }
    expect(isHandled(stale, { ...ofSource, ...acknowledged })).toBe(true)
    expect(isHandled(stale, { ...ofSource, ...acknowledged }, ofSource)).toBe(false)
    expect(isHandled({ ...stale, state: 'receiver_offline' }, { ...ofSource, ...acknowledged })).toBe(true)
    expect(isHandled(low, { ...ofSource, ...acknowledged })).toBe(false)
  })

  test('a mute beside another cause counts while it has an alert', () => {
    const battery = { ...ofChannel, kind: 'battery_low', ...acknowledged } as const
    const muted = { ...ofChannel, kind: 'muted' } as const
    const both = { ...low, flags: ['muted'] }
    expect(isHandled(both, battery)).toBe(true)
    expect(isHandled(both, battery, muted)).toBe(false)
    expect(isHandled(both, battery, { ...muted, state: 'snoozed' })).toBe(true)
    expect(isHandled({ ...low, state: 'muted' }, battery)).toBe(false)
    expect(isHandled({ ...low, state: 'muted' }, { ...muted, state: 'snoozed' })).toBe(true)
  })

  test('the alert about lost levels covers the channels of its receiver', () => {
    const lost = { state: 'no_levels', attention: true, flags: [] }
    const alert = { ...ofReceiver, kind: 'levels_lost' } as const
    expect(isHandled(lost)).toBe(false)
    expect(isHandled(lost, alert)).toBe(false)
    expect(isHandled(lost, { ...alert, ...acknowledged })).toBe(true)
  })
})
