/**
 * What a test opens is closed after it, also where several run at once (`it.concurrent`); what a whole `describe` shares,
 * after the last of its tests.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, onTestFinished, type TestContext } from 'vitest'

type Close = () => unknown

/** The test that this call came from: of several at once, the runner itself knows the last begun. */
const running = new AsyncLocalStorage<TestContext>()
aroundEach((run, context) => running.run(context, run))

let shared: Close[] | undefined

export function atEnd(close: Close): void {
  const whenFinished = running.getStore()?.onTestFinished ?? onTestFinished
  if (shared === undefined) whenFinished(async () => void (await close()))
  else shared.push(close)
}

/** For `beforeAll`: what `open` opens stays open until the function that comes back is called. */
export async function sharing(open: () => Promise<void>): Promise<() => Promise<void>> {
  const own: Close[] = []
  const closeAll = async () => {
    for (const close of own.splice(0).toReversed()) await close()
  }
  shared = own
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
