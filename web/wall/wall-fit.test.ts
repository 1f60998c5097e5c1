import { describe, expect, it } from 'vitest'
import { type Fit, type FitOptions, fitWall, legibleName, maxOnScreen, paginate } from './wall-fit.ts'

/** A television with 1080 lines, without the status line. */
const television = { room: { width: 1912, height: 1032 }, screen: 1080 }
const screens = [
  ['a television', television],
  ['a 4K screen', { room: { width: 3832, height: 2070 }, screen: 2160 }],
  ['an upright screen', { room: { width: 1072, height: 1870 }, screen: 1080 }],
  ['a ticker', { room: { width: 1912, height: 330 }, screen: 360 }],
  ['a phone', { room: { width: 382, height: 760 }, screen: 390 }],
] as const

const names = { widest: { whole: 8.3, broken: 6.4 } }
const settings = { layout: 'grid', detail: 'auto', hasCharts: true } as const
const base = { ...television, ...names, ...settings }

function fitTiles(count: number, options: Partial<FitOptions> = {}): Fit {
  return fitWall({ ...base, wide: Array.from({ length: count }, () => false), ...options })
}

/** Height of a capital letter of Inter in pixels. */
const capOf = ({ name }: Fit) => name * 0.7275

describe.each(screens)('fitWall on %s', (_, screen) => {
  it.each([1, 2, 7, 8, 60, 61, 199])('finds a cell for each of %i tiles', (count) => {
    for (const layout of ['grid', 'list'] as const) {
      const { columns, rows, name, unit } = fitTiles(count, { ...screen, layout })
      expect(columns * rows).toBeGreaterThanOrEqual(count)
      expect((rows - 1) * columns).toBeLessThan(count)
      expect(name).toBeGreaterThan(0)
      expect(unit).toBe(name / 2)
    }
  })
})

describe('fitWall', () => {
  it('keeps capital letters at 1/200 of the viewing distance while the count allows, and never below 1/350', () => {
    const caps = [8, 24, 60, 103, 132, 199].map((count) => capOf(fitTiles(count)))
    expect(caps.filter((cap) => cap >= 40)).toHaveLength(3)
    expect(caps).toEqual(caps.toSorted((a, b) => b - a))
    expect(Math.min(...caps)).toBeGreaterThanOrEqual(23)
    expect(fitTiles(263).isLegible).toBe(false)
  })

  it('scales the limits with the screen', () => {
    const large = { room: { width: 3824, height: 2064 }, screen: 2160 }
    expect(fitTiles(199, large).name).toBeGreaterThanOrEqual(2 * fitTiles(199).name - 1)
    expect(legibleName(390)).toBeGreaterThan(390 / 1080 / legibleName(1080))
  })

  it('leaves out the receiver first and the chart last', () => {
    const shown = [2, 16, 20, 24, 32, 48].map((count) => fitTiles(count).parts)
    expect(shown[0]).toEqual(['receiver', 'frequency', 'numbers', 'meters', 'chart'])
    expect(shown.at(-1)).toEqual([])
    for (const [index, parts] of shown.entries())
      expect(shown[index - 1] ?? parts).toEqual(expect.arrayContaining([...parts]))
  })

  it('shows less detail on request, and more only where it fits', () => {
    expect(fitTiles(8, { detail: 'status' }).parts).toEqual([])
    expect(fitTiles(8, { detail: 'usual' }).parts).not.toContain('chart')
    expect(fitTiles(8, { hasCharts: false }).parts).not.toContain('chart')
    const full = fitTiles(199, { detail: 'full' })
    expect(full.parts).toEqual([])
    expect(full.leftOut).toEqual(['receiver', 'frequency', 'numbers', 'meters', 'chart'])
    expect(fitTiles(199, { detail: 'status' }).leftOut).toEqual([])
    expect(fitTiles(2, { detail: 'full' }).leftOut).toEqual([])
  })

  it('gives a name a second line where one is too short for it', () => {
    expect(fitTiles(24, { widest: { whole: 12, broken: 6 } }).lines).toBe(2)
    expect(fitTiles(199, { widest: { whole: 12, broken: 6 } }).lines).toBe(1)
  })

  it('has room for tiles of two cells wherever they are', () => {
    const wide = [false, false, true, true, true, true]
    const { columns, rows } = fitWall({ ...base, wide })
    expect(columns).toBeGreaterThan(1)
    expect(fitsDense(wide, columns, rows)).toBe(true)
  })

  it('handles an area of zero size', () => {
    expect(fitTiles(0, { room: { width: 0, height: 0 } })).toMatchObject({ columns: 1, rows: 1 })
  })
})

/** Places the tiles as `grid-auto-flow: dense` does. */
function fitsDense(wide: readonly boolean[], columns: number, rows: number): boolean {
  const used = new Set<number>()
  return wide.every((isWide) => {
    const free = (cell: number) => !used.has(cell)
    const cells = Array.from({ length: columns * rows }, (_, cell) => cell)
    const first = cells.find((cell) => free(cell) && (!isWide || (free(cell + 1) && cell % columns < columns - 1)))
    if (first === undefined) return false
    for (const cell of isWide ? [first, first + 1] : [first]) used.add(cell)
    return true
  })
}

describe('paginate', () => {
  const tiles = (count: number, needing: readonly number[] = []) =>
    Array.from({ length: count }, (_, slot) => ({ slot, needsAttention: needing.includes(slot) }))
  const divide = (count: number, needing?: readonly number[], options = {}) =>
    paginate({ ...base, tiles: tiles(count, needing), grows: true, ...options })

  it('puts up to 199 channels on one screen, and more on several', () => {
    expect(divide(maxOnScreen).pages.map((page) => page.length)).toEqual([199])
    expect(divide(200).pages.map((page) => page.length)).toEqual([100, 100])
    const { pages, fit } = divide(263)
    expect(pages.map((page) => page.length)).toEqual([132, 131])
    expect(capOf(fit)).toBeGreaterThanOrEqual(23)
    expect(divide(700).pages).toHaveLength(4)
  })

  it('begins every page with the tiles that need attention', () => {
    const { pages } = divide(263, [5, 140, 262])
    for (const page of pages) expect(page.slice(0, 3).map(({ slot }) => slot)).toEqual([5, 140, 262])
    expect(new Set(pages.flat().map(({ slot }) => slot)).size).toBe(263)
  })

  it('divides the tiles among the pages if those that need attention would fill a screen', () => {
    const { pages } = divide(
      263,
      Array.from({ length: 230 }, (_, slot) => slot),
    )
    expect(pages.flat()).toHaveLength(263)
    expect(pages.length).toBeGreaterThan(1)
  })

  it('divides fewer tiles too where their names would be illegible', () => {
    const { pages, fit } = divide(120, [], { room: { width: 1912, height: 400 } })
    expect(pages.length).toBeGreaterThan(1)
    expect(fit.isLegible).toBe(true)
  })

  it('lets tiles that need attention cover two cells while all names remain legible', () => {
    expect(divide(60, [3]).isGrown).toBe(true)
    expect(divide(60, [3], { grows: false }).isGrown).toBe(false)
    const half = Array.from({ length: 99 }, (_, slot) => slot)
    expect(divide(199, half)).toMatchObject({ isGrown: false, fit: { isLegible: true } })
  })
})
