/**
 * Messages from those who know to those who listen. A receiver is told of at most ten times a second, the last state
 * always arrives, and a listener that falls behind gets the newest of each receiver, never a queue without end. What
 * comes within one turn of the event loop goes out together: the busier it is, the more each delivery carries.
 */

import type { BroadcastMessage, DeviceUpdate } from '../model/messages.ts'

/** What was announced within one turn of the event loop. Listeners who keep up share it, and what is made of it. */
export interface Batch {
  readonly messages: readonly BroadcastMessage[]
  /** Whom they are about, each once. */
  readonly manufacturers: readonly (string | null)[]
}

export interface Feed {
  publish(message: BroadcastMessage): void
  /** What is announced from now on, of one manufacturer or of all; ends when the signal aborts. */
  subscribe(options: { manufacturer?: string | undefined; signal: AbortSignal }): AsyncIterable<Batch>
  readonly subscribers: number
  /** Messages that wait for their listeners, all together. */
  readonly queued: number
  close(): void
}

/** From one handing out to the next, however late the one was: else eleven could fall into a second. */
const spacingMs = 100
const maxQueuedEvents = 1000
/** A slow listener takes what waited for it in parts: meanwhile the rest may be replaced by something newer. */
const maxQueuedAtOnce = 100

export function createFeed(now: () => number = () => performance.now()): Feed {
  const listeners = new Set<Listener>()
  let isClosed = false
  /** Until when a receiver has to wait for its next turn. */
  const freeAt = new Map<number, number>()
  /** What goes out at the end of this turn of the event loop, and what has to wait. */
  const due = new Map<number, DeviceUpdate>()
  let events: BroadcastMessage[] = []
  const waiting = new Map<number, DeviceUpdate>()
  let handingOut: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined

  const isItsTurn = (id: number) => due.has(id) || (!waiting.has(id) && (freeAt.get(id) ?? 0) <= now())

  /** One batch for all who listen to everything, one for each manufacturer that somebody listens to alone. */
  function handOut(): void {
    clearImmediate(handingOut)
    handingOut = undefined
    const messages = [...due.values(), ...events]
    const nextAt = now() + spacingMs
    for (const id of due.keys()) freeAt.set(id, nextAt)
    due.clear()
    events = []
    const batches = new Map<string | undefined, Batch>()
    for (const listener of listeners) {
      const { manufacturer } = listener
      const batch = batches.get(manufacturer) ?? createBatch(messages.filter((one) => concerns(one, manufacturer)))
      batches.set(manufacturer, batch)
      if (batch.messages.length > 0) listener.take(batch)
    }
  }

  function handOutDue(): void {
    timer = undefined
    const time = now()
    let soonest = Number.POSITIVE_INFINITY
    for (const [id, update] of waiting) {
      const at = freeAt.get(id) ?? 0
      if (at <= time) {
        waiting.delete(id)
        due.set(id, update)
      } else soonest = Math.min(soonest, at)
    }
    if (waiting.size > 0) timer = setTimeout(handOutDue, Math.max(1, soonest - time))
    handOut()
  }

  return {
    publish(message) {
      if (isClosed || listeners.size === 0) return
      if (message.type !== 'device_update') events.push(message)
      else if (isItsTurn(message.receiver_id)) addUpdate(due, message)
      else {
        addUpdate(waiting, message)
        const waitMs = (freeAt.get(message.receiver_id) ?? 0) - now()
        timer ??= setTimeout(handOutDue, Math.max(1, waitMs))
        return
      }
      handingOut ??= setImmediate(handOut)
    },
    subscribe({ manufacturer, signal }) {
      const listener = createListener(manufacturer)
      if (signal.aborted || isClosed) {
        listener.end()
        return listener
      }
      listeners.add(listener)
      signal.addEventListener(
        'abort',
        () => {
          listeners.delete(listener)
          listener.end()
        },
        { once: true },
      )
      return listener
    },
    get subscribers() {
      return listeners.size
    },
    get queued() {
      let sum = 0
      for (const { waiting: own } of listeners) sum += own
      return sum
    },
    close() {
      clearTimeout(timer)
      clearImmediate(handingOut)
      isClosed = true
      for (const listener of listeners) listener.end()
      listeners.clear()
    },
  }
}

interface Listener extends AsyncIterable<Batch> {
  readonly manufacturer: string | undefined
  readonly waiting: number
  take(batch: Batch): void
  end(): void
}

/**
 * A bounded place to wait: the batch that came last, as it is; once another comes before that was taken, one message a
 * receiver and the last so many of everything else.
 */
function createListener(manufacturer: string | undefined): Listener {
  let next: Batch | undefined
  const updates = new Map<number, DeviceUpdate>()
  const events: BroadcastMessage[] = []
  let hasEnded = false
  let wake: (() => void) | undefined

  function queue({ messages }: Batch): void {
    for (const message of messages) {
      if (message.type === 'device_update') addUpdate(updates, message)
      else {
        events.push(message)
        if (events.length > maxQueuedEvents) events.shift()
      }
    }
  }

  function takeNext(): Batch | undefined {
    const batch = next ?? takeQueued()
    next = undefined
    return batch
  }

  function takeQueued(): Batch | undefined {
    const messages: BroadcastMessage[] = events.splice(0)
    for (const [id, update] of updates) {
      if (messages.length >= maxQueuedAtOnce) break
      updates.delete(id)
      messages.push(update)
    }
    return messages.length === 0 ? undefined : createBatch(messages)
  }

  return {
    manufacturer,
    get waiting() {
      return (next?.messages.length ?? 0) + updates.size + events.length
    },
    take(batch) {
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
        const batch = takeNext()
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

function createBatch(messages: readonly BroadcastMessage[]): Batch {
  return { messages, manufacturers: [...new Set(messages.map(({ manufacturer }) => manufacturer))] }
}

/** The batch without what is about others. */
export function filterBatch(batch: Batch, isWanted: (manufacturer: string | null) => boolean): Batch {
  if (batch.manufacturers.every(isWanted)) return batch
  return createBatch(batch.messages.filter(({ manufacturer }) => isWanted(manufacturer)))
}

function concerns(message: BroadcastMessage, manufacturer: string | undefined): boolean {
  return manufacturer === undefined || message.manufacturer === null || message.manufacturer === manufacturer
}

/** The newer state takes the place of the older one, and keeps what that told beside the channels. */
function addUpdate(updates: Map<number, DeviceUpdate>, newer: DeviceUpdate): void {
  const older = updates.get(newer.receiver_id)
  const update = older === undefined ? newer : { ...newer, data: { ...older.data, ...newer.data } }
  updates.set(newer.receiver_id, update)
}
