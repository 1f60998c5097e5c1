import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import type { ConfigBody } from '../../contract/configuration.ts'
import { unknownCondition } from '../conditions/condition.ts'
import type { Channel } from '../equipment/receiver.ts'
import type { ChannelState } from './channel-state.ts'
import { type ColumnName, columnNames, noValue, stateLetters, toRowMask } from './columns.ts'
import { toDataAtTime } from './data-at-time.ts'
import type { LevelsAtTime } from './level-history.ts'

const time = Date.parse('2026-05-01T18:00:00Z') / 1000
const since = Date.parse('2026-05-01T17:00:00Z')

const transmitter = { upstream_slot: 3, name: 'Y13 Nora', battery: 60, frequency: '470.300' }
const ok: ChannelState = {
  name: 'Nora',
  frequency: '470.300',
  transmitter,
  condition: { state: 'ok', severity: 'ok', attention: false, since },
  last_transmitter: null,
  assignment: { wireless_unit: 5, performer: { id: 2, name: 'Ann' } },
}

const channelOfToday = (id: number): Channel => ({
  id,
  channel: id,
  slot: id + 40,
  name: 'Of today',
  frequency: '500.000',
  audio_level: -30,
  rf_level: -40,
  transmitter: null,
  condition: unknownCondition,
  last_transmitter: null,
  forecast: null,
})

const today = {
  receivers: [{ ...buildReceiver(1), channels: [channelOfToday(1), channelOfToday(2)] }],
  config: {} as ConfigBody,
  groups: [],
  placeholders: [],
}

/** One step per channel; omitted values are unknown. */
function buildLevels(
  values: Readonly<Record<number, Partial<Record<ColumnName, number>>>>,
  more: Partial<LevelsAtTime> = {},
): LevelsAtTime {
  const channelIds = Object.keys(values).map(Number)
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, Int32Array.from(channelIds, (id) => values[id]?.[name] ?? noValue)]),
  ) as Record<ColumnName, Int32Array>
  return { isRecorded: true, stepSeconds: 1, steps: { from: time, count: 1, channelIds, columns }, ...more }
}

const levels = buildLevels({
  1: { rf_min: -62, rf_max: -48, audio_max: -6, audio_last: -18, quality_min: 87, battery: 55, minutes: 190, rows: 0 },
  2: { rf_min: -97, rf_max: -96, rows: toRowMask(['tx_off']) },
})
const off: ChannelState = {
  ...ok,
  transmitter: null,
  condition: { state: 'tx_off', severity: 'info', attention: false, since },
  assignment: null,
}

// Conformance: C-12.65.
describe('a recorded second', () => {
  const body = toDataAtTime(
    {
      time,
      levels,
      states: new Map([
        [1, ok],
        [2, off],
      ]),
    },
    today,
  )

  it('says which second it is, and how long the step is', () => {
    expect(body).toMatchObject({ as_of: '2026-05-01T18:00:00.000Z', recorded: true, step_seconds: 1, discovered: [] })
  })

  it('has the levels, names and frequencies of then, and the slots of today', () => {
    const [first, second] = body.receivers[0]?.channels ?? []
    expect(first).toEqual({
      id: 1,
      channel: 1,
      slot: 41,
      name: 'Nora',
      frequency: '470.300',
      rf_level: -62,
      audio_level: -18,
      details: { quality: 87, audio_peak: -6 },
      transmitter: {
        slot: 41,
        upstream_slot: 3,
        name: 'Y13 Nora',
        frequency: '470.300',
        battery: 55,
        forecast: { minutes_left: 190, source: 'device', low: 190, high: 190 },
        rf_level: -62,
        audio_level: -18,
        details: { battery_minutes: 190 },
      },
      not_now: null,
      condition: {
        state: 'ok',
        severity: 'ok',
        attention: false,
        since: '2026-05-01T17:00:00.000Z',
        since_known: true,
        flags: [],
      },
    })
    expect(second).toMatchObject({ id: 2, slot: 42, rf_level: -97, audio_level: null, transmitter: null })
  })

  it('has the assignments of then', () => {
    expect(body.assignments).toEqual([{ channel_id: 1, wireless_unit: 5, performer: { id: 2, name: 'Ann' } }])
  })

  it('lists the true rows in the order of the table, without the state', () => {
    const rows = toRowMask(['rf_fair', 'battery_low', 'rf_weak', 'battery_replace_soon'])
    const weak: ChannelState = { ...ok, condition: { ...ok.condition, state: 'rf_weak' } }
    const { receivers } = toDataAtTime(
      { time, levels: buildLevels({ 1: { rows } }), states: new Map([[1, weak]]) },
      today,
    )
    expect(receivers[0]?.channels[0]?.condition.flags).toEqual(['battery_low', 'battery_replace_soon', 'rf_fair'])
  })
})

