/**
 * Raises, changes and clears alerts, each once, even if several processes detect the cause. What has changed is collected
 * and then compared with the open alerts by the rules in `domain/alerts/`. Alerts about a receiver follow the conditions of
 * its channels, and only the process that evaluates those conditions evaluates the alerts.
 */

import { isDeepStrictEqual } from 'node:util'
import type { AlertKind } from '../contract/alert-kinds.ts'
import { type Alert, type AlertChange, type AlertCopy, toAlertMessage } from '../domain/alerts/alert.ts'
import type { AlertScope, AlertSettings } from '../domain/alerts/alert-settings.ts'
import { canChangeCauses, listReceiverCauses, receiverAlertEnding } from '../domain/alerts/channel-alerts.ts'
import { listChargerCauses } from '../domain/alerts/charger.ts'
import {
  type Cause,
  type CauseStarts,
  type Comparison,
  compareCauses,
  noStarts,
  toAlertCause,
} from '../domain/alerts/compare-causes.ts'
import { type AlertEnding, describeEnding } from '../domain/alerts/describe-alert.ts'
import { type ConflictContext, conflictAlertEnding, listConflictCauses } from '../domain/alerts/frequency-conflict.ts'
import { recordingSubject, toRecordingCause } from '../domain/alerts/recording.ts'
import { channelsOfAlert, isSilenced, type Silence } from '../domain/alerts/silences.ts'
import { hasRunningShow, isSnoozeOver, lastStartOf } from '../domain/alerts/snooze.ts'
import {
  listSourceCauses,
  listSubscriptionCauses,
  type SourceFailures,
  type SubscriptionStatus,
  subscriptionSubject,
  upstreamSubject,
} from '../domain/alerts/source.ts'
import {
  type ForecastContext,
  forecastAlertEnding,
  listForecastCauses,
  type PlannedShow,
} from '../domain/alerts/will-not-last.ts'
import type { Thresholds } from '../domain/conditions/thresholds.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { recordOfSite } from '../domain/equipment/sites.ts'
import type { AlertSurroundings } from '../domain/notifications/surroundings.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { UnitStore } from '../state/unit-store.ts'
import type { Log } from './log.ts'
import { type AlertEdit, OpenAlerts, type OpenAlertsDeps } from './open-alerts.ts'
import type { ReportingSources } from './reporting-sources.ts'
import { UnstoredAlerts } from './unstored-alerts.ts'

export interface AlertDeps extends Omit<OpenAlertsDeps, 'isSilenced'> {
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'facts'>
  readonly unitStore: Pick<UnitStore, 'reportedBy'>
  readonly log: Log
  alertSettings(kind: AlertKind, scope: AlertScope): AlertSettings
  thresholds(receiver: Receiver, channel: Channel): Thresholds
  /** Lists the receivers whose conditions this process evaluates. */
  ownReceivers(): Iterable<number>
  isOwn(receiverId: number): boolean
  /** Ends the condition `battery_died` of a channel, and resolves when that is stored. */
  acknowledgeDied(channelId: number): Promise<void>
  isMonitored(manufacturer: string): boolean
  isSource(source: string): boolean
  /** Whether the last cycle of the source failed. */
  isFailing(source: string): boolean
  /** Whether the last cycles of all sources of the receiver failed. */
  areSourcesFailing(receiver: Receiver): boolean
  readonly reportingSources: Pick<ReportingSources, 'receiversOf' | 'all'>
  subscriptions(): readonly SubscriptionStatus[]
  groups(): readonly { readonly id: number; readonly slots: readonly number[] }[]
  /** Returns the silences in effect. */
  silences(): readonly Silence[]
  runningShows(): readonly (PlannedShow & { readonly started_at: number | null })[]
  /** Returns how long the battery of the channel's transmitter will last, as of now; null if that is unknown. */
  forecast: ForecastContext['forecast']
  batterySince: ForecastContext['batterySince']
  readonly frequencyConflicts: Omit<ConflictContext, 'isInhibited'>
  /**
   * Called with every change of an alert that cannot be stored. `isStored`: it ends because the same alert was stored
   * now.
   */
  onUnstored(alert: Alert, isStored: boolean): void
}

/** What is due for evaluation. */
interface Due {
  readonly receivers: Set<number>
  readonly sources: Set<string>
  /** Whether recording, subscriptions, snoozes and orphaned alerts are evaluated too. */
  everything: boolean
}

