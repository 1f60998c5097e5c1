import { expect, it } from 'vitest'
import { formatDateTime } from '../../app/format.ts'
import { detailText } from './audit.tsx'

it.each([
  ['a text', 'Evening', 'Evening'],
  ['a number', 20, '20'],
  ['an empty list', [], ''],
  ['a list', ['title', 'notes', 3], 'title, notes, 3'],
  ['an object', { slot: 4 }, '{"slot":4}'],
  ['a time', '2027-11-23T20:08:53.328Z', formatDateTime('2027-11-23T20:08:53.328Z')],
  ['a text that contains a time', 'at 2027-11-23T20:08:53.328Z', 'at 2027-11-23T20:08:53.328Z'],
] as const)('formats %s', (_what, value, text) => {
  expect(detailText(value)).toBe(text)
})
