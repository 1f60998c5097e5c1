/**
 * The open alerts in memory. `write` stores changes and then publishes them; `load` publishes the changes that other
 * processes stored. Calls of `load` and `write` must not overlap.
 */

import { type Alert, type AlertChange, toAlertMessage } from '../domain/alerts/alert.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Feed } from '../state/feed.ts'
import { clearAlert, listAlerts, listAlertsSince, pruneAlerts, raiseAlert, worsenAlert } from '../storage/alerts.ts'
import type { Database, Tx } from '../storage/database.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'

export interface OpenAlertsDeps {
  readonly db: Database
  readonly feed: Pick<Feed, 'publish'>
  now(): number
  /** Called with every alert that was raised, changed or cleared, after it was stored. */
  onChanged?(alert: Alert): void
}

const keepClearedMs = 30 * 24 * 3600_000
const keepCleared = 10_000

export class OpenAlerts {
  readonly #deps: OpenAlertsDeps
  readonly #bySubject = new Map<string, Alert>()
  #lastRevision = -1
  /**
   * The revision at which this process last wrote an alert, by alert id. Entries are removed when `load` has reached
   * that revision.
   */
  readonly #written = new Map<number, number>()

  constructor(deps: OpenAlertsDeps) {
    this.#deps = deps
  }

  /** Loads the open alerts without publishing them. */
  async open(): Promise<void> {
    const { read } = this.#deps.db
    this.#lastRevision = await currentRevision(read, 'alerts')
    for (const alert of await listAlerts(read, { state: 'raised' })) this.#bySubject.set(alert.subject, alert)
  }

  /** Loads and publishes the alerts that other processes raised or cleared. */
  async load(): Promise<void> {
    const { read } = this.#deps.db
    const revision = await currentRevision(read, 'alerts')
    if (revision === this.#lastRevision) return
    for (const { alert, revision: changedAt } of await listAlertsSince(read, this.#lastRevision)) {
      if (this.#written.get(alert.id) !== changedAt) this.#publish(alert)
      if (changedAt <= revision) this.#written.delete(alert.id)
    }
    this.#lastRevision = revision
  }

  find(subject: string): Alert | undefined {
    return this.#bySubject.get(subject)
  }

  list(): readonly Alert[] {
    return [...this.#bySubject.values()]
  }

  /** Stores and publishes the changes. Returns the changed alerts, without those that another process changed first. */
  async write(changes: readonly AlertChange[]): Promise<readonly Alert[]> {
    const { db, now } = this.#deps
    const [revision, applied] = await db.transaction(async (tx) => {
      const revision = await nextRevision(tx, 'alerts')
      const applied: Alert[] = []
      for (const change of changes) {
        const alert = await apply(tx, revision, change, now())
        if (alert !== null) applied.push(alert)
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      await pruneAlerts(tx, now() - keepClearedMs, keepCleared)
      return [revision, applied] as const
    })
    for (const alert of applied) {
      this.#written.set(alert.id, revision)
      this.#publish(alert)
    }
    return applied
  }

  #publish(alert: Alert): void {
    if (alert.state === 'raised') this.#bySubject.set(alert.subject, alert)
    else if (this.#bySubject.get(alert.subject)?.id === alert.id) this.#bySubject.delete(alert.subject)
    this.#deps.feed.publish(toAlertMessage(alert))
    this.#deps.onChanged?.(alert)
  }
}

function apply(tx: Tx, revision: number, change: AlertChange, at: number): Promise<Alert | null> {
  switch (change.type) {
    case 'raise':
      return raiseAlert(tx, revision, change.cause, at)
    case 'worsen':
      return worsenAlert(tx, revision, change.alert.id, change.cause)
    case 'clear':
      return clearAlert(tx, revision, change.alert.id, { message: change.message, at })
    default:
      return change satisfies never
  }
}
