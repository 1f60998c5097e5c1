import { expect, it } from 'vitest'
import { mountOf, safeNext } from './address.ts'

it.each([
  ['http://host/assets/index.js', ''],
  ['http://host/micwatch/assets/index.js', '/micwatch'],
  ['http://host/main.tsx', ''],
])('reads the mount from %s', (url, mount) => {
  expect(mountOf(url)).toBe(mount)
})

it.each([
  ['/admin/queue?status=pending#3', '', '/admin/queue?status=pending#3'],
  ['/venue/wall', '/venue', '/venue/wall'],
  ['/wall', '/venue', null],
  ['/venues/', '/venue', null],
  ['//evil.example/', '', null],
  ['/\\evil.example/', '', null],
  ['/x/..//evil.example', '', null],
  ['\t//evil.example', '', null],
  ['https://evil.example/', '', null],
  ['http://host/wall', '', null],
  ['javascript:alert(1)', '', null],
  ['wall', '', null],
  [null, '', null],
])('safeNext accepts %s under "%s": %s', (next, mount, to) => {
  expect(safeNext(next, { origin: 'http://host', mount })).toBe(to)
})
