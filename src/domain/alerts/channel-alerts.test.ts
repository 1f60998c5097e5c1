import { describe, expect, test } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import type { Severity } from '../../contract/values.ts'
import type { Condition, EvaluatedState } from '../conditions/condition.ts'
import { resolveThresholds } from '../conditions/condition.ts'
import type { TransmitterDetails } from '../equipment/receiver.ts'
import { type Channel, emptyChannel, type Receiver } from '../equipment/receiver.ts'
import { namesOfChannel, titleOf } from '../equipment/slot-record.ts'
import type { Alert } from './alert.ts'
import { withNames, withoutNames } from './alert-names.ts'
import { canChangeCauses, listReceiverCauses, receiverAlertEnding } from './channel-alerts.ts'
import { describeEnding } from './describe-alert.ts'
import { TestAlerts } from './test-alerts.ts'

const second = 1000
const minute = 60 * second
const vox = { upstream_slot: null, name: 'Vox', battery: 80, audio_level: null, rf_level: null, frequency: null }

/** A receiver with two channels, whose conditions a test sets, and its alerts. */
class TestReceiver extends TestAlerts {
  receiver: Receiver = buildReceiver(7, { name: 'Rack 1', channels: [emptyChannel(41, 1, 5), emptyChannel(42, 2, 6)] })
  areSourcesFailing = false
  needsMuteAlert = true
  /** By slot. */
  readonly performers = new Map<number, string>()

