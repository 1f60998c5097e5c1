import { after } from 'node:test'

const ends: (() => Promise<unknown>)[] = []

/** Calls `end` after all tests of the file. The last one registered runs first. */
export function onEnd(end: () => Promise<unknown>): void {
  ends.unshift(end)
}

after(async () => {
  for (const end of ends) await end()
})
