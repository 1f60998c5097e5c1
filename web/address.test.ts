import { expect, it } from 'vitest'
import { mountOf, pageOf, searchOf, viewOf } from './address.ts'

it.each([
  ['http://host/assets/index.js', ''],
  ['http://host/micwatch/assets/index.js', '/micwatch'],
  ['http://host/main.tsx', ''],
])('reads the mount from %s', (url, mount) => {
  expect(mountOf(url)).toBe(mount)
})

it.each([
  ['/', '', 'dashboard'],
  ['/micwatch', '/micwatch', 'dashboard'],
  ['/micwatch/about/', '/micwatch', 'about'],
  ['/about', '', 'about'],
  ['/nowhere', '', 'unknown'],
])('%s under "%s" is %s', (path, mount, page) => {
  expect(pageOf(path, mount)).toBe(page)
})

it('ignores what it does not know, and keeps it', () => {
  expect(viewOf('?sort=upside-down&manufacturer=<b>&x=1')).toEqual({ manufacturer: null, sort: 'slot' })
  expect(searchOf({ manufacturer: 'shure', sort: 'problems' }, '?x=1')).toBe('?x=1&manufacturer=shure&sort=problems')
  expect(searchOf({ manufacturer: null, sort: 'slot' }, '?sort=problems')).toBe('')
})
