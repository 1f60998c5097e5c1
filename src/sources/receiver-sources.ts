/**
 * The sources that have reported each receiver, of which there may be several. They are stored for the next start and
 * for processes that do not poll.
 */

import type { Receiver } from '../domain/equipment/receiver.ts'
import { Topic } from '../platform/topic.ts'
import type { Database } from '../storage/database.ts'
import { addReceiverSources, listReceiverSources } from '../storage/receivers.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import type { ReceiverSourceRow } from '../storage/schema/monitoring.ts'
import type { Connections } from './connections.ts'
import type { SourceRecords } from './source-records.ts'
import type { SourceRegistry } from './source-registry.ts'

export class ReceiverSources {
  /** A receiver has another source. */
  readonly added = new Topic()
  readonly #db: Database
  readonly #sourceRegistry: SourceRegistry
  readonly #connections: Connections
  readonly #sourceRecords: SourceRecords
  readonly #sources = new Map<number, readonly string[]>()
  readonly #receivers = new Map<string, Set<number>>()
  #unstored: ReceiverSourceRow[] = []
  #lastRevision = -1

  constructor(db: Database, sourceRegistry: SourceRegistry, connections: Connections, sourceRecords: SourceRecords) {
    this.#db = db
    this.#sourceRegistry = sourceRegistry
    this.#connections = connections
    this.#sourceRecords = sourceRecords
  }

  record(receiverId: number, source: string): void {
    if (this.#add(receiverId, source)) this.#unstored.push({ receiver_id: receiverId, source })
  }

  remove(receiverId: number): void {
    for (const source of this.#sources.get(receiverId) ?? []) this.#receivers.get(source)?.delete(receiverId)
    this.#sources.delete(receiverId)
    this.#unstored = this.#unstored.filter(({ receiver_id }) => receiver_id !== receiverId)
  }

  /** Returns the configured sources that have reported the receiver; before the first report, the one that subscribes to it. */
  list(receiverId: number): readonly string[] {
    const reporting = this.#sources.get(receiverId) ?? []
    const known = reporting.filter((source) => this.#sourceRegistry.find(source) !== undefined)
    if (known.length > 0) return known
    const subscribed = this.#connections.find(receiverId)?.source ?? null
    return subscribed === null ? [] : [subscribed]
  }

  /** Returns when the source that subscribes to the receiver last sent anything (`performance.now()`). */
  receivedAt(receiverId: number): number {
    const source = this.#connections.find(receiverId)?.source ?? null
    const client = source === null ? undefined : this.#sourceRegistry.find(source)?.client
    return client?.receivedAt ?? Number.NEGATIVE_INFINITY
  }

  /** True if all sources of the receiver fail. Without a known source, these are all sources of its manufacturer. */
  areFailing({ id, manufacturer }: Receiver): boolean {
    const isFailing = (source: string) => this.#sourceRecords.isFailing(source)
    const listed = this.list(id)
    if (listed.length > 0) return listed.every(isFailing)
    const sources = this.#sourceRegistry.manufacturers().find(({ code }) => code === manufacturer)?.sources ?? []
    return sources.length > 0 && sources.every(isFailing)
  }

  /** True if a source other than this one reaches the receiver at its stored address. */
  reachesElsewhere({ id, ip }: Receiver, source: string | undefined): boolean {
    return this.list(id).some((other) => {
      const baseUrl = this.#sourceRegistry.find(other)?.settings.baseUrl
      return (
        other !== source &&
        baseUrl !== undefined &&
        new URL(baseUrl).hostname === ip &&
        !this.#sourceRecords.isFailing(other)
      )
    })
  }

  receiversOf(source: string): Iterable<number> {
    return this.#receivers.get(source) ?? []
  }

  /** Returns all sources that have reported a receiver. */
  all(): Iterable<string> {
    return this.#receivers.keys()
  }

  async save(): Promise<void> {
    const rows = this.#unstored
    if (rows.length === 0) return
    await this.#db.transaction(async (tx) => {
      await nextRevision(tx, 'receiver_sources')
      await addReceiverSources(tx, rows)
    })
    const stored = new Set(rows)
    this.#unstored = this.#unstored.filter((row) => !stored.has(row))
  }

  /** Loads the rows that any process has stored. */
  async load(): Promise<void> {
    const { read } = this.#db
    const revision = await currentRevision(read, 'receiver_sources')
    if (revision === this.#lastRevision) return
    for (const { receiver_id, source } of await listReceiverSources(read)) this.#add(receiver_id, source)
    this.#lastRevision = revision
  }

  #add(receiverId: number, source: string): boolean {
    const known = this.#sources.get(receiverId) ?? []
    if (known.includes(source)) return false
    this.#sources.set(receiverId, [...known, source])
    const receivers = this.#receivers.get(source) ?? new Set()
    this.#receivers.set(source, receivers.add(receiverId))
    this.added.publish()
    return true
  }
}
