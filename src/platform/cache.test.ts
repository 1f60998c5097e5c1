import { expect, test } from 'vitest'
import { createCache, LruMap } from './cache.ts'

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

test('removes the entry whose last use is oldest when it is full', () => {
  const map = new LruMap<string, number>(3)
  map.set('a', 1)
  map.set('b', 2)
  map.set('c', 3)
  expect(map.get('a')).toBe(1)
  map.set('b', 20)
  map.set('d', 4)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([1, 20, undefined, 4])
})

test('limits the sizes of its entries', () => {
  const map = new LruMap<string, string>(6, (value) => value.length)
  map.set('a', '12')
  map.set('b', '34')
  map.set('c', '56')
  expect(map.get('a')).toBe('12')
  map.set('d', '78')
  map.set('c', '5')
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual(['12', undefined, '5', '78'])
  map.delete('a')
  map.set('e', '9012')
  expect(['c', 'd', 'e'].map((key) => map.get(key))).toEqual([undefined, '78', '9012'])
})
