/** Reads the messages of a device that answers one query at a time. */

export interface MessageReader {
  /** Returns null if no message arrives in time, and undefined at the end of the session. */
  next(withinMs: number): Promise<string | null | undefined>
}

export function createMessageReader(batches: AsyncIterable<readonly string[]>): MessageReader {
  const messages = flatten(batches)
  /** A read that took too long; the next one continues it. */
  let pending: Promise<IteratorResult<string, undefined>> | undefined
  return {
    async next(withinMs) {
      pending ??= messages.next()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(resolve, withinMs, null)
      })
      try {
        const result = await Promise.race([pending, late])
        if (result === null) return null
        pending = undefined
        return result.value
      } finally {
        clearTimeout(timer)
        // It may fail while nothing waits for it.
        pending?.catch(() => {})
      }
    },
  }
}

async function* flatten(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string, undefined> {
  for await (const messages of batches) yield* messages
}
