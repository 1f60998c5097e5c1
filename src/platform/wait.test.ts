import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { timeLimit } from '../../test/support/time-limit.ts'
import { abortWithin } from './wait.ts'

test('a signal aborts after its time, and leaves no listener on its parent', async () => {
  const parent = new AbortController()
  const signal = abortWithin(5, parent.signal)
  expect(signal.aborted).toBe(false)
  await vi.waitUntil(() => signal.aborted, { timeout: timeLimit(5000) })
  expect(signal.reason.name).toBe('TimeoutError')
  expect(getEventListeners(parent.signal, 'abort')).toEqual([])
})

test('a signal aborts with its parent, for the same reason', () => {
  const parent = new AbortController()
  const signal = abortWithin(60_000, parent.signal)
  parent.abort('the service stops')
  expect([signal.aborted, signal.reason]).toEqual([true, 'the service stops'])
  expect(abortWithin(60_000, parent.signal).reason).toBe('the service stops')
})

test('signals that nothing but their listeners refer to abort after a garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const parent = new AbortController()
  let aborted = 0
  const count = () => {
    aborted += 1
  }
  for (let index = 0; index < 20; index += 1) {
    abortWithin(100, parent.signal).addEventListener('abort', count, { once: true })
  }
  await pause(1)
  collectGarbage()
  await vi.waitUntil(() => aborted === 20, { timeout: timeLimit(5000) })
})
