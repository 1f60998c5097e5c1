import { describe, expect, test } from 'vitest'
import { buildReceiver } from '../../../test/builders.ts'
import type { Severity } from '../../contract/values.ts'
import type { Condition, EvaluatedState } from '../conditions/condition.ts'
import { resolveThresholds } from '../conditions/thresholds.ts'
import { type Channel, emptyChannel, type Receiver } from '../equipment/receiver.ts'
import { canChangeCauses, listReceiverCauses, receiverAlertEnding } from './channel-alerts.ts'
import { TestAlerts } from './test-alerts.ts'

const second = 1000

/** A receiver with two channels, whose conditions a test sets, and its alerts. */
class TestReceiver extends TestAlerts {
  receiver: Receiver = buildReceiver(7, { name: 'Rack 1', channels: [emptyChannel(41, 1, 5), emptyChannel(42, 2, 6)] })
  areSourcesFailing = false

  /** Sets the condition of a channel: its rows, the first of which is the state. */
  set(
    rows: readonly EvaluatedState[],
    { channel = 1, severity = 'warning' as Severity, fields = {} as Partial<Channel> } = {},
  ) {
    const [state = 'ok', ...flags] = rows
    const change = (before: Channel): Channel => {
      const since = before.condition.state === state ? before.condition.since : this.now
      const condition: Condition = { state, severity, attention: true, since, flags }
      return { ...before, ...fields, condition }
    }
    const channels = this.receiver.channels.map((known) => (known.channel === channel ? change(known) : known))
    this.receiver = { ...this.receiver, channels }
    return this
  }

  setOnline(is_active: boolean): this {
    this.receiver = { ...this.receiver, is_active }
    return this
  }

  evaluate(waitMs = 0): readonly string[] {
    this.now += waitMs
    const thresholds = () => resolveThresholds({}, {}, [])
    return this.compare({
      causes: listReceiverCauses(this.receiver, { areSourcesFailing: this.areSourcesFailing, thresholds }),
      endingOf: (alert) => receiverAlertEnding(this.receiver, alert),
    })
  }

  respond(): void {
    for (const alert of this.open) {
      this.put({ ...alert, state: 'acknowledged', acknowledged_by: 'ann', acknowledged_at: this.now })
    }
  }
}

describe('a channel', () => {
  // Conformance: C-11.1.
  test.each([
    ['stale', 'warning'],
    ['encryption_error', 'critical'],
    ['battery_critical', 'critical'],
    ['battery_died', 'critical'],
    ['battery_low', 'warning'],
    ['no_audio', 'warning'],
  ] as const)('that is %s raises an alert with severity %s, which is cleared with the condition', (row, severity) => {
    const channel = new TestReceiver().set([row])
    expect(channel.evaluate()).toEqual([`+${row} ${severity}`])
    expect(channel.evaluate(second)).toEqual([])
    expect(channel.set([]).evaluate()).toEqual([`-${row}`])
  })

  test.each(['interference', 'rf_weak'] as const)('that is %s raises an alert 5 s after the condition began', (row) => {
    const channel = new TestReceiver().set([row])
    expect(channel.evaluate()).toEqual([])
    expect(channel.dueAt).toBe(channel.now + 5 * second)
    expect(channel.evaluate(4999)).toEqual([])
    expect(channel.evaluate(1)).toEqual([`+${row} warning`])
  })

  test('raises nothing for rows with severity info or ok', () => {
    expect(new TestReceiver().set(['muted', 'clipping', 'battery_replace_soon', 'tx_off']).evaluate()).toEqual([])
  })

  // Conformance: C-11.1.
  test('raises one alert for each row that is true, as the state or as a flag', () => {
    const channel = new TestReceiver().set(['encryption_error', 'no_audio', 'battery_low'])
    expect(channel.evaluate()).toEqual(['+battery_low warning', '+encryption_error critical', '+no_audio warning'])
    expect(new Set(channel.open.map(({ id }) => id)).size).toBe(3)
    expect(channel.set(['no_audio']).evaluate()).toEqual(['-battery_low', '-encryption_error'])
  })

  test('measures the delay of a flag from its first evaluation, also if it becomes the state', () => {
    const channel = new TestReceiver().set(['encryption_error', 'rf_weak'])
    channel.evaluate()
    expect(channel.set(['rf_weak']).evaluate(3 * second)).toEqual(['-encryption_error'])
    expect(channel.evaluate(2 * second)).toEqual(['+rf_weak warning'])
  })

  // Conformance: C-11.4.
  test('measures the delay of a state from its start, even if it is evaluated later, as after a restart', () => {
    const channel = new TestReceiver().set(['rf_weak'])
    expect(channel.evaluate(4 * second)).toEqual([])
    expect(channel.evaluate(second)).toEqual(['+rf_weak warning'])
    expect(channel.open[0]?.raised_at).toBe(channel.now)
  })

  test('contains in its data what sentences need', () => {
    const transmitter = {
      upstream_slot: null,
      name: 'Vox',
      audio_level: null,
      rf_level: null,
      frequency: null,
      battery: 18,
      details: { battery_minutes: 40 },
    }
    const channel = new TestReceiver().set(['battery_low'], { fields: { transmitter } })
    channel.evaluate()
    expect(channel.open[0]).toMatchObject({
      message: 'Vox: battery at 18%',
      manufacturer: 'shure',
      receiver_id: 7,
      channel_id: 41,
      data: { name: 'Vox', slot: 5, battery: 18, minutes_left: 40, threshold: 20, receiver: 'Rack 1' },
    })
  })

  test('of a removed channel is no longer monitored', () => {
    const channel = new TestReceiver().set(['battery_low'])
    channel.evaluate()
    channel.receiver = { ...channel.receiver, channels: channel.receiver.channels.slice(1) }
    expect(channel.evaluate()).toEqual(['-battery_low'])
  })
})

