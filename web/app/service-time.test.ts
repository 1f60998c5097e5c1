import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clockAheadMs, readServiceClock, serviceNow } from './service-time.ts'

const now = Date.parse('2026-11-28T20:00:00.000Z')

describe('the time of the service', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now, toFake: ['Date'] })
    readServiceClock({ at: now, sentAt: now, receivedAt: now })
  })
  afterEach(() => vi.useRealTimers())

  it('follows a response to within its round trip', () => {
    readServiceClock({ at: now + 600_000, sentAt: now - 200, receivedAt: now })
    expect(clockAheadMs()).toBe(600_000)
    expect(serviceNow()).toBe(now + 600_000)
    readServiceClock({ at: now + 600_150, sentAt: now, receivedAt: now + 100 })
    expect(clockAheadMs()).toBe(600_050)
  })

  it('accepts a time that is cut to seconds', () => {
    readServiceClock({ at: now - 900, resolutionMs: 1_000, sentAt: now - 50, receivedAt: now })
    expect(clockAheadMs()).toBe(0)
    readServiceClock({ at: now - 3_000, resolutionMs: 1_000, sentAt: now - 50, receivedAt: now })
    expect(clockAheadMs()).toBe(-1_950)
  })

  it('never goes back because a message is late', () => {
    readServiceClock({ at: now - 20_000, receivedAt: now })
    expect(serviceNow()).toBe(now)
    readServiceClock({ at: now + 5_000, receivedAt: now })
    expect(serviceNow()).toBe(now + 5_000)
  })

  it('ignores a time that cannot be read', () => {
    readServiceClock({ at: Number.NaN, sentAt: now, receivedAt: now })
    expect(serviceNow()).toBe(now)
  })
})
