import { expect, it } from 'vitest'
import { findChangedKeys } from './changed-keys.ts'

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
