/**
 * Version 1 of the live interface: converts the publisher's announcements to messages, and delivers them. Updates of a
 * receiver are limited to ten per second, and its last state is always delivered. A slow subscriber is sent only the
 * newest update of each receiver, so its queue is bounded. Messages of one turn of the event loop are one batch.
 */

import type { AlertChanged } from '../alerts/open-alerts.ts'
import type { DeviceUpdate } from '../contract/messages.ts'
import type { AnnouncedShow } from '../contract/shows.ts'
import { toAlertMessage } from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { toReceiverChange, toVersion1Channel } from '../domain/equipment/receiver-body.ts'
import { type EquipmentFilter, includesSite } from '../domain/equipment/sites.ts'
import { type BroadcastMessage, manufacturerOf } from '../domain/messages.ts'
import type { LevelRows } from '../ingest/level-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'

/** Subscribers that keep up share the object and its encodings. */
export interface MessageBatch {
  readonly messages: readonly BroadcastMessage[]
  readonly manufacturers: readonly (string | null)[]
}

/** Minimum time between the deliveries of two updates of a receiver. */
const spacingMs = 100
const maxQueuedEvents = 1000
/** A queue is sent in parts, so that newer updates can replace the rest. */
const maxUpdatesPerBatch = 100

/** `site`: null for this installation, undefined for all. */
interface Published {
  readonly message: BroadcastMessage
  readonly site: string | null | undefined
}

