import { expect, test } from 'vitest'
import { createPendingWrites } from './database.ts'

test('longestMs returns the age of the oldest pending write, and 0 when all have ended', async () => {
  let now = 100
  const pending = createPendingWrites(() => now)
  const endings: (() => void)[] = []
  const start = () => pending.track(new Promise<void>((resolve) => void endings.push(resolve)))
  expect(pending.longestMs()).toBe(0)
  const first = start()
  now = 150
  const second = start()
  now = 400
  expect(pending.longestMs()).toBe(300)
  endings[0]?.()
  await first
  expect(pending.longestMs()).toBe(250)
  endings[1]?.()
  await second
  expect(pending.longestMs()).toBe(0)
})
