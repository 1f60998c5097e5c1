/** How every source fares: counted by whoever polls it, kept in the database, told when it changes. */

import type { Feed } from '../live/feed.ts'
import type { SourceReport } from '../model/health.ts'
import { type ManufacturerHealth, type MonitoredManufacturer, manufacturerHealth } from '../model/health.ts'
import type { Database } from '../store/database.ts'
import { listSourceReports, saveSourceReport } from '../store/sources.ts'

export type CycleOutcome =
  | { readonly ok: true }
  /** `retryAfterMs`: the upstream asked for a pause, which is not a failure. */
  | { readonly ok: false; readonly error: string; readonly retryAfterMs: number | null }

export interface Reports {
  /** Reads what other processes have stored of the sources they poll. */
  load(): Promise<void>
  of(source: string): SourceReport | undefined
  note(manufacturer: string, source: string, outcome: CycleOutcome): Promise<void>
  health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[]
}

/** So long after our own last word of a source nobody else's counts. */
const oursForMs = 60_000

export function createReports(deps: {
  readonly db: Database
  readonly feed: Pick<Feed, 'publish'>
  manufacturers(): readonly MonitoredManufacturer[]
  now(): number
  /** Hears of every cycle's outcome, once it is stored. */
  onNoted?(report: SourceReport): void
}): Reports {
  const { db, feed, now } = deps
  const reports = new Map<string, SourceReport>()
  const notedAt = new Map<string, number>()
  const toldStatus = new Map<string, string>()

  function health(manufacturers: readonly MonitoredManufacturer[]): ManufacturerHealth[] {
    return manufacturers.map((one) => manufacturerHealth(one, [...reports.values()], now()))
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

  return {
    async load() {
      for (const report of await listSourceReports(db.read)) {
        const isOurs = now() - (notedAt.get(report.source) ?? 0) < oursForMs
        if (!isOurs) reports.set(report.source, report)
      }
      tellChanges()
    },
    of: (source) => reports.get(source),
    async note(manufacturer, source, outcome) {
      const before = reports.get(source)
      const after = nextReport(before, manufacturer, source, outcome, now())
      reports.set(source, after)
      notedAt.set(source, now())
      tellChanges()
      if (before === undefined || isWorthStoring(before, after))
        await db.transaction((tx) => saveSourceReport(tx, after))
      deps.onNoted?.(after)
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
  const last_success_at = before?.last_success_at ?? null
  const named = { manufacturer, source }
  if (outcome.ok) return { ...named, consecutive_failures: 0, error: null, hold_until: 0, last_success_at: now }
  const { error, retryAfterMs } = outcome
  return retryAfterMs === null
    ? { ...named, consecutive_failures: failures + 1, error, hold_until: 0, last_success_at }
    : { ...named, consecutive_failures: failures, error, hold_until: now + retryAfterMs, last_success_at }
}

/** Success after success says nothing new. */
function isWorthStoring(before: SourceReport, after: SourceReport): boolean {
  return (
    before.consecutive_failures !== after.consecutive_failures ||
    before.hold_until !== after.hold_until ||
    before.error !== after.error
  )
}
