/**
 * The current state of every receiver, in memory, with indexes to find one. Records contain facts and levels; between
 * two reports of facts, newer levels are in the LevelStore and are added to a record when it is read.
 */

import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { type EquipmentFilter, includesReceiver, localSite } from '../domain/equipment/sites.ts'
import { createKnownReceivers, type KnownReceivers } from '../domain/identity/reconcile.ts'
import { now } from '../platform/clock.ts'
import { Topic } from '../platform/topic.ts'
import type { Revisions } from '../storage/revision.ts'
import { LevelStore } from './level-store.ts'

/** A change of the store; levels and `last_seen` of the records may be out of date. */
export interface ReceiverChange {
  readonly id: number
  /** Undefined if the receiver was added. */
  readonly before: Receiver | undefined
  /** Undefined if the receiver was removed. */
  readonly after: Receiver | undefined
}

export class ReceiverStore implements KnownReceivers {
  readonly changed = new Topic<ReceiverChange>()
  /** The number of queue entries that wait for review may have changed. */
  readonly queueChanged = new Topic()
  /** The values of the database's counters that this state includes. */
  revisions: Revisions = { revision: -1, readings: new Map() }
  readonly levels = new LevelStore()
  readonly #known = createKnownReceivers()
  /**
   * The ordered ids of the receivers that a filter includes. Recomputed only when receivers are added, removed or moved
   * to another manufacturer or site.
   */
  readonly #ids = new Map<string, readonly number[]>()
  /** The manufacturers of the queue entries that are waiting for review, by id. */
  readonly #pendingEntries = new Map<number, string>()
  /** The number of receivers of this installation, by manufacturer. */
  readonly #localCounts = new Map<string, number>()
  #size = 0

  get identityRevision(): number {
    return this.#known.identityRevision
  }

  get size(): number {
    return this.#size
  }

  entry(manufacturer: string, identityKey: string): QueueEntry | undefined {
    return this.#known.entry(manufacturer, identityKey)
  }

  get(id: number): Receiver | undefined {
    const receiver = this.#known.get(id)
    return receiver === undefined ? undefined : this.#current(receiver)
  }

  bySerial(key: string): readonly Receiver[] {
    return this.#known.bySerial(key).map((receiver) => this.#current(receiver))
  }

  byMac(key: string): readonly Receiver[] {
    return this.#known.byMac(key).map((receiver) => this.#current(receiver))
  }

  byIp(key: string): readonly Receiver[] {
    return this.#known.byIp(key).map((receiver) => this.#current(receiver))
  }

  byApiId(manufacturer: string, apiDeviceId: string): Receiver | undefined {
    const receiver = this.#known.byApiId(manufacturer, apiDeviceId)
    return receiver === undefined ? undefined : this.#current(receiver)
  }

  /** Returns the receiver with this device id; its levels and `last_seen` may be out of date. */
  factsByApiId(manufacturer: string, apiDeviceId: string): Receiver | undefined {
    return this.#known.byApiId(manufacturer, apiDeviceId)
  }

  /** Returns the receiver; its levels and `last_seen` may be out of date. */
  facts(id: number): Receiver | undefined {
    return this.#known.get(id)
  }

  /**
   * Lists the receivers that this installation monitors, of one manufacturer or all; their levels and `last_seen` may be
   * out of date.
   */
  listFacts(manufacturer?: string): readonly Receiver[] {
    return this.listAllFacts({ manufacturer, site: localSite })
  }

  /** Lists the receivers that this installation monitors, of one manufacturer or all, ordered by id. */
  list(manufacturer?: string): readonly Receiver[] {
    return this.listAll({ manufacturer, site: localSite })
  }

  /** Lists the receivers of this installation and of all sites, ordered by id. */
  listAll(filter: EquipmentFilter = {}): readonly Receiver[] {
    return this.#idsOf(filter).map((id) => this.get(id) as Receiver)
  }

