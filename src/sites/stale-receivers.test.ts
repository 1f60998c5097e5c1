import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createStaleness } from './stale-receivers.ts'

const lostAt = Date.parse('2026-05-01T18:00:00.000Z')

beforeEach(() => {
  vi.useFakeTimers({ now: lostAt })
  onTestFinished(() => void vi.useRealTimers())
})

function watch() {
  const onStale = vi.fn()
  return { onStale, staleness: createStaleness(Date.now, onStale) }
}

// Conformance: C-18.18.
it('counts from the loss, however often attempts to connect fail', () => {
  const { staleness, onStale } = watch()
  staleness.lost()
  for (let seconds = 1; seconds < 8; seconds++) {
    vi.advanceTimersByTime(1000)
    staleness.lost()
  }
  expect(onStale).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(onStale.mock.calls).toEqual([[lostAt]])
  staleness.lost()
  vi.advanceTimersByTime(60_000)
  expect(onStale).toHaveBeenCalledOnce()
})

it('counts again from a loss after the receivers were current', () => {
  const { staleness, onStale } = watch()
  staleness.lost()
  vi.advanceTimersByTime(7000)
  staleness.connected()
  vi.advanceTimersByTime(60_000)
  expect(onStale).not.toHaveBeenCalled()
  staleness.lost()
  vi.advanceTimersByTime(8000)
  expect(onStale.mock.calls).toEqual([[lostAt + 67_000]])
})
