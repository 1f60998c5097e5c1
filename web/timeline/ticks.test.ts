/** Tick marks of the time axis. */

import { describe, expect, it } from 'vitest'
import { presets } from './range.ts'
import { stepFor, ticksOf } from './ticks.ts'

const hour = 3_600_000
const utc = () => 0

describe('ticksOf', () => {
  it.each(presets)('leaves room for labels in a range of %d ms', (span) => {
    const from = Date.UTC(2026, 10, 22, 20, 3, 7)
    for (const width of [360, 1_000, 2_400]) {
      const ticks = ticksOf({ from, span }, width, utc)
      expect(ticks.length).toBeGreaterThan(1)
      const distances = ticks.slice(1).map(({ at }, index) => ((at - (ticks[index]?.at ?? 0)) / span) * width)
      expect(Math.min(...distances)).toBeGreaterThanOrEqual(84)
      for (const { at } of ticks) expect(at % stepFor({ from, span }, width)).toBe(0)
    }
  })

  it('marks the beginning of local days', () => {
    // India is 5 hours 30 minutes ahead of UTC.
    const ticks = ticksOf({ from: Date.UTC(2026, 10, 22, 12), span: 24 * hour }, 1_000, () => -330)
    const days = ticks.filter(({ isDay }) => isDay)
    expect(days.map(({ at }) => at)).toEqual([Date.UTC(2026, 10, 22, 18, 30)])
    expect(ticks.every(({ at }) => (at + 5.5 * hour) % (3 * hour) === 0)).toBe(true)
  })

  it('stays on whole local hours when the clock is set back', () => {
    const change = Date.UTC(2026, 9, 25, 1)
    const offset = (at: number) => (at < change ? -120 : -60)
    const ticks = ticksOf({ from: change - 12 * hour, span: 24 * hour }, 500, offset)
    const locals = ticks.map(({ at }) => ((at - offset(at) * 60_000) / hour) % 24)
    expect(locals.every((local) => local % 6 === 0)).toBe(true)
    for (const [index, { at }] of ticks.slice(1).entries()) expect(at).toBeGreaterThan(ticks[index]?.at ?? 0)
  })
})