describe('the battery of a channel', () => {
  // Conformance: C-11.2, C-7.20.
  test('has one alert, whose kind and severity follow the condition', () => {
    const channel = new TestReceiver().set(['battery_low'])
    expect(channel.evaluate()).toEqual(['+battery_low warning'])
    expect(channel.set(['battery_critical', 'battery_low']).evaluate()).toEqual(['~battery_critical critical'])
    expect(channel.set(['battery_died']).evaluate()).toEqual(['~battery_died critical'])
    expect(channel.set(['battery_low']).evaluate()).toEqual(['~battery_low warning (not worse)'])
    expect(channel.open.map(({ id }) => id)).toEqual([1])
    expect(channel.set(['battery_replace_soon']).evaluate()).toEqual(['-battery_low'])
  })

  // Conformance: C-11.2.
  test('undoes the acknowledgement when it gets worse, and keeps it otherwise', () => {
    const channel = new TestReceiver().set(['battery_critical'])
    channel.evaluate()
    channel.respond()
    channel.set(['battery_low']).evaluate()
    expect(channel.open[0]).toMatchObject({ kind: 'battery_low', state: 'acknowledged', acknowledged_by: 'ann' })
    channel.set(['battery_critical', 'battery_low']).evaluate()
    expect(channel.open[0]).toMatchObject({ kind: 'battery_critical', state: 'raised', acknowledged_by: null })
  })

  test('waits for the delay of the worse kind', () => {
    const channel = new TestReceiver().set(['battery_low'])
    channel.settings.battery_critical = { delaySeconds: 10 }
    channel.evaluate()
    channel.set(['battery_critical', 'battery_low'])
    expect(channel.evaluate()).toEqual([])
    expect(channel.evaluate(10 * second)).toEqual(['~battery_critical critical'])
  })

  test('has the worst kind that is enabled', () => {
    const channel = new TestReceiver().set(['battery_critical', 'battery_low'])
    channel.settings.battery_critical = { isEnabled: false }
    expect(channel.evaluate()).toEqual(['+battery_low warning'])
    channel.settings.battery_low = { isEnabled: false }
    expect(channel.evaluate()).toEqual(['-battery_low'])
  })
})

describe('settings', () => {
  // Conformance: C-11.4.
  test('disable a kind, whose open alerts are cleared', () => {
    const channel = new TestReceiver().set(['no_audio'])
    channel.evaluate()
    channel.settings.no_audio = { isEnabled: false }
    expect(channel.evaluate()).toEqual(['-no_audio'])
    expect(channel.evaluate()).toEqual([])
  })

  test('disable a kind whose condition is not evaluated at the moment', () => {
    const channel = new TestReceiver().set(['no_audio'])
    channel.evaluate()
    channel.settings.no_audio = { isEnabled: false }
    expect(channel.set(['stale']).evaluate()).toEqual(['-no_audio', '+stale warning'])
  })

  test('set the severity, also of open alerts', () => {
    const channel = new TestReceiver().set(['no_audio'])
    channel.settings.no_audio = { severity: 'info' }
    expect(channel.evaluate()).toEqual(['+no_audio info'])
    channel.settings.no_audio = { severity: 'critical' }
    expect(channel.evaluate()).toEqual(['~no_audio critical'])
  })
})

