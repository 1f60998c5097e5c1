/** The last reading of every receiver, and every way to find one: what is true right now, in memory. */

import { now } from '../clock.ts'
import type { QueueEntry } from '../model/discovery.ts'
import type { Receiver } from '../model/receiver.ts'
import { createKnownReceivers, type KnownReceivers } from '../model/reconcile.ts'

export interface ReceiverStore extends KnownReceivers {
  /** Up to which change of the store this picture is. */
  revision: number
  /** Ordered by id; those of one manufacturer, or all. */
  list(manufacturer?: string): readonly Receiver[]
  put(receiver: Receiver): void
  remove(id: number): void
  /** When the receiver was last heard from, of `performance.now()`: presence does not depend on the wall clock. */
  lastReceivedAt(id: number): number
  putEntry(entry: QueueEntry): void
  readonly size: number
}

export function createReceiverStore(): ReceiverStore {
  const known = createKnownReceivers()
  /** In order; anew only when receivers come, go or change hands. */
  const ids = new Map<string | undefined, readonly number[]>()
  const lists = new Map<string | undefined, readonly Receiver[]>()
  const heardAt = new Map<number, number>()
  let size = 0

  function idsOf(manufacturer: string | undefined): readonly number[] {
    const cached = ids.get(manufacturer)
    if (cached !== undefined) return cached
    const own: number[] = []
    for (const one of known.receivers()) {
      if (manufacturer === undefined || one.manufacturer === manufacturer) own.push(one.id)
    }
    own.sort((a, b) => a - b)
    // Only manufacturers that exist are worth remembering; anybody may ask for any code.
    if (own.length > 0 || manufacturer === undefined) ids.set(manufacturer, own)
    return own
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
      // What was stored before this process looked is as old as its time says.
      if (before === undefined) heardAt.set(receiver.id, performance.now() - Math.max(0, now() - receiver.last_seen))
      else if (receiver.last_seen > before.last_seen) heardAt.set(receiver.id, performance.now())
      lists.clear()
      if (before === undefined) size += 1
      if (before?.manufacturer !== receiver.manufacturer) ids.clear()
    },
    lastReceivedAt: (id) => heardAt.get(id) ?? Number.NEGATIVE_INFINITY,
    remove(id) {
      if (known.get(id) !== undefined) size -= 1
      known.remove(id)
      heardAt.delete(id)
      lists.clear()
      ids.clear()
    },
  }
}
