import { expect, test } from 'vitest'
import { isNewer, toRelease } from './release.ts'

// Conformance: C-26.24.
test.each([
  ['1.0.1', '1.0.0', true],
  ['1.10.0', '1.9.3', true],
  ['2.0.0', '1.9.9', true],
  ['1.0.1', '1.0.1~dev7', true],
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1~dev7', false],
  ['1.9.9', '2.0.0', false],
  ['1.0.1', 'development', false],
])('isNewer compares %s with %s', (version, current, expected) => {
  expect(isNewer(version, current)).toBe(expected)
})

// Conformance: C-26.24.
test('toRelease accepts only a version and a web address', () => {
  const release = { version: '1.2.0', url: 'https://micwatch.example/releases/1.2.0' }
  expect(toRelease({ ...release, more: 1 })).toEqual(release)
  for (const body of [null, [], {}, 'x', { ...release, version: 2 }, { ...release, version: '<b>' }]) {
    expect(toRelease(body)).toBeNull()
  }
  expect(toRelease({ ...release, url: 'javascript:alert(1)' })).toBeNull()
})
