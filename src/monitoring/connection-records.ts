/** The connection records in memory, by receiver and by source. */

import type { Connection } from '../domain/equipment/connection.ts'

export class ConnectionRecords {
  readonly #all = new Map<number, Connection>()
  readonly #bySource = new Map<string, Map<number, Connection>>()
  /** When each connection was established (`performance.now()`), by receiver id. */
  readonly #connectedSince = new Map<number, number>()
  #changes = 0

  /** Increases with every change of a record. */
  get changes(): number {
    return this.#changes
  }

  get bySource(): ReadonlyMap<string, ReadonlyMap<number, Connection>> {
    return this.#bySource
  }

  find(receiverId: number): Connection | undefined {
    return this.#all.get(receiverId)
  }

  ofSource(source: string): readonly Connection[] {
    return [...(this.#bySource.get(source)?.values() ?? [])]
  }

  /** Returns when the receiver's connection was established (`performance.now()`); null while it is not connected. */
  connectedSince(receiverId: number): number | null {
    return this.#connectedSince.get(receiverId) ?? null
  }

  /** Adds or replaces a record. Returns the affected sources. */
  put(connection: Connection): string[] {
    const { receiver, source } = connection
    const before = this.#all.get(receiver)
    this.#all.set(receiver, connection)
    this.#changes += 1
    if (connection.status !== 'connected') this.#connectedSince.delete(receiver)
    else if (before?.status !== 'connected' || before.connected_at !== connection.connected_at) {
      this.#connectedSince.set(receiver, performance.now())
    }
    if (before?.source && before.source !== source) this.#bySource.get(before.source)?.delete(receiver)
    if (source !== null) {
      const records = this.#bySource.get(source) ?? new Map<number, Connection>()
      records.set(receiver, connection)
      this.#bySource.set(source, records)
    }
    return [before?.source ?? null, source].filter((id) => id !== null)
  }

  delete(receiverId: number): void {
    const source = this.#all.get(receiverId)?.source
    if (source) this.#bySource.get(source)?.delete(receiverId)
    this.#all.delete(receiverId)
    this.#connectedSince.delete(receiverId)
    this.#changes += 1
  }
}
