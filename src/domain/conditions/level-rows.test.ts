import { describe, expect, test } from 'vitest'
import { resetWatch } from './level-watch.ts'
import { afterEvaluation, hour, minute, off, quiet, TestChannel } from './test-channel.ts'

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

  test('is true while the receiver conceals errors of the link, which is a flag as well', () => {
    const channel = new TestChannel().report({ transmitter: { rf_level: -50 }, details: { rf_concealed: true } })
    expect(channel.wait(1000).rows).toEqual(['rf_weak', 'rf_concealed'])
    expect(channel.report({ details: { rf_concealed: false } }).wait(3000).rows).toEqual(['ok'])
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
    // `rf_level` (-50) is the only antenna.
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
