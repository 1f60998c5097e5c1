/**
 * The current state of every receiver, in memory, with indexes to find one. Records contain facts and levels; between
 * two reports of facts, newer levels are in the LevelStore and are added to a record when it is read.
 */

import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { type EquipmentFilter, includesReceiver, localSite } from '../domain/equipment/sites.ts'
import { createKnownReceivers, type KnownReceivers } from '../domain/identity/reconcile.ts'
import type { Revisions } from '../domain/revisions.ts'
import { now } from '../platform/clock.ts'
import { LevelStore } from './level-store.ts'

export interface ReceiverStore extends KnownReceivers {
  /** The values of the database's counters that this state includes. */
  revisions: Revisions
  readonly levels: LevelStore
  /** Returns the receiver with this device id; its levels and `last_seen` may be out of date. */
  factsByApiId(manufacturer: string, apiDeviceId: string): Receiver | undefined
  /** Returns the receiver; its levels and `last_seen` may be out of date. */
  facts(id: number): Receiver | undefined
  /**
   * Lists the receivers that this installation monitors, of one manufacturer or all; their levels and `last_seen` may be
   * out of date.
   */
  listFacts(manufacturer?: string): readonly Receiver[]
  /** Lists the receivers that this installation monitors, of one manufacturer or all, ordered by id. */
  list(manufacturer?: string): readonly Receiver[]
  /** Lists the receivers of this installation and of all sites, ordered by id. */
  listAll(filter?: EquipmentFilter): readonly Receiver[]
  /** As `listAll`; levels and `last_seen` may be out of date. */
  listAllFacts(filter?: EquipmentFilter): readonly Receiver[]
  put(receiver: Receiver): void
  /** Replaces a receiver by a record that differs only in conditions from the one that `get` returns. */
  putConditions(receiver: Receiver): void
  remove(id: number): void
  /**
   * Returns when a report of the receiver last arrived, as a `performance.now()` time, so that offline detection is
   * independent of the wall clock.
   */
  lastReceivedAt(id: number): number
  putEntry(entry: QueueEntry): void
  readonly size: number
  /** Returns the number of queue entries that are waiting for review, by manufacturer. */
  pendingEntries(): ReadonlyMap<string, number>
}

/** Is called after every change of the store. */
export interface ReceiverStoreListener {
  /** `before` and `after` are undefined if the receiver was added or removed; their levels may be out of date. */
  receiverChanged(id: number, before: Receiver | undefined, after: Receiver | undefined): void
  queueChanged(): void
}

export function createReceiverStore(listener?: ReceiverStoreListener): ReceiverStore {
  const known = createKnownReceivers()
  const levels = new LevelStore()
  /**
   * The ordered ids of the receivers that a filter includes. Recomputed only when receivers are added, removed or moved
   * to another manufacturer or site.
   */
  const ids = new Map<string, readonly number[]>()
  /** The manufacturers of the queue entries that are waiting for review, by id. */
  const pendingEntries = new Map<number, string>()
  let size = 0

  /** The number of receivers of this installation, by manufacturer. */
  const localCounts = new Map<string, number>()

  function countLocal(receiver: Receiver | undefined, change: 1 | -1): void {
    if (receiver === undefined || receiver.origin !== undefined) return
    const { manufacturer } = receiver
    localCounts.set(manufacturer, (localCounts.get(manufacturer) ?? 0) + change)
  }

  function idsOf(filter: EquipmentFilter): readonly number[] {
    const { manufacturer, site } = filter
    // The record of a site has no receivers of this installation, and there may be hundreds of such records.
    if (site === localSite && manufacturer !== undefined && !localCounts.get(manufacturer)) return []
    const key = JSON.stringify([manufacturer, site])
    const cached = ids.get(key)
    if (cached !== undefined) return cached
    const sorted: number[] = []
    for (const receiver of known.receivers()) if (includesReceiver(filter, receiver)) sorted.push(receiver.id)
    sorted.sort((a, b) => a - b)
    // Filters that match nothing are not cached, because clients can request any code.
    if (sorted.length > 0) ids.set(key, sorted)
    return sorted
  }

  const listAll = (filter: EquipmentFilter = {}) => idsOf(filter).map((id) => get(id) as Receiver)
  const listAllFacts = (filter: EquipmentFilter = {}) => idsOf(filter).map((id) => known.get(id) as Receiver)

  /** Returns the record with its newest levels, and stores it. */
  function current(receiver: Receiver): Receiver {
    const record = levels.toRecord(receiver)
    if (record !== receiver) known.refresh(record)
    return record
  }

  function get(id: number): Receiver | undefined {
    const receiver = known.get(id)
    return receiver === undefined ? undefined : current(receiver)
  }

  return {
    entry: known.entry,
    revisions: { revision: -1, readings: new Map() },
    levels,
    get identityRevision() {
      return known.identityRevision
    },
    get size() {
      return size
    },
    get,
    bySerial: (key) => known.bySerial(key).map(current),
    byMac: (key) => known.byMac(key).map(current),
    byIp: (key) => known.byIp(key).map(current),
    byApiId(manufacturer, apiDeviceId) {
      const receiver = known.byApiId(manufacturer, apiDeviceId)
      return receiver === undefined ? undefined : current(receiver)
    },
    factsByApiId: known.byApiId,
    facts: known.get,
    listFacts: (manufacturer) => listAllFacts({ manufacturer, site: localSite }),
    list: (manufacturer) => listAll({ manufacturer, site: localSite }),
    listAll,
    listAllFacts,
    put(receiver) {
      const before = known.get(receiver.id)
      known.put(receiver)
      levels.load(receiver, receivedAt(receiver, before))
      if (before === undefined) size += 1
      countLocal(before, -1)
      countLocal(receiver, 1)
      const isListed = before?.manufacturer === receiver.manufacturer && isSameSite(before.origin, receiver.origin)
      if (!isListed) ids.clear()
      listener?.receiverChanged(receiver.id, before, receiver)
    },
    putConditions(receiver) {
      const before = known.get(receiver.id)
      known.refresh(receiver)
      levels.setFacts(receiver)
      listener?.receiverChanged(receiver.id, before, receiver)
    },
    putEntry(entry) {
      known.putEntry(entry)
      if (entry.status === 'pending') pendingEntries.set(entry.id, entry.manufacturer)
      else pendingEntries.delete(entry.id)
      listener?.queueChanged()
    },
    pendingEntries() {
      const counts = new Map<string, number>()
      for (const manufacturer of pendingEntries.values()) counts.set(manufacturer, (counts.get(manufacturer) ?? 0) + 1)
      return counts
    },
    lastReceivedAt: (id) => levels.rowsOf(id)?.receivedAt ?? Number.NEGATIVE_INFINITY,
    remove(id) {
      const before = known.get(id)
      if (before !== undefined) size -= 1
      countLocal(before, -1)
      known.remove(id)
      levels.remove(id)
      ids.clear()
      listener?.receiverChanged(id, before, undefined)
    },
  }

  function receivedAt(receiver: Receiver, before: Receiver | undefined): number {
    // For a receiver that was loaded from the database, the wall clock determines the age of its last report.
    if (before === undefined) return performance.now() - Math.max(0, now() - receiver.last_seen)
    if (receiver.last_seen > before.last_seen) return performance.now()
    return levels.rowsOf(receiver.id)?.receivedAt ?? Number.NEGATIVE_INFINITY
  }
}

function isSameSite(a: Receiver['origin'], b: Receiver['origin']): boolean {
  return a?.site.code === b?.site.code
}