  /** As `listAll`; levels and `last_seen` may be out of date. */
  listAllFacts(filter: EquipmentFilter = {}): readonly Receiver[] {
    return this.#idsOf(filter).map((id) => this.#known.get(id) as Receiver)
  }

  put(receiver: Receiver): void {
    const before = this.#known.get(receiver.id)
    this.#known.put(receiver)
    this.levels.load(receiver, this.#receivedAt(receiver, before))
    if (before === undefined) this.#size += 1
    this.#countLocal(before, -1)
    this.#countLocal(receiver, 1)
    const isListed = before?.manufacturer === receiver.manufacturer && isSameSite(before.origin, receiver.origin)
    if (!isListed) this.#ids.clear()
    this.changed.publish({ id: receiver.id, before, after: receiver })
  }

  /** Replaces a receiver with a record that differs only in conditions from the one that `get` returns. */
  putConditions(receiver: Receiver): void {
    const before = this.#known.get(receiver.id)
    this.#known.refresh(receiver)
    this.levels.setFacts(receiver)
    this.changed.publish({ id: receiver.id, before, after: receiver })
  }

  remove(id: number): void {
    const before = this.#known.get(id)
    if (before !== undefined) this.#size -= 1
    this.#countLocal(before, -1)
    this.#known.remove(id)
    this.levels.remove(id)
    this.#ids.clear()
    this.changed.publish({ id, before, after: undefined })
  }

  /**
   * Returns when a report of the receiver last arrived, as a `performance.now()` time, so that offline detection is
   * independent of the wall clock.
   */
  lastReceivedAt(id: number): number {
    return this.levels.rowsOf(id)?.receivedAt ?? Number.NEGATIVE_INFINITY
  }

  putEntry(entry: QueueEntry): void {
    this.#known.putEntry(entry)
    if (entry.status === 'pending') this.#pendingEntries.set(entry.id, entry.manufacturer)
    else this.#pendingEntries.delete(entry.id)
    this.queueChanged.publish()
  }

  /** Returns the number of queue entries that are waiting for review, by manufacturer. */
  pendingEntries(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const manufacturer of this.#pendingEntries.values())
      counts.set(manufacturer, (counts.get(manufacturer) ?? 0) + 1)
    return counts
  }

  /** Returns the record with its newest levels, and stores it. */
  #current(receiver: Receiver): Receiver {
    const record = this.levels.toRecord(receiver)
    if (record !== receiver) this.#known.refresh(record)
    return record
  }

  #countLocal(receiver: Receiver | undefined, change: 1 | -1): void {
    if (receiver === undefined || receiver.origin !== undefined) return
    const { manufacturer } = receiver
    this.#localCounts.set(manufacturer, (this.#localCounts.get(manufacturer) ?? 0) + change)
  }

  #idsOf(filter: EquipmentFilter): readonly number[] {
    const { manufacturer, site } = filter
    // The record of a site has no receivers of this installation, and there may be hundreds of such records.
    if (site === localSite && manufacturer !== undefined && !this.#localCounts.get(manufacturer)) return []
    const key = JSON.stringify([manufacturer, site])
    const cached = this.#ids.get(key)
    if (cached !== undefined) return cached
    const sorted: number[] = []
    for (const receiver of this.#known.receivers()) if (includesReceiver(filter, receiver)) sorted.push(receiver.id)
    sorted.sort((a, b) => a - b)
    // Filters that match nothing are not cached, because clients can request any code.
    if (sorted.length > 0) this.#ids.set(key, sorted)
    return sorted
  }

  #receivedAt(receiver: Receiver, before: Receiver | undefined): number {
    // For a receiver that was loaded from the database, the wall clock determines the age of its last report.
    if (before === undefined) return performance.now() - Math.max(0, now() - receiver.last_seen)
    if (receiver.last_seen > before.last_seen) return performance.now()
    return this.lastReceivedAt(receiver.id)
  }
}

function isSameSite(a: Receiver['origin'], b: Receiver['origin']): boolean {
  return a?.site.code === b?.site.code
}
