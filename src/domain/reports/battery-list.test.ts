import { expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import type { TransmitterDetails } from '../../contract/channels.ts'
import { resolveThresholds } from '../conditions/condition.ts'
import { type Channel, emptyChannel, type Receiver } from '../equipment/receiver.ts'
import type { Forecast } from '../forecast/forecast.ts'
import { toBatteryList, toBatteryListCsv } from './battery-list.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 4, 1, 20)
const noLevels = { audio_level: null, rf_level: null, frequency: null, upstream_slot: null }

/** The slots of the channels are 1, 2, 3 and so on. */
function listOf(channels: readonly Partial<Channel>[], { hours = 2, receiver = {} as Partial<Receiver> } = {}) {
  const built = channels.map((fields, index) => ({ ...emptyChannel(index + 41, index + 1, index + 1), ...fields }))
  return toBatteryList({
    receivers: [buildReceiver(7, { last_seen: now, ...receiver, channels: built })],
    before: now + hours * hour,
    now,
    titleOf: (_, { slot }) => `Person ${slot}`,
    forecastOf: ({ forecast }) => forecast,
    thresholdsOf: () => resolveThresholds({}, {}, []),
  })
}

const reasonsOf = (...parameters: Parameters<typeof listOf>) =>
  listOf(...parameters).changes.map(({ slot, reason }) => `${slot} ${reason}`)

const pack = (battery: number | null, details: TransmitterDetails = {}): Partial<Channel> => ({
  transmitter: { ...noLevels, name: 'H01', battery, details },
})
const lasting = (minutes_left: number, low: number): Partial<Channel> => {
  const forecast: Forecast = { minutes_left, source: 'history', low, high: minutes_left + 20 }
  return { ...pack(50), forecast }
}
const lastSeen = (hoursAgo: number, battery: number | null, minutes_left: number | null): Partial<Channel> => ({
  last_transmitter: { name: 'H01', battery, minutes_left, last_seen: now - hoursAgo * hour },
})
const conditionOf = (state: 'battery_died' | 'stale'): Pick<Channel, 'condition'> => ({
  condition: { state, severity: 'critical', attention: true, since: now, since_known: true, flags: [] },
})

// Conformance: C-21.33.
it('lists packs that may be empty before the time, by slot', () => {
  const channels = [lasting(150, 130), lasting(150, 115), lasting(40, 30)]
  expect(reasonsOf(channels)).toEqual(['2 will_not_last', '3 will_not_last'])
  expect(reasonsOf(channels, { hours: 1 })).toEqual(['3 will_not_last'])
  const details = { battery_minutes: 25, model: 'ULXD1', battery_type: 'alkaline' }
  expect(listOf([{}, pack(30, details)])).toEqual({
    before: '2026-05-01T22:00:00.000Z',
    changes: [
      {
        ...{ channel_id: 42, slot: 2, title: 'Person 2', pack: 'H01', model: 'ULXD1', battery_type: 'alkaline' },
        ...{ battery: 30, minutes_left: 25, forecast: null, reason: 'will_not_last', state: 'ok', last_seen: null },
      },
    ],
  })
})

it('lists nearly empty packs without a forecast, and those of which nothing is known last', () => {
  const channels = [pack(null), pack(8), pack(null, { battery_low: true }), pack(60), pack(100)]
  expect(reasonsOf(channels)).toEqual(['2 nearly_empty', '3 nearly_empty', '1 unknown', '4 unknown', '5 unknown'])
  // No pack discharges by more than 60% an hour.
  expect(reasonsOf(channels, { hours: 1 })).toEqual(['2 nearly_empty', '3 nearly_empty', '1 unknown'])
})

it('includes packs that were switched off or have died, but not those in the charger since yesterday', () => {
  const channels = [lastSeen(1, 30, 100), lastSeen(1, 90, 300), lastSeen(1, 10, null), lastSeen(13, 10, 20)]
  expect(reasonsOf(channels)).toEqual(['1 will_not_last', '3 nearly_empty'])
  const died = { ...lastSeen(0.1, 12, 300), ...conditionOf('battery_died') }
  const [change] = listOf([died]).changes
  expect(change).toMatchObject({ reason: 'nearly_empty', battery: 12, last_seen: '2026-05-01T19:54:00.000Z' })
})

it('lets packs that are out of reach go on discharging', () => {
  const reported = [pack(50, { battery_minutes: 150 })]
  expect(reasonsOf(reported)).toEqual([])
  expect(reasonsOf(reported, { receiver: { is_active: false, last_seen: now - hour } })).toEqual(['1 will_not_last'])
  expect(reasonsOf([{ ...lasting(150, 140), ...conditionOf('stale') }])).toEqual(['1 unknown'])
})

it('is exported as CSV', () => {
  const channels = [pack(8, { model: 'ULXD1' }), pack(null)]
  expect(toBatteryListCsv(listOf(channels)).split('\r\n')).toEqual([
    '\uFEFFslot,title,pack,model,battery_type,battery,minutes_left,reason,state,last_seen',
    '1,Person 1,H01,ULXD1,,8,,nearly_empty,ok,',
    '2,Person 2,H01,,,,,unknown,ok,',
    '',
  ])
})
