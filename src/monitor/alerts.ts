/**
 * Raises and clears alerts: once each, however many processes see the reason. What is true is judged against what is open
 * (`model/alert.ts`), written down, and only then announced. What others raised and cleared is read back and announced too.
 */

import type { Feed } from '../live/feed.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
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
} from '../model/alert.ts'
import type { Receiver } from '../model/receiver.ts'
import { clearAlert, listAlerts, listAlertsSince, pruneAlerts, raiseAlert, worsenAlert } from '../store/alerts.ts'
import type { Database, Tx } from '../store/database.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'
import type { Log } from './log.ts'

export interface Alerts {
  /** What is open, from the store; nothing is announced. */
  open(): Promise<void>
  /** Takes in and announces what other processes raised and cleared. */
  load(): Promise<void>
  /** A receiver as this process heard it; called for every level that changes. */
  evaluateReceiver(before: Receiver | undefined, after: Receiver): void
  /** The packs in this charger are stored as they are now. */
  tookPacks(chargerId: number): void
  /** Another process heard it: judging it is theirs. */
  releaseReceiver(receiverId: number): void
  evaluateSource(fares: SourceFailures): void
  /** Looks at what changes by time, by settings or by what is listened to, and tries again what could not be stored. */
  evaluateAll(): void
  /** For somebody who has looked: those that were not raised yet. */
  raise(findings: readonly AlertCause[]): Promise<readonly Alert[]>
  /** Those that are open. */
  list(): readonly Alert[]
  /** Resolves when everything that was judged is stored, or could not be. */
  flushed(): Promise<void>
}

export interface AlertDeps {
  readonly db: Database
  readonly receiverStore: Pick<ReceiverStore, 'get'>
  readonly unitStore: Pick<UnitStore, 'reportedBy'>
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  now(): number
  /** The battery threshold in force for a manufacturer. */
  threshold(manufacturer: string): number
  isMonitored(manufacturer: string): boolean
  isSource(source: string): boolean
  subscriptions(): readonly SubscriptionStatus[]
  /** Another process's link tells the levels of this receiver. */
  isSubscribedElsewhere(receiverId: number): boolean
}

const keepClearedMs = 30 * 24 * 3600_000
const keepCleared = 10_000

