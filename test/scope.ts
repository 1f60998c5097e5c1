/** What a test opens is closed after it; what a whole `describe` shares, after the last of its tests. */

import { onTestFinished } from 'vitest'

type Close = () => unknown

let shared: Close[] | undefined

export function atEnd(close: Close): void {
  if (shared === undefined) onTestFinished(async () => void (await close()))
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
