/**
 * Raises, changes and clears alerts, each once, even if several processes detect the cause. Changes are collected,
 * evaluated together and stored in one transaction. Only the process that evaluates the conditions of a receiver evaluates
 * its alerts.
 */

import { isDeepStrictEqual } from 'node:util'
import { type Alert, type AlertCause, type AlertChange, type AlertCopy, toAlertBody } from '../domain/alerts/alert.ts'
import { canChangeCauses } from '../domain/alerts/channel-alerts.ts'
import { type Cause, toAlertCause } from '../domain/alerts/compare-causes.ts'
import { describeEnding } from '../domain/alerts/describe-alert.ts'
import { faultSubjects } from '../domain/alerts/service-faults.ts'
import { type SourceFailures, upstreamSubject } from '../domain/alerts/source.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { recordOfSite } from '../domain/equipment/sites.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Topic } from '../platform/topic.ts'
import { maxTimerMs } from '../platform/wait.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { Database } from '../storage/database.ts'
import type { AlertContext } from './alert-context.ts'
import { AlertEvaluation, type AlertInputs } from './alert-evaluation.ts'
import type { NotificationQueue } from './notification-queue.ts'
import { type AlertChanged, type AlertEdit, OpenAlerts } from './open-alerts.ts'
import { UnstoredAlerts } from './unstored-alerts.ts'

interface Subsystems extends AlertInputs {
  readonly db: Database
  readonly settings: EffectiveSettings
  readonly sourceRecords: SourceRecords
  readonly alertContext: AlertContext
  readonly notificationQueue: NotificationQueue
  readonly log: Log
}

interface Due {
  readonly receivers: Set<number>
  readonly sources: Set<string>
  /** True if recording, subscriptions, snoozes and orphaned alerts are also evaluated. */
  everything: boolean
}

export class Alerts {
  readonly changed: Topic<AlertChanged>
  /** Published after changes by other processes were loaded. */
  readonly loaded: Topic
  readonly context: AlertContext
  readonly unstored: UnstoredAlerts
  #recordingFault: string | null | undefined
  #backupFault: string | null | undefined
  readonly #subsystems: Subsystems
  readonly #open: OpenAlerts
  readonly #evaluation: AlertEvaluation
  readonly #evaluated = new Set<number>()
  /** When a delay of a receiver's cause ends (epoch ms). */
  readonly #dueAt = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  readonly #failures = new Map<string, SourceFailures>()
  readonly #failing = new Set<string>()
  #due: Due = nothingDue()
  #isScheduled = false
  #areSettingsChanged = true
  #isClosed = false
  /** Serializes evaluations, reads and writes. */
  readonly #queue = new Semaphore(1)

