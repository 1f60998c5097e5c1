import { beforeEach, describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { emptyChannel, type Receiver } from '../equipment/receiver.ts'
import { TestAlerts } from './test-alerts.ts'
import { type ForecastContext, forecastAlertEnding, listForecastCauses, type PlannedShow } from './will-not-last.ts'

const minute = 60_000
const transmitter = {
  ...{ upstream_slot: null, name: 'Nora', battery: 60, audio_level: null, rf_level: null, frequency: null },
}

let alerts: TestAlerts
let receiver: Receiver
let shows: PlannedShow[]
let low: number | null
let batterySince: number

beforeEach(() => {
  alerts = new TestAlerts()
  receiver = buildReceiver(1, { channels: [{ ...emptyChannel(7, 1, 3), transmitter }] })
  shows = [{ id: 1, group_ids: [], ends_at: alerts.now + 120 * minute }]
  low = 119
  batterySince = 0
})

function context(): ForecastContext {
  return {
    runningShows: shows,
    groups: [{ id: 4, slots: [3] }],
    forecast: () => (low === null ? null : { minutes_left: low + 20, source: 'history', low, high: low + 40 }),
    batterySince: () => batterySince,
    isInhibited: false,
    now: alerts.now,
  }
}

function evaluate(): readonly string[] {
  return alerts.compare({
    causes: listForecastCauses(receiver, alerts.open, context()),
    endingOf: (alert) => forecastAlertEnding(receiver, alert, context()),
  })
}

describe('the alert that a battery will not last', () => {
  // Conformance: C-13.33.
  it('compares the low end of the forecast with the planned end of a running show', () => {
    low = 120
    expect(evaluate()).toEqual([])
    low = 119
    expect(evaluate()).toEqual(['+will_not_last warning'])
    expect(alerts.open[0]).toMatchObject({
      ...{ channel_id: 7, receiver_id: 1 },
      data: { name: 'Nora', slot: 3, minutes_left: 119, ends_at: new Date(shows[0]?.ends_at ?? 0).toISOString() },
    })
    expect(evaluate()).toEqual([])
  })

  // Conformance: C-13.34.
  it('is cleared when the battery lasts 5 minutes longer than the show', () => {
    evaluate()
    low = 124
    expect(evaluate()).toEqual(['=will_not_last'])
    low = 125
    expect(evaluate()).toEqual(['-will_not_last'])
  })

  // Conformance: C-13.34.
  it('is cleared when the show ends, when its planned end passes, and when that is changed or removed', () => {
    for (const end of [
      () => shows.pop(),
      () => (alerts.now += 121 * minute),
      () => (shows = [{ id: 1, group_ids: [], ends_at: null }]),
      () => (shows = [{ id: 1, group_ids: [], ends_at: alerts.now + 60 * minute }]),
    ]) {
      shows = [{ id: 1, group_ids: [], ends_at: alerts.now + 120 * minute }]
      expect(evaluate()).toEqual(['+will_not_last warning'])
      end()
      expect(evaluate()).toEqual(['-will_not_last'])
    }
  })

  it('concerns only channels of the show, and the show that ends last', () => {
    shows = [{ id: 1, group_ids: [5], ends_at: alerts.now + 120 * minute }]
    expect(evaluate()).toEqual([])
    shows.push({ id: 2, group_ids: [4], ends_at: alerts.now + 110 * minute })
    expect(evaluate()).toEqual([])
    shows.push({ id: 3, group_ids: [4], ends_at: alerts.now + 180 * minute })
    expect(evaluate()).toEqual(['+will_not_last warning'])
  })

  it('stays open while the transmitter is off, until another battery is received', () => {
    evaluate()
    receiver = { ...receiver, channels: [{ ...emptyChannel(7, 1, 3) }] }
    low = null
    expect(evaluate()).toEqual([])
    receiver = { ...receiver, channels: [{ ...emptyChannel(7, 1, 3), transmitter: { ...transmitter, battery: 100 } }] }
    expect(evaluate()).toEqual([])
    batterySince = alerts.now + 1
    expect(evaluate()).toEqual(['-will_not_last'])
  })

  it('is not raised while the receiver is offline, and does not end then', () => {
    receiver = { ...receiver, is_active: false }
    expect(evaluate()).toEqual([])
    receiver = { ...receiver, is_active: true }
    evaluate()
    receiver = { ...receiver, is_active: false }
    low = 500
    expect(evaluate()).toEqual([])
  })
})
