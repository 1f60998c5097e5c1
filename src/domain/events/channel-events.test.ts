import { describe, expect, test } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { resolveThresholds, unknownCondition } from '../conditions/condition.ts'
import { type Channel, emptyChannel, type Receiver, type Transmitter } from '../equipment/receiver.ts'
import {
  compareFacts,
  compareReceiverStates,
  factsBefore,
  nextFacts,
  readFacts,
  toChannelEvent,
} from './channel-events.ts'

const full: Transmitter = {
  upstream_slot: null,
  name: 'Y13 Nora',
  battery: 90,
  audio_level: -20,
  rf_level: -50,
  frequency: null,
}

function buildChannel(fields: Partial<Channel> = {}, transmitter: Partial<Transmitter> = {}): Channel {
  const { condition = unknownCondition } = fields
  return {
    ...emptyChannel(7, 1, 3),
    name: 'Nora',
    frequency: '610.000',
    transmitter: { ...full, ...transmitter },
    ...fields,
    condition,
  }
}

const on = buildChannel()
const off = buildChannel({ transmitter: null })
const muted = buildChannel({ details: { muted: true } })
const withState = (state: Channel['condition']['state'], ...flags: Channel['condition']['flags'][number][]) =>
  buildChannel({ condition: { ...unknownCondition, state, flags } })

/** Returns the events of a channel that has these states one after another, without `data` of texts. */
function happenings(...channels: readonly Channel[]) {
  let facts = readFacts(channels[0] ?? on)
  return channels.slice(1).flatMap((channel) => {
    const after = nextFacts(facts, channel)
    const happened = compareFacts(facts, after)
    facts = after
    return happened.map(({ kind, data }) => (data === undefined ? kind : [kind, data.from, data.to]))
  })
}

describe('between two states of a channel', () => {
  // Conformance: C-12.40.
  test.each([
    ['nothing', [on, { ...on }], []],
    ['the transmitter switches on', [off, on], ['transmitter_on']],
    ['the transmitter switches off', [on, off], ['transmitter_off']],
    ['it is muted', [on, muted], ['muted']],
    ['it is unmuted', [muted, on], ['unmuted']],
    ['a muted transmitter switches off', [muted, off], ['transmitter_off']],
    ['a transmitter is muted when it switches on', [off, muted], ['transmitter_on', 'muted']],
    ['the battery becomes low', [on, withState('battery_low')], ['battery_low']],
    [
      'the battery becomes critical',
      [withState('battery_low'), withState('battery_critical', 'battery_low')],
      ['battery_critical'],
    ],
    [
      'the battery becomes low and critical at once',
      [on, withState('battery_critical', 'battery_low')],
      ['battery_critical'],
    ],
    ['the battery is no longer critical', [withState('battery_critical', 'battery_low'), withState('battery_low')], []],
    ['a low battery becomes a flag', [withState('battery_low'), withState('interference', 'battery_low')], []],
    [
      'the battery rises by 20',
      [buildChannel({}, { battery: 50 }), buildChannel({}, { battery: 70 })],
      [['battery_changed', 50, 70]],
    ],
    ['the battery rises by 19', [buildChannel({}, { battery: 50 }), buildChannel({}, { battery: 69 })], []],
    ['the battery falls', [buildChannel({}, { battery: 90 }), buildChannel({}, { battery: 20 })], []],
    [
      'the frequency changes',
      [on, buildChannel({ frequency: '611.500' })],
      [['frequency_changed', '610.000', '611.500']],
    ],
    ['the frequency becomes known', [buildChannel({ frequency: null }), on], []],
    ['it is renamed', [on, buildChannel({ name: 'Paul' })], [['renamed', 'Nora', 'Paul']]],
    [
      'it and its transmitter are renamed',
      [on, buildChannel({ name: 'Paul' }, { name: 'Y13 Paul' })],
      [['renamed', 'Nora', 'Paul']],
    ],
    ['its transmitter is renamed', [on, buildChannel({}, { name: 'Y13 Paul' })], [['renamed', 'Y13 Nora', 'Y13 Paul']]],
  ] as const)('%s', (_, channels, expected) => {
    expect(happenings(...channels)).toEqual(expected)
  })

  test('a battery that is changed while the transmitter is off is recognized when it switches on', () => {
    expect(happenings(buildChannel({}, { battery: 8 }), off, buildChannel({}, { battery: null }), on)).toEqual([
      'transmitter_off',
      'transmitter_on',
      ['battery_changed', 8, 90],
    ])
  })

  test('another transmitter is not a new name', () => {
    expect(happenings(on, off, buildChannel({}, { name: 'Y14 Paul' }))).toEqual(['transmitter_off', 'transmitter_on'])
  })

  test('a receiver that is offline for a while says nothing about its channels', () => {
    const lost = buildChannel({ condition: { ...unknownCondition, state: 'receiver_offline' } })
    expect(happenings(muted, lost, muted)).toEqual([])
    expect(happenings(withState('battery_low'), lost, withState('battery_low'))).toEqual([])
  })

  test('while it is stale, only its battery is evaluated', () => {
    const stale = buildChannel({
      transmitter: null,
      condition: { ...unknownCondition, state: 'stale', flags: ['battery_low'] },
    })
    expect(happenings(on, stale, on)).toEqual(['battery_low'])
  })

  // Conformance: C-12.100.
  test('everything that is true in the first report of a channel happens, except that its transmitter is on', () => {
    const first = buildChannel({
      details: { muted: true },
      condition: { ...unknownCondition, state: 'battery_critical', flags: ['battery_low'] },
    })
    const before = factsBefore(first)
    expect(compareFacts(before, nextFacts(before, first)).map(({ kind }) => kind)).toEqual([
      'muted',
      'battery_critical',
    ])
  })

  test('a transmitter that is off in the first report switches on later', () => {
    const before = factsBefore(off)
    expect(compareFacts(before, nextFacts(before, on)).map(({ kind }) => kind)).toEqual(['transmitter_on'])
  })
})

