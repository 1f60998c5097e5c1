/** Limits concurrency. Callers are served in order of arrival. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Rejects with the signal's reason on abort. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const cleanUp = () => {
        this.#waiting.delete(acquire)
        signal?.removeEventListener('abort', abort)
      }
      const acquire = () => {
        cleanUp()
        resolve()
      }
      const abort = () => {
        cleanUp()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(acquire)
    })
  }

  release(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else next()
  }
}
