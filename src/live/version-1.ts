/**
 * Delivers messages to subscribers. Updates of a receiver are limited to ten per second, and its last state is always
 * delivered. A slow subscriber is sent only the newest update of each receiver, so its queue is bounded. Messages
 * published in the same turn of the event loop are delivered as one batch.
 */

import type { ChannelBody } from '../contract/channels.ts'
import type { DeviceUpdate } from '../contract/messages.ts'
import { type EquipmentFilter, includesSite } from '../domain/equipment/sites.ts'
import { type BroadcastMessage, manufacturerOf } from '../domain/messages.ts'

/** Messages published in one turn of the event loop. Subscribers that keep up share the object and its encodings. */
export interface MessageBatch {
  readonly messages: readonly BroadcastMessage[]
  /** The manufacturers of the messages, without duplicates. */
  readonly manufacturers: readonly (string | null)[]
}

export interface Feed {
  /** `site` is that of an alert, event or show, null for this installation. Without it, the message concerns all sites. */
  publish(message: BroadcastMessage, site?: string | null): void
  /** Publishes a receiver's levels. They are read when they are delivered, so that they are the newest. */
  publishLevels(manufacturer: string, receiverId: number): void
  /** Yields the messages published from now on that the filter includes, until the signal aborts. */
  subscribe(options: EquipmentFilter & { readonly signal: AbortSignal }): AsyncIterable<MessageBatch>
  readonly subscribers: number
  /** The total number of messages queued for slow subscribers. */
  readonly queued: number
  close(): void
}

/** Minimum time between two updates of a receiver, measured from when the first was actually delivered. */
const spacingMs = 100
const maxQueuedEvents = 1000
/** A slow subscriber is sent its queue in parts, so that newer updates can replace the rest in the meantime. */
const maxUpdatesPerBatch = 100

export interface FeedOptions {
  /** Returns the current channels of a receiver. */
  channelsOf?(receiverId: number): readonly ChannelBody[]
  /** Returns the code of the site that monitors a receiver; null for this installation. */
  siteOf?(receiverId: number): string | null
  now?(): number
}

/** A message, and the site that it concerns: null for this installation, undefined for all. */
interface Published {
  readonly message: BroadcastMessage
  readonly site: string | null | undefined
}

export function createFeed({
  channelsOf = () => [],
  siteOf = () => null,
  now = () => performance.now(),
}: FeedOptions = {}): Feed {
  const subscribers = new Set<Subscriber>()
  let isClosed = false
  /** The earliest time of the next delivery, by receiver. */
  const nextDeliveryAt = new Map<number, number>()
  /** Updates to deliver at the end of this turn of the event loop; `delayed` holds updates to deliver later. */
  const due = new Map<number, DeviceUpdate>()
  let events: Published[] = []
  const delayed = new Map<number, DeviceUpdate>()
  /** The receivers whose levels have changed since their update was published. */
  const newLevels = new Set<number>()
  let delivery: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined

  const canDeliverNow = (id: number) => due.has(id) || (!delayed.has(id) && (nextDeliveryAt.get(id) ?? 0) <= now())

  /** Creates one batch for each filter that subscribers have. */
  function deliver(): void {
    clearImmediate(delivery)
    delivery = undefined
    const updates = Array.from(
      due.values(),
      (update): Published => ({
        message: withNewestLevels(update),
        site: siteOf(update.receiver_id),
      }),
    )
    const published = [...updates, ...events]
    const nextAt = now() + spacingMs
    for (const id of due.keys()) nextDeliveryAt.set(id, nextAt)
    due.clear()
    events = []
    const batches = new Map<string, MessageBatch>()
    for (const subscriber of subscribers) {
      const { filter, key } = subscriber
      const batch =
        batches.get(key) ??
        createBatch(published.filter((each) => concerns(each, filter)).map(({ message }) => message))
      batches.set(key, batch)
      if (batch.messages.length > 0) subscriber.deliver(batch)
    }
  }

  function withNewestLevels(update: DeviceUpdate): DeviceUpdate {
    const { receiver_id } = update
    if (!newLevels.delete(receiver_id)) return update
    return { ...update, data: { ...update.data, channels: channelsOf(receiver_id) } }
  }

  function publishUpdate(update: DeviceUpdate): void {
    const { receiver_id } = update
    if (canDeliverNow(receiver_id)) {
      addUpdate(due, update)
      delivery ??= setImmediate(deliver)
    } else {
      addUpdate(delayed, update)
      const waitMs = (nextDeliveryAt.get(receiver_id) ?? 0) - now()
      timer ??= setTimeout(deliverDelayed, Math.max(1, waitMs))
    }
  }

  function deliverDelayed(): void {
    timer = undefined
    const time = now()
    let soonest = Number.POSITIVE_INFINITY
    for (const [id, update] of delayed) {
      const dueAt = nextDeliveryAt.get(id) ?? 0
      if (dueAt <= time) {
        delayed.delete(id)
        due.set(id, update)
      } else soonest = Math.min(soonest, dueAt)
    }
    if (delayed.size > 0) timer = setTimeout(deliverDelayed, Math.max(1, soonest - time))
    deliver()
  }

  return {
    publish(message, site) {
      if (isClosed || subscribers.size === 0) return
      if (message.type === 'device_update') {
        newLevels.delete(message.receiver_id)
        publishUpdate(message)
      } else {
        events.push({ message, site })
        delivery ??= setImmediate(deliver)
      }
    },
    publishLevels(manufacturer, receiver_id) {
      if (isClosed || subscribers.size === 0) return
      newLevels.add(receiver_id)
      if (due.has(receiver_id) || delayed.has(receiver_id)) return
      publishUpdate({ type: 'device_update', manufacturer, receiver_id, data: { channels: [] } })
    },
    subscribe({ signal, ...filter }) {
      const subscriber = createSubscriber(filter)
      if (signal.aborted || isClosed) {
        subscriber.end()
        return subscriber
      }
      subscribers.add(subscriber)
      signal.addEventListener(
        'abort',
        () => {
          subscribers.delete(subscriber)
          subscriber.end()
        },
        { once: true },
      )
      return subscriber
    },
    get subscribers() {
      return subscribers.size
    },
    get queued() {
      let sum = 0
      for (const { queued } of subscribers) sum += queued
      return sum
    },
    close() {
      clearTimeout(timer)
      clearImmediate(delivery)
      isClosed = true
      for (const subscriber of subscribers) subscriber.end()
      subscribers.clear()
    },
  }
}

