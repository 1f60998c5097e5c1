/**
 * Passes the reports of this process to other processes on the same database, through Redis and before they are stored.
 * Reports that contain facts, such as mute or battery, go to all processes, with the levels at that time. Levels that
 * change alone go only to the processes that need the levels of the receiver's manufacturer (`level-subscriptions.ts`).
 */

import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { hasOnlyLevels } from '../domain/levels/level-sample.ts'
import { Topic } from '../platform/topic.ts'
import type { Redis } from '../storage/redis.ts'
import { encodeFrame, type FramedLevels } from './level-frame.ts'
import { levelTopic, requestTopic } from './level-subscriptions.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { RemoteReport } from './remote-levels.ts'

const reportTopic = 'levels'
/** Reports and levels are collected for this time, because a system sends hundreds of them at once. */
const publishEveryMs = 50
/** Retry interval while Redis is unavailable. */
const retryEveryMs = 250
/** Publishing interval of last-report times, for receivers that report only levels. */
const publishTimesEveryMs = 2_000
const maxReceiversPerMessage = 200

export class ReportPublisher {
  /** Reports that other processes received. */
  readonly reports = new Topic<readonly RemoteReport[]>()
  readonly #redis: Redis
  /** Identifies this process. */
  readonly #nodeId: string
  readonly #receiverStore: ReceiverStore
  readonly #conditions: ConditionMonitor
  readonly #endSubscriptions: readonly (() => void)[]
  /** Receivers of which facts may have been reported since the last message. */
  readonly #reported = new Set<number>()
  /** Receivers whose levels have to be published. */
  readonly #withLevels = new Set<number>()
  /** Receivers of which the time of the last report has to be published. */
  readonly #received = new Set<number>()
  /** The last published record of each receiver; its levels may be out of date. */
  readonly #published = new Map<number, Receiver>()
  #timer: NodeJS.Timeout | undefined
  readonly #timesTimer: NodeJS.Timeout
  #isClosed = false

  constructor(redis: Redis, nodeId: string, receiverStore: ReceiverStore, conditions: ConditionMonitor) {
    this.#redis = redis
    this.#nodeId = nodeId
    this.#receiverStore = receiverStore
    this.#conditions = conditions
    this.#endSubscriptions = [
      redis.subscribe(reportTopic, { onMessage: (message) => this.#receive(String(message)) }),
      redis.subscribe(requestTopic, {
        onMessage: (manufacturer) => this.#publishOwnLevels(String(manufacturer)),
        // Messages were lost while Redis was unavailable, and with them perhaps requests.
        onSubscribed: () => this.#publishOwnLevels(null),
      }),
    ]
    this.#timesTimer = setInterval(() => this.#publishTimes(), publishTimesEveryMs)
  }

  /** Publishes a receiver of which this process has received a report. */
  publish(receiverId: number): void {
    this.#reported.add(receiverId)
    this.#schedule()
  }

  /** Publishes the levels of a receiver of which this process has received nothing but levels. */
  publishLevels(receiverId: number): void {
    if (!this.#published.has(receiverId)) this.#reported.add(receiverId)
    this.#withLevels.add(receiverId)
    this.#received.add(receiverId)
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#timesTimer)
    for (const end of this.#endSubscriptions) end()
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#publishPending(), this.#redis.isUp ? publishEveryMs : retryEveryMs)
  }

  #publishPending(): void {
    this.#timer = undefined
    if (!this.#redis.isUp) {
      this.#schedule()
      return
    }
    const receivers = [...this.#reported].flatMap((id) => this.#receiverStore.get(id) ?? [])
    this.#reported.clear()
    this.#publishReports(receivers.flatMap((receiver) => this.#toReport(receiver) ?? []))
    this.#publishLevels()
  }

  /** Returns the receiver's entry in a message; null if nothing but its levels or its time has changed. */
  #toReport(receiver: Receiver): RemoteReport | null {
    const { id, last_seen, is_active } = receiver
    const before = this.#published.get(id)
    // Complete, although only one field may have changed, because an earlier message may have been lost. Other processes
    // load conditions from the database.
    const channels = receiver.channels.map(
      ({ id: _, slot: __, profile: ___, not_now: ____, condition: _____, last_transmitter: ______, ...reading }) =>
        reading,
    )
    const isSame = before?.channels === receiver.channels && before.is_active === is_active
    if (isSame || (before !== undefined && hasSameFacts(before, { id, last_seen, is_active, channels }))) {
      if (!isSame) this.#withLevels.add(id)
      this.#received.add(id)
      return null
    }
    this.#published.set(id, receiver)
    this.#withLevels.delete(id)
    this.#received.delete(id)
    return { id, last_seen, is_active, channels }
  }

  #publishReports(reports: readonly RemoteReport[]): void {
    for (const receivers of chunksOf(reports)) {
      this.#redis.publish(reportTopic, JSON.stringify({ owner: this.#nodeId, receivers }))
    }
  }

  #publishLevels(): void {
    const { levels } = this.#receiverStore
    const byManufacturer = new Map<string, FramedLevels[]>()
    for (const receiverId of this.#withLevels) {
      const rows = levels.rowsOf(receiverId)
      if (rows === undefined) continue
      const { manufacturer, lastSeen } = rows
      const receivers = byManufacturer.get(manufacturer) ?? []
      byManufacturer.set(manufacturer, receivers)
      receivers.push({ receiverId, lastSeen, channels: levels.encode(rows) })
    }
    this.#withLevels.clear()
    for (const [manufacturer, all] of byManufacturer) {
      for (const receivers of chunksOf(all)) {
        this.#redis.publish(levelTopic(manufacturer), encodeFrame({ owner: this.#nodeId, receivers }))
      }
    }
  }

