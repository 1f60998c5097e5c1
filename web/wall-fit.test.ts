import { describe, expect, it } from 'vitest'
import { fitWall } from './wall-fit.ts'

const screens = [
  ['a television', { width: 1920, height: 1040 }],
  ['a 4K screen', { width: 3840, height: 2100 }],
  ['an upright screen', { width: 1080, height: 1880 }],
  ['a ticker', { width: 1920, height: 360 }],
  ['a phone', { width: 390, height: 780 }],
] as const

describe.each(screens)('on %s', (_, room) => {
  it.each([1, 2, 7, 8, 60, 61, 300, 1000])('fits %i cards', (count) => {
    for (const layout of ['grid', 'list'] as const) {
      const { columns, rows, card, gap, unit } = fitWall(count, room, layout, 'auto')
      expect(columns * rows).toBeGreaterThanOrEqual(count)
      expect((columns - 1) * rows).toBeLessThan(count)
      expect(columns * card.width + (columns - 1) * gap).toBeLessThanOrEqual(room.width + 0.01)
      expect(rows * card.height + (rows - 1) * gap).toBeLessThanOrEqual(room.height + 0.01)
      expect(unit).toBeGreaterThan(0)
    }
  })
})

it('shows less on smaller cards', () => {
  const steps = [8, 40, 150, 300].map((count) => fitWall(count, { width: 1920, height: 1040 }, 'grid', 'auto').step)
  expect(steps).toEqual(['full', 'usual', 'status', 'name'])
})

it('always applies a lower level of detail, and a higher one only where it is legible', () => {
  const room = { width: 1920, height: 1040 }
  expect(fitWall(8, room, 'grid', 'status').step).toBe('status')
  expect(fitWall(300, room, 'grid', 'full').step).toBe('name')
})

it('grows with the card', () => {
  const units = [300, 60, 8].map((count) => fitWall(count, { width: 1920, height: 1040 }, 'grid', 'auto').unit)
  expect(units).toEqual(units.toSorted((a, b) => a - b))
})

it('handles an area of zero size', () => {
  expect(fitWall(0, { width: 0, height: 0 }, 'grid', 'auto')).toMatchObject({ columns: 1, rows: 1 })
})
