/** What memory knows and the disk does not yet: levels that were heard, and who was last written down when. */

import type { Latest } from '../live/latest.ts'
import type { Intake } from '../model/intake.ts'
import type { Receiver } from '../model/receiver.ts'

export interface Backlog {
  /** The receiver's levels have changed in memory alone. */
  add(id: number): void
  has(id: number): boolean
  of(manufacturer: string): number[]
  /** What a cycle is to write down. Of many sources one writes for all: five hundred cycles are not five hundred writes. */
  dueIn(cycle: { readonly manufacturer: string; readonly observations: readonly unknown[] }): number[]
  /** The manufacturer's levels are being written. */
  noteLevels(manufacturer: string): void
  /** Everything known of the receiver is on disk. */
  settle(id: number): void
  noteSaved(id: number): void
  forget(id: number): void
  /** Those that said nothing new, and whose last word was written down long ago. */
  stillHereIn(intake: Intake): Pick<Receiver, 'id' | 'last_seen'>[]
  isAnyDue(intake: Intake): boolean
}

/** A receiver that only says "still here" is written down this often. */
const lastSeenEveryMs = 60_000

/** Less than the shortest interval of a single source, which writes after every cycle. */
const saveLevelsEveryMs = 800

export function createBacklog(latest: Pick<Latest, 'get'>): Backlog {
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
    dueIn({ manufacturer, observations }) {
      const sinceMs = performance.now() - (levelsSavedAt.get(manufacturer) ?? Number.NEGATIVE_INFINITY)
      return observations.length > 0 && sinceMs < saveLevelsEveryMs ? [] : of(manufacturer)
    },
    noteLevels: (manufacturer) => void levelsSavedAt.set(manufacturer, performance.now()),
    settle: (id) => void unsaved.delete(id),
    noteSaved: (id) => void savedAt.set(id, performance.now()),
    forget(id) {
      unsaved.delete(id)
      savedAt.delete(id)
    },
    stillHereIn({ again, updates, at }) {
      const silent = updates.filter(({ isNews, isHeard }) => isHeard && !isNews)
      return [...again, ...silent]
        .filter(({ receiver }) => isDue(receiver))
        .map(({ receiver: { id, last_seen } }) => ({ id, last_seen: Math.max(last_seen, at) }))
    },
    isAnyDue: ({ again, updates }) => [again, updates].some((all) => all.some(({ receiver }) => isDue(receiver))),
  }
}
