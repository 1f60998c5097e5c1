/**
 * The open alerts in memory. `write` and `edit` store changes and then publish them; `load` publishes the changes that
 * other processes stored. Calls of `load`, `write` and `edit` must not overlap.
 */

import type { AlertBody } from '../contract/alerts.ts'
import {
  type Alert,
  type AlertChange,
  type AlertMarks,
  hasOnlyOtherValues,
  toAlertBody,
} from '../domain/alerts/alert.ts'
import type { EventDraft } from '../domain/events/event.ts'
import { toAlertEvent } from '../domain/events/event-drafts.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import {
  clearAlert,
  copyAlert,
  endSnooze,
  listAlertsSince,
  listOpenAlerts,
  pruneAlerts,
  raiseAlert,
  updateAlert,
} from '../storage/alerts.ts'
import type { Database, Tx } from '../storage/database.ts'
import { insertEvents } from '../storage/events.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import type { AlertContext } from './alert-context.ts'
import type { NotificationQueue } from './notification-queue.ts'

/** An alert was raised, changed, silenced or cleared, in this process or another one. */
export interface AlertChanged {
  readonly alert: Alert
  readonly body: AlertBody
  /** True if its kind, severity and state are unchanged. */
  readonly hasOnlyOtherValues: boolean
  /** False while the database cannot be written. */
  readonly isStored: boolean
}

export type AlertEdit = (tx: Tx, revision: number) => Promise<{ readonly alert: Alert; readonly isChanged: boolean }>

const dayMs = 24 * 3600_000
const none: ReadonlyMap<string, Alert> = new Map()

export class OpenAlerts {
  readonly changed = new Topic<AlertChanged>()
  /** `load` has found changes by other processes. */
  readonly loaded = new Topic()
  readonly #db: Database
  readonly #notificationQueue: NotificationQueue
  readonly #context: AlertContext
  readonly #settings: EffectiveSettings
  readonly #now: () => number
  readonly #bySubject = new Map<string, Alert>()
  readonly #byReceiver = new Map<number, Map<string, Alert>>()
  /** By alert id, as of the last publication. */
  readonly #marks = new Map<number, AlertMarks>()
  #lastRevision = -1
  /**
   * The revision at which this process last wrote an alert, by alert id. Entries are removed when `load` has reached
   * that revision.
   */
  readonly #written = new Map<number, number>()

  /** `clock` returns epoch milliseconds. */
  constructor(
    db: Database,
    notificationQueue: NotificationQueue,
    context: AlertContext,
    settings: EffectiveSettings,
    clock = now,
  ) {
    this.#db = db
    this.#notificationQueue = notificationQueue
    this.#context = context
    this.#settings = settings
    this.#now = clock
  }

  async open(): Promise<void> {
    const { read } = this.#db
    this.#lastRevision = await currentRevision(read, 'alerts')
    for (const alert of await listOpenAlerts(read)) {
      this.#put(alert)
      this.#marks.set(alert.id, this.#context.marksOf(alert))
    }
  }

