import { expect, it } from 'vitest'
import { formatQuery, parseQuery } from './query-string.ts'

it('reads all values as texts, in their order, and the first of several values', () => {
  expect(Object.entries(parseQuery('?q=12&page=3&q=13'))).toEqual([
    ['q', '12'],
    ['page', '3'],
  ])
})

it('leaves out empty values', () => {
  expect(formatQuery({ q: 'anna & tom', group: 2, page: null, sort: undefined, state: '' })).toBe(
    '?q=anna+%26+tom&group=2',
  )
  expect(formatQuery({ page: null })).toBe('')
})