  /** Sets the condition of a channel: its rows, the first of which is the state. */
  set(
    rows: readonly EvaluatedState[],
    { channel = 1, severity = 'warning' as Severity, fields = {} as Partial<Channel> } = {},
  ) {
    const [state = 'ok', ...flags] = rows
    const change = (before: Channel): Channel => {
      const since = before.condition.state === state ? before.condition.since : this.now
      const condition: Condition = { state, severity, attention: true, since, since_known: true, flags }
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
    const { areSourcesFailing } = this
    const needsMuteAlert = () => this.needsMuteAlert
    const causes = listReceiverCauses(this.receiver, { areSourcesFailing, thresholds, needsMuteAlert })
    const titleOfChannel = (channel: Channel) =>
      titleOf({ performer: this.performers.get(channel.slot) ?? null, ...namesOfChannel(this.receiver, channel) })
    return this.compare({
      causes: causes.map((cause) => withNames(cause, this.receiver, titleOfChannel)),
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

  // Conformance: C-21.90.
  test('raises an alert about a mute, as the state or a flag, 10 s after it began to need attention', () => {
    const channel = new TestReceiver().set(['muted'])
    channel.needsMuteAlert = false
    expect(channel.evaluate(minute)).toEqual([])
    channel.needsMuteAlert = true
    expect(channel.evaluate()).toEqual([])
    expect(channel.evaluate(9 * second)).toEqual([])
    expect(channel.evaluate(second)).toEqual(['+muted warning'])
    expect(channel.open[0]?.message).toBe('5 Rack 1 1: muted')
    expect(channel.set(['battery_low', 'muted']).evaluate()).toEqual(['+battery_low warning'])
    channel.needsMuteAlert = false
    expect(channel.evaluate()).toEqual(['-muted'])
  })

  // Conformance: C-11.16.
  test.each<[EvaluatedState, number | null, TransmitterDetails, string, object]>([
    ['battery_low', 18, {}, '5 Vox: battery at 18%', { crossed: 'battery', threshold: 20 }],
    [
      ...(['battery_critical', 11, { battery_minutes: 12 }] as const),
      ...(['5 Vox: 12 minutes of battery left (11%)', { crossed: 'minutes_left', threshold: 15 }] as const),
    ],
    [
      ...(['battery_low', null, { battery_minutes: 40 }] as const),
      ...(['5 Vox: 40 minutes of battery left', { crossed: 'minutes_left', threshold: 45 }] as const),
    ],
    [
      ...(['battery_low', 60, { battery_low: true, battery_minutes: 90 }] as const),
      ...(['5 Vox: battery low (60%)', { crossed: 'warning', threshold: null }] as const),
    ],
    // It has risen again, but not far enough to end the alert.
    ['battery_critical', 12, { battery_minutes: 60 }, '5 Vox: battery at 12%', { crossed: 'battery' }],
  ])('names the value that crossed its limit: %s', (row, battery, details, message, data) => {
    const channel = new TestReceiver().set([row], { fields: { transmitter: { ...vox, battery, details } } })
    channel.evaluate()
    expect(channel.open[0]).toMatchObject({
      ...{ message, manufacturer: 'shure', receiver_id: 7, channel_id: 41 },
      data: { name: 'Vox', slot: 5, receiver: 'Rack 1', battery, ...data },
    })
  })

  test('names the level with which weak RF began', () => {
    const channel = new TestReceiver().set(['rf_weak'], { fields: { transmitter: { ...vox, rf_level: -92 } } })
    channel.evaluate(5 * second)
    channel.evaluate(5 * second)
    expect(channel.open[0]?.message).toBe('5 Vox: weak RF signal (-92 dBm)')
    channel.set(['rf_weak'], { fields: { transmitter: { ...vox, rf_level: -70 } } })
    expect(channel.evaluate(20 * second)).toEqual([])
  })

  // Conformance: C-11.17.
  test('follows the value of its cause every 10 s, keeps its name and its acknowledgement, and what it was first', () => {
    const channel = new TestReceiver().set(['battery_low'], { fields: { transmitter: { ...vox, battery: 18 } } })
    const follow = (battery: number, waitMs: number) => {
      channel.set(['battery_low'], { fields: { transmitter: { ...vox, name: 'Else', battery } } })
      return channel.evaluate(waitMs)
    }
    channel.evaluate()
    const [before] = channel.open
    channel.respond()
    expect(follow(17, second)).toEqual(['=battery_low'])
    expect(follow(16, second)).toEqual([])
    expect(channel.dueAt).toBe(channel.now + 9 * second)
    expect(channel.evaluate(9 * second)).toEqual(['=battery_low'])
    expect(channel.open[0]).toMatchObject({
      ...{
        state: 'acknowledged',
        acknowledged_by: 'ann',
        message: '5 Vox: battery at 16%',
        data: { battery: 16 },
      },
      first: {
        at: before?.raised_at,
        kind: 'battery_low',
        message: '5 Vox: battery at 18%',
        data: { battery: 18 },
      },
    })
  })

  // Conformance: C-21.20.
  test('names the slot and the person first, then the pack, and keeps these names', () => {
    const channel = new TestReceiver().set(['battery_critical'], {
      fields: { name: 'RX 5', transmitter: { ...vox, name: 'H02', battery: 8 } },
    })
    channel.performers.set(5, 'Nora')
    channel.evaluate()
    const names = { name: 'H02', title: 'Nora', title_from: 'performer', pack: 'H02', channel_name: 'RX 5' }
    expect(channel.open[0]).toMatchObject({ message: '5 Nora: battery at 8% (pack H02)', data: { slot: 5, ...names } })
    channel.performers.set(5, 'Ben')
    channel.set(['battery_critical'], { fields: { transmitter: { ...vox, name: 'H03', battery: 7 } } })
    expect(channel.evaluate(minute)).toEqual(['=battery_critical'])
    expect(channel.open[0]).toMatchObject({ message: '5 Nora: battery at 7% (pack H02)', data: names })
    channel.performers.clear()
    channel.set(['clipping']).evaluate()
    channel
      .set(['battery_low'], { fields: { name: null, transmitter: { ...vox, name: 'H03', battery: 18 } } })
      .evaluate()
    expect(channel.open[0]).toMatchObject({ message: '5 H03: battery at 18%', data: { title_from: 'transmitter' } })
  })

  // Conformance: C-11.18.
  test('gives the time of the last value as that of a death or loss', () => {
    const last_transmitter = { name: 'Vox', battery: 8, minutes_left: null, last_seen: 900_000 }
    const channel = new TestReceiver().set(['battery_died', 'tx_off'], { fields: { last_transmitter } })
    channel.set(['stale'], { channel: 2 })
    channel.receiver = { ...channel.receiver, last_seen: 950_000 }
    channel.evaluate()
    const toTime = (ms: number) => new Date(ms).toISOString()
    expect(channel.open.map(({ kind, data }) => [kind, data.died_at ?? data.lost_at])).toEqual([
      ['battery_died', toTime(900_000)],
      ['stale', toTime(950_000)],
    ])
    channel.setOnline(false).set(['receiver_offline']).evaluate(minute)
    expect(channel.open.find(({ kind }) => kind === 'receiver_offline')?.data.lost_at).toBe(toTime(950_000))
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

  // Conformance: C-21.21.
  test('lists its people by slot', () => {
    const receiver = new TestReceiver()
    const channels = [8, 7, 9, 10, 11].map((slot) => emptyChannel(slot, slot, slot))
    receiver.receiver = buildReceiver(7, { name: 'FOH-1', channels, is_active: false })
    receiver.performers.set(7, 'Nora').set(8, 'Ben')
    receiver.evaluate()
    expect(receiver.open[0]?.message).toBe('FOH-1 offline: 7 Nora, 8 Ben')
    receiver.performers.set(9, 'Mia').set(10, 'Tom')
    receiver.evaluate(minute)
    expect(receiver.open[0]?.message).toBe('FOH-1 offline: 7 Nora, 8 Ben and 2 more')
  })

  // Conformance: C-21.25.
  test('is described by slots in a message without names, also how its alert ended', () => {
    const receiver = new TestReceiver().set(['battery_low'], { fields: { name: 'Stage', transmitter: vox } })
    receiver.performers.set(5, 'Nora').set(6, 'Ben')
    receiver.setOnline(false).evaluate()
    const messagesOf = (alert: Alert) => {
      const { message, first } = withoutNames(alert)
      return [message, first.message]
    }
    const [offline] = receiver.open
    expect(offline?.message).toBe('Rack 1 offline: 5 Nora, 6 Ben')
    expect(offline && messagesOf(offline)).toEqual(Array(2).fill('Rack 1 offline: 5, 6'))
    receiver.setOnline(true).evaluate()
    const [low] = receiver.open
    if (low === undefined) throw new Error('the battery has no alert')
    expect(withoutNames(low)).toMatchObject({
      message: '5: battery at 80%',
      data: { name: null, title: null, title_from: null, pack: null, channel_name: null },
    })
    for (const ending of ['resolved', 'unmonitored', 'disabled'] as const) {
      const cleared = { ...low, cleared_at: 1, message: describeEnding(low, ending) }
      expect(cleared.message).toContain('Nora')
      expect(withoutNames(cleared).message).toBe(cleared.message.replace('5 Nora', '5').replace(' (pack Vox)', ''))
    }
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
