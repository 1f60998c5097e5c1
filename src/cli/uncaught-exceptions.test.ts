import { expect, it, test } from 'vitest'
import { runForSource } from '../platform/source-context.ts'
import {
  exceptionKey,
  isTooFrequent,
  type Occurrences,
  recordOccurrence,
  surviveExceptions,
} from './uncaught-exceptions.ts'

function start() {
  let handle = (_error: unknown) => {}
  let hasGivenUp = false
  const onException = (listener: typeof handle) => {
    handle = listener
  }
  const giveUp = () => {
    hasGivenUp = true
  }
  surviveExceptions({ onException, giveUp }, { error() {}, fatal() {} })
  return {
    throwOften: (error: Error) => {
      for (let count = 0; count < 20; count++) handle(error)
    },
    hasGivenUp: () => hasGivenUp,
  }
}

it('stops the service if the same exception repeats too often', () => {
  const { throwOften, hasGivenUp } = start()
  throwOften(new Error('permanent'))
  expect(hasGivenUp()).toBe(true)
})

it('makes an exception in a timer of a source a failure of that source, however often it repeats', async () => {
  const { throwOften, hasGivenUp } = start()
  const failures: unknown[] = []
  const error = new Error('malformed')
  const fail = (failure: unknown) => void failures.push(failure)
  await runForSource({ fail }, () => new Promise<void>((resolve) => setTimeout(() => resolve(throwOften(error)))))
  expect(failures).toHaveLength(20)
  expect(failures[0]).toBe(error)
  expect(hasGivenUp()).toBe(false)
})

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
