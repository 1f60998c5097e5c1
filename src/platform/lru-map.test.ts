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
