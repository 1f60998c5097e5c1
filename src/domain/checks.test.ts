import { describe, expect, it } from 'vitest'
import { type Check, type SeenChannel, toChannelCheck, toCheckStates } from './checks.ts'
import { type Channel, emptyChannel, type Transmitter } from './equipment/receiver.ts'
import type { Forecast } from './forecast/forecast.ts'

const begun: Check = {
  ...{
    id: 1,
    show_id: 1,
    channel_id: 7,
    began_at: 1000,
    checked_at: null,
    result: null,
    note: null,
    checked: null,
    by: 'Ann',
  },
}

describe('the state of a channel', () => {
  it.each([
    ['nothing was entered', [], undefined],
    ['a check has begun', [begun], { began_at: 1000, last: null }],
    [
      'it was begun again after it failed',
      [
        { ...begun, checked_at: 1500, result: 'fail' },
        { ...begun, id: 2, began_at: 2000 },
      ],
      { began_at: 2000, last: { result: 'fail' } },
    ],
    [
      'only a result was entered after a check',
      [
        { ...begun, checked_at: 1500, result: 'fail' },
        { ...begun, id: 2, began_at: null, checked_at: 2500, result: 'pass' },
      ],
      { began_at: 1000, last: { result: 'pass' } },
    ],
  ] as const)('if %s', (_, checks, expected) => {
    const state = toCheckStates(checks as readonly Check[]).get(7)
    if (expected === undefined) expect(state).toBeUndefined()
    else expect(state).toMatchObject(expected)
  })
})

// Conformance: C-13.24.
describe('what the service sees', () => {
  const hour = 3_600_000
  const transmitter: Transmitter = {
    ...{ upstream_slot: null, name: 'Nora', battery: 80, audio_level: -20, rf_level: -50, frequency: null },
  }
  const minutes = (left: number): Forecast => ({ minutes_left: left, source: 'history', low: left, high: left })
  const channel: Channel = { ...emptyChannel(7, 1, 3), frequency: '610.000', transmitter }
  const see = (fields: Partial<Channel>, more: Partial<SeenChannel> = {}) =>
    toChannelCheck(
      { began_at: null, last: null },
      {
        ...{
          audioFloor: null,
          walkTest: null,
          plannedFrequency: null,
          plan: null,
          endsAt: 3 * hour,
          now: 0,
          forecast: minutes(180),
        },
        channel: { ...channel, ...fields },
        ...more,
      },
    ).sees
  const withDetails = (details: Channel['details']) => ({ details })

  it.each([
    ['until the minute of the end', {}, { endsAt: 3 * hour }, true],
    ['not until a later end', {}, { endsAt: 3 * hour + 1 }, false],
    ['unknown without an end', {}, { endsAt: null }, null],
    ['by the lowest of its range', {}, { forecast: { ...minutes(200), low: 179 } }, false],
    ['unknown without a forecast', {}, { forecast: null }, null],
    ['unknown without a transmitter', { transmitter: null }, {}, null],
  ] as const)('the battery lasts: %s', (_, fields, more, lasts) => {
    expect(see(fields, more).lasts).toBe(lasts)
  })

  const silent: Transmitter = { ...transmitter, audio_level: -61 }
  const atFoot: Transmitter = { ...transmitter, audio_level: -50 }
  const withoutLevel: Transmitter = { ...transmitter, audio_level: null }
  const walk = { lowest: -60, loudest: -30, dropouts: 0 }
  it.each([
    ['now', {}, {}, true],
    ['not under -60 dBFS', { transmitter: silent }, {}, false],
    ['not at the foot of a scale that ends at -50 dBFS', { transmitter: atFoot }, { audioFloor: -50 }, false],
    ['above the foot of that scale', { transmitter: atFoot }, { audioFloor: -51 }, true],
    ['since the check began', { transmitter: silent }, { walkTest: walk }, true],
    ['not if it was only a whisper', { transmitter: silent }, { walkTest: { ...walk, loudest: -61 } }, false],
    ['not if muted', withDetails({ muted: true }), {}, false],
    ['by its activity', { transmitter: withoutLevel, ...withDetails({ audio_activity: 'good' }) }, {}, true],
    ['unknown without a level', { transmitter: withoutLevel }, {}, null],
    ['unknown without a transmitter', { transmitter: null }, {}, null],
  ] as const)('audio is received: %s', (_, fields, more, expected) => {
    expect(see(fields, more).audio_heard).toBe(expected)
  })

  it.each(['receiver_offline', 'stale'] as const)('is unknown while the channel is %s', (state) => {
    const condition = { ...channel.condition, state }
    const fields = { condition, ...withDetails({ encryption: 'on' }) }
    expect(see(fields, { walkTest: { ...walk, loudest: null }, plannedFrequency: '611.000' })).toEqual({
      ...{ transmitter_on: null, battery: null, minutes_left: null, lasts: null, audio_heard: null, encryption: null },
      ...{ rf_lowest: -60, dropouts: 0, frequency: '610.000', frequency_planned: '611.000', frequency_plan: null },
    })
  })
})
