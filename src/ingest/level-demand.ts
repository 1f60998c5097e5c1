/**
 * The manufacturers or sites whose levels the clients of this process need. It receives no others from other processes
 * or sites. Levels are needed while a client shows them, and for 30 seconds after that or after a response with them.
 */

/** Returns the codes of the manufacturers or sites whose levels a client shows; null for all. Called every second. */
export type ShownCodes = () => Iterable<string> | null

const lingerMs = 30_000

export class LevelDemand {
  readonly #clients = new Set<ShownCodes>()
  /** Until when levels are needed (`performance.now()`), by code; null stands for all of them. */
  readonly #neededUntil = new Map<string | null, number>()
  #onAdded = (): void => {}

  /** Calls back as soon as levels may be needed that were not needed before. */
  listen(onAdded: () => void): void {
    this.#onAdded = onAdded
  }

  /** Adds a client. Returns a function that removes it. */
  add(shown: ShownCodes): () => void {
    this.#clients.add(shown)
    this.#onAdded()
    return () => {
      this.#renew(shown())
      this.#clients.delete(shown)
    }
  }

  /** A client shows other levels than before. */
  update(): void {
    this.#onAdded()
  }

  /** A response contains the current levels of one manufacturer or site, or of all (null). */
  addResponse(code: string | null): void {
    const isNew = !this.#isNeeded(code)
    this.#renew(code === null ? null : [code])
    if (isNew) this.#onAdded()
  }

  /** Selects the codes whose levels are needed. `list` is not called if none are. */
  select(list: () => Iterable<string>): readonly string[] {
    for (const shown of this.#clients) this.#renew(shown())
    for (const [code, until] of this.#neededUntil) {
      if (until <= performance.now()) this.#neededUntil.delete(code)
    }
    if (this.#neededUntil.size === 0) return []
    return [...list()].filter((code) => this.#isNeeded(code))
  }

  #isNeeded(code: string | null): boolean {
    return [code, null].some((key) => (this.#neededUntil.get(key) ?? 0) > performance.now())
  }

  #renew(codes: Iterable<string> | null): void {
    for (const key of codes ?? [null]) this.#neededUntil.set(key, performance.now() + lingerMs)
  }
}

const watchEveryMs = 1000

/**
 * Calls `update` every second, and as soon as levels may be needed that were not needed before. Returns a function that
 * ends this.
 */
export function watchDemand(demand: LevelDemand, update: () => void): () => void {
  const timer = setInterval(update, watchEveryMs)
  demand.listen(update)
  return () => {
    clearInterval(timer)
    demand.listen(() => {})
  }
}
