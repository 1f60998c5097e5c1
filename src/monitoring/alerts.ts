/**
 * Raises and clears alerts, each once, even if several processes detect the cause. What has changed is collected and then
 * compared with the open alerts by the rules in `domain/alerts/alert.ts`.
 */

import {
  type Alert,
  type AlertCause,
  type AlertChange,
  canChangeAlerts,
  evaluateCharger,
  evaluateReceiver,
  evaluateSource,
  evaluateSubscription,
  type SourceFailures,
  type SubscriptionStatus,
  subscriptionSubject,
  upstreamSubject,
} from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { UnitStore } from '../state/unit-store.ts'
import type { Log } from './log.ts'
import { OpenAlerts, type OpenAlertsDeps } from './open-alerts.ts'

export interface AlertDeps extends OpenAlertsDeps {
  readonly receiverStore: Pick<ReceiverStore, 'get'>
  readonly unitStore: Pick<UnitStore, 'reportedBy'>
  readonly log: Log
  /** Returns the battery threshold in force for a manufacturer. */
  threshold(manufacturer: string): number
  isMonitored(manufacturer: string): boolean
  isSource(source: string): boolean
  subscriptions(): readonly SubscriptionStatus[]
  /** Whether another process's subscription delivers this receiver's levels. */
  isSubscribedElsewhere(receiverId: number): boolean
}

/** What is due for evaluation. */
interface Due {
  readonly receivers: Set<number>
  readonly chargers: Set<number>
  readonly sources: Map<string, SourceFailures>
  /** Whether subscriptions and orphaned alerts are evaluated too. */
  everything: boolean
}

export class Alerts {
  readonly #deps: AlertDeps
  readonly #open: OpenAlerts
  /** Receivers whose reports this process receives. */
  readonly #ownReceivers = new Set<number>()
  /** The battery threshold used in the last evaluation, by manufacturer. */
  readonly #evaluatedThresholds = new Map<string, number>()
  #due: Due = nothingDue()
  #isScheduled = false
  /** Serializes evaluations, reads and writes. */
  readonly #queue = new Semaphore(1)

  constructor(deps: AlertDeps) {
    this.#deps = deps
    this.#open = new OpenAlerts(deps)
  }

  /** Loads the open alerts without publishing them. */
  open(): Promise<void> {
    return this.#queue.run(() => this.#open.open())
  }

  /** Loads and publishes the alerts that other processes raised or cleared. */
  load(): Promise<void> {
    return this.#queue.run(() => this.#open.load())
  }

  /** Returns the open alerts. */
  list(): readonly Alert[] {
    return this.#open.list()
  }

