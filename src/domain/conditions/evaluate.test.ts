import { describe, expect, test } from 'vitest'
import { conditionStates } from '../../contract/values.ts'
import { conditionTable, unmonitoredCondition } from './condition.ts'
import {
  afterEvaluation,
  battery,
  hour,
  minute,
  off,
  offline,
  quiet,
  startOfTest,
  TestChannel,
} from './test-channel.ts'

describe('the table', () => {
  test('lists the states in order of precedence', () => {
    expect(conditionStates).toEqual([
      'receiver_offline',
      'stale',
      'no_levels',
      'encryption_error',
      'battery_critical',
      'battery_died',
      'interference',
      'rf_weak',
      'battery_low',
      'no_audio',
      'muted',
      'clipping',
      'battery_replace_soon',
      'charging',
      'tx_off',
      'no_battery_data',
      'ok',
      'unmonitored',
    ])
    expect(conditionTable.map(({ state }) => state)).toEqual(conditionStates)
  })

  /** Each row, a channel that produces it, and the expected result. */
  test.each<[string, (channel: TestChannel) => TestChannel, string, boolean]>([
    ['receiver_offline', (c) => offline(c), 'critical', true],
    ['stale', (c) => c.report().wait(30_000), 'warning', true],
    ['encryption_error', (c) => c.report({ details: { encryption: 'error' } }), 'critical', true],
    ['battery_critical', (c) => c.report(battery(10)), 'critical', true],
    ['battery_died', (c) => afterEvaluation(c.report(battery(10))).report(off), 'critical', true],
    ['interference', (c) => c.report({ details: { interference: true } }), 'warning', true],
    ['rf_weak', (c) => c.report({ transmitter: { rf_level: -86 } }).wait(1000), 'warning', true],
    ['battery_low', (c) => c.report(battery(20)), 'warning', true],
    ['no_audio', (c) => quiet(c).wait(minute).receiveKeepAlive(), 'warning', true],
    ['muted', (c) => c.report({ details: { muted: true } }), 'info', false],
    ['clipping', (c) => c.report({ details: { audio_peak: 0 } }), 'info', false],
    ['battery_replace_soon', (c) => c.report(battery(50)), 'info', false],
    ['tx_off', (c) => c.report(off), 'info', false],
    ['no_battery_data', (c) => c.report(battery(null)), 'ok', false],
    ['ok', (c) => c.report(), 'ok', false],
  ])('%s has its severity and attention', (state, arrange, severity, attention) => {
    expect(arrange(new TestChannel()).condition).toMatchObject({ state, severity, attention })
  })

  test('gives placeholders a condition of their own', () => {
    expect(unmonitoredCondition(7)).toEqual({
      state: 'unmonitored',
      severity: 'ok',
      attention: false,
      since: 7,
      since_known: true,
      flags: [],
    })
  })

  test('puts every other row that is true into the flags, in table order', () => {
    const channel = new TestChannel().report({
      transmitter: { battery: 9, rf_level: -90, audio_level: 0, details: { muted: true } },
      details: { encryption: 'error', interference: true },
    })
    expect(channel.wait(1000).rows).toEqual([
      'encryption_error',
      'battery_critical',
      'interference',
      'rf_weak',
      'battery_low',
      'muted',
      'clipping',
      'battery_replace_soon',
      'rf_fair',
    ])
  })

  test('flags a battery that is low as one to replace soon', () => {
    expect(new TestChannel().report(battery(18)).rows).toEqual(['battery_low', 'battery_replace_soon'])
  })
})

describe('encryption_error', () => {
  test('needs a transmitter', () => {
    expect(new TestChannel().report({ ...off, details: { encryption: 'error' } }).rows).toEqual(['tx_off'])
  })

  test.each(['on', 'off'] as const)('is not true with encryption %s', (encryption) => {
    expect(new TestChannel().report({ details: { encryption } }).state).toBe('ok')
  })
})

