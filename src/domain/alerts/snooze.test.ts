import { expect, test } from 'vitest'
import { type Alert, alertState, noData, noResponse, type SnoozeEnd } from './alert.ts'
import { isSnoozeOver } from './snooze.ts'

const groups = [{ id: 3, slots: [5] }]
const channels = [{ slot: 5 }]

function snoozedUntil(
  snoozed_until: SnoozeEnd | null,
  fields: Partial<Omit<Alert, 'first' | 'acknowledgements'>> = {},
): Alert {
  const response = { ...noResponse, snoozed_until, cleared_at: null, ...fields }
  return {
    id: 1,
    subject: 'battery:41',
    kind: 'battery_low',
    severity: 'warning',
    message: 'Vox: battery at 18%',
    manufacturer: 'shure',
    receiver_id: 7,
    channel_id: 41,
    data: noData,
    raised_at: 0,
    first: { at: 0, kind: 'battery_low', severity: 'warning', message: 'Vox: battery at 18%', data: noData },
    acknowledgements: [],
    site: null,
    ...response,
    state: alertState(response),
  }
}

// Conformance: C-11.7, C-11.8.
test.each<[string, Alert, { id: number; group_ids: number[] }[], boolean]>([
  ['until a time that has come', snoozedUntil(1000), [], true],
  ['until a later time', snoozedUntil(1001), [], false],
  ['until it is cleared', snoozedUntil('cleared'), [], false],
  ['until the end of a show that runs', snoozedUntil('show_end'), [{ id: 1, group_ids: [3] }], false],
  [
    'until the end of a show, while only a show without its slot runs',
    snoozedUntil('show_end'),
    [{ id: 1, group_ids: [4] }],
    true,
  ],
  ['until the end of a show, while none runs', snoozedUntil('show_end'), [], true],
  ['and then acknowledged', snoozedUntil(1000, { acknowledged_at: 500 }), [], false],
  ['and then cleared', snoozedUntil(1000, { cleared_at: 500 }), [], false],
  ['by nobody', snoozedUntil(null), [], false],
])('an alert that was snoozed %s', (_, alert, runningShows, expected) => {
  expect(isSnoozeOver(alert, 1000, { runningShows, groups, channels })).toBe(expected)
})

test('every running show concerns an alert about a source', () => {
  const alert = snoozedUntil('show_end', { receiver_id: null, channel_id: null })
  const context = { groups, channels: [] }
  expect(isSnoozeOver(alert, 1000, { ...context, runningShows: [{ id: 1, group_ids: [4] }] })).toBe(false)
  expect(isSnoozeOver(alert, 1000, { ...context, runningShows: [] })).toBe(true)
})
