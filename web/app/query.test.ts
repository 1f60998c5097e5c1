import { expect, it } from 'vitest'
import { type Filter, filterValues, formatQuery, pageNumber, parseQuery, queryOf, valuesInForce } from './query.ts'

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choice', options: [{ value: 'pending', text: 'Pending' }] },
  { name: 'since', label: 'Since', kind: 'day' },
  { name: 'channel', label: 'Channel', kind: 'channel' },
]

it('reads known filters and ignores unknown values', () => {
  expect(filterValues(filters, '?status=pending&since=2026-05-01&x=1')).toEqual({
    status: 'pending',
    since: '2026-05-01',
  })
  expect(filterValues(filters, '?status=<b>&since=2026-13-41')).toEqual({})
  expect(filterValues(filters, '?channel=40000')).toEqual({ channel: '40000' })
  for (const id of ['0', '-1', '1.5', '1,2', 'x', '9999999999999999']) {
    expect(filterValues(filters, `?channel=${id}`), id).toEqual({})
  }
})

it('sends a day to the API as its local midnight', () => {
  const query = new URLSearchParams(queryOf(filters, { status: 'pending', since: '2026-05-01' }, { page: '2' }))
  expect(Object.fromEntries(query)).toEqual({
    page: '2',
    status: 'pending',
    since: new Date(2026, 4, 1).toISOString(),
  })
})

it('uses the default until the URL has a value', () => {
  const usual: readonly Filter[] = [{ name: 'status', label: '', kind: 'choice', options: [], usual: 'pending' }]
  expect(queryOf(usual, valuesInForce(usual, ''))).toBe('status=pending')
  expect(queryOf(usual, valuesInForce(usual, '?status=any'))).toBe('')
})

it.each([
  ['?page=7', 7],
  ['?page=0', 1],
  ['?page=-1', 1],
  ['?page=x', 1],
  ['', 1],
])('pageNumber of %s is %i', (search, page) => {
  expect(pageNumber(search)).toBe(page)
})

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
