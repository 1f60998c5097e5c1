/**
 * Which manufacturers' levels the clients of this process need, so that it receives no others from other processes.
 * Levels are needed while a client shows them, and for 30 seconds after that or after a response that contained them.
 */

/** Returns the manufacturers whose levels a client shows; null for all. Called every second. */
export type ShownManufacturers = () => Iterable<string> | null

const lingerMs = 30_000

export class LevelDemand {
  readonly #clients = new Set<ShownManufacturers>()
  /** Until when levels are needed (`performance.now()`), by manufacturer; null stands for all of them. */
  readonly #neededUntil = new Map<string | null, number>()
  #onAdded = (): void => {}

  /** Calls back as soon as levels may be needed that were not needed before. */
  listen(onAdded: () => void): void {
    this.#onAdded = onAdded
  }

  /** Adds a client. Returns a function that removes it. */
  add(shown: ShownManufacturers): () => void {
    this.#clients.add(shown)
    this.#onAdded()
    return () => {
      this.#renew(shown())
      this.#clients.delete(shown)
    }
  }

  /** A response contains the current levels of a manufacturer, or of all (null). */
  addResponse(manufacturer: string | null): void {
    const isNew = !this.#isNeeded(manufacturer)
    this.#renew(manufacturer === null ? null : [manufacturer])
    if (isNew) this.#onAdded()
  }

  /** Selects the manufacturers whose levels are needed. `list` is not called if none are. */
  select(list: () => Iterable<string>): readonly string[] {
    for (const shown of this.#clients) this.#renew(shown())
    for (const [manufacturer, until] of this.#neededUntil) {
      if (until <= performance.now()) this.#neededUntil.delete(manufacturer)
    }
    if (this.#neededUntil.size === 0) return []
    return [...list()].filter((manufacturer) => this.#isNeeded(manufacturer))
  }

  #isNeeded(manufacturer: string | null): boolean {
    return [manufacturer, null].some((key) => (this.#neededUntil.get(key) ?? 0) > performance.now())
  }

  #renew(manufacturers: Iterable<string> | null): void {
    for (const key of manufacturers ?? [null]) this.#neededUntil.set(key, performance.now() + lingerMs)
  }
}