export function createAlerts(deps: AlertDeps): Alerts {
  const { db, receiverStore, unitStore, feed, log, now } = deps
  const open = new Map<string, Alert>()
  const find = (subject: string) => open.get(subject)
  /** Of whom this process knows best, and under which threshold a manufacturer's were judged last. */
  const ours = new Set<number>()
  const judgedUnder = new Map<string, number>()
  const receivers = new Set<number>()
  const chargers = new Set<number>()
  const sources = new Map<string, SourceFailures>()
  let seen = -1
  /** Own writes that `load` will meet again. */
  const written = new Map<number, number>()
  let isScheduled = false
  let isLookDue = false
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    void inTurn(settle)
  }

  /** Judges everything that waits for it, as it is now. */
  async function settle(): Promise<void> {
    isScheduled = false
    const due = { receivers: [...receivers], chargers: [...chargers], sources: [...sources.values()], look: isLookDue }
    receivers.clear()
    chargers.clear()
    sources.clear()
    isLookDue = false
    const judged: AlertChange[] = []
    for (const id of due.receivers) {
      judged.push(...judgeOne(id))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    const changes = [
      ...judged,
      ...due.chargers.flatMap(judgePacks),
      ...due.sources.filter(({ source }) => deps.isSource(source)).flatMap((fares) => evaluateSource(fares, find)),
      ...(due.look ? lookAround() : []),
    ]
    if (changes.length === 0) return
    try {
      await write(changes)
    } catch (error) {
      // The next look judges them again.
      for (const id of due.receivers) receivers.add(id)
      for (const id of due.chargers) chargers.add(id)
      for (const fares of due.sources) if (!sources.has(fares.source)) sources.set(fares.source, fares)
      log.warn({ alerts: changes.length, error: String(error) }, 'alerts could not be stored')
    }
  }

  function lookAround(): AlertChange[] {
    const links = deps.subscriptions().filter(({ source }) => deps.isSource(source))
    const orphans = [...open.values()].filter(isOrphan)
    return [
      ...links.flatMap((link) => evaluateSubscription(link, find, performance.now())),
      ...orphans.map(clearOrphan),
    ]
  }

  function judgeOne(id: number): AlertChange[] {
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !deps.isMonitored(receiver.manufacturer)) return []
    const threshold = deps.isSubscribedElsewhere(id) ? null : deps.threshold(receiver.manufacturer)
    return evaluateReceiver(receiver, threshold, find)
  }

  function judgePacks(chargerId: number): AlertChange[] {
    const charger = receiverStore.get(chargerId)
    if (charger === undefined || !deps.isMonitored(charger.manufacturer)) return []
    const about = [...open.values()].filter(
      ({ kind, receiver_id }) => kind === 'charger_fault' && receiver_id === chargerId,
    )
    return evaluateCharger(charger, unitStore.reportedBy(chargerId), about)
  }

  /** Nobody listens to what it is about any more. */
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
      announce(alert)
    }
    return applied
  }

  function announce(alert: Alert): void {
    if (alert.state === 'raised') open.set(alert.subject, alert)
    else if (open.get(alert.subject)?.id === alert.id) open.delete(alert.subject)
    feed.publish(toAlertMessage(alert))
  }

  async function readChanges(): Promise<void> {
    const revision = await currentRevision(db.read, 'alerts')
    if (revision === seen) return
    for (const { alert, revision: at } of await listAlertsSince(db.read, seen)) {
      if (written.get(alert.id) !== at) announce(alert)
      if (at <= revision) written.delete(alert.id)
    }
    seen = revision
  }

  function judgeUnderNewThresholds(): void {
    const changed = new Set<string>()
    for (const [manufacturer, before] of judgedUnder) {
      const threshold = deps.threshold(manufacturer)
      if (threshold !== before) changed.add(manufacturer)
      judgedUnder.set(manufacturer, threshold)
    }
    if (changed.size === 0) return
    for (const id of ours) if (changed.has(receiverStore.get(id)?.manufacturer ?? '')) receivers.add(id)
  }

  return {
    open: () =>
      inTurn(async () => {
        seen = await currentRevision(db.read, 'alerts')
        for (const alert of await listAlerts(db.read, { state: 'raised' })) open.set(alert.subject, alert)
      }),
    load: () => inTurn(readChanges),
    evaluateReceiver(before, after) {
      // What was stored when nobody looked is judged when it is heard of for the first time.
      const isNew = !ours.has(after.id)
      if (!isNew && !canChangeAlerts(before, after)) return
      ours.add(after.id)
      const { manufacturer } = after
      if (!judgedUnder.has(manufacturer)) judgedUnder.set(manufacturer, deps.threshold(manufacturer))
      receivers.add(after.id)
      if (isNew && unitStore.reportedBy(after.id).length > 0) chargers.add(after.id)
      schedule()
    },
    tookPacks(chargerId) {
      chargers.add(chargerId)
      schedule()
    },
    releaseReceiver: (receiverId) => void ours.delete(receiverId),
    evaluateSource(fares) {
      if (fares.unsuccessful_cycles === 0 && !open.has(upstreamSubject(fares.source)) && sources.size === 0) return
      sources.set(fares.source, fares)
      schedule()
    },
    evaluateAll() {
      judgeUnderNewThresholds()
      isLookDue = true
      schedule()
    },
    raise: (findings) =>
      inTurn(async () => {
        const missing = findings.filter(({ subject }) => !open.has(subject))
        return missing.length === 0 ? [] : write(missing.map((finding) => ({ type: 'raise', cause: finding })))
      }),
    list: () => [...open.values()],
    async flushed() {
      await turn
    },
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
  return { type: 'clear', alert, message: `No longer watched: ${alert.message}` }
}