export class Version1 {
  readonly #receiverStore: ReceiverStore
  readonly #now: () => number
  readonly #subscribers = new Set<Subscriber>()
  #isClosed = false
  readonly #nextDeliveryAt = new Map<number, number>()
  readonly #due = new Map<number, DeviceUpdate>()
  readonly #delayed = new Map<number, DeviceUpdate>()
  #events: Published[] = []
  readonly #newLevels = new Set<number>()
  #delivery: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(receiverStore: ReceiverStore, now: () => number = () => performance.now()) {
    this.#receiverStore = receiverStore
    this.#now = now
  }

  receiverChanged(before: Receiver | undefined, after: Receiver | undefined): void {
    const { id: receiver_id, manufacturer } = after ?? before ?? {}
    if (receiver_id === undefined || manufacturer === undefined || !this.#isInUse) return
    // Clients drop a receiver without channels.
    const data = after === undefined ? { channels: [], is_active: false } : toReceiverChange(before, after)
    if (data !== null) this.publish({ type: 'device_update', manufacturer, receiver_id, data })
  }

  /** Levels are read on delivery, so that they are the newest. */
  levelsChanged(changed: readonly LevelRows[]): void {
    if (!this.#isInUse) return
    for (const { manufacturer, receiverId: receiver_id } of changed) {
      this.#newLevels.add(receiver_id)
      if (this.#due.has(receiver_id) || this.#delayed.has(receiver_id)) continue
      this.#publishUpdate({ type: 'device_update', manufacturer, receiver_id, data: { channels: [] } })
    }
  }

  /** Version 1 has neither silences nor the values of an alert. A silenced alert is sent when its silence ends. */
  alertChanged({ alert, body, hasOnlyOtherValues, isStored }: AlertChanged): void {
    const isHidden = isStored && body.silenced && alert.state !== 'cleared'
    if (!hasOnlyOtherValues && !isHidden) this.publish(toAlertMessage(alert), alert.site?.code ?? null)
  }

  showChanged(show: AnnouncedShow): void {
    this.publish({ type: 'show_update', show }, null)
  }

  /** `site`: null for this installation. Without it, the message applies to all sites. */
  publish(message: BroadcastMessage, site?: string | null): void {
    if (!this.#isInUse) return
    if (message.type === 'device_update') {
      this.#newLevels.delete(message.receiver_id)
      this.#publishUpdate(message)
    } else {
      this.#events.push({ message, site })
      this.#delivery ??= setImmediate(() => this.#deliver())
    }
  }

  /** Yields messages that the filter includes, until the signal aborts. */
  subscribe(filter: EquipmentFilter, signal: AbortSignal): AsyncIterable<MessageBatch> {
    const subscriber = new Subscriber(filter)
    if (signal.aborted || this.#isClosed) {
      subscriber.end()
      return subscriber
    }
    this.#subscribers.add(subscriber)
    const remove = () => {
      this.#subscribers.delete(subscriber)
      subscriber.end()
    }
    signal.addEventListener('abort', remove, { once: true })
    return subscriber
  }

  get subscribers(): number {
    return this.#subscribers.size
  }

  get queued(): number {
    let sum = 0
    for (const { queued } of this.#subscribers) sum += queued
    return sum
  }

  close(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#delivery)
    this.#isClosed = true
    for (const subscriber of this.#subscribers) subscriber.end()
    this.#subscribers.clear()
  }

  get #isInUse(): boolean {
    return this.#subscribers.size > 0
  }

  #publishUpdate(update: DeviceUpdate): void {
    const { receiver_id } = update
    if (this.#canDeliverNow(receiver_id)) {
      addUpdate(this.#due, update)
      this.#delivery ??= setImmediate(() => this.#deliver())
    } else {
      addUpdate(this.#delayed, update)
      const waitMs = (this.#nextDeliveryAt.get(receiver_id) ?? 0) - this.#now()
      this.#timer ??= setTimeout(() => this.#deliverDelayed(), Math.max(1, waitMs))
    }
  }

  #canDeliverNow(id: number): boolean {
    return this.#due.has(id) || (!this.#delayed.has(id) && (this.#nextDeliveryAt.get(id) ?? 0) <= this.#now())
  }

  #deliverDelayed(): void {
    this.#timer = undefined
    const time = this.#now()
    let soonest = Number.POSITIVE_INFINITY
    for (const [id, update] of this.#delayed) {
      const dueAt = this.#nextDeliveryAt.get(id) ?? 0
      if (dueAt <= time) {
        this.#delayed.delete(id)
        this.#due.set(id, update)
      } else soonest = Math.min(soonest, dueAt)
    }
    if (this.#delayed.size > 0) {
      this.#timer = setTimeout(() => this.#deliverDelayed(), Math.max(1, soonest - time))
    }
    this.#deliver()
  }

  #deliver(): void {
    clearImmediate(this.#delivery)
    this.#delivery = undefined
    const published = this.#takePublished()
    const batches = new Map<string, MessageBatch>()
    for (const subscriber of this.#subscribers) {
      const { filter, key } = subscriber
      const batch =
        batches.get(key) ??
        createBatch(published.filter((each) => concerns(each, filter)).map(({ message }) => message))
      batches.set(key, batch)
      if (batch.messages.length > 0) subscriber.deliver(batch)
    }
  }

  #takePublished(): readonly Published[] {
    const updates = Array.from(this.#due.values(), (update): Published => {
      const site = this.#receiverStore.facts(update.receiver_id)?.origin?.site.code ?? null
      return { message: this.#withNewestLevels(update), site }
    })
    const nextAt = this.#now() + spacingMs
    for (const id of this.#due.keys()) this.#nextDeliveryAt.set(id, nextAt)
    this.#due.clear()
    return [...updates, ...this.#events.splice(0)]
  }

  #withNewestLevels(update: DeviceUpdate): DeviceUpdate {
    const { receiver_id, data } = update
    if (!this.#newLevels.delete(receiver_id)) return update
    const channels = this.#receiverStore.get(receiver_id)?.channels.map(toVersion1Channel) ?? []
    return { ...update, data: { ...data, channels } }
  }
}

/**
 * Holds one unread batch unchanged. If another arrives, the queue is reduced to one update for each receiver and the last
 * `maxQueuedEvents` other messages.
 */
class Subscriber implements AsyncIterable<MessageBatch> {
  readonly filter: EquipmentFilter
  /** Subscribers with the same filter are sent the same batches. */
  readonly key: string
  #next: MessageBatch | undefined
  readonly #updates = new Map<number, DeviceUpdate>()
  readonly #events: BroadcastMessage[] = []
  #hasEnded = false
  #wake: (() => void) | undefined

  constructor(filter: EquipmentFilter) {
    this.filter = filter
    this.key = JSON.stringify([filter.manufacturer, filter.site])
  }

  get queued(): number {
    return (this.#next?.messages.length ?? 0) + this.#updates.size + this.#events.length
  }

  deliver(batch: MessageBatch): void {
    if (this.queued === 0) this.#next = batch
    else {
      if (this.#next !== undefined) this.#queue(this.#next)
      this.#next = undefined
      this.#queue(batch)
    }
    this.#wake?.()
  }

  end(): void {
    this.#hasEnded = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MessageBatch> {
    while (!this.#hasEnded) {
      const batch = this.#next ?? this.#dequeuePart()
      this.#next = undefined
      if (batch !== undefined) yield batch
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      this.#wake = undefined
    }
  }

  #queue({ messages }: MessageBatch): void {
    for (const message of messages) {
      if (message.type === 'device_update') addUpdate(this.#updates, message)
      else {
        this.#events.push(message)
        if (this.#events.length > maxQueuedEvents) this.#events.shift()
      }
    }
  }

  #dequeuePart(): MessageBatch | undefined {
    const messages: BroadcastMessage[] = this.#events.splice(0)
    for (const [id, update] of this.#updates) {
      if (messages.length >= maxUpdatesPerBatch) break
      this.#updates.delete(id)
      messages.push(update)
    }
    return messages.length === 0 ? undefined : createBatch(messages)
  }
}

function createBatch(messages: readonly BroadcastMessage[]): MessageBatch {
  return { messages, manufacturers: [...new Set(messages.map(manufacturerOf))] }
}

export function filterBatch(batch: MessageBatch, isIncluded: (manufacturer: string | null) => boolean): MessageBatch {
  if (batch.manufacturers.every(isIncluded)) return batch
  return createBatch(batch.messages.filter((message) => isIncluded(manufacturerOf(message))))
}

function concerns({ message, site }: Published, filter: EquipmentFilter): boolean {
  const manufacturer = manufacturerOf(message)
  const isOfManufacturer =
    filter.manufacturer === undefined || manufacturer === null || manufacturer === filter.manufacturer
  return isOfManufacturer && (site === undefined || includesSite(filter, site))
}

/** Merges a newer update into the older one, whose channels it replaces. */
function addUpdate(updates: Map<number, DeviceUpdate>, newer: DeviceUpdate): void {
  const older = updates.get(newer.receiver_id)
  const update = older === undefined ? newer : { ...newer, data: { ...older.data, ...newer.data } }
  updates.set(newer.receiver_id, update)
}
