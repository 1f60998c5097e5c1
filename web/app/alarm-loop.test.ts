import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type AlarmLoop, createAlarmLoop } from './alarm-loop.ts'

let sounds: string[]
let loop: AlarmLoop
beforeEach(() => {
  vi.useFakeTimers()
  sounds = []
  loop = createAlarmLoop((severity) => sounds.push(severity))
})
afterEach(() => vi.useRealTimers())

const low = { id: 1, severity: 'warning' } as const
const died = { id: 2, severity: 'critical' } as const

it('sounds at once and every 5 seconds, until there are no alerts', () => {
  loop.update([low])
  expect(sounds).toEqual(['warning'])
  loop.update([low])
  vi.advanceTimersByTime(4_999)
  expect(sounds).toHaveLength(1)
  vi.advanceTimersByTime(5_001)
  expect(sounds).toHaveLength(3)
  loop.update([])
  expect(loop.isActive).toBe(false)
  vi.advanceTimersByTime(60_000)
  expect(sounds).toHaveLength(3)
})

it('sounds at once for an alert that is added, and then repeats the most severe', () => {
  loop.update([low])
  vi.advanceTimersByTime(4_000)
  loop.update([low, died])
  expect(sounds).toEqual(['warning', 'critical'])
  vi.advanceTimersByTime(4_999)
  expect(sounds).toHaveLength(2)
  vi.advanceTimersByTime(1)
  expect(sounds).toEqual(['warning', 'critical', 'critical'])
  loop.update([low])
  vi.advanceTimersByTime(5_000)
  expect(sounds.at(-1)).toBe('warning')
})

it('sounds again when it is updated after it was stopped', () => {
  loop.update([low])
  loop.stop()
  loop.play()
  vi.advanceTimersByTime(10_000)
  expect(sounds).toHaveLength(1)
  loop.update([low])
  expect(sounds).toHaveLength(2)
})