describe('muted', () => {
  test('is true if the transmitter or the receiver is muted', () => {
    expect(new TestChannel().report({ transmitter: { details: { muted: true } } }).state).toBe('muted')
    expect(new TestChannel().report({ details: { muted: true } }).state).toBe('muted')
    expect(new TestChannel().report({ details: { muted: false } }).state).toBe('ok')
  })

  test('needs a transmitter', () => {
    expect(new TestChannel().report({ ...off, details: { muted: true } }).rows).toEqual(['tx_off'])
  })

  test.each([
    ['never', [], false],
    ['never', [1], false],
    ['during_shows', [], false],
    ['during_shows', [1], true],
    ['always', [], true],
    ['always', [1], true],
  ] as const)('with MUTE_ATTENTION %s and the shows %j, attention is %s', (MUTE_ATTENTION, shows, attention) => {
    const channel = new TestChannel().set({ MUTE_ATTENTION }).report({ details: { muted: true } })
    channel.shows = shows
    expect(channel.condition.attention).toBe(attention)
  })

  test('keeps its start when a show begins', () => {
    const channel = new TestChannel().report({ details: { muted: true } })
    const before = channel.condition
    channel.wait(1000).shows = [1]
    expect(channel.condition).toEqual({ ...before, attention: true })
  })
})

describe('since', () => {
  test('is the time at which the state began, and flags, severity and attention do not move it', () => {
    const channel = new TestChannel().report()
    expect(channel.condition.since).toBe(startOfTest)
    expect(channel.wait(5000).report({ transmitter: { rf_level: -80 } }).condition).toMatchObject({
      since: startOfTest,
      flags: ['rf_fair'],
    })
    expect(channel.wait(5000).report(battery(18)).condition.since).toBe(startOfTest + 10_000)
  })

  // Conformance: C-22.31, C-22.32.
  test('is not known of the first state, nor of a state that began while nothing was received', () => {
    const channel = afterEvaluation(new TestChannel().report())
    expect(channel.condition).toMatchObject({ since: startOfTest, since_known: false })
    expect(channel.wait(1000).report(battery(18)).condition).toMatchObject({ state: 'battery_low', since_known: true })
    const stale = channel.wait(30_000).condition
    expect(stale).toMatchObject({ state: 'stale', since_known: true, values_at: startOfTest + 1000 })
    const back = channel.wait(1000).report(off).condition
    expect(back).toMatchObject({ state: 'tx_off', since: startOfTest + 32_000, since_known: false })
    expect(back).not.toHaveProperty('values_at')
    expect(channel.wait(1000).report({ transmitter: {} }).condition).toMatchObject({ state: 'ok', since_known: true })
    afterEvaluation(channel.restart(hour).report(off))
    expect(channel.condition).toMatchObject({ state: 'tx_off', since: channel.wall, since_known: false })
  })

  test('survives a restart', () => {
    const channel = afterEvaluation(new TestChannel().report())
    const { since } = channel.wait(1000).report(battery(18)).condition
    expect(channel.restart(hour).condition).toMatchObject({ since, since_known: true })
    expect(channel.report().condition).toMatchObject({ since, since_known: true })
  })
})

describe('a restart', () => {
  const arranged: [string, () => TestChannel][] = [
    ['ok', () => new TestChannel().report()],
    ['rf_weak', () => new TestChannel().report({ transmitter: { rf_level: -90 } }).wait(1000)],
    ['rf_fair', () => new TestChannel().report({ transmitter: { rf_level: -80 } })],
    ['interference', () => new TestChannel().report({ ...off, rf_level: -60 }).wait(2000)],
    ['clipping', () => new TestChannel().report({ details: { audio_peak: 0 } })],
    ['no_audio', () => quiet(new TestChannel()).wait(minute).receiveKeepAlive()],
    ['stale', () => new TestChannel().report(battery(18)).wait(30_000)],
    ['receiver_offline', () => offline(new TestChannel().report())],
    ['battery_died', () => afterEvaluation(new TestChannel().report(battery(8))).report(off)],
  ]

  test.each(arranged)('shows the stored condition until the receiver reports: %s', (_, arrange) => {
    const channel = arrange()
    const before = channel.condition
    channel.restart(hour)
    // The database may contain older values than the stored condition.
    const { transmitter, details } = new TestChannel().report(battery(80)).channel
    channel.channel = { ...channel.channel, transmitter, rf_level: -50, details: { ...details, audio_peak: -20 } }
    expect(channel.condition).toEqual(before)
    expect(channel.wait(29_999).condition).toEqual(before)
    expect(channel.receiveKeepAlive().condition).toEqual(before)
  })

  const received = arranged.filter(([name]) => name !== 'stale' && name !== 'receiver_offline')

  test.each(received)('continues the condition if the first report is as before: %s', (_, arrange) => {
    const channel = arrange()
    const before = channel.condition
    expect(channel.restart(hour).report().condition).toEqual(before)
  })

  test('makes a receiver stale only after the time that is allowed since then', () => {
    const channel = afterEvaluation(new TestChannel().report()).restart(hour)
    expect(channel.evaluate().dueAt).toBe(channel.now + 30_000)
    expect(channel.wait(29_999).state).toBe('ok')
    expect(channel.wait(1).state).toBe('stale')
  })

  test('ends a stored stale with the first report, not with the first byte', () => {
    const channel = afterEvaluation(new TestChannel().report().wait(30_000)).restart(hour)
    expect(channel.state).toBe('stale')
    expect(channel.receiveKeepAlive().state).toBe('stale')
    expect(channel.report().state).toBe('ok')
  })

  test('ends a held row as usual after the first sample', () => {
    const channel = afterEvaluation(new TestChannel().report({ transmitter: { rf_level: -90 } }).wait(1000))
    channel.restart(hour).report({ transmitter: { rf_level: -50 } })
    expect(channel.wait(2999).state).toBe('rf_weak')
    expect(channel.wait(1).state).toBe('ok')
  })
})

