import { describe, expect, test } from 'vitest'
import { afterEvaluation, battery, hour, minute, off, offline, TestChannel } from './test-channel.ts'

describe('receiver_offline', () => {
  test('needs attention if the channel had a transmitter within 30 minutes before the receiver was last received', () => {
    const channel = afterEvaluation(new TestChannel().report())
    afterEvaluation(channel.wait(1000).report(off))
    afterEvaluation(channel.wait(30 * minute).report())
    expect(offline(channel).condition).toMatchObject({ severity: 'critical', attention: true })
  })

  test('is a warning without attention if the channel was not in use', () => {
    const channel = afterEvaluation(new TestChannel().report())
    afterEvaluation(channel.wait(1000).report(off))
    afterEvaluation(channel.wait(30 * minute + 1).report())
    expect(offline(channel).condition).toMatchObject({ severity: 'warning', attention: false })
  })

  test('is a warning on a channel that never had a transmitter', () => {
    const channel = afterEvaluation(new TestChannel().report(off))
    expect(offline(channel).condition).toMatchObject({ severity: 'warning', attention: false })
  })

  test('does not become less severe while the receiver is away, or by a restart', () => {
    const channel = afterEvaluation(new TestChannel().report())
    const before = offline(channel).condition
    expect(channel.wait(5 * hour).condition).toBe(before)
    expect(channel.restart(5 * hour).condition).toEqual(before)
  })

  test('hides all rows that need current data', () => {
    const channel = new TestChannel().report({
      transmitter: { battery: 5, rf_level: -90, audio_level: 0, details: { muted: true } },
      details: { encryption: 'error', interference: true },
    })
    expect(offline(channel.wait(1000)).rows).toEqual(['receiver_offline'])
  })

  test('takes precedence over stale', () => {
    expect(offline(new TestChannel().report()).wait(hour).rows).toEqual(['receiver_offline'])
  })
})

describe('stale', () => {
  test.each([
    [1000, 30_000],
    [10_000, 30_000],
    [20_000, 60_000],
  ])('begins after three intervals of %i ms or 30 s, whichever is longer', (intervalMs, staleAfter) => {
    const channel = new TestChannel().report()
    channel.intervalMs = intervalMs
    expect(channel.evaluate().dueAt).toBe(channel.now + staleAfter)
    expect(channel.wait(staleAfter - 1).state).toBe('ok')
    expect(channel.wait(1).state).toBe('stale')
  })

  test('is prevented, and ended, by anything that is received', () => {
    const channel = new TestChannel().report()
    expect(channel.wait(29_000).receiveKeepAlive().wait(29_000).state).toBe('ok')
    expect(channel.wait(1000).state).toBe('stale')
    expect(channel.receiveKeepAlive().state).toBe('ok')
  })

  test('leaves battery_critical the state and becomes its flag', () => {
    const channel = new TestChannel().report(battery(8))
    expect(channel.wait(30_000).rows).toEqual(['battery_critical', 'stale', 'battery_low', 'battery_replace_soon'])
    expect(channel.condition.severity).toBe('critical')
  })

  test('takes precedence over the other battery rows, which become flags', () => {
    const channel = new TestChannel().report(battery(18))
    expect(channel.wait(30_000).rows).toEqual(['stale', 'battery_low', 'battery_replace_soon'])
  })

  test('hides the rows that need current data', () => {
    const channel = new TestChannel().report({
      transmitter: { rf_level: -90, audio_level: 0, battery: null, details: { muted: true } },
      details: { encryption: 'error', interference: true },
    })
    expect(channel.wait(30_000).rows).toEqual(['stale'])
    expect(new TestChannel().report(off).wait(30_000).rows).toEqual(['stale'])
  })

  test('keeps battery_died as a flag', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(8)))
    afterEvaluation(channel.report(off))
    expect(channel.wait(30_000).rows).toEqual(['stale', 'battery_died'])
  })
})

// Conformance: C-22.3.
describe('no_levels', () => {
  const weak = { transmitter: { rf_level: -95, audio_level: 0 }, details: { interference: true } }

  test('is a warning with attention while a transmitter is on', () => {
    const channel = new TestChannel().report()
    channel.levels = 'lost'
    expect(channel.condition).toMatchObject({ state: 'no_levels', severity: 'warning', attention: true, flags: [] })
    expect(channel.report(off).condition).toMatchObject({ state: 'no_levels', attention: false, flags: ['tx_off'] })
  })

  test('hides the rows that need RF or audio, and the battery as little as stale does', () => {
    const channel = afterEvaluation(new TestChannel().report(weak).wait(5000).report(weak))
    expect(channel.rows).toEqual(expect.arrayContaining(['interference', 'rf_weak', 'clipping', 'rf_fair']))
    channel.levels = 'lost'
    expect(channel.rows).toEqual(['no_levels'])
    expect(channel.report({ transmitter: { battery: 5, details: { muted: true } } }).rows).toEqual([
      'battery_critical',
      'no_levels',
      'battery_low',
      'muted',
      'battery_replace_soon',
    ])
  })

  test('is not evaluated while the receiver is stale or offline', () => {
    const channel = new TestChannel().report()
    channel.levels = 'lost'
    expect(channel.wait(30_000).rows).toEqual(['stale'])
    expect(offline(channel).rows).toEqual(['receiver_offline'])
  })

  test('remains after a restart until it is known whether levels arrive', () => {
    const channel = new TestChannel().report()
    channel.levels = 'unknown'
    expect(channel.state).toBe('ok')
    channel.levels = 'lost'
    afterEvaluation(channel)
    channel.levels = 'unknown'
    expect(channel.restart(1000).report().state).toBe('no_levels')
    channel.levels = 'current'
    expect(channel.state).toBe('ok')
  })
})
