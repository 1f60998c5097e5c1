import { expect, test } from 'vitest'
import { createCache } from './cache.ts'

// Conformance: S-1.22, S-8.9.
test('returns a response until it expires or its manufacturer changes', () => {
  let now = 0
  const cache = createCache<string>({ timeoutMs: () => 30_000, now: () => now })
  cache.set('all', null, 'everything')
  cache.set('shure', 'shure', 'a')
  cache.set('sennheiser', 'sennheiser', 'b')
  cache.drop('shure')
  expect([cache.get('all'), cache.get('shure'), cache.get('sennheiser')]).toEqual([undefined, undefined, 'b'])
  now = 30_000
  expect(cache.get('sennheiser')).toBeUndefined()
})

test('drops all responses when no manufacturer is given', () => {
  const cache = createCache<string>({ timeoutMs: () => 30_000 })
  cache.set('all', null, 'everything')
  cache.set('shure', 'shure', 'a')
  cache.drop(null)
  expect([cache.get('all'), cache.get('shure')]).toEqual([undefined, undefined])
  cache.set('shure', 'shure', 'b')
  cache.set('shure', 'shure', 'c')
  expect(cache.get('shure')).toBe('c')
  cache.drop('shure')
  expect(cache.get('shure')).toBeUndefined()
})

// Reliability: 1.25.
test('limits the number of responses and drops the oldest', () => {
  const cache = createCache<number>({ timeoutMs: () => 30_000 })
  for (let n = 0; n < 5000; n += 1) cache.set(`page ${n}`, null, n)
  expect(cache.get('page 0')).toBeUndefined()
  expect(cache.get('page 4999')).toBe(4999)
})