it('shows a receiver as offline if all its channels were', () => {
  const offline: ChannelState = { ...off, condition: { ...off.condition, state: 'receiver_offline' } }
  const stateOf = (second: ChannelState) =>
    toDataAtTime(
      {
        time,
        levels,
        states: new Map([
          [1, offline],
          [2, second],
        ]),
      },
      today,
    ).receivers[0]?.is_active
  expect([stateOf(offline), stateOf(ok)]).toEqual([false, true])
})

it('leaves out channels and receivers that did not exist then, or do not exist today', () => {
  const states = new Map([
    [1, ok],
    [99, ok],
  ])
  const later = { ...buildReceiver(2), channels: [channelOfToday(3)] }
  const body = toDataAtTime({ time, levels, states }, { ...today, receivers: [...today.receivers, later] })
  expect(body.receivers.map(({ id, channels }) => [id, channels.map((channel) => channel.id)])).toEqual([[1, [1]]])
  expect(body.assignments.map(({ channel_id }) => channel_id)).toEqual([1])
})

// Conformance: C-12.65.
it('has the facts of today for a channel of which only levels are known', () => {
  const known = { ...channelOfToday(2), transmitter: { slot: 42, ...transmitter, audio_level: -30, rf_level: -40 } }
  const receivers = [{ ...buildReceiver(1), channels: [channelOfToday(1), known, channelOfToday(3)] }]
  const old = buildLevels({
    1: { state: stateLetters.indexOf('x'), rows: toRowMask(['receiver_offline']) },
    2: { state: stateLetters.indexOf('1'), rf_min: -62, audio_last: -18, rows: toRowMask(['rf_weak']) },
    3: { state: stateLetters.indexOf('-') },
  })
  const body = toDataAtTime({ time, levels: old, states: new Map() }, { ...today, receivers })
  expect(body.receivers[0]?.channels).toMatchObject([
    { id: 1, name: 'Of today', transmitter: null, condition: { state: 'receiver_offline', severity: 'critical' } },
    {
      id: 2,
      rf_level: -62,
      transmitter: { name: 'Y13 Nora', battery: null, rf_level: -62, audio_level: -18 },
      condition: { state: 'ok', flags: ['rf_weak'], since: '2026-05-01T18:00:00.000Z' },
    },
  ])
  expect(body.receivers[0]?.channels).toHaveLength(2)
})

// Conformance: C-12.66.
it('has no levels in a gap', () => {
  const gap = buildLevels({ 1: { rf_min: -62, battery: 55, rows: toRowMask(['rf_fair']) } }, { isRecorded: false })
  const body = toDataAtTime({ time, levels: gap, states: new Map([[1, ok]]) }, today)
  expect(body).toMatchObject({ recorded: false, step_seconds: null })
  expect(body.receivers[0]?.channels[0]).toMatchObject({
    rf_level: null,
    audio_level: null,
    transmitter: { name: 'Y13 Nora', battery: 60, rf_level: null, audio_level: null },
    condition: { state: 'ok', flags: ['rf_fair'] },
  })
})

it('has no levels for a channel that was not recorded', () => {
  const body = toDataAtTime({ time, levels: buildLevels({}), states: new Map([[1, ok]]) }, today)
  expect(body.receivers[0]?.channels[0]).toMatchObject({ rf_level: null, transmitter: { battery: 60, rf_level: null } })
})
