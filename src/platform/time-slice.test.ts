import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isTimeSliceUsed, yieldToEventLoop } from './time-slice.ts'

test('isTimeSliceUsed is true for every loop once the slice of the turn is used', async () => {
  await nextTurn()
  expect(isTimeSliceUsed()).toBe(false)
  work(7)
  expect(isTimeSliceUsed()).toBe(true)
  // All loops share the slice, so the result for a second loop in this turn is the same.
  expect(isTimeSliceUsed()).toBe(true)
  await yieldToEventLoop()
  expect(isTimeSliceUsed()).toBe(false)
})

test('a new turn starts a new slice even if no loop yielded', async () => {
  isTimeSliceUsed()
  work(7)
  await nextTurn()
  await nextTurn()
  expect(isTimeSliceUsed()).toBe(false)
})

test('yieldToEventLoop resumes one concurrent job per turn, in the order they yielded', async () => {
  const worked: string[] = []
  let isOver = false
  const turns = (async () => {
    while (!isOver) {
      await nextTurn()
      worked.push('|')
    }
  })()
  const job = async (name: string) => {
    for (let step = 0; step < 3; step += 1) {
      await yieldToEventLoop()
      worked.push(name)
      work(7)
    }
  }
  await Promise.all([job('a'), job('b'), job('c')])
  isOver = true
  await turns
  expect(worked.filter((entry) => entry !== '|').join('')).toBe('abcabcabc')
  expect(worked.join('')).not.toMatch(/[abc]{2}/)
})

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
