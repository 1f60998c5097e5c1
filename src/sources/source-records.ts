/** The status of every source: recorded by the process that polls it, stored in the database, published on change. */

import { isDeepStrictEqual } from 'node:util'
import type { SourceBody } from '../contract/live-messages.ts'
import type { StatusUpdate } from '../contract/messages.ts'
import type { SourceFailures } from '../domain/alerts/source.ts'
import {
  type DeviceProblem,
  type ManufacturerHealth,
  manufacturerHealth,
  noDeviceErrors,
  type SourceRecord,
  summarize,
  toDeviceErrors,
} from '../domain/equipment/health.ts'
import { toSourceBodies } from '../domain/live/lists.ts'
import { now } from '../platform/clock.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { Topic } from '../platform/topic.ts'
import type { Database } from '../storage/database.ts'
import { StoreBusyError, StoreDownError } from '../storage/errors.ts'
import { listSourceRecords, saveSourceRecords } from '../storage/sources.ts'
import type { OrphanedSources } from './orphaned-sources.ts'
import type { SourceRegistry } from './source-registry.ts'

export type CycleOutcome =
  | { readonly ok: true; readonly problems: readonly DeviceProblem[] }
  /** `holdMs` is set if the upstream requested a pause, which is not treated as a failure. */
  | { readonly ok: false; readonly error: string; readonly holdMs: number | null }

/** This process's own record of a source takes precedence over stored ones for this long. */
const ownRecordForMs = 60_000
/** How often the time of the last success is stored while nothing else changes. */
const storeSuccessEveryMs = 10 * 60_000

/** Why the database rejected a record, by source. */
type Rejected = ReadonlyMap<string, unknown>

const noneRejected: Rejected = new Map()

interface KnownSource {
  record?: SourceRecord
  /** When this process last recorded a cycle (`performance.now()`). */
  recordedAt: number
  /** When the record was last stored (`performance.now()`). */
  storedAt: number
  unsuccessful?: Unsuccessful
  isUnstored: boolean
}

export class SourceRecords {
  /** The status of a source may have changed. Contains the manufacturers whose status has. */
  readonly changed = new Topic<readonly StatusUpdate[]>()
  /** A source has begun to fail or has recovered, in whichever process it is polled. */
  readonly failingChanged = new Topic()
  /** A cycle has ended, and its outcome has been stored or storing it has failed. */
  readonly recorded = new Topic<SourceFailures>()
  readonly #db: Database
  readonly #sourceRegistry: SourceRegistry
  readonly #orphanedSources: OrphanedSources
  readonly #sources = new Map<string, KnownSource>()
  /** The status that was last published, by manufacturer. */
  readonly #publishedStatus = new Map<string, string>()
  /** Serializes writes. */
  readonly #storing = new Semaphore(1)
  #foreignCommits: number | null = null
  /** Until when records of other processes may be hidden by own ones (`performance.now()`). */
  #hiddenUntil = Number.NEGATIVE_INFINITY
  #isPublishing = false

  constructor(db: Database, sourceRegistry: SourceRegistry, orphanedSources: OrphanedSources) {
    this.#db = db
    this.#sourceRegistry = sourceRegistry
    this.#orphanedSources = orphanedSources
  }

