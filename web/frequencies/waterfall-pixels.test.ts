import { describe, expect, it } from 'vitest'
import { thin, unmeasured } from '../../src/domain/frequencies/sweeps/sweep.ts'
import { levelRange, tabulateWaterfall, waterfallBytes } from './waterfall-pixels.ts'

const tenths = (...dbm: number[]) => Int16Array.from(dbm, (level) => level * 10)

/** Points at 470.000, 470.100 … MHz. */
function gridOf(...lines: readonly Int16Array[]) {
  const last = lines.at(-1) ?? new Int16Array()
  return { fromKhz: 470_000, stepKhz: 100, last, lines: lines.map((levels, index) => ({ at: index, levels })) }
}

const range = { low: -110, high: -60 }

// Conformance: C-23.120.
describe('waterfallBytes', () => {
  it('puts the newest line first, and scales levels to 1 to 255', () => {
    const grid = gridOf(tenths(-110, -85, -60, -20), tenths(-200, -110, -110, -110))
    const scale = { fromKhz: 469_950, widthKhz: 400, width: 4 }
    expect([...waterfallBytes(grid, scale, range)]).toEqual([1, 1, 1, 1, 1, 128, 255, 255])
  })

  it('shows the highest level of the points within a pixel, also of a carrier one point wide', () => {
    const levels = new Int16Array(1000).fill(-1100)
    levels[503] = -600
    const bytes = waterfallBytes(gridOf(levels), { fromKhz: 469_950, widthKhz: 100_000, width: 10 }, range)
    expect([...bytes]).toEqual([1, 1, 1, 1, 1, 255, 1, 1, 1, 1])
  })

  it('repeats a point over several pixels, and leaves what was not measured empty', () => {
    const levels = Int16Array.of(-600, unmeasured, -1100)
    const bytes = waterfallBytes(gridOf(levels), { fromKhz: 469_850, widthKhz: 500, width: 10 }, range)
    expect([...bytes]).toEqual([0, 0, 255, 255, 0, 0, 1, 1, 0, 0])
  })

  it('finds the place of a carrier in a line that was thinned', () => {
    const levels = new Int16Array(20_000).fill(-1100)
    levels[10_007] = -600
    const grid = { fromKhz: 470_000, stepKhz: 10, last: levels, lines: [{ at: 0, levels: thin(levels, 2000) }] }
    const bytes = waterfallBytes(grid, { fromKhz: 469_995, widthKhz: 200_000, width: 2000 }, range)
    expect(bytes.indexOf(255)).toBe(1000)
  })
})

it('spans the levels from below the noise to the maximum in tens of dB, at least 40 dB', () => {
  const quiet = new Int16Array(100).fill(-1040)
  expect(levelRange({ last: quiet, max: quiet })).toEqual({ low: -110, high: -70 })
  expect(levelRange({ last: quiet, max: quiet.with(3, -312) })).toEqual({ low: -110, high: -30 })
})

it('tabulates the visible lines, the newest first', () => {
  const grid = gridOf(tenths(-100, -90, -80, -70, -60), tenths(-61, -71, -81, -91, -101))
  const { ranges, rows } = tabulateWaterfall(grid, { fromKhz: 460_000, widthKhz: 50_000 }, 5)
  expect(ranges.map(({ fromKhz }) => fromKhz)).toEqual([470_000, 470_100, 470_200, 470_300, 470_400])
  expect(rows).toEqual([
    { at: 1, highest: [-61, -71, -81, -91, -101] },
    { at: 0, highest: [-100, -90, -80, -70, -60] },
  ])
  expect(tabulateWaterfall(grid, { fromKhz: 600_000, widthKhz: 50_000 }, 4)).toEqual({ ranges: [], rows: [] })
})
