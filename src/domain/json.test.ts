import { expect, it } from 'vitest'
import { findNul, isDeeper } from './json.ts'

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
