/** How every source fares: counted by whoever polls it, kept in the database, told when it changes. */

import { isDeepStrictEqual } from 'node:util'
import type { Feed } from '../live/feed.ts'
import type { SourceFailures } from '../model/alert.ts'
import {
  type DeviceProblem,
  type ManufacturerHealth,
  type MonitoredManufacturer,
  manufacturerHealth,
  noDeviceErrors,
  type SourceRecord,
  summarize,
  toDeviceErrors,
} from '../model/health.ts'
import type { Database } from '../store/database.ts'
import { StoreBusyError, StoreDownError } from '../store/errors.ts'
import { listSourceRecords, saveSourceRecords } from '../store/sources.ts'

export type CycleOutcome =
  | { readonly ok: true; readonly problems: readonly DeviceProblem[] }
  /** `holdMs`: the upstream asked for a pause, which is not a failure. */
  | { readonly ok: false; readonly error: string; readonly holdMs: number | null }

export interface SourceRecords {
  /** Reads what other processes have stored of the sources they poll. */
  load(): Promise<void>
  get(source: string): SourceRecord | undefined
  /** What is left of a pause that the source asked for, whoever was asked; 0 when nothing is. */
  holdMs(source: string): number
  record(manufacturer: string, source: string, outcome: CycleOutcome): Promise<void>
  /** A cycle outlasted its interval; stored with the next one's outcome. */
  recordOverrun(source: string): void
  /** This source is configured no more. Configured again, it has not answered yet. */
  forget(source: string): void
  health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[]
}

/** So long after our own last word of a source nobody else's counts. */
const oursForMs = 60_000
/** How often the time of the last success is stored while nothing else changes. */
const storeSuccessEveryMs = 10 * 60_000

/** Why the database refused a report, by source. */
type Refused = ReadonlyMap<string, unknown>

const noneRefused: Refused = new Map()

export function createSourceRecords(deps: {
  readonly db: Database
  readonly feed: Pick<Feed, 'publish'>
  manufacturers(): readonly MonitoredManufacturer[]
  isUnpolled(source: string): boolean
  now(): number
  /** Called after every cycle, once its outcome is stored or could not be. */
  onNoted?(fares: SourceFailures): void
}): SourceRecords {
  const { db, feed, isUnpolled, now } = deps
  const reports = new Map<string, SourceRecord>()
  const notedAt = new Map<string, number>()
  /** When each was stored last, on the monotonic clock. */
  const storedAt = new Map<string, number>()
  const unsuccessful = new Map<string, Unsuccessful>()
  const toldStatus = new Map<string, string>()
  /** Their last report did not reach the database. */
  const unstored = new Set<string>()
  let storing: Promise<unknown> = Promise.resolve()

  function health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[] {
    return manufacturers.map((one) => manufacturerHealth(one, [...reports.values()], now(), isUnpolled))
  }

  /** One message a change of state, not one a failure. */
  function tellChanges(): void {
    for (const { code, status, error } of health(deps.manufacturers())) {
      const before = toldStatus.get(code) ?? 'unknown'
      toldStatus.set(code, status)
      if (before === status) continue
      const state = status === 'unknown' ? 'has not answered yet' : `is ${status}`
      const message = error === null ? `${code} ${state}` : `${code} ${state}: ${error}`
      feed.publish({ type: 'status_update', about: 'upstream', manufacturer: code, status, message })
    }
  }

  /** In turn, and whoever comes first stores what all the others have to say. */
  function store(): Promise<Refused> {
    const work = storing.then(() => save([...unstored].flatMap((source) => reports.get(source) ?? [])))
    storing = work.catch(() => {})
    return work
  }

  /** A report that the database refuses keeps no other from being stored. Throws while the database is away. */
  async function save(due: readonly SourceRecord[]): Promise<Refused> {
    if (due.length === 0) return noneRefused
    try {
      await db.transaction((tx) => saveSourceRecords(tx, due))
    } catch (error) {
      if (error instanceof StoreDownError || error instanceof StoreBusyError) throw error
      const [only, ...others] = due
      return only !== undefined && others.length === 0 ? new Map([[only.source, error]]) : saveOneByOne(due)
    }
    for (const report of due) {
      storedAt.set(report.source, performance.now())
      if (reports.get(report.source) === report) unstored.delete(report.source)
    }
    return noneRefused
  }

  async function saveOneByOne(due: readonly SourceRecord[]): Promise<Refused> {
    const refused = new Map<string, unknown>()
    for (const report of due) for (const [source, error] of await save([report])) refused.set(source, error)
    return refused
  }

  return {
    async load() {
      for (const report of await listSourceRecords(db.read)) {
        const isOurs = performance.now() - (notedAt.get(report.source) ?? Number.NEGATIVE_INFINITY) < oursForMs
        if (!isOurs) reports.set(report.source, report)
      }
      tellChanges()
    },
    get: (source) => reports.get(source),
    holdMs: (source) => Math.max(0, (reports.get(source)?.hold_until ?? 0) - now()),
    async record(manufacturer, source, outcome) {
      const before = reports.get(source)
      const after = nextReport(before, manufacturer, source, outcome, now())
      reports.set(source, after)
      notedAt.set(source, performance.now())
      const unsuccessfulNow = countUnsuccessful(unsuccessful.get(source), before, outcome)
      unsuccessful.set(source, unsuccessfulNow)
      const isNews = before === undefined || isChanged(before, after)
      const isDue = performance.now() - (storedAt.get(source) ?? Number.NEGATIVE_INFINITY) >= storeSuccessEveryMs
      if (isNews) tellChanges()
      if (isNews || isDue) unstored.add(source)
      try {
        const refused = unstored.has(source) ? await store() : noneRefused
        if (refused.has(source)) throw refused.get(source)
      } finally {
        const { error } = after
        deps.onNoted?.({ manufacturer, source, unsuccessful_cycles: unsuccessfulNow.cycles, error })
      }
    },
    recordOverrun(source) {
      const report = reports.get(source)
      if (report === undefined) return
      reports.set(source, { ...report, overruns: report.overruns + 1 })
      unstored.add(source)
    },
    forget(source) {
      for (const kept of [reports, notedAt, storedAt, unsuccessful]) kept.delete(source)
      unstored.delete(source)
    },
    health,
  }
}

function nextReport(
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
    const told = { warning: summarize(problems), device_errors: toDeviceErrors(problems) }
    return { ...kept, ...told, consecutive_failures: 0, error: null, hold_until: 0, last_success_at: now }
  }
  const { error, holdMs } = outcome
  return holdMs === null
    ? { ...kept, consecutive_failures: failures + 1, error, hold_until: 0 }
    : { ...kept, consecutive_failures: failures, error, hold_until: Math.ceil(now + holdMs) }
}

/** Success after success says nothing new. */
function isChanged(before: SourceRecord, after: SourceRecord): boolean {
  const { last_success_at: _, ...earlier } = before
  const { last_success_at: __, ...later } = after
  return !isDeepStrictEqual(earlier, later)
}

interface Unsuccessful {
  /** In a row. */
  readonly cycles: number
  /** The end of the last pause, on the monotonic clock. */
  readonly heldUntil: number
}

/** A pause counts once, however often somebody asks while it lasts. */
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
