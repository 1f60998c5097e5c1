/** The status of every source: recorded by the process that polls it, stored in the database, published on change. */

import { isDeepStrictEqual } from 'node:util'
import type { SourceFailures } from '../domain/alerts/alert.ts'
import {
  type DeviceProblem,
  type ManufacturerHealth,
  type MonitoredManufacturer,
  manufacturerHealth,
  noDeviceErrors,
  type SourceRecord,
  summarize,
  toDeviceErrors,
} from '../domain/equipment/health.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { Feed } from '../state/feed.ts'
import type { Database } from '../storage/database.ts'
import { StoreBusyError, StoreDownError } from '../storage/errors.ts'
import { listSourceRecords, saveSourceRecords } from '../storage/sources.ts'

export type CycleOutcome =
  | { readonly ok: true; readonly problems: readonly DeviceProblem[] }
  /** `holdMs` is set if the upstream requested a pause, which is not treated as a failure. */
  | { readonly ok: false; readonly error: string; readonly holdMs: number | null }

export interface SourceRecords {
  /** Loads the records of sources that other processes poll. */
  load(): Promise<void>
  get(source: string): SourceRecord | undefined
  /** Returns the remaining time of a pause that the source requested from any process; 0 if there is none. */
  holdMs(source: string): number
  record(manufacturer: string, source: string, outcome: CycleOutcome): Promise<void>
  /** Records that a cycle took longer than its interval; stored with the outcome of the next cycle. */
  recordOverrun(source: string): void
  /** Removes the record of a source that is no longer configured. */
  forget(source: string): void
  health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[]
}

/** How long this process's own record of a source takes precedence over stored ones. */
const ownRecordForMs = 60_000
/** How often the time of the last success is stored while nothing else changes. */
const storeSuccessEveryMs = 10 * 60_000

/** Why the database rejected a record, by source. */
type Rejected = ReadonlyMap<string, unknown>

const noneRejected: Rejected = new Map()