  /** Loads the records of sources that other processes poll. */
  async load(): Promise<void> {
    const commits = this.#db.foreignCommits()
    const hasForeignCommits = commits === null || commits !== this.#foreignCommits
    if (hasForeignCommits && this.#hasOwnRecords()) this.#hiddenUntil = performance.now() + ownRecordForMs
    const isUnchanged = !hasForeignCommits && performance.now() > this.#hiddenUntil
    for (const record of isUnchanged ? [] : await listSourceRecords(this.#db.read)) {
      const known = this.#know(record.source)
      if (performance.now() - known.recordedAt >= ownRecordForMs) this.#setRecord(known, record)
    }
    this.#foreignCommits = commits
    this.#publishChanges()
  }

  get(source: string): SourceRecord | undefined {
    return this.#sources.get(source)?.record
  }

  /** True if the last cycle of the source failed. */
  isFailing(source: string): boolean {
    return hasFailed(this.get(source))
  }

  /** Returns the remaining time of a pause that the source requested from any process; 0 if there is none. */
  holdMs(source: string): number {
    return Math.max(0, (this.get(source)?.hold_until ?? 0) - now())
  }

  async record(manufacturer: string, source: string, outcome: CycleOutcome): Promise<void> {
    const known = this.#know(source)
    const before = known.record
    const after = nextRecord(before, manufacturer, source, outcome, now())
    const unsuccessful = countUnsuccessful(known.unsuccessful, before, outcome)
    const hasChanged = before === undefined || isChanged(before, after)
    const isDue = performance.now() - known.storedAt >= storeSuccessEveryMs
    this.#setRecord(known, after)
    known.recordedAt = performance.now()
    known.unsuccessful = unsuccessful
    if (hasChanged) this.#publishSoon()
    if (hasChanged || isDue) known.isUnstored = true
    try {
      const rejected = known.isUnstored ? await this.#store() : noneRejected
      if (rejected.has(source)) throw rejected.get(source)
    } finally {
      const { error } = after
      this.recorded.publish({ manufacturer, source, unsuccessful_cycles: unsuccessful.cycles, error })
    }
  }

  /** Records the start of the source's silence; null when data arrives. */
  recordSilence(manufacturer: string, source: string, since: number | null): void {
    const known = this.#know(source)
    this.#setRecord(known, { ...(known.record ?? newRecord(manufacturer, source)), silent_since: since })
    known.recordedAt = performance.now()
    known.isUnstored = true
    this.#publishSoon()
    // A failure is stored with the outcome of the next cycle.
    this.#store().catch(() => {})
  }

  /** Records that a cycle took longer than its interval; stored with the outcome of the next cycle. */
  recordOverrun(source: string): void {
    const known = this.#sources.get(source)
    if (known?.record === undefined) return
    known.record = { ...known.record, overruns: known.record.overruns + 1 }
    known.isUnstored = true
  }

  /** Removes the record of a source that is no longer configured. */
  forget(source: string): void {
    this.#sources.delete(source)
  }

  /** Returns the health of every manufacturer; a configuration error takes precedence over the last records. */
  health(): ManufacturerHealth[] {
    const errors = this.#sourceRegistry.configurationErrors()
    return this.#recordedHealth().map((manufacturer) => errors.get(manufacturer.code) ?? manufacturer)
  }

  /** Returns the status of every source. */
  bodies(): readonly SourceBody[] {
    return toSourceBodies(this.#recordedHealth())
  }

  #recordedHealth(): ManufacturerHealth[] {
    const records = [...this.#sources.values()].flatMap(({ record }) => record ?? [])
    const isOrphaned = (source: string) => this.#orphanedSources.has(source)
    return this.#sourceRegistry
      .manufacturers()
      .map((manufacturer) => manufacturerHealth(manufacturer, records, now(), isOrphaned))
  }

  #know(source: string): KnownSource {
    const known = this.#sources.get(source)
    if (known !== undefined) return known
    const created = { recordedAt: Number.NEGATIVE_INFINITY, storedAt: Number.NEGATIVE_INFINITY, isUnstored: false }
    this.#sources.set(source, created)
    return created
  }

  #setRecord(known: KnownSource, record: SourceRecord): void {
    const wasFailing = hasFailed(known.record)
    known.record = record
    if (hasFailed(record) !== wasFailing) this.failingChanged.publish()
  }

  #hasOwnRecords(): boolean {
    for (const { recordedAt } of this.#sources.values()) if (recordedAt !== Number.NEGATIVE_INFINITY) return true
    return false
  }

  /** Publishes changes once for all records of this turn of the event loop, because many sources start at once. */
  #publishSoon(): void {
    if (this.#isPublishing) return
    this.#isPublishing = true
    setImmediate(() => {
      this.#isPublishing = false
      this.#publishChanges()
    })
  }

  #publishChanges(): void {
    const updates: StatusUpdate[] = []
    for (const { code, status, error } of this.#recordedHealth()) {
      const before = this.#publishedStatus.get(code) ?? 'unknown'
      this.#publishedStatus.set(code, status)
      if (before === status) continue
      const state = status === 'unknown' ? 'has not responded yet' : `is ${status}`
      const message = error === null ? `${code} ${state}` : `${code} ${state}: ${error}`
      updates.push({ type: 'status_update', about: 'upstream', manufacturer: code, status, message })
    }
    this.changed.publish(updates)
  }

