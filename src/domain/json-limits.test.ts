import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkJson, findJsonExcess, findValueEnd, jsonLimits } from './json-limits.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const list = (length: number) => `[${Array(length).fill('0').join()}]`
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

// Reliability: 3.12.1.
it.each([
  [list(100), null],
  [list(101), 'more than 100 values and keys'],
  [`[${'[],'.repeat(100)}1]`, 'more than 100 values and keys'],
  [`{${'"a":0,'.repeat(50)}"a":0}`, 'more than 100 values and keys'],
  [`\uFEFF \n${list(101)}`, 'more than 100 values and keys'],
  [`["${'[{,:'.repeat(1000)}\\"${'['.repeat(1000)}"]`, null],
  [nested(64), null],
  [nested(65), 'nested deeper than 64 levels'],
  ['['.repeat(100_000), 'nested deeper than 64 levels'],
  [`"${'[,'.repeat(1000)}"`, null],
  ['<html>,,,,'.repeat(1000), null],
  ['', null],
  ['[1,"', null],
  [`${list(3)} ]]]],,,,`, null],
])('findJsonExcess(%.20s…) names what is exceeded', (text, expected) => {
  expect(findJsonExcess(bytesOf(text), 100)?.message ?? null).toBe(expected)
})

it('counts each value and each key of any JSON, empty lists and objects twice', () => {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1
    const inner = Object.values(value).map(count)
    const own = inner.length === 0 ? 2 : 1
    return inner.reduce((sum, values) => sum + values, own + (Array.isArray(value) ? 0 : inner.length))
  }
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 5 })), fc.constantFrom(0, 2), (value, space) => {
      const counted = { values: 0, depth: 0 }
      const bytes = bytesOf(JSON.stringify(value, null, space))
      expect(findValueEnd(bytes, 0, jsonLimits(1e9), counted)).toBe(bytes.length)
      // The outermost value is not counted.
      expect(counted.values + 1).toBe(count(value))
    }),
  )
})

it('refuses a hostile text sooner than a harmless one of its size is parsed', () => {
  const size = 4_000_000
  const harmless = JSON.stringify(Array.from({ length: size / 200 }, () => ({ text: 'x'.repeat(189) })))
  const timeOf = (work: () => unknown) => {
    const times = Array.from({ length: 5 }, () => {
      const startedAt = performance.now()
      work()
      return performance.now() - startedAt
    })
    return Math.min(...times)
  }
  const limit = timeOf(() => JSON.parse(harmless))
  const hostile = ['[],', '{"a":0},', '"a",', `${nested(60)},`].map((part) =>
    bytesOf(`[${part.repeat(size / part.length)}0]`),
  )
  for (const bytes of hostile) {
    expect(timeOf(() => expect(() => checkJson(bytes, jsonLimits(100_000))).toThrow('more than'))).toBeLessThan(limit)
  }
})
