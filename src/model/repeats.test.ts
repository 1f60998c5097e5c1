import { expect, test } from 'vitest'
import { exceptionKey, isTooFrequent, type Occurrences, recordOccurrence } from './repeats.ts'

function count(times: readonly number[], key = 'a'): boolean[] {
  let known: readonly Occurrences[] = []
  return times.map((time) => {
    known = recordOccurrence(known, key, time)
    return known.some(isTooFrequent)
  })
}

// Reliability: P8.
test('the eleventh within a minute is too often', () => {
  const seconds = Array.from({ length: 11 }, (_, at) => at * 1000)
  expect(count(seconds)).toEqual([...Array(10).fill(false), true])
})

test('what is older than a minute is forgotten', () => {
  expect(count(Array.from({ length: 100 }, (_, at) => at * 6001)).includes(true)).toBe(false)
})

test('different ones do not add up, and only the last hundred are remembered', () => {
  let known: readonly Occurrences[] = []
  for (let at = 0; at < 1000; at += 1) known = recordOccurrence(known, `bug ${at}`, at)
  expect([known.length, known.some(isTooFrequent)]).toEqual([100, false])
})

test('one place is one exception, whatever its message says', () => {
  const fail = (id: number) => new TypeError(`device ${id} is not there`)
  expect(exceptionKey(fail(1))).toBe(exceptionKey(fail(2)))
  expect(exceptionKey(fail(1))).not.toBe(exceptionKey(new TypeError('device 1 is not there')))
  expect([exceptionKey('text'), exceptionKey(undefined)]).toEqual(['text', 'undefined'])
})