interface Subscriber extends AsyncIterable<MessageBatch> {
  readonly filter: EquipmentFilter
  /** The filter as text: subscribers with the same one are sent the same batches. */
  readonly key: string
  readonly queued: number
  deliver(batch: MessageBatch): void
  end(): void
}

/**
 * Creates a subscriber with a bounded queue. A batch is kept unchanged until it is read. If another batch arrives
 * first, the queue is reduced to one update per receiver and the last `maxQueuedEvents` other messages.
 */
function createSubscriber(filter: EquipmentFilter): Subscriber {
  let next: MessageBatch | undefined
  const updates = new Map<number, DeviceUpdate>()
  const events: BroadcastMessage[] = []
  let hasEnded = false
  let wake: (() => void) | undefined

  function queue({ messages }: MessageBatch): void {
    for (const message of messages) {
      if (message.type === 'device_update') addUpdate(updates, message)
      else {
        events.push(message)
        if (events.length > maxQueuedEvents) events.shift()
      }
    }
  }

  function dequeue(): MessageBatch | undefined {
    const batch = next ?? dequeuePart()
    next = undefined
    return batch
  }

  function dequeuePart(): MessageBatch | undefined {
    const messages: BroadcastMessage[] = events.splice(0)
    for (const [id, update] of updates) {
      if (messages.length >= maxUpdatesPerBatch) break
      updates.delete(id)
      messages.push(update)
    }
    return messages.length === 0 ? undefined : createBatch(messages)
  }

  return {
    filter,
    key: JSON.stringify([filter.manufacturer, filter.site]),
    get queued() {
      return (next?.messages.length ?? 0) + updates.size + events.length
    },
    deliver(batch) {
      if (next === undefined && updates.size + events.length === 0) next = batch
      else {
        if (next !== undefined) queue(next)
        next = undefined
        queue(batch)
      }
      wake?.()
    },
    end() {
      hasEnded = true
      wake?.()
    },
    async *[Symbol.asyncIterator]() {
      while (!hasEnded) {
        const batch = dequeue()
        if (batch !== undefined) yield batch
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        wake = undefined
      }
    },
  }
}

function createBatch(messages: readonly BroadcastMessage[]): MessageBatch {
  return { messages, manufacturers: [...new Set(messages.map(manufacturerOf))] }
}

/** Returns the batch with only the included manufacturers' messages. */
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

/** Merges the newer update into the older one. The channels of the newer update replace those of the older one. */
function addUpdate(updates: Map<number, DeviceUpdate>, newer: DeviceUpdate): void {
  const older = updates.get(newer.receiver_id)
  const update = older === undefined ? newer : { ...newer, data: { ...older.data, ...newer.data } }
  updates.set(newer.receiver_id, update)
}
