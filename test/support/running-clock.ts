/** Sets the clocks of this process ahead, wall clock and monotonic clock together, so that hours pass in seconds. */

import { vi } from 'vitest'
import { onTestEnd } from './cleanup.ts'

/**
 * Returns a function that lets this many milliseconds pass at once. Timers are not affected: they fire when their delay has
 * really passed.
 */
export function startRunningClock(): (ms: number) => void {
  let aheadMs = 0
  const [wall, monotonic] = [Date.now.bind(Date), performance.now.bind(performance)]
  const spies = [
    vi.spyOn(Date, 'now').mockImplementation(() => wall() + aheadMs),
    vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + aheadMs),
  ]
  onTestEnd(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return (ms) => {
    aheadMs += ms
  }
}
