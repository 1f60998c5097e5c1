/** Runs the timers and clocks of this process, but not its sockets, on a time that the test advances. */

import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import { vi } from 'vitest'
import { onTestEnd } from './cleanup.ts'

export interface VirtualClock {
  /** Lets this many milliseconds pass. Data sent over a local connection arrives within `stepMs`. */
  advance(ms: number): Promise<void>
  /** Lets time pass until the promise is settled. */
  settle<T>(promise: Promise<T>): Promise<T>
}

const stepMs = 100
/** The real time in which a message and its answer are handled. Within 50 steps, a lease of a source must be renewed. */
const realStepMs = 4
/** Also that many turns of the event loop, because little happens in this time on a busy machine. */
const turnsPerStep = 50

export function startVirtualClock(): VirtualClock {
  const { setTimeout: realPause } = timersPromises
  const { setTimeout: realTimeout } = globalThis
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] })
  timersPromises.setTimeout = pause as typeof realPause
  syncBuiltinESMExports()
  onTestEnd(() => {
    vi.useRealTimers()
    timersPromises.setTimeout = realPause
    syncBuiltinESMExports()
  })
  const step = async () => {
    vi.advanceTimersByTime(stepMs)
    await new Promise((resolve) => void realTimeout(resolve, realStepMs))
    for (let turn = 0; turn < turnsPerStep; turn += 1) await new Promise((resolve) => void setImmediate(resolve))
  }
  return {
    async advance(ms) {
      for (let passed = 0; passed < ms; passed += stepMs) await step()
    },
    async settle(promise) {
      let isSettled = false
      const settled = () => {
        isSettled = true
      }
      promise.then(settled, settled)
      while (!isSettled) await step()
      return promise
    },
  }
}

/** `setTimeout` of `node:timers/promises`, which Vitest does not replace. */
function pause<T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
