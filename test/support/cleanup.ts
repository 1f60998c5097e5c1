/**
 * Closes resources after the test that opened them, also for concurrent tests (`it.concurrent`); resources that a whole
 * `describe` shares are closed after its last test.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { onTestFinished, type TestContext } from 'vitest'

type Close = () => unknown

/** The test that is running this code. With concurrent tests, Vitest itself only knows the test that started last. */
const currentTest = new AsyncLocalStorage<TestContext>()

/** Every test runs in this (`setup.ts`). */
export const runAsCurrentTest = (run: () => Promise<void>, context: TestContext): Promise<void> =>
  currentTest.run(context, run)

let shared: Close[] | undefined

export function onTestEnd(close: Close): void {
  const register = currentTest.getStore()?.onTestFinished ?? onTestFinished
  if (shared === undefined) register(async () => void (await close()))
  else shared.push(close)
}

/** Used in `beforeAll`: resources opened by `open` stay open until the returned function is called. */
export async function openShared(open: () => Promise<void>): Promise<() => Promise<void>> {
  const opened: Close[] = []
  const closeAll = async () => {
    for (const close of opened.splice(0).toReversed()) await close()
  }
  shared = opened
  try {
    await open()
  } catch (error) {
    await closeAll()
    throw error
  } finally {
    shared = undefined
  }
  return closeAll
}
