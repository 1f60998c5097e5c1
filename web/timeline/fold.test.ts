/** Folding of steps into pixel columns, and the strips that are drawn from them. */

import { describe, expect, it } from 'vitest'
import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { createColumns, foldColumns, listValues, notLoaded, valuesAt } from './fold.ts'
import type { LevelBlock } from './level-blocks.ts'
import { tierFor } from './level-blocks.ts'
import { presets } from './range.ts'
import { areasOf, drawStrip, type StripColours } from './raster.ts'

const start = 1_800_000_000
const later = (start + 10_000_000) * 1_000

interface Values {
  readonly state?: string
  readonly rfMin?: number
  readonly rfMax?: number
  readonly weakMs?: number
}

/** A block whose steps are good, except those given. */
function block(step: number, count: number, special: Readonly<Record<number, Values>> = {}): LevelBlock {
  const list = (name: 'rfMin' | 'rfMax', usual: number) =>
    Int16Array.from({ length: count }, (_, index) => special[index]?.[name] ?? usual)
  const same = (value: number) => new Int16Array(count).fill(value)
  return {
    ...{ from: start, step, count, until: start + step * count },
    state: Uint8Array.from({ length: count }, (_, index) =>
      (stateLetters as readonly string[]).indexOf(special[index]?.state ?? '1'),
    ),
    ...{ rfMin: list('rfMin', -62), rfMax: list('rfMax', -58), audioMax: same(-20), audioLast: same(-30) },
    ...{ quality: same(noValue), battery: same(80), minutes: same(noValue) },
    weakMs: Int32Array.from({ length: count }, (_, index) => special[index]?.weakMs ?? 0),
  }
}

const finder = (of: LevelBlock) => (at: number) => {
  const end = of.from + of.count * of.step
  return at >= of.from && at < end
    ? { block: of, until: end }
    : { block: null, until: at < of.from ? of.from : at + 600 }
}

function fold(of: LevelBlock, width: number, msPerColumn: number, now = later, from = start * 1_000) {
  const columns = createColumns(width)
  const offset = Math.round(from / msPerColumn)
  foldColumns(columns, { offset, msPerColumn, first: 0, last: width, now, find: finder(of) })
  return { columns, offset }
}

describe('foldColumns', () => {
  it('keeps the extremes and the weak seconds of the steps in a column', () => {
    const { columns } = fold(block(1, 40, { 5: { rfMin: -97, weakMs: 200 }, 12: { rfMax: -40 } }), 4, 10_000)
    expect([...columns.rfMin]).toEqual([-97, -62, -62, -62])
    expect([...columns.rfMax]).toEqual([-58, -40, -58, -58])
    expect([...columns.weak]).toEqual([1, 0, 0, 0])
  })

  it('spreads a step over the columns that it covers', () => {
    const { columns } = fold(block(10, 3, { 1: { state: 'm' } }), 6, 5_000)
    expect([...columns.state].map((index) => stateLetters[index]).join('')).toBe('11mm11')
  })

  it('shows the worst state of a column, and "not recorded" only if nothing was recorded', () => {
    const states = { 0: { state: '-' }, 1: { state: '-' }, 2: { state: '-' }, 4: { state: 'm' }, 7: { state: 'x' } }
    const { columns } = fold(block(1, 8, states), 4, 2_000)
    expect([...columns.state].map((index) => stateLetters[index]).join('')).toBe('-1mx')
  })

  it('distinguishes what is not loaded or has not happened from what was not recorded', () => {
    const now = (start + 30) * 1_000
    const { columns } = fold(block(1, 40, { 3: { state: '-' }, 25: { state: '-' } }), 50, 1_000, now)
    // The 25th second may still be recorded.
    expect([columns.state[3], columns.state[25], columns.state[29], columns.state[30]]).toEqual([
      0,
      notLoaded,
      4,
      notLoaded,
    ])
    expect(fold(block(1, 2), 6, 1_000, later, (start - 2) * 1_000).columns.state).toEqual(
      Uint8Array.of(notLoaded, notLoaded, 4, 4, notLoaded, notLoaded),
    )
  })
})

it('returns the values at a time, and those of a range as rows', () => {
  const find = finder(block(1, 100, { 50: { rfMin: -97, weakMs: 200 } }))
  expect(valuesAt(find, (start + 50.5) * 1_000)).toMatchObject({ state: '1', rfMin: -97, rfMax: -58, weakMs: 200 })
  expect(valuesAt(find, (start + 200) * 1_000)).toBeNull()
  const rows = listValues(find, start * 1_000, (start + 100) * 1_000, 10)
  expect(rows.map(({ weakMs }) => weakMs)).toEqual([0, 0, 0, 0, 0, 200, 0, 0, 0, 0])
  expect(rows[5]).toMatchObject({ from: (start + 50) * 1_000, to: (start + 60) * 1_000, quality: null })
})

