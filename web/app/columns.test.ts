import { expect, it } from 'vitest'
import { allColumns, chosenColumns, fitColumns, isNarrow, widthOf } from './columns.ts'

it('never lets the name become narrower than its least width, at any width of the table', () => {
  for (let width = 30; width < 250; width++) {
    const columns = fitColumns(allColumns, width)
    const others = columns
      .filter((column) => column !== 'name')
      .reduce((sum, column) => sum + widthOf(column, width), 0)
    expect(columns, `${width} characters`).toContain('name')
    expect(width - others, `${width} characters`).toBeGreaterThanOrEqual(widthOf('name', width))
  }
})

it('leaves out the least important columns first, and keeps the chosen order', () => {
  expect(fitColumns(allColumns, 250)).toEqual(allColumns)
  expect(fitColumns(allColumns, 35)).toEqual(['slot', 'name', 'state'])
  expect(fitColumns(['battery', 'state', 'name', 'slot'], 250)).toEqual(['battery', 'state', 'name', 'slot'])
  expect(fitColumns(['battery', 'state', 'name', 'slot'], 36)).toEqual(['state', 'name', 'slot'])
})

it('shows the usual columns without a choice, and the name in any case', () => {
  expect(chosenColumns([])).toEqual(allColumns)
  expect(chosenColumns(['slot', 'battery'])).toEqual(['name', 'slot', 'battery'])
  expect(isNarrow(59)).toBe(true)
})