/** A longer time cannot be set. */
const maxTimerMs = 2_000_000_000

export class Alerts {
  readonly unstored: UnstoredAlerts
  /** Why levels cannot be recorded, or null if they can; undefined until either is known. */
  #recordingFault: string | null | undefined
  readonly #deps: AlertDeps
  readonly #open: OpenAlerts
  /** The receivers in `ownReceivers` whose alerts were evaluated since they were added. */
  readonly #evaluated = new Set<number>()
  /** When the causes of each receiver, source and subscription began. */
  readonly #starts = new Map<number | string, CauseStarts>()
  /** When a delay of a receiver's cause ends (epoch ms). */
  readonly #dueAt = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  /** The sources without success in their last cycle. */
  readonly #failures = new Map<string, SourceFailures>()
  /** The sources that failed when they were last checked. */
  readonly #failing = new Set<string>()
  #due: Due = nothingDue()
  #isScheduled = false
  #areSettingsChanged = true
  #isClosed = false
  /** Serializes evaluations, reads and writes. */
  readonly #queue = new Semaphore(1)

  constructor(deps: AlertDeps) {
    this.#deps = deps
    this.#open = new OpenAlerts({ ...deps, isSilenced: (alert) => this.isSilenced(alert) })
    this.unstored = new UnstoredAlerts({
      settings: () => deps.alertSettings('storage_failing', { manufacturer: null, slots: [] }),
      isSnoozeOver: (alert) => isSnoozeOver(alert, deps.now(), this.#showContext(alert)),
      publish: (alert) => this.#publishUnstored(alert),
      log: deps.log,
      now: deps.now,
    })
  }

  /** Loads the open alerts without publishing them. */
  open(): Promise<void> {
    this.#areSettingsChanged = true
    return this.#queue.run(() => this.#open.open())
  }

  /** Loads and publishes the alerts that other processes changed. */
  load(): Promise<void> {
    return this.#queue.run(() => this.#open.load())
  }

  /** Returns the open alerts, including those that cannot be stored. */
  list(): readonly Alert[] {
    return [...this.#open.list(), ...this.unstored.list()]
  }

  /** Whether the alert is open and a silence applies to it. */
  isSilenced(alert: Alert): boolean {
    const silences = alert.state === 'cleared' ? [] : this.#deps.silences()
    return silences.length > 0 && isSilenced(alert, this.#channelsOf(alert), { silences, groups: this.#deps.groups() })
  }

  /** Returns what notifications have to know of an alert, also if it is cleared. */
  surroundingsOf(alert: Alert): AlertSurroundings {
    const { receiverStore, silences, areSourcesFailing } = this.#deps
    const context = this.#showContext(alert)
    const { groups, channels } = context
    const receiver = alert.receiver_id === null ? undefined : receiverStore.get(alert.receiver_id)
    const isOffline = receiver?.is_active === false && alert.channel_id !== null
    const slots = new Set(channels.map(({ slot }) => slot))
    return {
      isSilenced: isSilenced(alert, channels, { silences: silences(), groups }),
      isInhibited: receiver !== undefined && (isOffline || areSourcesFailing(receiver)),
      groupIds: groups.flatMap((group) => (group.slots.some((slot) => slots.has(slot)) ? group.id : [])),
      showStartedAt: lastStartOf(alert, context),
    }
  }

  /** Whether a running show has a channel that the alert concerns. */
  hasRunningShow(alert: Alert): boolean {
    return hasRunningShow(alert, this.#showContext(alert))
  }

  /**
   * Evaluates a receiver after this process received a report of it, or after its conditions changed. `before` and
   * `after` are its states before and after.
   */
  evaluateReceiver(before: Receiver | undefined, after: Receiver): void {
    const { id } = after
    // The first report of a receiver is always evaluated, because this process has not evaluated the receiver's stored
    // state yet.
    if (this.#evaluated.has(id) && !canChangeCauses(before, after)) return
    this.#evaluated.add(id)
    this.#evaluateLater(id)
  }

  /** Evaluates a charger after its battery packs were stored. */
  evaluateCharger(chargerId: number): void {
    this.#evaluateLater(chargerId)
  }

  /** Another process may receive the reports of this receiver now; its next report here is evaluated in any case. */
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

  /** Forecasts have changed, or time has passed: evaluates the receivers that may belong to a show with a planned end. */
  forecastsChanged(): void {
    const hasEnd = this.#deps.runningShows().some(({ ends_at }) => ends_at !== null)
    if (!hasEnd && !this.#open.list().some(({ kind }) => kind === 'will_not_last')) return
    for (const id of this.#deps.ownReceivers()) this.#evaluateLater(id)
  }

  /** The frequency conflicts of channels of these receivers have begun or ended. */
  conflictsChanged(receiverIds: Iterable<number>): void {
    for (const id of receiverIds) this.#evaluateLater(id)
  }

  /** Levels cannot be recorded for this reason, or they can (null). */
  recordingChanged(fault: string | null): void {
    this.#recordingFault = fault
    this.evaluateAll()
  }

  /** Evaluates causes that depend on time, settings or the set of sources, and retries failed writes. */
  evaluateAll(): void {
    for (const source of this.#deps.reportingSources.all()) this.#checkFailing(source)
    for (const source of this.#failures.keys()) this.#due.sources.add(source)
    this.#due.everything = true
    this.#schedule()
  }

  /** Settings, groups, silences or shows have changed. */
  settingsChanged(): void {
    this.#areSettingsChanged = true
    for (const id of this.#deps.ownReceivers()) this.#evaluateLater(id)
  }

  /** Raises alerts for these causes unless they are already open. Returns the raised alerts. */
  raise(causes: readonly Cause[]): Promise<readonly Alert[]> {
    return this.#queue.run(async () => {
      const changes = causes.flatMap((cause): AlertChange[] => {
        const { isEnabled, severity } = this.#settingsOf(cause)
        const isOpen = this.#open.find(cause.subject) !== undefined
        return isOpen || !isEnabled ? [] : [{ type: 'raise', cause: toAlertCause(cause, severity) }]
      })
      return changes.length === 0 ? [] : this.#open.write(changes)
    })
  }

  /** Stores the alerts of a site as it has them now, and publishes those that have changed. */
  async copy(copies: readonly AlertCopy[]): Promise<void> {
    await this.#queue.run(async () => {
      const changed = copies.filter((copy) => !isSameAlert(this.#open.find(copy.subject), copy))
      if (changed.length > 0) await this.#open.write(changed.map((copy) => ({ type: 'copy', copy })))
    })
  }

  /** Lists the open alerts that were copied from the site of this record, and those that the site follows. */
  listCopies(record: string): readonly Alert[] {
    return this.#open.list().filter(({ site }) => site !== null && recordOfSite(site.code) === record)
  }

  /** Runs a user's change of an alert in a transaction, publishes the alert if it has changed, and returns it. */
  async edit(work: AlertEdit): Promise<Alert> {
    const alert = await this.#queue.run(() => this.#open.edit(work))
    if (alert.state === 'acknowledged') await this.#endDied(alert)
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

  #evaluateLater(receiverId: number): void {
    this.#due.receivers.add(receiverId)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    void this.#queue.run(() => this.#evaluateDue())
  }

  /** Evaluates the receivers of a source when it begins to fail, and when it recovers. */
  #checkFailing(source: string): void {
    const isFailing = this.#deps.isFailing(source)
    if (isFailing === this.#failing.has(source)) return
    if (isFailing) this.#failing.add(source)
    else this.#failing.delete(source)
    for (const id of this.#deps.reportingSources.receiversOf(source)) this.#due.receivers.add(id)
    this.#schedule()
  }

  /** Evaluates everything that is due. Receivers are evaluated in their current state. */
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
    if (due.everything) changes.push(...this.#evaluateSubscriptions(), ...this.#clearOrphans(), ...this.#endSnoozes())
    if (due.everything) this.#open.publishSilenced()
    this.#setTimer()
    if (changes.length === 0) return
    try {
      await this.#open.write(changes)
      if (this.#open.find(recordingSubject) !== undefined) this.unstored.recording.clear(({ message }) => message)
    } catch (error) {
      // The next call of `evaluateAll` evaluates everything whose changes could not be stored.
      for (const id of due.receivers) this.#due.receivers.add(id)
      for (const source of due.sources) this.#due.sources.add(source)
      this.#areSettingsChanged = true
      for (const change of ofRecording) if (change.type === 'raise') this.unstored.recording.raise(change.cause)
      this.#deps.log.warn({ alerts: changes.length, error: String(error) }, 'alerts could not be stored')
    }
  }

  #evaluateReceiver(id: number): readonly AlertChange[] {
    const { receiverStore, unitStore, isOwn, isMonitored, areSourcesFailing, thresholds } = this.#deps
    const receiver = receiverStore.get(id)
    this.#dueAt.delete(id)
    if (receiver === undefined || !isOwn(id) || !isMonitored(receiver.manufacturer)) {
      this.#starts.delete(id)
      return []
    }
    const open = this.#open.ofReceiver(id)
    for (const alert of open) if (alert.state === 'acknowledged') void this.#endDied(alert)
    const context = {
      areSourcesFailing: areSourcesFailing(receiver),
      thresholds: (channel: Channel) => thresholds(receiver, channel),
    }
    const isInhibited = context.areSourcesFailing || !receiver.is_active
    const packs = unitStore.reportedBy(id)
    const forecastContext = this.#forecastContext(isInhibited)
    const { conflictOf, isSettling } = this.#deps.frequencyConflicts
    const conflictContext: ConflictContext = { conflictOf, isSettling, isInhibited }
    const causes = [
      ...listReceiverCauses(receiver, context),
      ...listChargerCauses(receiver, packs, isInhibited),
      ...listForecastCauses(receiver, open, forecastContext),
      ...listConflictCauses(receiver, conflictContext),
    ]
    const endingOf = (alert: Alert) => {
      if (alert.kind === 'charger_fault') return isInhibited ? null : 'resolved'
      if (alert.kind === 'will_not_last') return forecastAlertEnding(receiver, alert, forecastContext)
      if (alert.kind === 'frequency_conflict') return conflictAlertEnding(receiver, alert, conflictContext)
      return receiverAlertEnding(receiver, alert)
    }
    const { changes, dueAt } = this.#compare(id, { causes, open, endingOf })
    if (dueAt !== Number.POSITIVE_INFINITY) this.#dueAt.set(id, dueAt)
    return changes
  }

  #forecastContext(isInhibited: boolean): ForecastContext {
    const { runningShows, groups, forecast, batterySince, now } = this.#deps
    return { runningShows: runningShows(), groups: groups(), forecast, batterySince, isInhibited, now: now() }
  }

  /** Ends the condition `battery_died` if an alert about it was acknowledged, in whichever process. */
  async #endDied({ kind, channel_id }: Alert): Promise<void> {
    if (kind !== 'battery_died' || channel_id === null) return
    await this.#deps.acknowledgeDied(channel_id).catch((error) => {
      this.#deps.log.warn({ channel: channel_id, error: String(error) }, 'the end of battery_died could not be stored')
    })
  }

  #evaluateSource(source: string): readonly AlertChange[] {
    const failures = this.#failures.get(source)
    if (!this.#deps.isSource(source)) {
      this.#failures.delete(source)
      return []
    }
    const alert = this.#open.find(upstreamSubject(source))
    return this.#compare(source, {
      causes: failures === undefined ? [] : listSourceCauses(failures),
      open: alert === undefined ? [] : [alert],
      endingOf: () => (failures === undefined ? 'resolved' : null),
    }).changes
  }

  #evaluateRecording(): readonly AlertChange[] {
    const fault = this.#recordingFault
    if (fault === undefined) return []
    const alert = this.#open.find(recordingSubject)
    if (fault === null) this.unstored.recording.clear((unstored) => describeEnding(unstored, 'resolved'))
    return this.#compare(recordingSubject, {
      causes: fault === null ? [] : [toRecordingCause(fault)],
      open: alert === undefined ? [] : [alert],
      endingOf: () => (fault === null ? 'resolved' : null),
    }).changes
  }

  #evaluateSubscriptions(): AlertChange[] {
    return this.#deps
      .subscriptions()
      .filter(({ source }) => this.#deps.isSource(source))
      .flatMap((subscription) => {
        const subject = subscriptionSubject(subscription.source)
        const alert = this.#open.find(subject)
        if (alert === undefined && subscription.downSince === null) return []
        const { isEnabled, downSince } = subscription
        const isUp = !isEnabled || downSince === null
        return this.#compare(subject, {
          causes: listSubscriptionCauses(subscription, performance.now()),
          open: alert === undefined ? [] : [alert],
          endingOf: () => (isUp ? (isEnabled ? 'resolved' : 'stopped') : null),
        }).changes
      })
  }

  #publishUnstored(alert: Alert): void {
    const { feed, onChanged, onUnstored } = this.#deps
    feed.publish(toAlertMessage(alert), alert.site?.code ?? null)
    onChanged?.(alert)
    onUnstored(alert, this.#open.find(alert.subject) !== undefined)
  }

  #compare(scope: number | string, comparison: Pick<Comparison, 'causes' | 'open' | 'endingOf'>) {
    const compared = compareCauses({
      ...comparison,
      starts: this.#starts.get(scope) ?? noStarts,
      now: this.#deps.now(),
      settings: (subject) => this.#settingsOf(subject),
    })
    if (compared.starts.size === 0) this.#starts.delete(scope)
    else this.#starts.set(scope, compared.starts)
    return compared
  }

  #settingsOf(subject: AlertSubject): AlertSettings {
    const slots = this.#channelsOf(subject).map(({ slot }) => slot)
    return this.#deps.alertSettings(subject.kind, { manufacturer: subject.manufacturer, slots })
  }

  #channelsOf(subject: Omit<AlertSubject, 'kind' | 'manufacturer'>) {
    const { receiver_id } = subject
    return channelsOfAlert(subject, receiver_id === null ? undefined : this.#deps.receiverStore.facts(receiver_id))
  }

  #showContext(alert: Alert) {
    const { runningShows, groups } = this.#deps
    return { runningShows: runningShows(), groups: groups(), channels: this.#channelsOf(alert) }
  }

  #endSnoozes(): AlertChange[] {
    const now = this.#deps.now()
    return this.#open
      .list()
      .filter(
        (alert) =>
          alert.site === null && alert.state === 'snoozed' && isSnoozeOver(alert, now, this.#showContext(alert)),
      )
      .map((alert) => ({ type: 'end_snooze', alert }))
  }

  /**
   * Returns changes that clear the alerts whose subject is no longer monitored and, after a change of settings, those of
   * disabled kinds.
   */
  #clearOrphans(): AlertChange[] {
    const areSettingsChanged = this.#areSettingsChanged
    this.#areSettingsChanged = false
    return this.#open.list().flatMap((alert): AlertChange[] => {
      const isDisabled = alert.site === null && areSettingsChanged && !this.#settingsOf(alert).isEnabled
      const ending: AlertEnding | null = this.#isOrphan(alert) ? 'unmonitored' : isDisabled ? 'disabled' : null
      return ending === null ? [] : [{ type: 'clear', alert, message: describeEnding(alert, ending) }]
    })
  }

  #isOrphan({ manufacturer, receiver_id, subject, kind, site }: Alert): boolean {
    const { receiverStore, isMonitored, isSource } = this.#deps
    if (site !== null) return !isMonitored(recordOfSite(site.code))
    if (manufacturer === null) return false
    if (!isMonitored(manufacturer)) return true
    if (receiver_id !== null) return receiverStore.facts(receiver_id) === undefined
    const source = subject.slice(subject.indexOf(':') + 1)
    const subjectOf = kind === 'link_lost' ? subscriptionSubject : upstreamSubject
    return subject === subjectOf(source) && !isSource(source)
  }

  /** Sets the timer for the next delay of a receiver's cause that ends. */
  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.#dueAt.size === 0 || this.#isClosed) return
    let next = Number.POSITIVE_INFINITY
    for (const dueAt of this.#dueAt.values()) next = Math.min(next, dueAt)
    const waitMs = Math.min(maxTimerMs, Math.max(1, next - this.#deps.now()))
    this.#timer = setTimeout(() => {
      const now = this.#deps.now()
      for (const [id, dueAt] of this.#dueAt) if (dueAt <= now) this.#due.receivers.add(id)
      this.#schedule()
      if (this.#due.receivers.size === 0) this.#setTimer()
    }, waitMs)
  }
}

type AlertSubject = Pick<Alert, 'kind' | 'manufacturer' | 'receiver_id' | 'channel_id' | 'data'>

/** Whether a stored copy is what the site has now. */
function isSameAlert(known: Alert | undefined, copy: AlertCopy): boolean {
  if (known === undefined) return copy.cleared_at !== null
  const { id: _, state: __, ...stored } = known
  return isDeepStrictEqual(stored, copy)
}

function nothingDue(): Due {
  return { receivers: new Set(), sources: new Set(), everything: false }
}