export function createSourceRecords(deps: {
  readonly db: Database
  readonly feed: Pick<Feed, 'publish'>
  manufacturers(): readonly MonitoredManufacturer[]
  isOrphaned(source: string): boolean
  now(): number
  /** Called when the status of a source may have changed. */
  onChanged?(): void
  /** Called after every cycle, when its outcome has been stored or storing it has failed. */
  onRecorded?(failures: SourceFailures): void
}): SourceRecords {
  const { db, feed, isOrphaned, now } = deps
  const records = new Map<string, SourceRecord>()
  const recordedAt = new Map<string, number>()
  /** When each record was last stored (`performance.now()`). */
  const storedAt = new Map<string, number>()
  const unsuccessful = new Map<string, Unsuccessful>()
  const publishedStatus = new Map<string, string>()
  /** Sources whose last record is not stored. */
  const unstored = new Set<string>()
  const storing = new Semaphore(1)
  let foreignCommits: number | null = null
  /** Until when records of other processes may be hidden by own ones (`performance.now()`). */
  let hiddenUntil = 0
  let isPublishing = false

  function health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[] {
    return manufacturers.map((manufacturer) =>
      manufacturerHealth(manufacturer, [...records.values()], now(), isOrphaned),
    )
  }

  /** Publishes changes once for all records of this turn of the event loop, because many sources start at once. */
  function publishSoon(): void {
    if (isPublishing) return
    isPublishing = true
    setImmediate(() => {
      isPublishing = false
      publishChanges()
    })
  }

  /** Publishes a message when a manufacturer's status has changed, not for every failure. */
  function publishChanges(): void {
    deps.onChanged?.()
    for (const { code, status, error } of health(deps.manufacturers())) {
      const before = publishedStatus.get(code) ?? 'unknown'
      publishedStatus.set(code, status)
      if (before === status) continue
      const state = status === 'unknown' ? 'has not responded yet' : `is ${status}`
      const message = error === null ? `${code} ${state}` : `${code} ${state}: ${error}`
      feed.publish({ type: 'status_update', about: 'upstream', manufacturer: code, status, message })
    }
  }

  /** Stores all unsaved records. Writes are serialized. */
  function store(): Promise<Rejected> {
    return storing.run(() => save([...unstored].flatMap((source) => records.get(source) ?? [])))
  }

  /**
   * Stores these records. A rejected record does not prevent the others from being stored. Throws while the database is
   * unavailable.
   */
  async function save(due: readonly SourceRecord[]): Promise<Rejected> {
    if (due.length === 0) return noneRejected
    try {
      await db.transaction((tx) => saveSourceRecords(tx, due))
    } catch (error) {
      if (error instanceof StoreDownError || error instanceof StoreBusyError) throw error
      const [only, ...others] = due
      return only !== undefined && others.length === 0 ? new Map([[only.source, error]]) : saveOneByOne(due)
    }
    for (const record of due) {
      storedAt.set(record.source, performance.now())
      if (records.get(record.source) === record) unstored.delete(record.source)
    }
    return noneRejected
  }

  async function saveOneByOne(due: readonly SourceRecord[]): Promise<Rejected> {
    const rejected = new Map<string, unknown>()
    for (const record of due) for (const [source, error] of await save([record])) rejected.set(source, error)
    return rejected
  }

  return {
    async load() {
      const commits = db.foreignCommits()
      const hasForeignCommits = commits === null || commits !== foreignCommits
      if (hasForeignCommits && recordedAt.size > 0) hiddenUntil = performance.now() + ownRecordForMs
      const isUnchanged = !hasForeignCommits && performance.now() > hiddenUntil
      for (const record of isUnchanged ? [] : await listSourceRecords(db.read)) {
        const ageMs = performance.now() - (recordedAt.get(record.source) ?? Number.NEGATIVE_INFINITY)
        if (ageMs >= ownRecordForMs) records.set(record.source, record)
      }
      foreignCommits = commits
      publishChanges()
    },
    get: (source) => records.get(source),
    holdMs: (source) => Math.max(0, (records.get(source)?.hold_until ?? 0) - now()),
    async record(manufacturer, source, outcome) {
      const before = records.get(source)
      const after = nextRecord(before, manufacturer, source, outcome, now())
      records.set(source, after)
      recordedAt.set(source, performance.now())
      const unsuccessfulNow = countUnsuccessful(unsuccessful.get(source), before, outcome)
      unsuccessful.set(source, unsuccessfulNow)
      const hasChanged = before === undefined || isChanged(before, after)
      const isDue = performance.now() - (storedAt.get(source) ?? Number.NEGATIVE_INFINITY) >= storeSuccessEveryMs
      if (hasChanged) publishSoon()
      if (hasChanged || isDue) unstored.add(source)
      try {
        const rejected = unstored.has(source) ? await store() : noneRejected
        if (rejected.has(source)) throw rejected.get(source)
      } finally {
        const { error } = after
        deps.onRecorded?.({ manufacturer, source, unsuccessful_cycles: unsuccessfulNow.cycles, error })
      }
    },
    recordOverrun(source) {
      const record = records.get(source)
      if (record === undefined) return
      records.set(source, { ...record, overruns: record.overruns + 1 })
      unstored.add(source)
    },
    forget(source) {
      for (const map of [records, recordedAt, storedAt, unsuccessful]) map.delete(source)
      unstored.delete(source)
    },
    health,
  }
}

function nextRecord(
  before: SourceRecord | undefined,
  manufacturer: string,
  source: string,
  outcome: CycleOutcome,
  now: number,
): SourceRecord {
  const failures = before?.consecutive_failures ?? 0
  const { last_success_at = null, overruns = 0, warning = null, device_errors = noDeviceErrors } = before ?? {}
  const kept = { manufacturer, source, last_success_at, overruns, warning, device_errors }
  if (outcome.ok) {
    const { problems } = outcome
    const errors = { warning: summarize(problems), device_errors: toDeviceErrors(problems) }
    return { ...kept, ...errors, consecutive_failures: 0, error: null, hold_until: 0, last_success_at: now }
  }
  const { error, holdMs } = outcome
  return holdMs === null
    ? { ...kept, consecutive_failures: failures + 1, error, hold_until: 0 }
    : { ...kept, consecutive_failures: failures, error, hold_until: Math.ceil(now + holdMs) }
}

/** Whether anything but the time of the last success changed. */
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
  const now = performance.now()
  const isSamePause = now < heldUntil
  return { cycles: isSamePause ? cycles : cycles + 1, heldUntil: now + outcome.holdMs }
}