describe('the last transmitter', () => {
  test('is given while there is none, as it was last reported', () => {
    const channel = new TestChannel().report(battery(18, 22))
    expect(channel.evaluate().lastTransmitter).toBeNull()
    channel.wait(9000).report(off)
    const lastTransmitter = { name: 'Y13 Nora', battery: 18, minutes_left: 22, last_seen: startOfTest + 9000 }
    expect(channel.evaluate().lastTransmitter).toEqual(lastTransmitter)
    expect(channel.wait(hour).evaluate().lastTransmitter).toEqual(lastTransmitter)
    expect(channel.restart(hour).evaluate().lastTransmitter).toEqual(lastTransmitter)
    expect(channel.report(battery(90)).evaluate().lastTransmitter).toBeNull()
  })

  test('may have null in every field but the time', () => {
    const channel = afterEvaluation(new TestChannel().report({ transmitter: { name: null, battery: null } }))
    const expected = { name: null, battery: null, minutes_left: null, last_seen: startOfTest }
    expect(channel.report(off).evaluate().lastTransmitter).toEqual(expected)
  })

  test('is forgotten after 7 days, without a report', () => {
    const channel = afterEvaluation(new TestChannel().report())
    channel.report(off).intervalMs = 30 * 24 * hour
    expect(channel.evaluate().dueAt).toBe(channel.now + 7 * 24 * hour)
    expect(channel.wait(7 * 24 * hour - 1).evaluate().lastTransmitter).not.toBeNull()
    expect(channel.wait(1).evaluate().lastTransmitter).toBeNull()
  })

  test('was last seen before the restart if it switched off meanwhile', () => {
    const channel = afterEvaluation(new TestChannel().report())
    afterEvaluation(channel.restart(hour))
    // The source responds before it reports this receiver.
    afterEvaluation(channel.receiveKeepAlive())
    expect(channel.wait(100).report(off).evaluate().lastTransmitter?.last_seen).toBe(startOfTest)
  })

  test('was last seen when its receiver was last received', () => {
    const channel = afterEvaluation(new TestChannel().report())
    afterEvaluation(offline(channel.wait(hour)))
    channel.isActive = true
    expect(channel.wait(hour).report(off).evaluate().lastTransmitter?.last_seen).toBe(startOfTest)
  })
})

describe('an evaluation that changes nothing', () => {
  test('returns the same condition and the same memory', () => {
    const channel = new TestChannel().report(battery(18))
    const { condition, memory } = channel.evaluate()
    const again = channel.wait(100).report().evaluate()
    expect(again.condition).toBe(condition)
    expect(again.memory).toBe(memory)
  })
})

// Conformance: C-24.21.
test.each(['charging', 'full'] as const)('is charging while a pack that is off is %s in its charger', (charging) => {
  const docked = new TestChannel().report({ transmitter: null, details: { charging } })
  expect(docked.condition).toMatchObject({ state: 'charging', severity: 'ok', attention: false, flags: ['tx_off'] })
  expect(docked.report({ transmitter: null, details: { charging: null } }).condition.state).toBe('tx_off')
})
