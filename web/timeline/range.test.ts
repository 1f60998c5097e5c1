/** The visible range of the timeline and its form in the address. */

import { describe, expect, it } from 'vitest'
import { toIso } from '../app/service-time.ts'
import {
  centredOn,
  containing,
  following,
  minSpan,
  notAfter,
  pan,
  parseTimeline,
  presets,
  rangeOf,
  zoom,
} from './range.ts'

const range = { from: 1_000_000, span: 100_000 }

describe('zoom', () => {
  it('keeps the time at the anchor in its place', () => {
    for (const anchor of [0, 0.25, 1]) {
      const zoomed = zoom(range, 0.5, anchor)
      expect(zoomed.span).toBe(50_000)
      expect(zoomed.from + zoomed.span * anchor).toBe(range.from + range.span * anchor)
    }
  })

  it('ends at ten seconds and at a week', () => {
    expect(zoom(range, 1e-9, 0.5)).toEqual({ from: 1_045_000, span: minSpan })
    expect(zoom(range, 1e9, 0.5).span).toBe(presets.at(-1))
  })
})

it('pans, and does not move far into the future', () => {
  expect(pan(range, -5_000)).toEqual({ from: 995_000, span: 100_000 })
  expect(notAfter(pan(range, 1e9), 2_000_000)).toEqual({ from: 1_950_000, span: 100_000 })
  expect(notAfter(range, 2_000_000)).toEqual(range)
})

it('shows the present near the end while it follows it', () => {
  const { from, span } = following(100_000, 2_000_000)
  expect((2_000_000 - from) / span).toBeCloseTo(0.96)
})

it('centres a time only if it is outside', () => {
  expect(containing(range, 1_050_000)).toBe(range)
  expect(containing(range, 3_000_000)).toEqual(centredOn(3_000_000, 100_000))
})

describe('the address', () => {
  it('contains valid values only', () => {
    const query = { from: '2026-11-22T20:00:00Z', to: '2026-11-22T20:10:00+00:00', group: '3', channel: '7,x,9,7' }
    expect(parseTimeline({ ...query, at: '2026-11-22T20:05:00.250Z', q: ' nora ', state: 'problems' })).toEqual({
      from: '2026-11-22T20:00:00Z',
      to: '2026-11-22T20:10:00Z',
      at: '2026-11-22T20:05:00.250Z',
      channel: '7,9',
      group: 3,
      q: 'nora',
      state: 'problems',
    })
    expect(parseTimeline({ from: 'x', to: '2026-11-22T20:10:00Z', at: '?', channel: '-1', span: '1e9' })).toEqual({})
    expect(parseTimeline({ from: query.to, to: query.from, span: '600', state: 'on' })).toEqual({ span: '600' })
  })

  it('gives the same range again', () => {
    const [from, to] = [Date.UTC(2026, 10, 22, 20), Date.UTC(2026, 10, 22, 20, 10)]
    expect(rangeOf(parseTimeline({ from: toIso(from), to: toIso(to) }))).toEqual({ from, span: to - from })
    expect(rangeOf({})).toBeNull()
  })

  it('with a range that is too short keeps its centre', () => {
    const at = Date.UTC(2026, 10, 22, 20)
    expect(rangeOf({ from: toIso(at), to: toIso(at + 2_000) })).toEqual({ from: at - 4_000, span: minSpan })
  })
})
