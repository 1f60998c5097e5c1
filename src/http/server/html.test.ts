import { expect, test } from 'vitest'
import { prefersHtml } from './html.ts'

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['text/html', true],
  ['text/*', true],
  ['application/json;q=0.5, text/html;q=0.6', true],
  ['TEXT/HTML', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0, */*', false],
  ['text/html;q=high', false],
])('prefersHtml returns for Accept: %s the value %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected)
})
