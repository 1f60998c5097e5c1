import { expect, it } from 'vitest'
import { findChangedKeys, findNul, isDeeper } from './json.ts'

it.each([
  ['1', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['[[],{"a":[1]}]', 3, false],
  ['[[],{"a":[1]}]', 2, true],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 64, true],
])('isDeeper(%.20s, %d) is %s', (json, levels, expected) => expect(isDeeper(JSON.parse(json), levels)).toBe(expected))

it.each([
  [{ a: 'text', b: [1, null, 'more'] }, null],
  ['a\0', []],
  [{ a: { b: ['fine', 'not\0'] } }, ['a', 'b', '1']],
  [{ a: { 'b\0': 1 } }, ['a', 'b\0']],
])('findNul(%j) is %j', (value, path) => expect(findNul(value)).toEqual(path))

it.each([
  [{ a: 1 }, { a: 1 }, []],
  [
    { server: { port: 1, host: 'a' }, log: null },
    { server: { port: 2, host: 'a' }, log: 'info' },
    ['server.port', 'log'],
  ],
  [{ hosts: ['a'], tls: null }, { hosts: ['a', 'b'], tls: { cert: 'c', key: 'k' } }, ['hosts', 'tls']],
  [{ limits: { a: { n: 1 } } }, { limits: { b: { n: 1 } } }, ['limits.a', 'limits.b']],
])('finds the keys that differ between %j and %j', (before, after, expected) => {
  expect(findChangedKeys(before, after)).toEqual(expected)
})
