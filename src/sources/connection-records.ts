/** The connection records in memory, by id and by source. */

import { type Connection, isOpen } from '../domain/equipment/connection.ts'

export class ConnectionRecords {
  readonly #all = new Map<number, Connection>()
  readonly #bySource = new Map<string, Map<number, Connection>>()
  /** When each connection was established (`performance.now()`). */
  readonly #connectedSince = new Map<number, number>()
  #changes = 0

  /** Increases with every change of a record. */
  get changes(): number {
    return this.#changes
  }

  get bySource(): ReadonlyMap<string, ReadonlyMap<number, Connection>> {
    return this.#bySource
  }

  find(id: number): Connection | undefined {
    return this.#all.get(id)
  }

  list(): Iterable<Connection> {
    return this.#all.values()
  }

  ofSource(source: string): readonly Connection[] {
    return [...(this.#bySource.get(source)?.values() ?? [])]
  }

  /** Returns when the connection was established (`performance.now()`); null while it is not connected. */
  connectedSince(id: number): number | null {
    return this.#connectedSince.get(id) ?? null
  }

  /** Adds or replaces a record. Returns the affected sources. */
  put(connection: Connection): string[] {
    const { id, source } = connection
    const before = this.#all.get(id)
    this.#all.set(id, connection)
    this.#changes += 1
    if (!isOpen(connection)) this.#connectedSince.delete(id)
    else if (before === undefined || !isOpen(before) || before.connected_at !== connection.connected_at) {
      this.#connectedSince.set(id, performance.now())
    }
    if (before?.source && before.source !== source) this.#bySource.get(before.source)?.delete(id)
    if (source !== null) {
      const records = this.#bySource.get(source) ?? new Map<number, Connection>()
      records.set(id, connection)
      this.#bySource.set(source, records)
    }
    return [before?.source ?? null, source].filter((affected) => affected !== null)
  }

  delete(id: number): void {
    const source = this.#all.get(id)?.source
    if (source) this.#bySource.get(source)?.delete(id)
    this.#all.delete(id)
    this.#connectedSince.delete(id)
    this.#changes += 1
  }
}
