/** The current state of every receiver, in memory, with indexes to find one. */

import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { createKnownReceivers, type KnownReceivers } from '../domain/identity/reconcile.ts'
import { now } from '../platform/clock.ts'

export interface ReceiverStore extends KnownReceivers {
  /** The database revision that this state includes. */
  revision: number
  /** Lists the receivers of one manufacturer, or all, ordered by id. */
  list(manufacturer?: string): readonly Receiver[]
  put(receiver: Receiver): void
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
  receiverChanged(id: number): void
  queueChanged(): void
}

export function createReceiverStore(listener?: ReceiverStoreListener): ReceiverStore {
  const known = createKnownReceivers()
  /**
   * The ordered ids of each manufacturer. Recomputed only when receivers are added, removed or moved to another
   * manufacturer.
   */
  const ids = new Map<string | undefined, readonly number[]>()
  const lists = new Map<string | undefined, readonly Receiver[]>()
  const receivedAt = new Map<number, number>()
  /** The manufacturers of the queue entries that are waiting for review, by id. */
  const pendingEntries = new Map<number, string>()
  let size = 0

  function idsOf(manufacturer: string | undefined): readonly number[] {
    const cached = ids.get(manufacturer)
    if (cached !== undefined) return cached
    const sorted: number[] = []
    for (const receiver of known.receivers()) {
      if (manufacturer === undefined || receiver.manufacturer === manufacturer) sorted.push(receiver.id)
    }
    sorted.sort((a, b) => a - b)
    // Unknown manufacturer codes are not cached, because clients can request any code.
    if (sorted.length > 0 || manufacturer === undefined) ids.set(manufacturer, sorted)
    return sorted
  }

  return {
    ...known,
    revision: -1,
    get identityRevision() {
      return known.identityRevision
    },
    get size() {
      return size
    },
    list(manufacturer) {
      const cached = lists.get(manufacturer)
      if (cached !== undefined) return cached
      const list = idsOf(manufacturer).map((id) => known.get(id) as Receiver)
      if (list.length > 0) lists.set(manufacturer, list)
      return list
    },
    put(receiver) {
      const before = known.get(receiver.id)
      known.put(receiver)
      // For a receiver that was loaded from the database, the wall clock determines the age of its last report.
      if (before === undefined) receivedAt.set(receiver.id, performance.now() - Math.max(0, now() - receiver.last_seen))
      else if (receiver.last_seen > before.last_seen) receivedAt.set(receiver.id, performance.now())
      lists.clear()
      if (before === undefined) size += 1
      if (before?.manufacturer !== receiver.manufacturer) ids.clear()
      listener?.receiverChanged(receiver.id)
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
    lastReceivedAt: (id) => receivedAt.get(id) ?? Number.NEGATIVE_INFINITY,
    remove(id) {
      if (known.get(id) !== undefined) size -= 1
      known.remove(id)
      receivedAt.delete(id)
      lists.clear()
      ids.clear()
      listener?.receiverChanged(id)
    },
  }
}
