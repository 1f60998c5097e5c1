/** What memory knows and the disk does not yet: levels that were heard, and who was last written down when. */

import type { ReceiverStore } from '../live/receiver-store.ts'
import type { IngestPlan } from '../model/ingest-plan.ts'
import type { Receiver } from '../model/receiver.ts'

export interface Backlog {
  /** The receiver's levels have changed in memory alone. */
  add(id: number): void
  has(id: number): boolean
  of(manufacturer: string): number[]
  /** What a cycle is to write down. Of many sources one writes for all: five hundred cycles are not five hundred writes. */
  dueIn(cycle: { readonly manufacturer: string; readonly reports: readonly unknown[] }): number[]
  /** The manufacturer's levels are being written. */
  noteLevels(manufacturer: string): void
  /** Everything known of the receiver is on disk. */
  markStored(id: number): void
  noteSaved(id: number): void
  remove(id: number): void
  /** Those that said nothing new, and whose last word was written down long ago. */
  unchangedIn(plan: IngestPlan): Pick<Receiver, 'id' | 'last_seen'>[]
  isAnyDue(plan: IngestPlan): boolean
}

/** A receiver that only says "still here" is written down this often. */
const lastSeenEveryMs = 60_000

/** Less than the shortest interval of a single source, which writes after every cycle. */
const saveLevelsEveryMs = 800

export function createBacklog(latest: Pick<ReceiverStore, 'get'>): Backlog {
  const unsaved = new Set<number>()
  /** Of `performance.now()`. */
  const savedAt = new Map<number, number>()
  /** By manufacturer, of `performance.now()`. */
  const levelsSavedAt = new Map<string, number>()

  function isDue({ id }: Pick<Receiver, 'id'>): boolean {
    return performance.now() - (savedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= lastSeenEveryMs
  }

  function of(manufacturer: string): number[] {
    return [...unsaved].filter((id) => latest.get(id)?.manufacturer === manufacturer)
  }

  return {
    add: (id) => void unsaved.add(id),
    has: (id) => unsaved.has(id),
    of,
    dueIn({ manufacturer, reports }) {
      const sinceMs = performance.now() - (levelsSavedAt.get(manufacturer) ?? Number.NEGATIVE_INFINITY)
      return reports.length > 0 && sinceMs < saveLevelsEveryMs ? [] : of(manufacturer)
    },
    noteLevels: (manufacturer) => void levelsSavedAt.set(manufacturer, performance.now()),
    markStored: (id) => void unsaved.delete(id),
    noteSaved: (id) => void savedAt.set(id, performance.now()),
    remove(id) {
      unsaved.delete(id)
      savedAt.delete(id)
    },
    unchangedIn({ unchanged, updates, at }) {
      const silent = updates.filter(({ hasChanges, isReceived }) => isReceived && !hasChanges)
      return [...unchanged, ...silent]
        .filter(({ receiver }) => isDue(receiver))
        .map(({ receiver: { id, last_seen } }) => ({ id, last_seen: Math.max(last_seen, at) }))
    },
    isAnyDue: ({ unchanged, updates }) =>
      [unchanged, updates].some((all) => all.some(({ receiver }) => isDue(receiver))),
  }
}
