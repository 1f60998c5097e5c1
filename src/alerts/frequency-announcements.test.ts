import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FrequencyAnnouncements } from './frequency-announcements.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

// Conformance: C-15.32.
it('announces changes at most once a second, and nothing if the lists are the same', async () => {
  let [lists, announced] = ['one zone', 0]
  const announcements = new FrequencyAnnouncements({
    describeLists: () => lists,
    announce: () => {
      announced++
    },
  })
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(announced).toBe(1)
  announcements.carriersChanged()
  announcements.carriersChanged()
  lists = 'two zones'
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(announced).toBe(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(announced).toBe(2)
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(5000)
  expect(announced).toBe(2)
  announcements.carriersChanged()
  announcements.close()
  announcements.carriersChanged()
  await vi.advanceTimersByTimeAsync(5000)
  expect(announced).toBe(2)
})
