/** Writes that have not ended, and how long the oldest of them has been waiting. */
export interface PendingWrites {
  /** Counts as pending until the promise settles. */
  track<T>(write: Promise<T>): Promise<T>
  /** 0 when none is pending. */
  longestMs(): number
}

export function createPendingWrites(now: () => number = () => performance.now()): PendingWrites {
  const startedAt = new Map<Promise<unknown>, number>()
  return {
    async track(write) {
      startedAt.set(write, now())
      try {
        return await write
      } finally {
        startedAt.delete(write)
      }
    },
    longestMs() {
      // A map keeps its insertion order.
      const [oldest] = startedAt.values()
      return oldest === undefined ? 0 : now() - oldest
    },
  }
}
