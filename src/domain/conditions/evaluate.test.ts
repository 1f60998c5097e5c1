import { describe, expect, test } from 'vitest'
import { conditionStates } from '../../contract/values.ts'
import { conditionTable, unmonitoredCondition } from './condition.ts'
import { resetWatch } from './level-watch.ts'
import { acknowledgeBatteryDied } from './memory.ts'
import { hour, minute, startOfTest, TestChannel } from './test-channel.ts'

const off = { transmitter: null }
const battery = (percent: number | null, minutes?: number | null) => ({
  transmitter: { battery: percent, ...(minutes !== undefined && { details: { battery_minutes: minutes } }) },
})

describe('the table', () => {
  test('lists the states in order of precedence', () => {
    expect(conditionStates).toEqual([
      'receiver_offline',
      'stale',
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
      'tx_off',
      'no_battery_data',
      'ok',
      'unmonitored',
    ])
    expect(conditionTable.map(({ state }) => state)).toEqual(conditionStates)
  })

  /** How to bring about each row, and what it must look like. */
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

function offline(channel: TestChannel): TestChannel {
  channel.isActive = false
  return channel
}

function afterEvaluation(channel: TestChannel): TestChannel {
  channel.evaluate()
  return channel
}

function quiet(channel: TestChannel, minutes = 1): TestChannel {
  return channel.set({ NO_AUDIO_MINUTES: minutes }).report({ transmitter: { audio_level: -61 } })
}

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

describe('encryption_error', () => {
  test('needs a transmitter', () => {
    expect(new TestChannel().report({ ...off, details: { encryption: 'error' } }).rows).toEqual(['tx_off'])
  })

  test.each(['on', 'off'] as const)('is not true with encryption %s', (encryption) => {
    expect(new TestChannel().report({ details: { encryption } }).state).toBe('ok')
  })
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
    channel.memory = channel.memory && acknowledgeBatteryDied(channel.memory)
    expect(channel.state).toBe('tx_off')
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

describe('interference', () => {
  test('is true as soon as the equipment reports it, with a transmitter and without', () => {
    expect(new TestChannel().report({ details: { interference: true } }).state).toBe('interference')
    expect(new TestChannel().report({ ...off, details: { interference: true } }).rows).toEqual([
      'interference',
      'tx_off',
    ])
  })

  test('is true after 2 s of RF over the bound on a channel without a transmitter, without a further report', () => {
    const channel = new TestChannel().report({ ...off, rf_level: -74 })
    expect(channel.evaluate().dueAt).toBe(channel.now + 2000)
    expect(channel.wait(1999).state).toBe('tx_off')
    expect(channel.wait(1).state).toBe('interference')
  })

  test('is not true at the bound, or with a transmitter', () => {
    expect(new TestChannel().report({ ...off, rf_level: -75 }).wait(5000).state).toBe('tx_off')
    expect(new TestChannel().report({ rf_level: -30 }).wait(5000).state).toBe('ok')
  })

  test('starts again after a break', () => {
    const channel = new TestChannel().report({ ...off, rf_level: -60 })
    channel.wait(1500).report({ rf_level: -80 }).wait(100).report({ rf_level: -60 })
    expect(channel.wait(1999).state).toBe('tx_off')
    expect(channel.wait(1).state).toBe('interference')
  })

  test('is held for 5 s', () => {
    const noisy = new TestChannel()
      .report({ ...off, rf_level: -60 })
      .wait(3000)
      .report({ rf_level: -100 })
    expect(noisy.evaluate().dueAt).toBe(noisy.now + 5000)
    expect(noisy.wait(4999).state).toBe('interference')
    expect(noisy.wait(1).state).toBe('tx_off')
    const reported = new TestChannel().report({ details: { interference: true } })
    reported.wait(100).report({ details: { interference: false } })
    expect(reported.wait(4999).state).toBe('interference')
    expect(reported.wait(1).state).toBe('ok')
  })

  test('is measured by the RF of an idle channel even if no antenna is in use', () => {
    const idle = new TestChannel().report({ ...off, rf_level: -60, details: { antennas: '' } })
    expect(idle.wait(2000).state).toBe('interference')
    const byAntenna = new TestChannel().report({ ...off, details: { rf_a: -100, rf_b: -60 } })
    expect(byAntenna.wait(2000).state).toBe('interference')
  })

  test('uses the bound in force', () => {
    const channel = new TestChannel().report({ ...off, rf_level: -80 })
    channel.wait(hour).set({ RF_NOISE_DBM: -90 })
    expect(channel.state).toBe('tx_off')
    expect(channel.wait(2000).state).toBe('interference')
  })
})

describe('rf_weak', () => {
  test('is true after 1 s, without a further report', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -86 } })
    expect(channel.evaluate().dueAt).toBe(channel.now + 1000)
    expect(channel.wait(999).rows).toEqual(['ok', 'rf_fair'])
    expect(channel.wait(1).rows).toEqual(['rf_weak'])
  })

  test('is not true at the bound', () => {
    expect(new TestChannel().report({ transmitter: { rf_level: -85 } }).wait(5000).state).toBe('ok')
  })

  test('is true under a link quality of 20 %', () => {
    expect(new TestChannel().report({ details: { quality: 19 } }).wait(1000).state).toBe('rf_weak')
    expect(new TestChannel().report({ details: { quality: 20 } }).wait(1000).state).toBe('ok')
  })

  test('does not begin after dropouts of less than 1 s, however many', () => {
    const channel = new TestChannel()
    for (let round = 0; round < 5; round += 1) {
      channel.report({ transmitter: { rf_level: -95 } }).wait(900)
      expect(channel.state).toBe('ok')
      channel.report({ transmitter: { rf_level: -50 } }).wait(100)
    }
  })

  test('is held for 3 s, also after a stretch that ended before it was evaluated', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -95 } })
    channel.wait(1000).report({ transmitter: { rf_level: -50 } })
    expect(channel.wait(2999).state).toBe('rf_weak')
    expect(channel.wait(1).state).toBe('ok')
  })

  test('continues if RF is weak again for 1 s while it is held', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -95 } })
    channel.wait(1000).report({ transmitter: { rf_level: -50 } })
    channel.wait(2000).report({ transmitter: { rf_level: -95 } })
    expect(channel.wait(1000).state).toBe('rf_weak')
    expect(channel.wait(10_000).state).toBe('rf_weak')
  })

  test('needs every antenna in use to be weak', () => {
    const weakOn = (antennas: string | null) =>
      new TestChannel().report({ details: { antennas, rf_a: -95, rf_b: -60, rf_c: -95, rf_d: -95 } }).wait(1000).state
    expect(weakOn('A')).toBe('rf_weak')
    expect(weakOn('ACD')).toBe('rf_weak')
    for (const letter of ['C', 'D']) expect(weakOn(letter)).toBe('rf_weak')
    expect(weakOn('AB')).toBe('ok')
    expect(weakOn('B')).toBe('ok')
    // rf_level, which is -50, is the only antenna.
    expect(weakOn(null)).toBe('ok')
  })

  test('uses rf_level if the antennas in use have no level of their own', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -95 }, details: { antennas: 'AB' } })
    expect(channel.wait(1000).state).toBe('rf_weak')
    expect(new TestChannel().report({ details: { antennas: 'AB' } }).wait(1000).rows).toEqual(['ok'])
  })

  test('is not evaluated from RF if no antenna is in use', () => {
    const details = { antennas: '', rf_a: -95 }
    expect(new TestChannel().report({ transmitter: { rf_level: -95 }, details }).wait(1000).rows).toEqual(['ok'])
  })

  test("uses the transmitter's level, else the channel's", () => {
    const strong = new TestChannel().report({ transmitter: { rf_level: -50 }, rf_level: -95 })
    expect(strong.wait(1000).state).toBe('ok')
    expect(new TestChannel().report({ transmitter: { rf_level: null }, rf_level: -95 }).wait(1000).state).toBe(
      'rf_weak',
    )
  })

  test('needs a transmitter, even while it is held', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -95 } }).wait(1000)
    expect(channel.report(off).state).toBe('tx_off')
    expect(new TestChannel().report({ ...off, rf_level: -95 }).wait(5000).state).toBe('tx_off')
  })

  test('uses the bound in force', () => {
    const channel = new TestChannel().set({ RF_WEAK_DBM: -60 }).report({ transmitter: { rf_level: -61 } })
    expect(channel.wait(1000).state).toBe('rf_weak')
  })
})

