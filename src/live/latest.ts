/** The last reading of every receiver, and every way to find one: what is true right now, in memory. */

import type { QueueEntry } from '../model/discovery.ts'
import type { Receiver } from '../model/receiver.ts'
import { createKnown, type Known } from '../model/reconcile.ts'

export interface Latest extends Known {
  /** Up to which change of the store this picture is. */
  revision: number
  get(id: number): Receiver | undefined
  /** Ordered by id; those of one manufacturer, or all. */
  list(manufacturer?: string): readonly Receiver[]
  put(receiver: Receiver): void
  remove(id: number): void
  putEntry(entry: QueueEntry): void
  readonly size: number
}

export function createLatest(): Latest {
  const known = createKnown()
  const lists = new Map<string | undefined, readonly Receiver[]>()
  let size = 0
  return {
    ...known,
    revision: -1,
    get size() {
      return size
    },
    list(manufacturer) {
      const cached = lists.get(manufacturer)
      if (cached !== undefined) return cached
      const all = [...known.receivers()].sort((a, b) => a.id - b.id)
      const list = manufacturer === undefined ? all : all.filter((one) => one.manufacturer === manufacturer)
      // Only manufacturers that exist are worth remembering; anybody may ask for any code.
      if (list.length > 0 || manufacturer === undefined) lists.set(manufacturer, list)
      return list
    },
    put(receiver) {
      if (known.get(receiver.id) === undefined) size += 1
      known.put(receiver)
      lists.clear()
    },
    remove(id) {
      if (known.get(id) !== undefined) size -= 1
      known.remove(id)
      lists.clear()
    },
  }
}
