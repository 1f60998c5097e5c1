import { expect, test } from 'vitest'
import { exceptionKey, isTooFrequent, type Occurrences, recordOccurrence } from './exception-rate.ts'

function count(times: readonly number[], key = 'a'): boolean[] {
  let known: readonly Occurrences[] = []
  return times.map((time) => {
    known = recordOccurrence(known, key, time)
    return known.some(isTooFrequent)
  })
}

// Reliability: P8.
test('isTooFrequent from the eleventh occurrence within a minute', () => {
  const seconds = Array.from({ length: 11 }, (_, index) => index * 1000)
  expect(count(seconds)).toEqual([...Array(10).fill(false), true])
})

test('recordOccurrence drops occurrences older than a minute', () => {
  expect(count(Array.from({ length: 100 }, (_, index) => index * 6001)).includes(true)).toBe(false)
})

test('recordOccurrence counts keys separately and keeps the last hundred', () => {
  let known: readonly Occurrences[] = []
  for (let time = 0; time < 1000; time += 1) known = recordOccurrence(known, `bug ${time}`, time)
  expect([known.length, known.some(isTooFrequent)]).toEqual([100, false])
})

test('exceptionKey depends on the code location and not on the message', () => {
  const fail = (id: number) => new TypeError(`device ${id} is not there`)
  expect(exceptionKey(fail(1))).toBe(exceptionKey(fail(2)))
  expect(exceptionKey(fail(1))).not.toBe(exceptionKey(new TypeError('device 1 is not there')))
  expect([exceptionKey('text'), exceptionKey(undefined)]).toEqual(['text', 'undefined'])
})
