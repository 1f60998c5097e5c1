/** Several streams as one: whatever comes, in the order it comes, and no faster than it is read. */

/** Ends when all have ended, throws what the first of them throws; either way every stream is told to end. */
export async function* merge<T>(...streams: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const running = new Set(streams.map((stream) => stream[Symbol.asyncIterator]()))
  const ready: (() => IteratorResult<T>)[] = []
  let wake = () => {}
  const ask = (iterator: AsyncIterator<T>) => {
    const tell = (read: () => IteratorResult<T>) => {
      ready.push(read)
      wake()
    }
    iterator.next().then(
      (result) => {
        if (result.done) running.delete(iterator)
        tell(() => {
          if (!result.done) ask(iterator)
          return result
        })
      },
      (error) => {
        running.delete(iterator)
        tell(() => {
          throw error
        })
      },
    )
  }
  for (const iterator of running) ask(iterator)
  try {
    while (running.size > 0 || ready.length > 0) {
      const read = ready.shift()
      if (read === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const { done, value } = read()
      if (!done) yield value
    }
  } finally {
    // Not waited for: one that is busy ends when its signal says so.
    for (const iterator of running) iterator.return?.().catch(() => {})
  }
}
