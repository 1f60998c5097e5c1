import { describe, expect, test } from 'vitest'
import { defaultSettings } from '../../contract/settings.ts'
import { mustBeReplacedSoon } from './battery.ts'
import { acknowledgeBatteryDied } from './memory.ts'
import { afterEvaluation, battery, hour, minute, off, offline, startOfTest, TestChannel } from './test-channel.ts'

test.each<[number | null, number, boolean]>([
  [50, 50, true],
  [51, 50, false],
  [55, 60, true],
  [null, 50, false],
])('a battery of %s%% with a limit of %s%% must be replaced soon: %s', (percent, limit, expected) => {
  expect(mustBeReplacedSoon(percent, { ...defaultSettings, BATTERY_REPLACE_SOON: limit })).toBe(expected)
})

describe('the battery rows', () => {
  test.each([
    [10, null, 'battery_critical'],
    [11, null, 'battery_low'],
    [20, null, 'battery_low'],
    [21, null, 'battery_replace_soon'],
    [50, null, 'battery_replace_soon'],
    [51, null, 'ok'],
    [null, 15, 'battery_critical'],
    [null, 16, 'battery_low'],
    [null, 45, 'battery_low'],
    [null, 46, 'ok'],
    [90, 15, 'battery_critical'],
    [90, 45, 'battery_low'],
    [10, 300, 'battery_critical'],
    [null, null, 'no_battery_data'],
  ])('at %s %% and %s minutes the state is %s', (percent, minutes, state) => {
    expect(new TestChannel().report(battery(percent, minutes)).state).toBe(state)
  })

  test.each([
    [10, 14, 15, 'battery_critical', 'battery_low'],
    [20, 24, 25, 'battery_low', 'battery_replace_soon'],
    [50, 54, 55, 'battery_replace_soon', 'ok'],
  ])('a row entered at %i %% is kept at %i %% and left at %i %%', (enter, keep, leave, row, next) => {
    const channel = new TestChannel()
    expect(channel.report(battery(enter)).state).toBe(row)
    expect(channel.report(battery(keep)).state).toBe(row)
    expect(channel.report(battery(leave)).state).toBe(next)
    expect(channel.report(battery(keep)).state).toBe(next)
  })

  test.each([
    [15, 19, 20, 'battery_critical', 'battery_low'],
    [45, 49, 50, 'battery_low', 'ok'],
  ])('a row entered at %i minutes is kept at %i minutes and left at %i minutes', (enter, keep, leave, row, next) => {
    const channel = new TestChannel()
    expect(channel.report(battery(null, enter)).state).toBe(row)
    expect(channel.report(battery(null, keep)).state).toBe(row)
    expect(channel.report(battery(null, leave)).state).toBe(next)
  })

  test('a row is left only when both percent and minutes are above its bounds', () => {
    const channel = new TestChannel()
    channel.report(battery(80, 40)).evaluate()
    expect(channel.report(battery(22, 60)).state).toBe('battery_low')
    expect(channel.report(battery(60, 60)).state).toBe('ok')
  })

  test('a row is kept while the same transmitter reports no battery', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(10)))
    expect(channel.report(battery(null)).rows).toEqual([
      'battery_critical',
      'battery_low',
      'battery_replace_soon',
      'no_battery_data',
    ])
  })

  test('a row is left at once when another transmitter is received', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(8)))
    expect(channel.report(battery(12)).state).toBe('battery_critical')
    expect(channel.report({ transmitter: { name: 'Y14 Paul', battery: 12 } }).state).toBe('battery_low')
  })

  test('the same transmitter, received again, keeps its row', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(8)))
    afterEvaluation(channel.report(off))
    expect(channel.report(battery(12)).state).toBe('battery_critical')
  })

  test('a name that becomes known does not make another transmitter', () => {
    const channel = afterEvaluation(new TestChannel().report({ transmitter: { name: null, battery: 8 } }))
    expect(channel.report({ transmitter: { name: 'Y13 Nora', battery: 12 } }).state).toBe('battery_critical')
  })

  test('a full battery leaves every row whose bound it exceeds', () => {
    const channel = new TestChannel().set({ BATTERY_REPLACE_SOON: 99 })
    expect(channel.report(battery(99)).state).toBe('battery_replace_soon')
    expect(channel.report(battery(100)).state).toBe('ok')
  })

  test('other bounds are a new start', () => {
    const channel = new TestChannel()
    expect(channel.report(battery(18)).state).toBe('battery_low')
    expect(channel.set({ alert_battery_threshold: 15 }).state).toBe('battery_replace_soon')
    expect(channel.set({ alert_battery_threshold: 18 }).state).toBe('battery_low')
  })

  test('hysteresis survives a restart', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(10)))
    expect(channel.restart(minute).report(battery(14)).state).toBe('battery_critical')
  })

  test('a low-battery warning of the equipment is a low battery', () => {
    const channel = new TestChannel()
    expect(channel.report({ transmitter: { battery: null, details: { battery_low: true } } }).state).toBe('battery_low')
    expect(channel.report({ transmitter: { details: { battery_low: false } } }).state).toBe('no_battery_data')
  })

  test('need a transmitter', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(18)))
    expect(channel.report(off).rows).toEqual(['tx_off'])
  })
})