  /**
   * Evaluates a receiver after this process received a report of it. `before` and `after` are its states before and
   * after the report.
   */
  evaluateReceiver(before: Receiver | undefined, after: Receiver): void {
    const { id, manufacturer } = after
    // The first report of a receiver is always evaluated, because this process has not evaluated the receiver's stored
    // state yet.
    const isNew = !this.#ownReceivers.has(id)
    if (!isNew && !canChangeAlerts(before, after)) return
    this.#ownReceivers.add(id)
    if (!this.#evaluatedThresholds.has(manufacturer)) {
      this.#evaluatedThresholds.set(manufacturer, this.#deps.threshold(manufacturer))
    }
    this.#due.receivers.add(id)
    if (isNew && this.#deps.unitStore.reportedBy(id).length > 0) this.#due.chargers.add(id)
    this.#schedule()
  }

  /** Evaluates a charger after its battery packs were stored. */
  evaluateCharger(chargerId: number): void {
    this.#due.chargers.add(chargerId)
    this.#schedule()
  }

  /** Stops evaluating this receiver, because another process receives its reports. */
  releaseReceiver(receiverId: number): void {
    this.#ownReceivers.delete(receiverId)
  }

  evaluateSource(failures: SourceFailures): void {
    const { source, unsuccessful_cycles } = failures
    const isHealthy = unsuccessful_cycles === 0 && this.#open.find(upstreamSubject(source)) === undefined
    if (isHealthy && this.#due.sources.size === 0) return
    this.#due.sources.set(source, failures)
    this.#schedule()
  }

  /** Evaluates conditions that depend on time, settings or the set of sources, and retries failed writes. */
  evaluateAll(): void {
    this.#evaluateChangedThresholds()
    this.#due.everything = true
    this.#schedule()
  }

  /** Raises alerts for these causes unless they are already open. Returns the raised alerts. */
  raise(causes: readonly AlertCause[]): Promise<readonly Alert[]> {
    return this.#queue.run(async () => {
      const missing = causes.filter(({ subject }) => this.#open.find(subject) === undefined)
      return missing.length === 0 ? [] : this.#open.write(missing.map((cause) => ({ type: 'raise', cause })))
    })
  }

  /** Resolves when the pending evaluations are stored or have failed. */
  flushed(): Promise<void> {
    return this.#queue.run(async () => {})
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    void this.#queue.run(() => this.#evaluateDue())
  }

  /** Evaluates everything that is due. Receivers and chargers are evaluated in their current state. */
  async #evaluateDue(): Promise<void> {
    this.#isScheduled = false
    const due = this.#due
    this.#due = nothingDue()
    const changes: AlertChange[] = []
    for (const id of due.receivers) {
      changes.push(...this.#evaluateReceiver(id))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const id of due.chargers) changes.push(...this.#evaluateCharger(id))
    for (const failures of due.sources.values()) changes.push(...this.#evaluateSource(failures))
    if (due.everything) changes.push(...this.#evaluateSubscriptions(), ...this.#clearOrphans())
    if (changes.length === 0) return
    try {
      await this.#open.write(changes)
    } catch (error) {
      this.#retry(due)
      this.#deps.log.warn({ alerts: changes.length, error: String(error) }, 'alerts could not be stored')
    }
  }

  /** Makes everything whose changes could not be stored due again. The next call of `evaluateAll` evaluates it. */
  #retry({ receivers, chargers, sources }: Due): void {
    for (const id of receivers) this.#due.receivers.add(id)
    for (const id of chargers) this.#due.chargers.add(id)
    for (const [source, failures] of sources) {
      if (!this.#due.sources.has(source)) this.#due.sources.set(source, failures)
    }
  }

  #evaluateReceiver(id: number): AlertChange[] {
    const { receiverStore, isMonitored, isSubscribedElsewhere, threshold } = this.#deps
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !isMonitored(receiver.manufacturer)) return []
    return evaluateReceiver(receiver, isSubscribedElsewhere(id) ? null : threshold(receiver.manufacturer), this.#find)
  }

  #evaluateCharger(chargerId: number): AlertChange[] {
    const { receiverStore, unitStore, isMonitored } = this.#deps
    const charger = receiverStore.get(chargerId)
    if (charger === undefined || !isMonitored(charger.manufacturer)) return []
    const isFault = ({ kind, receiver_id }: Alert) => kind === 'charger_fault' && receiver_id === chargerId
    return evaluateCharger(charger, unitStore.reportedBy(chargerId), this.#open.list().filter(isFault))
  }

  #evaluateSource(failures: SourceFailures): AlertChange[] {
    return this.#deps.isSource(failures.source) ? evaluateSource(failures, this.#find) : []
  }

  #evaluateSubscriptions(): AlertChange[] {
    return this.#deps
      .subscriptions()
      .filter(({ source }) => this.#deps.isSource(source))
      .flatMap((subscription) => evaluateSubscription(subscription, this.#find, performance.now()))
  }

  /** Returns changes that clear the alerts whose subject is no longer monitored. */
  #clearOrphans(): AlertChange[] {
    const orphans = this.#open.list().filter((alert) => this.#isOrphan(alert))
    return orphans.map((alert) => ({ type: 'clear', alert, message: `No longer monitored: ${alert.message}` }))
  }

  #isOrphan({ manufacturer, receiver_id, subject, kind }: Alert): boolean {
    const { receiverStore, isMonitored, isSource } = this.#deps
    if (!isMonitored(manufacturer)) return true
    if (receiver_id !== null) return receiverStore.get(receiver_id) === undefined
    const source = subject.slice(subject.indexOf(':') + 1)
    const subjectOf = kind === 'link_lost' ? subscriptionSubject : upstreamSubject
    return subject === subjectOf(source) && !isSource(source)
  }

  #evaluateChangedThresholds(): void {
    const { receiverStore, threshold } = this.#deps
    const changed = new Set<string>()
    for (const [manufacturer, before] of this.#evaluatedThresholds) {
      const current = threshold(manufacturer)
      if (current !== before) changed.add(manufacturer)
      this.#evaluatedThresholds.set(manufacturer, current)
    }
    if (changed.size === 0) return
    for (const id of this.#ownReceivers) {
      if (changed.has(receiverStore.get(id)?.manufacturer ?? '')) this.#due.receivers.add(id)
    }
  }

  readonly #find = (subject: string) => this.#open.find(subject)
}

function nothingDue(): Due {
  return { receivers: new Set(), chargers: new Set(), sources: new Map(), everything: false }
}
