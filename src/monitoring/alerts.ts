/**
 * Raises and clears alerts, each once, even if several processes detect the cause. The current state is compared with
 * the open alerts (`domain/alerts/alert.ts`); changes are stored and then published. Changes that other processes stored
 * are published too.
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
  toAlertMessage,
  upstreamSubject,
} from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Feed } from '../state/feed.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { UnitStore } from '../state/unit-store.ts'
import { clearAlert, listAlerts, listAlertsSince, pruneAlerts, raiseAlert, worsenAlert } from '../storage/alerts.ts'
import type { Database, Tx } from '../storage/database.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import type { Log } from './log.ts'

export interface Alerts {
  /** Loads the open alerts without publishing them. */
  open(): Promise<void>
  /** Loads and publishes the alerts that other processes raised or cleared. */
  load(): Promise<void>
  /**
   * Evaluates a receiver after this process received a report of it. `before` and `after` are its states before and
   * after the report.
   */
  evaluateReceiver(before: Receiver | undefined, after: Receiver): void
  /** Evaluates a charger after its battery packs were stored. */
  evaluateCharger(chargerId: number): void
  /** Stops evaluating this receiver, because another process receives its reports. */
  releaseReceiver(receiverId: number): void
  evaluateSource(failures: SourceFailures): void
  /** Evaluates conditions that depend on time, settings or the set of sources, and retries failed writes. */
  evaluateAll(): void
  /** Raises alerts for these causes unless they are already open. Returns the raised alerts. */
  raise(causes: readonly AlertCause[]): Promise<readonly Alert[]>
  /** Returns the open alerts. */
  list(): readonly Alert[]
  /** Resolves when the pending evaluations are stored or have failed. */
  flushed(): Promise<void>
}

export interface AlertDeps {
  readonly db: Database
  readonly receiverStore: Pick<ReceiverStore, 'get'>
  readonly unitStore: Pick<UnitStore, 'reportedBy'>
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  now(): number
  /** Returns the battery threshold in force for a manufacturer. */
  threshold(manufacturer: string): number
  isMonitored(manufacturer: string): boolean
  isSource(source: string): boolean
  subscriptions(): readonly SubscriptionStatus[]
  /** Called with every alert that was raised, changed or cleared, after it was stored. */
  onChanged?(alert: Alert): void
  /** Whether another process's subscription delivers this receiver's levels. */
  isSubscribedElsewhere(receiverId: number): boolean
}

const keepClearedMs = 30 * 24 * 3600_000
const keepCleared = 10_000