/** Different numbers, so that the drawn pixels can be recognized. */
const colours: StripColours = {
  ...{ page: 1, track: 2, faint: 3, rf: 4, weak: 5, audio: 6, audioOver: 7, battery: 8, batteryLow: 9 },
  ...{ on: 10, muted: 11, off: 12, offline: 13, missing: 14 },
}

function draw(of: LevelBlock, width: number, msPerColumn: number, height = 24, scale = 1) {
  const { columns, offset } = fold(of, width, msPerColumn)
  const pixels = { data: new Uint32Array(width * height), width, height }
  const box = { top: 0, height, lanes: 1 as const, scale }
  drawStrip({ pixels, columns, colours, box, offset, first: 0, last: width })
  return pixels
}

describe('drawStrip', () => {
  const width = 1_000

  // Conformance: C-12.81.
  it.each(presets)('shows a dropout of 200 ms in a range of %d ms at least three pixels wide', (span) => {
    const step = tierFor(span / width)
    const steps = Math.ceil(span / 1_000 / step)
    const dropout = block(step, steps, { [Math.floor(steps / 2)]: { rfMin: -97, weakMs: 200 } })
    for (const [height, scale] of [
      [24, 1],
      [88, 2],
    ] as const) {
      const { data } = draw(dropout, width, span / width, height, scale)
      const marked = Array.from({ length: width }, (_, x) => x).filter((x) =>
        Array.from({ length: 4 * scale }, (_, y) => data[y * width + x]).includes(colours.weak),
      )
      expect(marked.length).toBeGreaterThanOrEqual(3 * scale)
      const weakPixels = data.filter((pixel) => pixel === colours.weak).length
      expect(weakPixels).toBeGreaterThan(marked.length * 2)
    }
    const { data } = draw(block(step, steps), width, span / width)
    expect(data.includes(colours.weak)).toBe(false)
  })

  it('draws every state with a pattern of its own', () => {
    const patternOf = (state: string) => {
      const all = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [index, { state }]))
      const { data } = draw(block(1, 64, all), 64, 1_000)
      // Without the colours: which pixels differ from the background.
      return [...data.subarray(64 * 19, 64 * 23)].map((pixel) => (pixel === colours.page ? '.' : '#')).join('')
    }
    const patterns = ['1', 'm', '0', 'x', '-'].map(patternOf)
    expect(new Set(patterns).size).toBe(5)
    expect(patterns[4]).not.toContain('#')
  })

  // Conformance: C-12.112.
  it('draws RF, audio and battery in lanes of their own in an open strip', () => {
    const { columns, offset } = fold(block(1, 60), 60, 1_000)
    const box = { top: 0, height: 240, lanes: 3 as const, scale: 1 }
    const pixels = { data: new Uint32Array(60 * 240), width: 60, height: 240 }
    drawStrip({ pixels, columns, colours, box, offset, first: 0, last: 60 })
    const areas = areasOf(box)
    for (const lane of ['rf', 'audio', 'battery'] as const) {
      const rows = [...pixels.data].flatMap((pixel, index) => (pixel === colours[lane] ? [Math.floor(index / 60)] : []))
      expect(rows.length, lane).toBeGreaterThan(0)
      expect(Math.min(...rows), lane).toBeGreaterThanOrEqual(areas[lane].top)
      expect(Math.max(...rows), lane).toBeLessThan(areas[lane].bottom)
    }
  })

  it('draws the same pixels when it continues after a part that is already drawn', () => {
    const varied = block(1, 60, { 20: { state: 'm', rfMin: -90 }, 30: { rfMin: -99, weakMs: 90 }, 40: { state: 'x' } })
    const { columns, offset } = fold(varied, 60, 1_000)
    const box = { top: 0, height: 44, lanes: 2 as const, scale: 1 }
    const create = () => ({ data: new Uint32Array(60 * 44), width: 60, height: 44 })
    const [whole, parts] = [create(), create()]
    drawStrip({ pixels: whole, columns, colours, box, offset, first: 0, last: 60 })
    for (const [first, last] of [
      [0, 25],
      [25, 60],
    ] as const)
      drawStrip({ pixels: parts, columns, colours, box, offset, first, last })
    expect(parts.data).toEqual(whole.data)
  })
})
