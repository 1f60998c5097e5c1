/**
 * Merges several streams into one, in order of arrival and with back-pressure. Ends when all have ended, and throws the
 * first error. Closes all streams in both cases.
 */
export async function* merge<T>(...streams: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const running = new Set(streams.map((stream) => stream[Symbol.asyncIterator]()))
  const ready: (() => IteratorResult<T>)[] = []
  let wake = () => {}
  const readNext = (iterator: AsyncIterator<T>) => {
    const enqueue = (read: () => IteratorResult<T>) => {
      ready.push(read)
      wake()
    }
    iterator.next().then(
      (result) => {
        if (result.done) running.delete(iterator)
        enqueue(() => {
          if (!result.done) readNext(iterator)
          return result
        })
      },
      (error) => {
        running.delete(iterator)
        enqueue(() => {
          throw error
        })
      },
    )
  }
  for (const iterator of running) readNext(iterator)
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
    // Not awaited, because a busy stream ends only when its abort signal fires.
    for (const iterator of running) iterator.return?.().catch(() => {})
  }
}