describe('rf_fair', () => {
  test('is a flag under -70 dBm', () => {
    expect(new TestChannel().report({ transmitter: { rf_level: -71 } }).rows).toEqual(['ok', 'rf_fair'])
    expect(new TestChannel().report({ transmitter: { rf_level: -70 } }).rows).toEqual(['ok'])
  })

  test('needs a transmitter', () => {
    expect(new TestChannel().report({ ...off, rf_level: -80 }).rows).toEqual(['tx_off'])
  })

  test('is not shown while the receiver is stale', () => {
    expect(new TestChannel().report({ transmitter: { rf_level: -71 } }).wait(hour).rows).toEqual(['stale'])
  })
})

describe('no_audio', () => {
  test('is off by default', () => {
    const channel = quiet(new TestChannel(), 0)
    channel.wait(5 * hour).receiveKeepAlive()
    expect(channel.state).toBe('ok')
  })

  test('is true after the minutes that are set, without a further report', () => {
    const channel = quiet(new TestChannel(), 2)
    channel.intervalMs = hour
    expect(channel.evaluate().dueAt).toBe(channel.now + 2 * minute)
    expect(channel.wait(2 * minute - 1).state).toBe('ok')
    expect(channel.wait(1).state).toBe('no_audio')
  })

  test('ends, and starts again, with a sample that is not silent', () => {
    const channel = quiet(new TestChannel())
    channel.intervalMs = hour
    channel.wait(minute - 1).report({ transmitter: { audio_level: -60 } })
    channel.wait(1).report({ transmitter: { audio_level: -61 } })
    expect(channel.wait(minute - 1).state).toBe('ok')
    expect(channel.wait(1).state).toBe('no_audio')
    expect(channel.report({ transmitter: { audio_level: -10 } }).state).toBe('ok')
  })

  test('uses the peak, else the audio level', () => {
    const channel = quiet(new TestChannel()).report({ details: { audio_peak: -30 } })
    expect(channel.wait(minute).receiveKeepAlive().state).toBe('ok')
    expect(
      channel
        .report({ details: { audio_peak: null } })
        .wait(minute)
        .receiveKeepAlive().state,
    ).toBe('no_audio')
  })

  test('is not counted while the transmitter is muted', () => {
    const channel = quiet(new TestChannel()).report({ details: { muted: true } })
    channel.intervalMs = hour
    expect(channel.wait(minute).rows).toEqual(['muted'])
    expect(channel.report({ details: { muted: false } }).wait(minute - 1).state).toBe('ok')
    expect(channel.wait(1).state).toBe('no_audio')
  })

  test('needs a transmitter', () => {
    const channel = quiet(new TestChannel()).wait(minute)
    expect(channel.report(off).rows).toEqual(['tx_off'])
  })

  test('is silence at the foot of a scale that ends above -60 dBFS', () => {
    const channel = new TestChannel()
    channel.audioFloor = -50
    quiet(channel).report({ transmitter: { audio_level: -49 } })
    expect(channel.wait(minute).receiveKeepAlive().state).toBe('ok')
    channel.report({ transmitter: { audio_level: -50 } })
    expect(channel.wait(minute).receiveKeepAlive().state).toBe('no_audio')
  })

  test('does not count the time during which the process did not run', () => {
    const channel = afterEvaluation(quiet(new TestChannel(), 2).wait(minute))
    channel.restart(hour).report()
    channel.intervalMs = hour
    expect(channel.wait(2 * minute - 1).state).toBe('ok')
    expect(channel.wait(1).state).toBe('no_audio')
  })

  test('does not count the time during which the receiver was stale', () => {
    const channel = quiet(new TestChannel(), 2).wait(hour)
    expect(channel.state).toBe('stale')
    resetWatch(channel.watch, null)
    expect(channel.report().state).toBe('ok')
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

describe('clipping', () => {
  test.each([
    [{ audio_peak: 0 }, 'clipping'],
    [{ audio_peak: -1 }, 'ok'],
    [{ overload: true }, 'clipping'],
    [{ audio_activity: 'clipping' }, 'clipping'],
    [{ audio_activity: 'good' }, 'ok'],
  ] as const)('with %j the state is %s', (details, state) => {
    expect(new TestChannel().report({ details }).state).toBe(state)
  })

  test.each([
    [{ audio_peak: 0 }, { audio_peak: -20 }],
    [{ overload: true }, { overload: false }],
  ])('is held for 10 s after %j', (details, after) => {
    const channel = new TestChannel().report({ details }).wait(100).report({ details: after })
    expect(channel.evaluate().dueAt).toBe(channel.now + 10_000)
    expect(channel.wait(9999).state).toBe('clipping')
    expect(channel.wait(1).state).toBe('ok')
  })

  test('needs a transmitter', () => {
    const clipped = new TestChannel().report({ details: { audio_peak: 0 } })
    expect(clipped.report(off).rows).toEqual(['tx_off'])
    const idle = new TestChannel().report({ ...off, audio_level: 0, details: { overload: true } }).wait(100)
    expect(idle.report({ transmitter: {}, details: { overload: false } }).state).toBe('ok')
    expect(new TestChannel().report({ ...off, audio_level: 0, details: { overload: true } }).rows).toEqual(['tx_off'])
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

  test('survives a restart', () => {
    const channel = afterEvaluation(new TestChannel().report(battery(18)))
    expect(channel.restart(hour).report().condition.since).toBe(startOfTest)
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

  test.each(arranged)('shows the stored condition until something is received: %s', (_, arrange) => {
    const channel = arrange()
    const before = channel.condition
    channel.restart(hour)
    // The database may contain older levels than the stored condition.
    channel.channel = { ...channel.channel, rf_level: -50, details: { ...channel.channel.details, audio_peak: -20 } }
    expect(channel.condition).toEqual(before)
    expect(channel.wait(29_999).condition).toEqual(before)
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

  test('ends a stored stale with the first byte', () => {
    const channel = afterEvaluation(new TestChannel().report().wait(30_000)).restart(hour)
    expect(channel.state).toBe('stale')
    expect(channel.receiveKeepAlive().state).toBe('ok')
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
    // The source answers before it reports this receiver.
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
