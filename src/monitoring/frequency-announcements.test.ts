import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FrequencyAnnouncements } from './frequency-announcements.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

// Conformance: C-15.32.
it('announces changes at most once a second, and nothing if carriers are the same', async () => {
  let [carriers, announced] = ['500.000', 0]
  const announcements = new FrequencyAnnouncements({
    describe: async () => carriers,
    announce: () => {
      announced++
    },
  })
  const change = async (mhz: string, afterMs: number) => {
    carriers = mhz
    announcements.changed()
    await vi.advanceTimersByTimeAsync(afterMs)
  }
  await change('500.000', 100)
  expect(announced).toBe(1)
  await change('500.100', 100)
  await change('500.200', 100)
  expect(announced).toBe(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(announced).toBe(2)
  await change('500.200', 5000)
  expect(announced).toBe(2)
  announcements.changed()
  announcements.close()
  await change('500.300', 5000)
  expect(announced).toBe(2)
})