  /** Publishes the complete levels of the receivers that this process evaluates, of one manufacturer or all (null). */
  #publishOwnLevels(manufacturer: string | null): void {
    for (const id of this.#conditions.ownReceivers()) {
      if (manufacturer === null || this.#receiverStore.facts(id)?.manufacturer === manufacturer)
        this.#withLevels.add(id)
    }
    if (this.#withLevels.size > 0) this.#schedule()
  }

  #publishTimes(): void {
    if (!this.#redis.isUp) return
    const reports = [...this.#received].flatMap((id): RemoteReport[] => {
      const rows = this.#receiverStore.levels.rowsOf(id)
      return rows === undefined ? [] : [{ id, last_seen: rows.lastSeen, is_active: rows.facts.is_active, channels: [] }]
    })
    this.#received.clear()
    this.#publishReports(reports)
  }

  #receive(text: string): void {
    const message = parseMessage(text)
    if (message === null || message.owner === this.#nodeId) return
    // If this process receives reports of the receiver again, other processes need all of its facts.
    for (const { id } of message.receivers) this.#published.delete(id)
    this.reports.publish(message.receivers)
  }
}

/** True if a report differs from the published record in nothing but levels and the time. */
function hasSameFacts(published: Receiver, { is_active, channels }: RemoteReport): boolean {
  const id = published.api_device_id
  return id !== null && hasOnlyLevels(published, { id, kind: 'receiver', online: is_active, channels })
}

function* chunksOf<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += maxReceiversPerMessage) {
    yield items.slice(start, start + maxReceiversPerMessage)
  }
}

/** Returns null if the message has a different format, because other programs may use the same Redis server. */
function parseMessage(text: string): { owner: string; receivers: readonly RemoteReport[] } | null {
  try {
    const { owner, receivers } = JSON.parse(text)
    if (typeof owner !== 'string' || !Array.isArray(receivers)) return null
    return { owner, receivers: receivers.filter(isRemoteReport) }
  } catch {
    return null
  }
}

function isRemoteReport(value: unknown): value is RemoteReport {
  if (typeof value !== 'object' || value === null) return false
  const { id, last_seen, is_active, channels } = value as Record<string, unknown>
  const isReceiver = Number.isInteger(id) && Number.isInteger(last_seen) && typeof is_active === 'boolean'
  return isReceiver && Array.isArray(channels) && channels.every((reading) => Number.isInteger(reading?.channel))
}
