import { expect, test } from 'vitest'
import { LruMap } from './lru-map.ts'

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
