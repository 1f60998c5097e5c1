/**
 * Messages from those who know to those who listen. A receiver is told of at most ten times a second, the last state
 * always arrives, and a listener that falls behind gets the newest of each receiver, never a queue without end.
 */

import type { Announcement, DeviceUpdate } from '../model/messages.ts'

/** One message as all listeners get it; serialised once, whoever reads it. */
export interface Frame {
  readonly message: Announcement
  readonly bytes: Buffer
}

export interface Feed {
  publish(message: Announcement): void
  /** What is announced from now on, of one manufacturer or of all; ends when the signal aborts. */
  subscribe(options: { manufacturer?: string | undefined; signal: AbortSignal }): AsyncIterable<Frame>
  readonly listeners: number
  /** Messages that wait for their listeners, all together. */
  readonly waiting: number
  close(): void
}

const spacingMs = 100
const maxQueuedEvents = 1000

export function createFeed(now: () => number = () => performance.now()): Feed {
  const listeners = new Set<Listener>()
  let isClosed = false
  /** Until when a receiver has to wait for its next turn, and what waits. */
  const freeAt = new Map<number, number>()
  const waiting = new Map<number, DeviceUpdate>()
  let timer: NodeJS.Timeout | undefined

  function deliver(message: Announcement): void {
    const frame = createFrame(message)
    for (const listener of listeners) if (listener.wants(message)) listener.take(frame)
  }

  function deliverInTurn(update: DeviceUpdate): void {
    freeAt.set(update.receiver_id, now() + spacingMs)
    deliver(update)
  }

  function deliverDue(): void {
    timer = undefined
    const time = now()
    let soonest = Number.POSITIVE_INFINITY
    for (const [id, update] of waiting) {
      const due = freeAt.get(id) ?? 0
      if (due <= time) {
        waiting.delete(id)
        deliverInTurn(update)
      } else soonest = Math.min(soonest, due)
    }
    if (waiting.size > 0) timer = setTimeout(deliverDue, Math.max(1, soonest - time))
  }

  return {
    publish(message) {
      if (isClosed) return
      if (message.type !== 'device_update') return deliver(message)
      const id = message.receiver_id
      const earlier = waiting.get(id)
      const waitMs = (freeAt.get(id) ?? 0) - now()
      if (earlier === undefined && waitMs <= 0) return deliverInTurn(message)
      waiting.set(id, earlier === undefined ? message : mergeUpdates(earlier, message))
      timer ??= setTimeout(deliverDue, Math.max(1, waitMs))
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
    get listeners() {
      return listeners.size
    },
    get waiting() {
      let sum = 0
      for (const { waiting: own } of listeners) sum += own
      return sum
    },
    close() {
      clearTimeout(timer)
      waiting.clear()
      isClosed = true
      for (const listener of listeners) listener.end()
      listeners.clear()
    },
  }
}

interface Listener extends AsyncIterable<Frame> {
  readonly waiting: number
  wants(message: Announcement): boolean
  take(frame: Frame): void
  end(): void
}

/** A bounded place to wait: one frame a receiver, and the last so many of everything else. */
function createListener(manufacturer: string | undefined): Listener {
  const updates = new Map<number, Frame>()
  const events: Frame[] = []
  let hasEnded = false
  let wake: (() => void) | undefined

  function* drain(): Generator<Frame> {
    for (let event = events.shift(); event !== undefined; event = events.shift()) yield event
    for (const [id, frame] of updates) {
      updates.delete(id)
      yield frame
    }
  }

  return {
    get waiting() {
      return updates.size + events.length
    },
    wants: (message) =>
      manufacturer === undefined || message.manufacturer === null || message.manufacturer === manufacturer,
    take(frame) {
      const { message } = frame
      if (message.type === 'device_update') {
        const earlier = updates.get(message.receiver_id)?.message as DeviceUpdate | undefined
        updates.set(message.receiver_id, earlier === undefined ? frame : replaceFrame(earlier, message, frame))
      } else {
        events.push(frame)
        if (events.length > maxQueuedEvents) events.shift()
      }
      wake?.()
    },
    end() {
      hasEnded = true
      wake?.()
    },
    async *[Symbol.asyncIterator]() {
      while (!hasEnded) {
        for (const frame of drain()) {
          yield frame
          if (hasEnded) return
        }
        await new Promise<void>((resolve) => {
          wake = resolve
          if (hasEnded || updates.size > 0 || events.length > 0) resolve()
        })
        wake = undefined
      }
    },
  }
}

function createFrame(message: Announcement): Frame {
  let bytes: Buffer | undefined
  return {
    message,
    get bytes() {
      bytes ??= Buffer.from(JSON.stringify(message))
      return bytes
    },
  }
}

/** The newer state, and what the older one told beside the channels. */
function mergeUpdates(older: DeviceUpdate, newer: DeviceUpdate): DeviceUpdate {
  return { ...newer, data: { ...older.data, ...newer.data } }
}

/** The shared frame serves where the older message told nothing that the newer leaves out. */
function replaceFrame(older: DeviceUpdate, newer: DeviceUpdate, frame: Frame): Frame {
  const isCovered = Object.keys(older.data).every((field) => field in newer.data)
  return isCovered ? frame : createFrame(mergeUpdates(older, newer))
}