// Conformance: C-21.23.
test('an event of a channel has its names, and a text that begins with slot and title', () => {
  const receiver = buildReceiver(4, { channels: [on] })
  const thresholds = resolveThresholds({}, {}, [])
  const channel = buildChannel({}, { battery: 18 })
  const title = { title: 'Nora', title_from: 'performer' } as const
  const event = toChannelEvent({ receiver, channel, title }, { kind: 'battery_low' }, { time: 5, thresholds })
  expect(event).toEqual({
    time: 5,
    until: null,
    is_open: false,
    kind: 'battery_low',
    severity: 'warning',
    channel_id: 7,
    receiver_id: 4,
    manufacturer: 'shure',
    text: '3 Nora: battery low (18%)',
    data: {
      ...{ name: 'Y13 Nora', slot: 3, battery: 18, minutes_left: null, threshold: 20, receiver: 'Rack' },
      ...{ ...title, pack: 'Y13 Nora', channel_name: channel.name },
    },
    by: null,
    site: null,
    subject: null,
  })
})

// Conformance: C-11.18.
test('a loss has the time of the last value', () => {
  const receiver = buildReceiver(4, { channels: [off], last_seen: 3 })
  const last_transmitter = { name: 'Nora', battery: 80, minutes_left: null, last_seen: 2 }
  const context = { time: 5, thresholds: resolveThresholds({}, {}, []) }
  const named = {
    receiver,
    channel: { ...off, last_transmitter },
    title: { title: 'Nora', title_from: 'performer' },
  } as const
  expect(toChannelEvent(named, { kind: 'transmitter_off' }, context).time).toBe(2)
  const lost = compareReceiverStates(receiver, { ...receiver, is_active: false }, 5)
  expect(lost.map(({ time }) => time)).toEqual([3])
})

describe('between two states of a receiver', () => {
  const receiver = buildReceiver(4)
  const list = (before: Receiver, after: Receiver) =>
    compareReceiverStates(before, after, 5).map(({ kind, text }) => [kind, text])

  test.each([
    ['it is lost', receiver, { ...receiver, is_active: false }, [['receiver_offline', 'Rack is offline']]],
    ['it returns', { ...receiver, is_active: false }, receiver, [['receiver_online', 'Rack is online']]],
    ['its reported name changes', receiver, { ...receiver, name: 'Left' }, [['renamed', 'Rack was renamed to Left']]],
    ['a user names it', receiver, { ...receiver, name: 'Left', is_named_by_hand: true }, []],
  ] as const)('%s', (_, before, after, expected) => {
    expect(list(before, after)).toEqual(expected)
  })
})