  async load(): Promise<void> {
    const { read } = this.#db
    const revision = await currentRevision(read, 'alerts')
    if (revision === this.#lastRevision) return
    let hasChanged = false
    for (const { alert, revision: changedAt } of await listAlertsSince(read, this.#lastRevision)) {
      if (this.#written.get(alert.id) !== changedAt) {
        this.#publish(alert)
        hasChanged = true
      }
      if (changedAt <= revision) this.#written.delete(alert.id)
    }
    this.#lastRevision = revision
    if (hasChanged) this.loaded.publish()
  }

  find(subject: string): Alert | undefined {
    return this.#bySubject.get(subject)
  }

  list(): readonly Alert[] {
    return [...this.#bySubject.values()]
  }

  ofReceiver(id: number): readonly Alert[] {
    return [...(this.#byReceiver.get(id) ?? none).values()]
  }

  /** Returns the changed alerts, without those that another process changed first. */
  async write(changes: readonly AlertChange[]): Promise<readonly Alert[]> {
    return this.#change(async (tx, revision) => {
      const applied: Alert[] = []
      const events: EventDraft[] = []
      for (const change of changes) {
        const alert = await apply(tx, revision, change, this.#now())
        if (alert !== null) {
          applied.push(alert)
          events.push(...toEvents(change, alert, this.#now()))
        }
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      const { HISTORY_MINUTES_DAYS } = this.#settings.get(null)
      await pruneAlerts(tx, this.#now() - HISTORY_MINUTES_DAYS * dayMs)
      await insertEvents(tx, events)
      return applied
    })
  }

  async edit(work: AlertEdit): Promise<Alert> {
    let edited: Alert | undefined
    await this.#change(async (tx, revision) => {
      const { alert, isChanged } = await work(tx, revision)
      edited = alert
      const { state, acknowledged_by: by, acknowledged_at: time } = alert
      if (isChanged && state === 'acknowledged') {
        await insertEvents(tx, [toAlertEvent('alert_acknowledged', alert, { time: time ?? this.#now(), by })])
      }
      return isChanged ? [alert] : []
    })
    if (edited === undefined) throw new Error('No alert was edited.')
    return edited
  }

  /** Publishes the alerts that were silenced, or whose channel has another title, since they were published. */
  publishMarks(): void {
    for (const alert of this.#bySubject.values()) {
      const known = this.#marks.get(alert.id)
      const marks = this.#context.marksOf(alert)
      const isSameSilence = marks.isSilenced === known?.isSilenced
      if (!isSameSilence || marks.titleNow !== known.titleNow) this.#announce(alert, marks, isSameSilence)
    }
  }

  async #change(work: (tx: Tx, revision: number) => Promise<readonly Alert[]>): Promise<readonly Alert[]> {
    const [revision, changed] = await this.#db.transaction(async (tx) => {
      const revision = await nextRevision(tx, 'alerts')
      const changed = await work(tx, revision)
      await this.#notificationQueue.queue(tx, changed)
      return [revision, changed] as const
    })
    for (const alert of changed) {
      this.#written.set(alert.id, revision)
      this.#publish(alert)
    }
    return changed
  }

  #publish(alert: Alert): void {
    const before = this.#bySubject.get(alert.subject)
    if (alert.state !== 'cleared') this.#put(alert)
    else if (before?.id === alert.id) this.#remove(alert)
    const isFollowing = before !== undefined && hasOnlyOtherValues(before, alert)
    this.#announce(alert, this.#context.marksOf(alert), isFollowing)
  }

  #announce(alert: Alert, marks: AlertMarks, isFollowing: boolean): void {
    if (alert.state === 'cleared') this.#marks.delete(alert.id)
    else this.#marks.set(alert.id, marks)
    const body = toAlertBody(alert, { now: this.#now(), ...marks })
    this.changed.publish({ alert, body, hasOnlyOtherValues: isFollowing, isStored: true })
  }

  #put(alert: Alert): void {
    this.#bySubject.set(alert.subject, alert)
    const { receiver_id } = alert
    if (receiver_id === null) return
    const ofReceiver = this.#byReceiver.get(receiver_id) ?? new Map<string, Alert>()
    this.#byReceiver.set(receiver_id, ofReceiver.set(alert.subject, alert))
  }

  #remove({ subject, receiver_id }: Alert): void {
    this.#bySubject.delete(subject)
    if (receiver_id === null) return
    const ofReceiver = this.#byReceiver.get(receiver_id)
    ofReceiver?.delete(subject)
    if (ofReceiver?.size === 0) this.#byReceiver.delete(receiver_id)
  }
}

function toEvents(change: AlertChange, alert: Alert, time: number): EventDraft[] {
  switch (change.type) {
    case 'raise':
      return [toAlertEvent('alert_raised', alert, { time })]
    case 'update':
      return change.isWorse ? [toAlertEvent('alert_raised', alert, { time })] : []
    case 'end_snooze':
    // The site has events of its own.
    case 'copy':
      return []
    case 'clear':
      return [toAlertEvent('alert_cleared', alert, { time })]
    default:
      return change satisfies never
  }
}

function apply(tx: Tx, revision: number, change: AlertChange, at: number): Promise<Alert | null> {
  switch (change.type) {
    case 'raise':
      return raiseAlert(tx, revision, change.cause, at)
    case 'update':
      return updateAlert(tx, revision, change.alert, change)
    case 'end_snooze':
      return endSnooze(tx, revision, change.alert)
    case 'copy':
      return copyAlert(tx, revision, change.copy)
    case 'clear':
      return clearAlert(tx, revision, change.alert.id, { message: change.message, at })
    default:
      return change satisfies never
  }
}
