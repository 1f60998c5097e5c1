/** Tracks running writes and the age of the oldest one. */
export interface PendingWrites {
  /** Treats the write as pending until the promise settles. */
  track<T>(write: Promise<T>): Promise<T>
  /** Returns the age of the oldest pending write; 0 if there is none. */
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
      // A map keeps its insertion order, so the first entry is the oldest.
      const [oldest] = startedAt.values()
      return oldest === undefined ? 0 : now() - oldest
    },
  }
}