describe('a receiver that goes offline', () => {
  // Conformance: C-11.3, C-7.21.
  test.each([
    [['critical', 'warning'], 'critical'],
    [['warning', 'warning'], 'warning'],
  ] as const)('has one alert with the worst severity of %j', ([first, second], worst) => {
    const receiver = new TestReceiver().setOnline(false)
    receiver.set(['receiver_offline'], { severity: first }).set(['receiver_offline'], { channel: 2, severity: second })
    expect(receiver.evaluate()).toEqual([`+receiver_offline ${worst}`])
    expect(receiver.open[0]).toMatchObject({ channel_id: null, receiver_id: 7, message: 'Rack 1 is offline' })
    expect(receiver.setOnline(true).set([]).set([], { channel: 2 }).evaluate()).toEqual(['-receiver_offline'])
  })

  // Conformance: C-11.3.
  test('keeps the open alerts of its channels, and raises no others', () => {
    const receiver = new TestReceiver().set(['battery_low'])
    receiver.evaluate()
    receiver.setOnline(false).set(['receiver_offline']).set(['receiver_offline', 'battery_died'], { channel: 2 })
    expect(receiver.evaluate()).toEqual(['+receiver_offline warning'])
    expect(receiver.evaluate(3600 * second)).toEqual([])
    receiver.setOnline(true).set(['battery_low']).set(['battery_died'], { channel: 2 })
    expect(receiver.evaluate()).toEqual(['-receiver_offline', '+battery_died critical'])
  })

  test('clears an alert about a battery that died when an acknowledgement has ended that condition', () => {
    const receiver = new TestReceiver().set(['battery_died'])
    receiver.evaluate()
    expect(receiver.setOnline(false).set(['receiver_offline']).evaluate()).toEqual([
      '-battery_died',
      '+receiver_offline warning',
    ])
  })
})

describe('a receiver all of whose sources fail', () => {
  // Conformance: C-11.5.
  test('raises nothing, also when it goes offline, and keeps its open alerts', () => {
    const receiver = new TestReceiver().set(['battery_low'])
    receiver.evaluate()
    receiver.areSourcesFailing = true
    expect(receiver.set(['battery_critical', 'battery_low']).evaluate()).toEqual([])
    expect(receiver.set(['stale', 'battery_low']).evaluate(40 * second)).toEqual([])
    expect(
      receiver
        .setOnline(false)
        .set(['receiver_offline'])
        .evaluate(30 * second),
    ).toEqual([])
    expect(receiver.open).toMatchObject([{ kind: 'battery_low', state: 'raised' }])
  })

  // Conformance: C-11.5.
  test('raises what is still true after its delay when a source recovers', () => {
    const receiver = new TestReceiver().set(['rf_weak'])
    receiver.evaluate()
    receiver.areSourcesFailing = true
    expect(receiver.evaluate(second)).toEqual([])
    expect(receiver.evaluate(60 * second)).toEqual([])
    receiver.areSourcesFailing = false
    receiver.set(['rf_weak', 'battery_low'])
    expect(receiver.evaluate(second)).toEqual(['+battery_low warning'])
    expect(receiver.dueAt).toBe(receiver.now + 5 * second)
    expect(receiver.evaluate(4999)).toEqual([])
    expect(receiver.evaluate(1)).toEqual(['+rf_weak warning'])
  })

  test('that is still offline when a source recovers is announced then', () => {
    const receiver = new TestReceiver().setOnline(false).set(['receiver_offline'])
    receiver.areSourcesFailing = true
    expect(receiver.evaluate()).toEqual([])
    receiver.areSourcesFailing = false
    expect(receiver.evaluate(second)).toEqual(['+receiver_offline warning'])
  })
})

test('rows that are not evaluated while the receiver is stale keep their alerts', () => {
  const channel = new TestReceiver().set(['interference'])
  channel.evaluate()
  channel.evaluate(5 * second)
  expect(channel.set(['stale']).evaluate()).toEqual(['+stale warning'])
  expect(channel.set([]).evaluate()).toEqual(['-interference', '-stale'])
})

test('only a change of a condition, of the online state or of the list of channels can change causes', () => {
  const { receiver } = new TestReceiver()
  const [first, second] = receiver.channels
  if (first === undefined || second === undefined) throw new Error('no channels')
  const louder = { ...receiver, channels: [{ ...first, audio_level: -3 }, second] }
  expect(canChangeCauses(undefined, receiver)).toBe(true)
  expect(canChangeCauses(receiver, { ...receiver, last_seen: 9 })).toBe(false)
  expect(canChangeCauses(receiver, louder)).toBe(false)
  expect(canChangeCauses(receiver, { ...receiver, channels: [first] })).toBe(true)
  expect(canChangeCauses(receiver, { ...receiver, is_active: false })).toBe(true)
  expect(canChangeCauses(receiver, new TestReceiver().set(['stale']).receiver)).toBe(true)
})
