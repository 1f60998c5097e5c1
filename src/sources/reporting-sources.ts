/**
 * Which sources have reported each receiver. Several sources may report the same receiver. They are stored, so that they
 * are known after a restart and in processes that do not poll.
 */

import type { Database } from '../storage/database.ts'
import { addReceiverSources, listReceiverSources } from '../storage/receivers.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import type { ReceiverSourceRow } from '../storage/schema/monitoring.ts'

interface ReportingSourcesDeps {
  readonly db: Database
  /** Called when a further source of a receiver is known. */
  onAdded(): void
}

export class ReportingSources {
  readonly #deps: ReportingSourcesDeps
  readonly #sources = new Map<number, readonly string[]>()
  readonly #receivers = new Map<string, Set<number>>()
  #unstored: ReceiverSourceRow[] = []
  #lastRevision = -1

  constructor(deps: ReportingSourcesDeps) {
    this.#deps = deps
  }

  record(receiverId: number, source: string): void {
    if (this.#add(receiverId, source)) this.#unstored.push({ receiver_id: receiverId, source })
  }

  remove(receiverId: number): void {
    for (const source of this.sourcesOf(receiverId)) this.#receivers.get(source)?.delete(receiverId)
    this.#sources.delete(receiverId)
    this.#unstored = this.#unstored.filter(({ receiver_id }) => receiver_id !== receiverId)
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

  /** Stores what was recorded. */
  async save(): Promise<void> {
    const rows = this.#unstored
    if (rows.length === 0) return
    await this.#deps.db.transaction(async (tx) => {
      await nextRevision(tx, 'receiver_sources')
      await addReceiverSources(tx, rows)
    })
    const stored = new Set(rows)
    this.#unstored = this.#unstored.filter((row) => !stored.has(row))
  }

  /** Loads what this process, or another one, has stored. */
  async load(): Promise<void> {
    const { read } = this.#deps.db
    const revision = await currentRevision(read, 'receiver_sources')
    if (revision === this.#lastRevision) return
    for (const { receiver_id, source } of await listReceiverSources(read)) this.#add(receiver_id, source)
    this.#lastRevision = revision
  }

  #add(receiverId: number, source: string): boolean {
    const known = this.sourcesOf(receiverId)
    if (known.includes(source)) return false
    this.#sources.set(receiverId, [...known, source])
    const receivers = this.#receivers.get(source) ?? new Set()
    this.#receivers.set(source, receivers.add(receiverId))
    this.#deps.onAdded()
    return true
  }
}
