import type { IngestPlan } from '../domain/identity/ingest-plan.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import type { LastSeen } from '../storage/receivers.ts'
import type { ReceiverStore } from './receiver-store.ts'

/** How often `last_seen` of an unchanged receiver is stored. */
const lastSeenEveryMs = 60_000

/**
 * How often levels are stored while other processes read them from the database. This is shorter than the shortest
 * polling interval, so that a single source stores its levels after every cycle.
 */
const saveSharedLevelsEveryMs = 800
/** How often levels are stored otherwise. They are only needed after a restart, until the first reports arrive. */
const saveLevelsEveryMs = 60_000

/** Tracks levels, facts and `last_seen` times that are newer in memory than in the database. */
export class Backlog {
  readonly #receiverStore: ReceiverStore
  readonly #leaseManager: LeaseManager
  readonly #unsaved = new Set<number>()
  /** Those of the above with unsaved facts. */
  readonly #unsavedFacts = new Set<number>()
  /** When each receiver was last saved (`performance.now()`), by receiver id. */
  readonly #savedAt = new Map<number, number>()
  readonly #createdAt = performance.now()
  /** When levels were last saved (`performance.now()`), by manufacturer. */
  readonly #levelsSavedAt = new Map<string, number>()

  constructor(receiverStore: ReceiverStore, leaseManager: LeaseManager) {
    this.#receiverStore = receiverStore
    this.#leaseManager = leaseManager
  }

  /** Marks the receiver's levels as unsaved. */
  add(id: number): void {
    this.#unsaved.add(id)
  }

  has(id: number): boolean {
    return this.#unsaved.has(id)
  }

  /** Marks the receiver's facts and levels as unsaved. */
  addFacts(id: number): void {
    this.add(id)
    this.#unsavedFacts.add(id)
  }

  hasFacts(id: number): boolean {
    return this.#unsavedFacts.has(id)
  }

  listUnsaved(manufacturer: string): number[] {
    return [...this.#unsaved].filter((id) => this.#receiverStore.facts(id)?.manufacturer === manufacturer)
  }

  /**
   * Returns the receivers whose levels are stored at the end of this cycle. These are all receivers of the manufacturer
   * with unsaved levels, for fewer writes. A cycle with reports stores no levels if they were saved recently.
   */
  listDueLevels(cycle: { readonly manufacturer: string; readonly reports: readonly unknown[] }): number[] {
    const { manufacturer, reports } = cycle
    const sinceMs = performance.now() - (this.#levelsSavedAt.get(manufacturer) ?? this.#createdAt)
    const everyMs = this.#leaseManager.hasOtherNodes ? saveSharedLevelsEveryMs : saveLevelsEveryMs
    return reports.length > 0 && sinceMs < everyMs ? [] : this.listUnsaved(manufacturer)
  }

  /** Records that the manufacturer's levels are being stored. */
  recordLevelSave(manufacturer: string): void {
    this.#levelsSavedAt.set(manufacturer, performance.now())
  }

  /** Marks the receiver's facts and levels as saved. */
  markSaved(id: number): void {
    this.#unsaved.delete(id)
    this.markFactsSaved(id)
  }

  markFactsSaved(id: number): void {
    this.#unsavedFacts.delete(id)
  }

  /** Records that the receiver, including `last_seen`, was stored now. */
  recordSave(id: number): void {
    this.#savedAt.set(id, performance.now())
  }

  remove(id: number): void {
    this.markSaved(id)
    this.#savedAt.delete(id)
  }

  /** Returns the receivers with unchanged reports whose stored `last_seen` is out of date. */
  listDueLastSeen({ levelReports, updates, at }: IngestPlan): LastSeen[] {
    const withoutChanges = updates.filter(({ hasChanges, isReceived }) => isReceived && !hasChanges)
    return [...levelReports, ...withoutChanges]
      .filter(({ receiver }) => this.#isDue(receiver.id))
      .map(({ receiver: { id, last_seen } }) => ({ id, last_seen: Math.max(last_seen, at) }))
  }

  hasDueLastSeen({ levelReports, updates }: IngestPlan): boolean {
    return [levelReports, updates].some((entries) => entries.some(({ receiver }) => this.#isDue(receiver.id)))
  }

  #isDue(id: number): boolean {
    return performance.now() - (this.#savedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= lastSeenEveryMs
  }
}
