/** How every source fares: counted by whoever polls it, kept in the database, told when it changes. */

import type { Feed } from '../live/feed.ts'
import type { SourceReport } from '../model/health.ts'
import { type ManufacturerHealth, type MonitoredManufacturer, manufacturerHealth } from '../model/health.ts'
import type { Database } from '../store/database.ts'
import { listSourceReports, saveSourceReports } from '../store/sources.ts'

export type CycleOutcome =
  | { readonly ok: true; readonly warning: string | null }
  /** `holdMs`: the upstream asked for a pause, which is not a failure. */
  | { readonly ok: false; readonly error: string; readonly holdMs: number | null }

export interface Reports {
  /** Reads what other processes have stored of the sources they poll. */
  load(): Promise<void>
  of(source: string): SourceReport | undefined
  /** What is left of a pause that the source asked for, whoever was asked; 0 when nothing is. */
  holdMs(source: string): number
  note(manufacturer: string, source: string, outcome: CycleOutcome): Promise<void>
  /** A cycle outlasted its interval; stored with the next one's outcome. */
  noteOverrun(source: string): void
  health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[]
}

/** So long after our own last word of a source nobody else's counts. */
const oursForMs = 60_000

export function createReports(deps: {
  readonly db: Database
  readonly feed: Pick<Feed, 'publish'>
  manufacturers(): readonly MonitoredManufacturer[]
  isUnpolled(source: string): boolean
  now(): number
  /** Hears of every cycle's outcome, once it is stored. */
  onNoted?(report: SourceReport): void
}): Reports {
  const { db, feed, isUnpolled, now } = deps
  const reports = new Map<string, SourceReport>()
  const notedAt = new Map<string, number>()
  const toldStatus = new Map<string, string>()
  /** Their last report did not reach the database. */
  const unstored = new Set<string>()
  let storing: Promise<void> = Promise.resolve()

  function health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[] {
    return manufacturers.map((one) => manufacturerHealth(one, [...reports.values()], now(), isUnpolled))
  }

  /** One message a change of state, not one a failure. */
  function tellChanges(): void {
    for (const { code, status, error } of health(deps.manufacturers())) {
      const before = toldStatus.get(code) ?? 'healthy'
      toldStatus.set(code, status)
      if (before === status) continue
      const message = error === null ? `${code} is ${status}` : `${code} is ${status}: ${error}`
      feed.publish({ type: 'status_update', about: 'upstream', manufacturer: code, status, message })
    }
  }

  /** In turn, and whoever comes first stores what all the others have to say. */
  function store(): Promise<void> {
    const work = storing.then(async () => {
      const due = [...unstored].flatMap((source) => reports.get(source) ?? [])
      if (due.length === 0) return
      await db.transaction((tx) => saveSourceReports(tx, due))
      for (const report of due) if (reports.get(report.source) === report) unstored.delete(report.source)
    })
    storing = work.catch(() => {})
    return work
  }

  return {
    async load() {
      for (const report of await listSourceReports(db.read)) {
        const isOurs = performance.now() - (notedAt.get(report.source) ?? Number.NEGATIVE_INFINITY) < oursForMs
        if (!isOurs) reports.set(report.source, report)
      }
      tellChanges()
    },
    of: (source) => reports.get(source),
    holdMs: (source) => Math.max(0, (reports.get(source)?.hold_until ?? 0) - now()),
    async note(manufacturer, source, outcome) {
      const before = reports.get(source)
      const after = nextReport(before, manufacturer, source, outcome, now())
      reports.set(source, after)
      notedAt.set(source, performance.now())
      const isNews = before === undefined || isWorthStoring(before, after)
      // A hold that is over is seen at the next look at what others have stored.
      if (isNews) tellChanges()
      if (isNews || unstored.has(source)) {
        unstored.add(source)
        await store()
      }
      deps.onNoted?.(after)
    },
    noteOverrun(source) {
      const report = reports.get(source)
      if (report === undefined) return
      reports.set(source, { ...report, overruns: report.overruns + 1 })
      unstored.add(source)
    },
    health,
  }
}

function nextReport(
  before: SourceReport | undefined,
  manufacturer: string,
  source: string,
  outcome: CycleOutcome,
  now: number,
): SourceReport {
  const failures = before?.consecutive_failures ?? 0
  const { last_success_at = null, overruns = 0, warning = null } = before ?? {}
  const kept = { manufacturer, source, last_success_at, overruns, warning }
  if (outcome.ok) {
    const { warning } = outcome
    return { ...kept, consecutive_failures: 0, error: null, hold_until: 0, last_success_at: now, warning }
  }
  const { error, holdMs } = outcome
  return holdMs === null
    ? { ...kept, consecutive_failures: failures + 1, error, hold_until: 0 }
    : { ...kept, consecutive_failures: failures, error, hold_until: now + holdMs }
}

/** Success after success says nothing new. */
function isWorthStoring(before: SourceReport, after: SourceReport): boolean {
  return (
    before.consecutive_failures !== after.consecutive_failures ||
    before.hold_until !== after.hold_until ||
    before.warning !== after.warning ||
    before.error !== after.error
  )
}
