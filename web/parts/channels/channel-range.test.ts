import { expect, it } from 'vitest'
import { neighbourSpan, pan, parseRange, rangeAround, rangeQuery, zoom } from './channel-range.ts'

const now = Date.parse('2026-05-01T20:00:00Z') / 1_000

it('reads a range from the address, and writes one without the defaults', () => {
  expect(parseRange({})).toEqual({ span: 3_600, to: null })
  expect(parseRange({ span: '600', to: '2026-05-01T20:00:00Z' })).toEqual({ span: 600, to: now })
  expect(parseRange({ span: '17', to: 'yesterday' })).toEqual({ span: 3_600, to: null })
  expect(rangeQuery({ span: 3_600, to: null })).toEqual({})
  expect(rangeQuery({ span: 600, to: now })).toEqual({ span: 600, to: '2026-05-01T20:00:00Z' })
})

it('follows now again when it is moved to the end', () => {
  const earlier = pan({ span: 600, to: null }, -300, now)
  expect(earlier).toEqual({ span: 600, to: now - 300 })
  expect(pan(earlier, 200, now)).toEqual({ span: 600, to: now - 100 })
  expect(pan(earlier, 300, now)).toEqual({ span: 600, to: null })
})

it('keeps the middle when the length changes, or the end while it follows now', () => {
  expect(zoom({ span: 3_600, to: null }, 600, now)).toEqual({ span: 600, to: null })
  expect(zoom({ span: 3_600, to: now - 7_200 }, 600, now)).toEqual({ span: 600, to: now - 8_700 })
  expect(zoom({ span: 600, to: now - 100 }, 3_600, now)).toEqual({ span: 3_600, to: null })
})

it('finds the next shorter and longer length', () => {
  expect([neighbourSpan(3_600, -1), neighbourSpan(3_600, 1)]).toEqual([600, 21_600])
  expect([neighbourSpan(600, -1), neighbourSpan(14 * 86_400, 1)]).toEqual([600, 14 * 86_400])
})

it('returns ten minutes around a time', () => {
  expect(rangeAround(now * 1_000)).toEqual({ span: 600, to: '2026-05-01T20:05:00Z' })
})