  /** Stores all unsaved records. */
  #store(): Promise<Rejected> {
    return this.#storing.run(() => {
      const unstored = [...this.#sources.values()].filter(({ isUnstored }) => isUnstored)
      return this.#save(unstored.flatMap(({ record }) => record ?? []))
    })
  }

  /**
   * Stores these records. A rejected record does not prevent the others from being stored. Throws while the database is
   * unavailable.
   */
  async #save(due: readonly SourceRecord[]): Promise<Rejected> {
    if (due.length === 0) return noneRejected
    try {
      await this.#db.transaction((tx) => saveSourceRecords(tx, due))
    } catch (error) {
      if (error instanceof StoreDownError || error instanceof StoreBusyError) throw error
      const [only, ...others] = due
      return only !== undefined && others.length === 0 ? new Map([[only.source, error]]) : this.#saveOneByOne(due)
    }
    for (const record of due) {
      const known = this.#sources.get(record.source)
      if (known === undefined) continue
      known.storedAt = performance.now()
      if (known.record === record) known.isUnstored = false
    }
    return noneRejected
  }

  async #saveOneByOne(due: readonly SourceRecord[]): Promise<Rejected> {
    const rejected = new Map<string, unknown>()
    for (const record of due) for (const [source, error] of await this.#save([record])) rejected.set(source, error)
    return rejected
  }
}

function hasFailed(record: SourceRecord | undefined): boolean {
  return (record?.consecutive_failures ?? 0) > 0
}

function newRecord(manufacturer: string, source: string): SourceRecord {
  const nothingWrong = { error: null, warning: null, device_errors: noDeviceErrors, silent_since: null }
  const nothingCounted = { consecutive_failures: 0, hold_until: 0, last_success_at: null, overruns: 0 }
  return { manufacturer, source, ...nothingWrong, ...nothingCounted }
}

function nextRecord(
  before: SourceRecord | undefined,
  manufacturer: string,
  source: string,
  outcome: CycleOutcome,
  time: number,
): SourceRecord {
  const kept = before ?? newRecord(manufacturer, source)
  if (outcome.ok) {
    const { problems } = outcome
    const errors = { warning: summarize(problems), device_errors: toDeviceErrors(problems) }
    return { ...kept, ...errors, consecutive_failures: 0, error: null, hold_until: 0, last_success_at: time }
  }
  const { error, holdMs } = outcome
  return holdMs === null
    ? { ...kept, consecutive_failures: kept.consecutive_failures + 1, error, hold_until: 0 }
    : { ...kept, error, hold_until: Math.ceil(time + holdMs) }
}

/** Ignores the time of the last success. */
function isChanged(before: SourceRecord, after: SourceRecord): boolean {
  const { last_success_at: _, ...earlier } = before
  const { last_success_at: __, ...later } = after
  return !isDeepStrictEqual(earlier, later)
}

interface Unsuccessful {
  /** The number of consecutive unsuccessful cycles. */
  readonly cycles: number
  /** The end of the most recently requested pause (`performance.now()`); 0 if the last cycle was not a pause. */
  readonly heldUntil: number
}

/**
 * Counts consecutive unsuccessful cycles. A pause is treated as one cycle, even if there are several polls during it.
 */
function countUnsuccessful(
  known: Unsuccessful | undefined,
  before: SourceRecord | undefined,
  outcome: CycleOutcome,
): Unsuccessful {
  if (outcome.ok) return { cycles: 0, heldUntil: 0 }
  const { cycles, heldUntil } = known ?? { cycles: before?.consecutive_failures ?? 0, heldUntil: 0 }
  if (outcome.holdMs === null) return { cycles: cycles + 1, heldUntil: 0 }
  const time = performance.now()
  const isSamePause = time < heldUntil
  return { cycles: isSamePause ? cycles : cycles + 1, heldUntil: time + outcome.holdMs }
}
