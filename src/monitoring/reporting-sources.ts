/** Which sources have reported each receiver to this process. Several sources may report the same receiver. */

export class ReportingSources {
  readonly #sources = new Map<number, readonly string[]>()
  readonly #receivers = new Map<string, Set<number>>()

  record(receiverId: number, source: string): void {
    const known = this.#sources.get(receiverId) ?? []
    if (known.includes(source)) return
    this.#sources.set(receiverId, [...known, source])
    const receivers = this.#receivers.get(source) ?? new Set()
    this.#receivers.set(source, receivers.add(receiverId))
  }

  remove(receiverId: number): void {
    for (const source of this.sourcesOf(receiverId)) this.#receivers.get(source)?.delete(receiverId)
    this.#sources.delete(receiverId)
  }

  sourcesOf(receiverId: number): readonly string[] {
    return this.#sources.get(receiverId) ?? []
  }

  receiversOf(source: string): Iterable<number> {
    return this.#receivers.get(source) ?? []
  }

  /** Returns all sources that have reported a receiver. */
  all(): Iterable<string> {
    return this.#receivers.keys()
  }
}
