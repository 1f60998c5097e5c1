/** Tracks what is newer in memory than in the database: levels and `last_seen` times. */

import type { Receiver } from '../domain/equipment/receiver.ts'
import type { IngestPlan } from '../domain/identity/ingest-plan.ts'
import type { ReceiverStore } from './receiver-store.ts'

export interface Backlog {
  /** Marks the receiver's levels as unsaved. */
  add(id: number): void
  has(id: number): boolean
  listUnsaved(manufacturer: string): number[]
  /**
   * Returns the receivers whose levels are stored at the end of this cycle: all receivers of the manufacturer with
   * unsaved levels, whichever source reported them, so that there are fewer writes. A cycle with reports
   * stores no levels if the manufacturer's levels were saved recently.
   */
  listDueLevels(cycle: { readonly manufacturer: string; readonly reports: readonly unknown[] }): number[]
  /** Records that the manufacturer's levels are being stored. */
  recordLevelSave(manufacturer: string): void
  /** Marks the receiver's levels as saved. */
  markSaved(id: number): void
  /** Records that the receiver, including `last_seen`, was stored now. */
  recordSave(id: number): void
  remove(id: number): void
  /** Returns the receivers with unchanged reports whose stored `last_seen` is out of date. */
  listDueLastSeen(plan: IngestPlan): Pick<Receiver, 'id' | 'last_seen'>[]
  hasDueLastSeen(plan: IngestPlan): boolean
}

/** How often `last_seen` of an unchanged receiver is stored. */
const lastSeenEveryMs = 60_000

/**
 * How often levels are stored while other processes read them from the database. This is shorter than the shortest
 * polling interval, so that a single source stores its levels after every cycle.
 */
const saveSharedLevelsEveryMs = 800
/** How often levels are stored otherwise. They are only needed after a restart, until the first reports arrive. */
const saveLevelsEveryMs = 60_000

export function createBacklog(receiverStore: Pick<ReceiverStore, 'facts'>, hasOtherReaders: () => boolean): Backlog {
  const unsaved = new Set<number>()
  /** When each receiver was last saved (`performance.now()`), by receiver id. */
  const savedAt = new Map<number, number>()
  const createdAt = performance.now()
  /** When levels were last saved (`performance.now()`), by manufacturer. */
  const levelsSavedAt = new Map<string, number>()

  function isDue({ id }: Pick<Receiver, 'id'>): boolean {
    return performance.now() - (savedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= lastSeenEveryMs
  }

  function listUnsaved(manufacturer: string): number[] {
    return [...unsaved].filter((id) => receiverStore.facts(id)?.manufacturer === manufacturer)
  }

  return {
    add: (id) => void unsaved.add(id),
    has: (id) => unsaved.has(id),
    listUnsaved,
    listDueLevels({ manufacturer, reports }) {
      const sinceMs = performance.now() - (levelsSavedAt.get(manufacturer) ?? createdAt)
      const everyMs = hasOtherReaders() ? saveSharedLevelsEveryMs : saveLevelsEveryMs
      return reports.length > 0 && sinceMs < everyMs ? [] : listUnsaved(manufacturer)
    },
    recordLevelSave: (manufacturer) => void levelsSavedAt.set(manufacturer, performance.now()),
    markSaved: (id) => void unsaved.delete(id),
    recordSave: (id) => void savedAt.set(id, performance.now()),
    remove(id) {
      unsaved.delete(id)
      savedAt.delete(id)
    },
    listDueLastSeen({ levelReports, updates, at }) {
      const withoutChanges = updates.filter(({ hasChanges, isReceived }) => isReceived && !hasChanges)
      return [...levelReports, ...withoutChanges]
        .filter(({ receiver }) => isDue(receiver))
        .map(({ receiver: { id, last_seen } }) => ({ id, last_seen: Math.max(last_seen, at) }))
    },
    hasDueLastSeen: ({ levelReports, updates }) =>
      [levelReports, updates].some((entries) => entries.some(({ receiver }) => isDue(receiver))),
  }
}