export function createAlerts(deps: AlertDeps): Alerts {
  const { db, receiverStore, unitStore, feed, log, now } = deps
  const open = new Map<string, Alert>()
  const find = (subject: string) => open.get(subject)
  /** Receivers whose reports this process receives. */
  const ownReceivers = new Set<number>()
  /** The battery threshold used in the last evaluation, by manufacturer. */
  const evaluatedThresholds = new Map<string, number>()
  // Receivers, chargers and sources that are due for evaluation.
  const receivers = new Set<number>()
  const chargers = new Set<number>()
  const sources = new Map<string, SourceFailures>()
  let lastRevision = -1
  /**
   * The revision at which this process last wrote an alert, by alert id. Entries are removed when `load` has reached
   * that revision.
   */
  const written = new Map<number, number>()
  let isScheduled = false
  let isFullEvaluationDue = false
  /** Serializes evaluations, reads and writes. */
  const queue = new Semaphore(1)

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    void queue.run(evaluateDue)
  }

  /** Evaluates everything that is due. Receivers and chargers are evaluated in their current state. */
  async function evaluateDue(): Promise<void> {
    isScheduled = false
    const due = {
      receivers: [...receivers],
      chargers: [...chargers],
      sources: [...sources.values()],
      all: isFullEvaluationDue,
    }
    receivers.clear()
    chargers.clear()
    sources.clear()
    isFullEvaluationDue = false
    const receiverChanges: AlertChange[] = []
    for (const id of due.receivers) {
      receiverChanges.push(...evaluateOne(id))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    const changes = [
      ...receiverChanges,
      ...due.chargers.flatMap(evaluatePacks),
      ...due.sources
        .filter(({ source }) => deps.isSource(source))
        .flatMap((failures) => evaluateSource(failures, find)),
      ...(due.all ? evaluateSubscriptions() : []),
    ]
    if (changes.length === 0) return
    try {
      await write(changes)
    } catch (error) {
      // The next call of `evaluateAll` retries these evaluations.
      for (const id of due.receivers) receivers.add(id)
      for (const id of due.chargers) chargers.add(id)
      for (const failures of due.sources) if (!sources.has(failures.source)) sources.set(failures.source, failures)
      log.warn({ alerts: changes.length, error: String(error) }, 'alerts could not be stored')
    }
  }

  function evaluateSubscriptions(): AlertChange[] {
    const subscriptions = deps.subscriptions().filter(({ source }) => deps.isSource(source))
    const orphans = [...open.values()].filter(isOrphan)
    return [
      ...subscriptions.flatMap((subscription) => evaluateSubscription(subscription, find, performance.now())),
      ...orphans.map(clearOrphan),
    ]
  }

  function evaluateOne(id: number): AlertChange[] {
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !deps.isMonitored(receiver.manufacturer)) return []
    const threshold = deps.isSubscribedElsewhere(id) ? null : deps.threshold(receiver.manufacturer)
    return evaluateReceiver(receiver, threshold, find)
  }

  function evaluatePacks(chargerId: number): AlertChange[] {
    const charger = receiverStore.get(chargerId)
    if (charger === undefined || !deps.isMonitored(charger.manufacturer)) return []
    const faults = [...open.values()].filter(
      ({ kind, receiver_id }) => kind === 'charger_fault' && receiver_id === chargerId,
    )
    return evaluateCharger(charger, unitStore.reportedBy(chargerId), faults)
  }

  /** Whether the alert's subject is no longer monitored. */
  function isOrphan({ manufacturer, receiver_id, subject, kind }: Alert): boolean {
    if (!deps.isMonitored(manufacturer)) return true
    if (receiver_id !== null) return receiverStore.get(receiver_id) === undefined
    const source = subject.slice(subject.indexOf(':') + 1)
    const subjectOf = kind === 'link_lost' ? subscriptionSubject : upstreamSubject
    return subject === subjectOf(source) && !deps.isSource(source)
  }

  async function write(changes: readonly AlertChange[]): Promise<readonly Alert[]> {
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
      written.set(alert.id, revision)
      publish(alert)
    }
    return applied
  }

  function publish(alert: Alert): void {
    if (alert.state === 'raised') open.set(alert.subject, alert)
    else if (open.get(alert.subject)?.id === alert.id) open.delete(alert.subject)
    feed.publish(toAlertMessage(alert))
    deps.onChanged?.(alert)
  }

  async function readChanges(): Promise<void> {
    const revision = await currentRevision(db.read, 'alerts')
    if (revision === lastRevision) return
    for (const { alert, revision: changedAt } of await listAlertsSince(db.read, lastRevision)) {
      if (written.get(alert.id) !== changedAt) publish(alert)
      if (changedAt <= revision) written.delete(alert.id)
    }
    lastRevision = revision
  }

  function evaluateChangedThresholds(): void {
    const changed = new Set<string>()
    for (const [manufacturer, before] of evaluatedThresholds) {
      const threshold = deps.threshold(manufacturer)
      if (threshold !== before) changed.add(manufacturer)
      evaluatedThresholds.set(manufacturer, threshold)
    }
    if (changed.size === 0) return
    for (const id of ownReceivers) if (changed.has(receiverStore.get(id)?.manufacturer ?? '')) receivers.add(id)
  }

  return {
    open: () =>
      queue.run(async () => {
        lastRevision = await currentRevision(db.read, 'alerts')
        for (const alert of await listAlerts(db.read, { state: 'raised' })) open.set(alert.subject, alert)
      }),
    load: () => queue.run(readChanges),
    evaluateReceiver(before, after) {
      // This process has not evaluated a receiver's stored state before the first report of the receiver arrives, so
      // that report is always evaluated.
      const isNew = !ownReceivers.has(after.id)
      if (!isNew && !canChangeAlerts(before, after)) return
      ownReceivers.add(after.id)
      const { manufacturer } = after
      if (!evaluatedThresholds.has(manufacturer)) evaluatedThresholds.set(manufacturer, deps.threshold(manufacturer))
      receivers.add(after.id)
      if (isNew && unitStore.reportedBy(after.id).length > 0) chargers.add(after.id)
      schedule()
    },
    evaluateCharger(chargerId) {
      chargers.add(chargerId)
      schedule()
    },
    releaseReceiver: (receiverId) => void ownReceivers.delete(receiverId),
    evaluateSource(failures) {
      const { source, unsuccessful_cycles } = failures
      if (unsuccessful_cycles === 0 && !open.has(upstreamSubject(source)) && sources.size === 0) return
      sources.set(source, failures)
      schedule()
    },
    evaluateAll() {
      evaluateChangedThresholds()
      isFullEvaluationDue = true
      schedule()
    },
    raise: (causes) =>
      queue.run(async () => {
        const missing = causes.filter(({ subject }) => !open.has(subject))
        return missing.length === 0 ? [] : write(missing.map((cause) => ({ type: 'raise', cause })))
      }),
    list: () => [...open.values()],
    flushed: () => queue.run(async () => {}),
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

function clearOrphan(alert: Alert): AlertChange {
  return { type: 'clear', alert, message: `No longer monitored: ${alert.message}` }
}