  constructor(subsystems: Subsystems) {
    const { db, notificationQueue, alertContext, settings, forecasts, log } = subsystems
    const { frequencyConflicts, unknownCarriers, audioFaults } = subsystems
    this.#subsystems = subsystems
    this.context = alertContext
    this.#open = new OpenAlerts(db, notificationQueue, alertContext, settings)
    this.changed = this.#open.changed
    this.loaded = this.#open.loaded
    this.#evaluation = new AlertEvaluation(this.#open, alertContext, subsystems, log)
    this.unstored = new UnstoredAlerts(settings, alertContext, log)
    this.unstored.changed.subscribe((change) => this.#publishUnstored(change.alert, change.hasOnlyOtherValues))
    // A mute that needs no attention keeps its alert only while it is marked as on purpose.
    this.changed.subscribe(({ alert: { kind, state, receiver_id } }) => {
      if (kind === 'muted' && state === 'raised' && receiver_id !== null) this.#evaluateLater(receiver_id)
    })
    forecasts.checked.subscribe(() => this.#forecastsChecked())
    for (const { changed } of [frequencyConflicts, unknownCarriers, audioFaults]) {
      changed.subscribe((receiverIds) => {
        for (const id of receiverIds) this.#evaluateLater(id)
      })
    }
  }

  open(): Promise<void> {
    this.#areSettingsChanged = true
    return this.#queue.run(() => this.#open.open())
  }

  load(): Promise<void> {
    return this.#queue.run(() => this.#open.load())
  }

  /** Returns the open alerts, including those that cannot be stored. */
  list(): readonly Alert[] {
    return [...this.#open.list(), ...this.unstored.list()]
  }

  /** True while a stored alert about this subject is open. */
  hasStored(subject: string): boolean {
    return this.#open.find(subject) !== undefined
  }

  evaluateReceiver(before: Receiver | undefined, after: Receiver): void {
    const { id } = after
    // The first report of a receiver is always evaluated, because this process has not evaluated the receiver's stored
    // state yet.
    if (this.#evaluated.has(id) && !canChangeCauses(before, after)) return
    if (this.#subsystems.conditions.isEvaluated(id)) this.#evaluated.add(id)
    this.#evaluateLater(id)
  }

  evaluateCharger(chargerId: number): void {
    this.#evaluateLater(chargerId)
  }

  /** Another process may receive the reports of this receiver now, so its next report here is evaluated. */
  releaseReceiver(receiverId: number): void {
    this.#evaluated.delete(receiverId)
  }

  evaluateSource(failures: SourceFailures): void {
    const { source, unsuccessful_cycles } = failures
    this.#checkFailing(source)
    if (unsuccessful_cycles > 0) this.#failures.set(source, failures)
    else this.#failures.delete(source)
    if (unsuccessful_cycles === 0 && this.#open.find(upstreamSubject(source)) === undefined) return
    this.#due.sources.add(source)
    this.#schedule()
  }

  recordingChanged(fault: string | null): void {
    this.#recordingFault = fault
    this.evaluateAll()
  }

  /** `fault` is undefined if another process writes the backups. */
  backupChanged(fault: string | null | undefined): void {
    if (fault === this.#backupFault) return
    this.#backupFault = fault
    if (fault !== undefined) this.evaluateAll()
  }

  /** Evaluates causes that depend on time, settings or the set of sources, and retries failed writes. */
  evaluateAll(): void {
    for (const source of this.#subsystems.receiverSources.all()) this.#checkFailing(source)
    for (const source of this.#failures.keys()) this.#due.sources.add(source)
    this.#due.everything = true
    this.#schedule()
  }

  settingsChanged(): void {
    this.#areSettingsChanged = true
    for (const id of this.#subsystems.conditions.ownReceivers()) this.#evaluateLater(id)
    this.titlesChanged()
  }

  /** Announces the alerts whose channel has another title. */
  titlesChanged(): void {
    this.#open.publishMarks()
  }

  /** Raises alerts for these causes unless they are already open. Returns the raised alerts. */
  raise(causes: readonly Cause[]): Promise<readonly Alert[]> {
    return this.#queue.run(async () => {
      const changes = causes.flatMap((cause): AlertChange[] => {
        const { isEnabled, severity } = this.context.settingsOf(cause)
        const isOpen = this.#open.find(cause.subject) !== undefined
        return isOpen || !isEnabled ? [] : [{ type: 'raise', cause: toAlertCause(cause, severity) }]
      })
      return changes.length === 0 ? [] : this.#open.write(changes)
    })
  }

  /** The alert of a muted channel; null while a setting disables it. */
  muteCause(receiver: Receiver, channel: Channel): AlertCause | null {
    const cause = this.#evaluation.muteCause(receiver, channel)
    const { isEnabled, severity } = this.context.settingsOf(cause)
    return isEnabled ? toAlertCause(cause, severity) : null
  }

  /** Stores the current alerts of a site, and publishes those that have changed. */
  async copy(copies: readonly AlertCopy[]): Promise<void> {
    await this.#queue.run(async () => {
      const changed = copies.filter((copy) => !isSameAlert(this.#open.find(copy.subject), copy))
      if (changed.length > 0) await this.#open.write(changed.map((copy) => ({ type: 'copy', copy })))
    })
  }

  listCopies(record: string): readonly Alert[] {
    return this.#open.list().filter(({ site }) => site !== null && recordOfSite(site.code) === record)
  }

  async edit(work: AlertEdit): Promise<Alert> {
    const alert = await this.#queue.run(() => this.#open.edit(work))
    if (alert.state === 'acknowledged') await this.#evaluation.endDied(alert)
    return alert
  }

  /** Resolves when the pending evaluations are stored or have failed. */
  flushed(): Promise<void> {
    return this.#queue.run(async () => {})
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  /** Evaluates the receivers that may belong to a show with a planned end. */
  #forecastsChecked(): void {
    const { lists, conditions } = this.#subsystems
    const hasEnd = lists.runningShows().some(({ ends_at }) => ends_at !== null)
    if (!hasEnd && !this.#open.list().some(({ kind }) => kind === 'will_not_last')) return
    for (const id of conditions.ownReceivers()) this.#evaluateLater(id)
  }

  #evaluateLater(receiverId: number): void {
    this.#due.receivers.add(receiverId)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    void this.#queue.run(() => this.#evaluateDue())
  }

  #checkFailing(source: string): void {
    const isFailing = this.#subsystems.sourceRecords.isFailing(source)
    if (isFailing === this.#failing.has(source)) return
    if (isFailing) this.#failing.add(source)
    else this.#failing.delete(source)
    for (const id of this.#subsystems.receiverSources.receiversOf(source)) this.#due.receivers.add(id)
    this.#schedule()
  }

  async #evaluateDue(): Promise<void> {
    this.#isScheduled = false
    const due = this.#due
    this.#due = nothingDue()
    const changes: AlertChange[] = []
    for (const id of due.receivers) {
      changes.push(...this.#evaluateReceiver(id))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const source of due.sources) changes.push(...this.#evaluateSource(source))
    const ofRecording = due.everything ? this.#evaluateRecording() : []
    changes.push(...ofRecording)
    if (due.everything) {
      changes.push(
        ...(this.#backupFault === undefined ? [] : this.#evaluation.evaluateFault('backup_failed', this.#backupFault)),
        ...this.#evaluation.evaluateSubscriptions(),
        ...this.#clearOrphans(),
        ...this.#evaluation.endSnoozes(),
      )
      this.#open.publishMarks()
    }
    this.#setTimer()
    if (changes.length === 0) return
    try {
      await this.#open.write(changes)
      if (this.#open.find(faultSubjects.recording_stopped) !== undefined)
        this.unstored.recording.clear(({ message }) => message)
    } catch (error) {
      // `evaluateAll` retries.
      for (const id of due.receivers) this.#due.receivers.add(id)
      for (const source of due.sources) this.#due.sources.add(source)
      this.#areSettingsChanged = true
      for (const change of ofRecording) if (change.type === 'raise') this.unstored.recording.raise(change.cause)
      this.#subsystems.log.warn({ alerts: changes.length, error: String(error) }, 'alerts could not be stored')
    }
  }

  #evaluateReceiver(id: number): readonly AlertChange[] {
    const { changes, dueAt } = this.#evaluation.evaluateReceiver(id)
    if (dueAt === Number.POSITIVE_INFINITY) this.#dueAt.delete(id)
    else this.#dueAt.set(id, dueAt)
    return changes
  }

  #evaluateSource(source: string): readonly AlertChange[] {
    if (this.#subsystems.sourceRegistry.find(source) !== undefined)
      return this.#evaluation.evaluateSource(source, this.#failures.get(source))
    this.#failures.delete(source)
    return []
  }

  #evaluateRecording(): readonly AlertChange[] {
    const fault = this.#recordingFault
    if (fault === undefined) return []
    if (fault === null) this.unstored.recording.clear((unstored) => describeEnding(unstored, 'resolved'))
    return this.#evaluation.evaluateFault('recording_stopped', fault)
  }

  #clearOrphans(): readonly AlertChange[] {
    const areSettingsChanged = this.#areSettingsChanged
    this.#areSettingsChanged = false
    return this.#evaluation.clearOrphans(areSettingsChanged)
  }

  #publishUnstored(alert: Alert, hasOnlyOtherValues: boolean): void {
    const body = toAlertBody(alert, { now: now(), ...this.context.marksOf(alert) })
    this.changed.publish({ alert, body, hasOnlyOtherValues, isStored: false })
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.#dueAt.size === 0 || this.#isClosed) return
    let next = Number.POSITIVE_INFINITY
    for (const dueAt of this.#dueAt.values()) next = Math.min(next, dueAt)
    const waitMs = Math.min(maxTimerMs, Math.max(1, next - now()))
    this.#timer = setTimeout(() => {
      const time = now()
      for (const [id, dueAt] of this.#dueAt) if (dueAt <= time) this.#due.receivers.add(id)
      this.#schedule()
      if (this.#due.receivers.size === 0) this.#setTimer()
    }, waitMs)
  }
}

function isSameAlert(known: Alert | undefined, copy: AlertCopy): boolean {
  if (known === undefined) return copy.cleared_at !== null
  const { id: _, state: __, ...stored } = known
  return isDeepStrictEqual(stored, copy)
}

function nothingDue(): Due {
  return { receivers: new Set(), sources: new Set(), everything: false }
}