describe('battery_died', () => {
  const afterLossAt = (percent: number | null, minutes?: number, shows: readonly number[] = []) => {
    const channel = new TestChannel().report(battery(percent, minutes))
    channel.shows = shows
    channel.evaluate()
    return channel.wait(500).report(off)
  }

  test.each([
    [10, undefined, 'battery_died'],
    [11, undefined, 'tx_off'],
    [null, 15, 'battery_died'],
    [null, 16, 'tx_off'],
  ])('after a last reading of %s %% and %s minutes the state is %s', (percent, minutes, state) => {
    expect(afterLossAt(percent, minutes).state).toBe(state)
  })

  test('has the flag tx_off', () => {
    expect(afterLossAt(8).rows).toEqual(['battery_died', 'tx_off'])
  })

  test('begins at the low bound while a show runs that has this channel', () => {
    expect(afterLossAt(20, undefined, [1]).state).toBe('battery_died')
    expect(afterLossAt(21, undefined, [1]).state).toBe('tx_off')
  })

  test('is not caused by a show that begins later', () => {
    const channel = afterEvaluation(afterLossAt(20))
    channel.shows = [1]
    expect(channel.state).toBe('tx_off')
  })

  test('ends when a transmitter is received', () => {
    const channel = afterEvaluation(afterLossAt(8))
    expect(channel.report(battery(90)).state).toBe('ok')
    expect(channel.report(off).state).toBe('tx_off')
  })

  test('ends when it is acknowledged', () => {
    const channel = afterEvaluation(afterLossAt(8))
    const acknowledged = channel.memory && acknowledgeBatteryDied(channel.memory, startOfTest + hour)
    expect(acknowledged?.condition).toEqual({
      state: 'tx_off',
      severity: 'info',
      attention: false,
      since: startOfTest + hour,
      since_known: true,
      flags: [],
    })
    channel.memory = acknowledged
    expect(channel.condition).toBe(acknowledged?.condition)
    expect(channel.restart(minute).report(off).state).toBe('tx_off')
  })

  test.each([8, 18])('ends with the show during which the battery died at %i %%', (percent) => {
    const channel = afterEvaluation(afterLossAt(percent, undefined, [1]))
    channel.shows = [1, 2]
    expect(channel.state).toBe('battery_died')
    channel.shows = [2]
    expect(channel.state).toBe('tx_off')
    channel.shows = [1, 2]
    expect(channel.state).toBe('tx_off')
  })

  test('does not end with a show that began after it', () => {
    const channel = afterEvaluation(afterLossAt(8))
    channel.shows = [1]
    channel.evaluate()
    channel.shows = []
    expect(channel.state).toBe('battery_died')
  })

  test('ends after 12 hours, without a report', () => {
    const channel = afterLossAt(8)
    channel.intervalMs = 24 * hour
    expect(channel.evaluate().dueAt).toBe(channel.now + 12 * hour)
    expect(channel.wait(12 * hour - 1).state).toBe('battery_died')
    expect(channel.wait(1).state).toBe('tx_off')
  })

  test('survives a restart, and counts the time away as time', () => {
    const channel = afterEvaluation(afterLossAt(8))
    expect(channel.restart(11 * hour).state).toBe('battery_died')
    expect(channel.report(off).state).toBe('battery_died')
    expect(channel.restart(hour).report(off).state).toBe('tx_off')
  })

  test('is evaluated under the bounds of the last reading', () => {
    const channel = afterEvaluation(afterLossAt(12))
    channel.thresholds = { ...channel.thresholds, BATTERY_CRITICAL: 15 }
    expect(channel.report(off).state).toBe('tx_off')
    const dead = afterEvaluation(afterLossAt(8))
    dead.thresholds = { ...dead.thresholds, BATTERY_CRITICAL: 5 }
    expect(dead.report(off).state).toBe('battery_died')
  })

  test('counts the last known reading if the battery becomes unknown before the transmitter switches off', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(8)))
    afterEvaluation(channel.report(battery(null)))
    expect(channel.report(off).state).toBe('battery_died')
  })

  test('begins after a restart if the transmitter switched off meanwhile', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(8)))
    expect(channel.restart(hour).state).toBe('battery_critical')
    expect(channel.report(off).state).toBe('battery_died')
    const later = afterEvaluation(new TestChannel().report(battery(8)))
    expect(later.restart(13 * hour).report(off).state).toBe('tx_off')
  })

  test('stays a flag while the receiver is offline', () => {
    expect(offline(afterEvaluation(afterLossAt(8))).rows).toEqual(['receiver_offline', 'battery_died'])
  })
})
