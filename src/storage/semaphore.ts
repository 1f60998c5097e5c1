/** A semaphore that limits concurrency. Waiting callers acquire it in order of arrival. */
export interface Semaphore {
  acquire(): Promise<void>
  release(): void
}

export function createSemaphore(limit: number): Semaphore {
  let free = limit
  const waiting: (() => void)[] = []
  return {
    async acquire() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    release() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}
