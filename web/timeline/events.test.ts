/** The events of the timeline, their texts and their marks. */

import { describe, expect, it } from 'vitest'
import type { EventBody } from '../../src/contract/history.ts'
import { eventKinds } from '../../src/contract/values.ts'
import { categories, concerns, endOf, eventDetail, kindsOf, mergeEvents, overlaps } from '../parts/events.ts'
import { findMark, listMarks } from './marks.ts'

const start = Date.UTC(2026, 10, 22, 20)

function event(id: number, seconds: number, fields: Partial<EventBody> = {}): EventBody {
  return {
    ...{ id, time: new Date(start + seconds * 1_000).toISOString(), until: null, kind: 'muted', severity: 'info' },
    ...{ channel_id: 7, receiver_id: 2, manufacturer: 'shure', text: '', data: {}, by: null, site: null },
    ...fields,
  }
}

const ids = (events: readonly EventBody[]) => events.map(({ id }) => id)

it('assigns every kind to one category', () => {
  expect(Object.values(categories).flat().sort()).toEqual([...eventKinds].sort())
})

it('selects events by category and by kind', () => {
  expect(kindsOf('')).toBeNull()
  expect(kindsOf('rf')).toEqual(['rf_dropout', 'interference'])
  expect(kindsOf('muted')).toEqual(['muted'])
})

it('adds, replaces and removes events that were announced after the list was read', () => {
  const read = [event(3, 30), event(1, 10)]
  const changes = [
    { id: 4, event: event(4, 40) },
    { id: 1, event: event(1, 35) },
    { id: 3, event: null },
    { id: 5, event: event(5, 999) },
  ]
  const merged = mergeEvents(read, changes, ({ time }) => Date.parse(time) < start + 100_000)
  expect(ids(merged)).toEqual([4, 1])
})

it('ends at `until`, at the present while it is open, and otherwise not at all', () => {
  expect(endOf(event(1, 0), 5)).toBeNull()
  expect(endOf(event(1, 0, { data: { open: true } }), 5)).toBe(5)
  expect(endOf(event(1, 0, { until: '1970-01-01T00:00:01Z' }), 5)).toBe(1_000)
})

it('overlaps a range while it continues, also if it began before', () => {
  const range = { start: start + 10_000, end: start + 20_000 }
  const until = (seconds: number) => ({ until: new Date(start + seconds * 1_000).toISOString() })
  expect(overlaps(event(1, 15), range)).toBe(true)
  expect([overlaps(event(1, 5), range), overlaps(event(1, 25), range)]).toEqual([false, false])
  expect([overlaps(event(1, 5, until(12)), range), overlaps(event(1, 5, until(9)), range)]).toEqual([true, false])
  expect(overlaps(event(1, 5, { data: { open: true } }), range)).toBe(true)
})

it('concerns the channel, all channels of the receiver, or all channels', () => {
  const channel = { channelId: 7, receiverId: 2 }
  expect(concerns(event(1, 0), channel)).toBe(true)
  expect(concerns(event(1, 0, { channel_id: 8 }), channel)).toBe(false)
  expect(concerns(event(1, 0, { channel_id: null }), channel)).toBe(true)
  expect(concerns(event(1, 0, { channel_id: null, receiver_id: 3 }), channel)).toBe(false)
  expect(concerns(event(1, 0, { channel_id: null, receiver_id: null }), channel)).toBe(true)
})

describe('eventDetail', () => {
  it.each([
    ['rf_dropout', { seconds: 0.3, lowest_dbm: -97 }, '0.3 sec, lowest −97 dBm'],
    ['clipping', { seconds: 2 }, '2 sec'],
    ['battery_changed', { from: 12, to: 100 }, '12% → 100%'],
    ['frequency_changed', { from: '540.000', to: '541.250' }, '540.000 MHz → 541.250 MHz'],
    ['renamed', { from: 'Vocal', to: 'Nora' }, 'Vocal → Nora'],
    ['moved', { name: 'Vocal', slot: 40, from: 4, to: 40 }, '4 → 40'],
    ['moved', { from: '10.0.0.7', to: '10.0.0.9' }, '10.0.0.7 → 10.0.0.9'],
    ['moved', { from: null, to: 'Stage left' }, '– → Stage left'],
    ['swapped', { slot: 4, with: 9, what: 'people' }, 'People, 4 ↔ 9'],
    ['assigned', { performer: { id: 2, name: 'Nora' }, wireless_unit: 5, name: 'H04', slot: 4 }, 'Nora, H04'],
    ['unassigned', { performer: { id: 2, name: 'Nora' }, wireless_unit: 5, name: null, slot: null }, 'Nora'],
    ['alert_raised', { kind: 'battery_low' }, 'Battery low'],
    ['recording_gap', { reason: 'storage' }, 'the history could not be stored'],
    ['muted', {}, null],
    ['rf_dropout', { seconds: 'x' }, null],
  ] as const)('words %s', (kind, data, text) => {
    expect(eventDetail(event(1, 0, { kind, data }))).toBe(text)
  })

  it('returns the text of a marker', () => {
    expect(eventDetail(event(1, 0, { kind: 'marker', text: 'Act 2' }))).toBe('Act 2')
  })
})

describe('marks', () => {
  const scale = { from: start, msPerPixel: 100, width: 1_000, now: start + 60_000 }

  it('are at the pixels of their times, and reach to their ends', () => {
    const range = event(1, 10, { until: new Date(start + 20_000).toISOString() })
    const before = event(2, -50, { until: new Date(start + 5_000).toISOString() })
    const marks = listMarks([before, range, event(3, 99), event(4, 200)], scale)
    expect(marks.map(({ event, x, endX }) => [event.id, x, endX])).toEqual([
      [2, -500, 50],
      [1, 100, 200],
      [3, 990, 990],
    ])
  })

  it('that are close together become one, which stands for the most severe event', () => {
    const marks = listMarks([event(1, 10), event(2, 10.5, { severity: 'critical' }), event(3, 11)], scale)
    expect(marks).toMatchObject([{ count: 3, x: 100, event: { id: 2 } }])
  })

  it('are found at a point near their beginning, otherwise within their range', () => {
    const long = event(1, 10, { until: new Date(start + 60_000).toISOString() })
    const marks = listMarks([long, event(2, 30)], scale)
    expect(findMark(marks, 306, 8)?.event.id).toBe(2)
    expect(findMark(marks, 400, 8)?.event.id).toBe(1)
    expect(findMark(marks, 700, 8)).toBeNull()
  })
})
