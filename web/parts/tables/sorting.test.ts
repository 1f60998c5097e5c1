import { expect, it } from 'vitest'
import { orderOf, sortRows } from './sorting.ts'

it.each([
  ['?sort=name', { key: 'name', isDescending: false }],
  ['?sort=-last_seen', { key: 'last_seen', isDescending: true }],
  ['?sort=<b>', null],
  ['', null],
])('reads the order in %s', (search, order) => {
  expect(orderOf(search)).toEqual(order)
})

it('sorts numbers naturally, with unknown values last in both directions', () => {
  const rows = ['Rack 10', null, 'Rack 2']
  expect(sortRows(rows, (row) => row, false)).toEqual(['Rack 2', 'Rack 10', null])
  expect(sortRows(rows, (row) => row, true)).toEqual(['Rack 10', 'Rack 2', null])
  expect(sortRows([3, 20, 1], (row) => row, true)).toEqual([20, 3, 1])
})
