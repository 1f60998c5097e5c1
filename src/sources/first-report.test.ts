import { describe, expect, it } from 'vitest'
import { FirstReport } from './first-report.ts'

const report = { id: 'a', kind: 'receiver' } as const
const { signal } = new AbortController()

describe('the first report of a subscription', () => {
  it('is passed to the waiting cycle, and the subscription waits until the cycle has applied it', async () => {
    const first = new FirstReport()
    const reading = first.read(60_000, signal)
    const applied = first.deliver(report)
    expect(await reading).toBe(report)
    expect(await Promise.race([applied, 'pending'])).toBe('pending')
    first.recordApplied()
    await applied
    expect(first.isAwaited).toBe(false)
  })

  it('is passed to no cycle if none is waiting', () => {
    const first = new FirstReport()
    expect(first.deliver(report)).toBe(null)
    expect(first.fail(new Error('refused'))).toBe(false)
  })

  it('fails the waiting cycle with the error of the attempt', async () => {
    const first = new FirstReport()
    const reading = first.read(60_000, signal)
    expect(first.fail(new Error('refused'))).toBe(true)
    await expect(reading).rejects.toThrow('refused')
  })

  it('is null when the subscription is not opened, or sends no report in time', async () => {
    const first = new FirstReport()
    const reading = first.read(60_000, signal)
    first.cancel()
    expect(await reading).toBe(null)
    expect(await first.read(1, signal)).toBe(null)
  })

  it('is no longer awaited once the signal aborts', async () => {
    const first = new FirstReport()
    const stop = new AbortController()
    const reading = first.read(60_000, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(reading).rejects.toThrow('stopped')
  })
})
