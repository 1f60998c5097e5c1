import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Topic } from '../platform/topic.ts'
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
  const carriersChanged = new Topic()
  const frequencies = { describeLists: () => lists }
  const live = {
    frequenciesChanged() {
      announced += 1
    },
  }
  const announcements = new FrequencyAnnouncements(frequencies as never, { carriersChanged } as never, live as never)
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(announced).toBe(1)
  carriersChanged.publish()
  carriersChanged.publish()
  lists = 'two zones'
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(announced).toBe(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(announced).toBe(2)
  announcements.listsChanged()
  await vi.advanceTimersByTimeAsync(5000)
  expect(announced).toBe(2)
  carriersChanged.publish()
  announcements.close()
  carriersChanged.publish()
  await vi.advanceTimersByTimeAsync(5000)
  expect(announced).toBe(2)
})
