/** The receivers that this process evaluates, because it receives their reports. */
export class OwnReceivers {
  readonly #since = new Map<number, number>()

  has(id: number): boolean {
    return this.#since.has(id)
  }

  /** Returns the start of the receiver's evaluation (`performance.now()`). */
  since(id: number): number | undefined {
    return this.#since.get(id)
  }

  ids(): Iterable<number> {
    return this.#since.keys()
  }

  add(id: number, since = performance.now()): void {
    this.#since.set(id, since)
  }

  delete(id: number): void {
    this.#since.delete(id)
  }
}
