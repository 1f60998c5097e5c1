import { describe, expect, it } from 'vitest'
import { type Fit, type FitOptions, fitWall, legibleName, paginate } from './wall-fit.ts'

/** A television with 1080 lines, without the strip and the status line. */
const television = { room: { width: 1912, height: 982 }, screen: 1080 }
const large = { room: { width: 3832, height: 2030 }, screen: 2160 }
const screens = [
  ['a television', television],
  ['a 4K screen', large],
  ['an upright screen', { room: { width: 1072, height: 1820 }, screen: 1080 }],
  ['a ticker', { room: { width: 1912, height: 280 }, screen: 360 }],
] as const

/** `Singer 12` */
const base = { nameWidth: 4.9, scrolls: false, density: 'm', detail: 'auto', hasCharts: true, ...television } as const

function fitTiles(count: number, options: Partial<FitOptions> = {}): Fit {
  return fitWall({ ...base, count, ...options })
}

/** Height of a capital letter of Inter in pixels. */
const capOf = ({ name }: Pick<Fit, 'name'>) => name * 0.7275
const partsOf = ({ shapes: [one] }: Fit) => one.parts

describe.each(screens)('fitWall on %s', (_, screen) => {
  it.each([1, 2, 7, 8, 60, 61, 199])('finds a cell for each of %i tiles', (count) => {
    const { columns, rows, gap, cell, name, unit } = fitTiles(count, screen)
    expect(columns * rows).toBeGreaterThanOrEqual(count)
    expect((rows - 1) * columns).toBeLessThan(count)
    expect(columns * cell.width + (columns - 1) * gap).toBeCloseTo(screen.room.width)
    expect(rows * cell.height + (rows - 1) * gap).toBeCloseTo(screen.room.height)
    expect(unit).toBe(name / 2)
  })
})

describe('fitWall', () => {
  it('keeps capital letters at 1/200 of the viewing distance while the count allows', () => {
    const caps = [8, 24, 60, 103, 132].map((count) => capOf(fitTiles(count)))
    expect(caps.filter((cap) => cap >= 40)).toHaveLength(3)
    expect(caps).toEqual(caps.toSorted((a, b) => b - a))
    expect(Math.min(...caps)).toBeGreaterThanOrEqual(23)
    expect(fitTiles(263).isLegible).toBe(false)
  })

  it('has room for nine names in ten on one line', () => {
    for (const nameWidth of [3, 6.6, 8, 11]) {
      for (const count of [8, 24, 60]) {
        const { cell, name, unit, isLegible } = fitTiles(count, { nameWidth })
        expect(isLegible).toBe(true)
        expect(nameWidth * name + unit).toBeLessThanOrEqual(cell.width + 0.5)
      }
    }
  })

  it('lets names that are a little wider change no grid', () => {
    const gridOf = ({ columns, rows }: Fit) => [columns, rows]
    expect(gridOf(fitTiles(60, { nameWidth: 8.4 }))).toEqual(gridOf(fitTiles(60, { nameWidth: 7.6 })))
  })

  it('gives long names a second line where the cell has room for it', () => {
    const lines = [12, 132].map((count) => fitTiles(count).shapes.map((shape) => shape.lines))
    expect(lines).toEqual([
      [1, 2],
      [1, 1],
    ])
  })

  it('shows more on a 4K screen, and larger only at density L', () => {
    const [usual, sharp, near, far] = [fitTiles(60), fitTiles(60, large), ...(['s', 'l'] as const).map(onLarge)]
    expect(Math.abs(sharp.name - usual.name)).toBeLessThanOrEqual(1)
    expect(fitTiles(4, large).name).toBe(fitTiles(4).name)
    expect(partsOf(sharp).length).toBeGreaterThan(partsOf(usual).length)
    expect(near?.name).toBeLessThan(sharp.name)
    expect(capOf(far ?? sharp)).toBeGreaterThanOrEqual(80)
    function onLarge(density: 's' | 'l') {
      return fitTiles(60, { ...large, density })
    }
  })

  it('scales the limits with a small screen', () => {
    expect(legibleName({ screen: 720, density: 'm' })).toBeLessThan(legibleName({ screen: 1080, density: 'm' }))
    expect(legibleName({ screen: 1080, density: 's' })).toBe(legibleName({ screen: 1080, density: 'm' }))
  })

  it('leaves out the receiver first and the chart last', () => {
    const shown = [2, 12, 20, 24, 32, 48, 60].map((count) => partsOf(fitTiles(count)))
    expect(shown[0]).toEqual(['receiver', 'frequency', 'numbers', 'chart'])
    expect(shown.at(-1)).toEqual([])
    for (const parts of shown)
      expect(['receiver', 'frequency', 'numbers', 'chart'].slice(-parts.length || 4)).toEqual(parts)
  })

  it('shows less detail on request', () => {
    expect(partsOf(fitTiles(8, { detail: 'status' }))).toEqual([])
    expect(partsOf(fitTiles(8, { detail: 'usual' }))).not.toContain('chart')
    expect(partsOf(fitTiles(8, { hasCharts: false }))).not.toContain('chart')
  })

  it('enlarges the state of a tile that needs attention within its cell', () => {
    for (const count of [2, 8, 12, 24, 60, 132]) {
      const { cell, name, unit, shapes } = fitTiles(count)
      for (const { lines, alarm } of shapes) {
        expect(alarm).toBeGreaterThanOrEqual(unit)
        expect(lines * name * 0.97 + alarm).toBeLessThanOrEqual(cell.height)
      }
    }
    expect(fitTiles(8).shapes[0].alarm).toBeGreaterThan(1.5 * fitTiles(8).unit)
  })

  it('handles an area of zero size', () => {
    expect(fitTiles(0, { room: { width: 0, height: 0 } })).toMatchObject({ columns: 1, rows: 1 })
  })

  it('scrolls in readable letters on a phone', () => {
    const phone = { room: { width: 382, height: 760 }, screen: 390, scrolls: true }
    const { columns, rows, name, unit, cell } = fitTiles(60, phone)
    expect([columns, rows]).toEqual([3, 20])
    expect([name, unit]).toEqual([20, 13])
    expect(cell.height).toBeGreaterThan(2 * name + unit)
    expect(fitTiles(60, { ...phone, nameWidth: 9 }).columns).toBe(1)
  })
})

describe('paginate', () => {
  const divide = (count: number, options = {}) => paginate({ ...base, count, ...options })

  it('divides the tiles among as few pages as possible with legible names', () => {
    expect(divide(132)).toMatchObject({ count: 1, perPage: 132 })
    const { count, perPage, fit } = divide(263)
    expect([count, perPage]).toEqual([2, 132])
    expect(capOf(fit)).toBeGreaterThanOrEqual(23)
    expect(divide(700).count).toBeGreaterThan(3)
    expect(divide(120, { room: { width: 1912, height: 400 } }).fit.isLegible).toBe(true)
  })

  it('needs no pages where the page scrolls, or where not even one tile is legible', () => {
    expect(divide(700, { scrolls: true }).count).toBe(1)
    expect(divide(700, { room: { width: 50, height: 10 } }).count).toBe(1)
  })

  it('finds the pages of 40,000 channels at once', () => {
    const { count, perPage } = divide(40_000)
    expect(count * perPage).toBeGreaterThanOrEqual(40_000)
  })
})
