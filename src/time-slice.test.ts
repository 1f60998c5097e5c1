import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isTimeSliceUsed, yieldToEventLoop } from './time-slice.ts'

test('a breath is due once the turn has been worked in for long, by whatever loop', async () => {
  await nextTurn()
  expect(isTimeSliceUsed()).toBe(false)
  work(7)
  expect(isTimeSliceUsed()).toBe(true)
  // Another loop, which begins where the first left off.
  expect(isTimeSliceUsed()).toBe(true)
  await yieldToEventLoop()
  expect(isTimeSliceUsed()).toBe(false)
})

test('a turn in which nobody took a breath begins anew all the same', async () => {
  isTimeSliceUsed()
  work(7)
  await nextTurn()
  await nextTurn()
  expect(isTimeSliceUsed()).toBe(false)
})

test('of those that go on side by side one works in each turn, all in the order they rested', async () => {
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
  expect(worked.filter((one) => one !== '|').join('')).toBe('abcabcabc')
  expect(worked.join('')).not.toMatch(/[abc]{2}/)
})

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
