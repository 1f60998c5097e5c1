import { expect, it } from 'vitest'
import { parseTimestamp } from './timestamp.ts'

it.each([
  ['2026-11-23T19:30:00Z', Date.UTC(2026, 10, 23, 19, 30)],
  ['2026-11-23T19:30Z', Date.UTC(2026, 10, 23, 19, 30)],
  ['2026-11-23T19:30:00.5+02:00', Date.UTC(2026, 10, 23, 17, 30, 0, 500)],
  ['2026-11-23t19:30:00.000000000000z', Date.UTC(2026, 10, 23, 19, 30)],
  ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
  ['2026-02-29T00:00:00Z', null],
  ['2026-02-32T00:00:00Z', null],
  ['2026-13-01T00:00:00Z', null],
  ['2026-11-23T25:00:00Z', null],
  ['2026-11-23T19:30:00', null],
  ['2026-11-23', null],
  ['tomorrow', null],
  ['', null],
])('parses %j as %j', (text, time) => {
  expect(parseTimestamp(text)).toBe(time)
})
