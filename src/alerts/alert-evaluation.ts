import type { Alert, AlertChange } from '../domain/alerts/alert.ts'
import { listReceiverCauses, receiverAlertEnding } from '../domain/alerts/channel-alerts.ts'
import { listChargerCauses } from '../domain/alerts/charger.ts'
import { type CauseStarts, type Comparison, compareCauses, noStarts } from '../domain/alerts/compare-causes.ts'
import { type AlertEnding, describeEnding } from '../domain/alerts/describe-alert.ts'
import { type ConflictContext, conflictAlertEnding, listConflictCauses } from '../domain/alerts/frequency-conflict.ts'
import { recordingSubject, toRecordingCause } from '../domain/alerts/recording.ts'
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
import type { Thresholds } from '../domain/conditions/condition.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { recordOfSite } from '../domain/equipment/sites.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { AlertContext } from './alert-context.ts'
import type { OpenAlerts } from './open-alerts.ts'

export interface AlertEvaluationDeps {
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'facts'>
  readonly unitStore: Pick<UnitStore, 'reportedBy'>
  readonly open: Pick<OpenAlerts, 'find' | 'list' | 'ofReceiver'>
  readonly context: Pick<AlertContext, 'settingsOf' | 'isSnoozeOver'>
  thresholds(receiver: Receiver, channel: Channel): Thresholds
  /** Whether the conditions of the receiver follow from what this process has received, or has waited for in vain. */
  isEvaluated(receiverId: number): boolean
  isMonitored(manufacturer: string): boolean
  isSource(source: string): boolean
  areSourcesFailing(receiver: Receiver): boolean
  subscriptions(): readonly SubscriptionStatus[]
  groups(): ForecastContext['groups']
  runningShows(): readonly PlannedShow[]
  /** Null if unknown. */
  forecast: ForecastContext['forecast']
  batterySince: ForecastContext['batterySince']
  readonly frequencyConflicts: Omit<ConflictContext, 'isInhibited'>
  onAcknowledged(alert: Alert): void
  /** Epoch milliseconds. */
  now(): number
}

interface Evaluated {
  readonly changes: readonly AlertChange[]
  /** The end of the next delay (epoch ms); Infinity if none is running. */
  readonly dueAt: number
}

export class AlertEvaluation {
  readonly #deps: AlertEvaluationDeps
  readonly #starts = new Map<number | string, CauseStarts>()
  /** When open alerts last followed the values of their causes (epoch ms), by alert id. */
  readonly #followedAt = new Map<number, number>()

  constructor(deps: AlertEvaluationDeps) {
    this.#deps = deps
  }

  evaluateReceiver(id: number): Evaluated {
    const { receiverStore, unitStore, isEvaluated, isMonitored, areSourcesFailing, thresholds } = this.#deps
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !isEvaluated(id) || !isMonitored(receiver.manufacturer)) {
      this.#starts.delete(id)
      return { changes: [], dueAt: Number.POSITIVE_INFINITY }
    }
    const open = this.#deps.open.ofReceiver(id)
    for (const alert of open) if (alert.state === 'acknowledged') this.#deps.onAcknowledged(alert)
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
    return this.#compare(id, { causes, open, endingOf })
  }

  /** `failures` are undefined after a success. */
  evaluateSource(source: string, failures: SourceFailures | undefined): readonly AlertChange[] {
    const alert = this.#deps.open.find(upstreamSubject(source))
    return this.#compare(source, {
      causes: failures === undefined ? [] : listSourceCauses(failures),
      open: alert === undefined ? [] : [alert],
      endingOf: () => (failures === undefined ? 'resolved' : null),
    }).changes
  }

  /** `fault` is null if levels can be recorded. */
  evaluateRecording(fault: string | null): readonly AlertChange[] {
    const alert = this.#deps.open.find(recordingSubject)
    return this.#compare(recordingSubject, {
      causes: fault === null ? [] : [toRecordingCause(fault)],
      open: alert === undefined ? [] : [alert],
      endingOf: () => (fault === null ? 'resolved' : null),
    }).changes
  }

  evaluateSubscriptions(): AlertChange[] {
    return this.#deps
      .subscriptions()
      .filter(({ source }) => this.#deps.isSource(source))
      .flatMap((subscription) => {
        const subject = subscriptionSubject(subscription.source)
        const alert = this.#deps.open.find(subject)
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

  endSnoozes(): AlertChange[] {
    return this.#deps.open
      .list()
      .filter((alert) => alert.site === null && alert.state === 'snoozed' && this.#deps.context.isSnoozeOver(alert))
      .map((alert) => ({ type: 'end_snooze', alert }))
  }

  /** Clears the alerts whose subject is no longer monitored and, after a change of settings, those of disabled kinds. */
  clearOrphans(areSettingsChanged: boolean): AlertChange[] {
    return this.#deps.open.list().flatMap((alert): AlertChange[] => {
      const isDisabled = alert.site === null && areSettingsChanged && !this.#deps.context.settingsOf(alert).isEnabled
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

  #forecastContext(isInhibited: boolean): ForecastContext {
    const { runningShows, groups, forecast, batterySince, now } = this.#deps
    return { runningShows: runningShows(), groups: groups(), forecast, batterySince, isInhibited, now: now() }
  }

  #compare(scope: number | string, comparison: Pick<Comparison, 'causes' | 'open' | 'endingOf'>): Evaluated {
    const compared = compareCauses({
      starts: this.#starts.get(scope) ?? noStarts,
      now: this.#deps.now(),
      followedAt: ({ id }) => this.#followedAt.get(id),
      settings: (subject) => this.#deps.context.settingsOf(subject),
      ...comparison,
    })
    if (compared.starts.size === 0) this.#starts.delete(scope)
    else this.#starts.set(scope, compared.starts)
    for (const change of compared.changes) {
      if (change.type === 'update') this.#followedAt.set(change.alert.id, this.#deps.now())
      if (change.type === 'clear') this.#followedAt.delete(change.alert.id)
    }
    return compared
  }
}
