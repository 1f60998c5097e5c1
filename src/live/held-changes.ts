/**
 * The changes that wait for a client on a slow line, merged to the newest value of each record. Alerts are sent first,
 * then conditions, then everything else.
 */

import type { LiveChange } from '../contract/live-messages.ts'

type Message = LiveChange & { readonly seq: number }

export interface HeldFrame {
  readonly seq: number
  /** The oldest change in the message. */
  readonly firstSeq: number
  readonly bytes: Buffer
}

interface Held {
  readonly message: Message
  readonly firstSeq: number
  readonly bytes: number
}

/** Messages after these must keep their order. */
const structural: readonly Message['type'][] = ['receiver_added', 'receiver_removed', 'channel_removed', 'site_removed']

export class HeldChanges {
  /** Ordered by the newest change. */
  #held: Held[] = []
  readonly #byRecord = new Map<string, Held>()
  #isOrdered = false
  #bytes = 0

  get isEmpty(): boolean {
    return this.#held.length === 0
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The oldest held change. */
  get firstSeq(): number | null {
    return this.isEmpty ? null : Math.min(...this.#held.map(({ firstSeq }) => firstSeq))
  }

  add(frame: Buffer): void {
    const message = JSON.parse(String(frame)) as Message
    if (structural.includes(message.type)) {
      this.#byRecord.clear()
      this.#isOrdered = true
    }
    const record = recordOf(message)
    const earlier = record === null ? undefined : this.#byRecord.get(record)
    const merged = earlier === undefined ? null : merge(earlier.message, message)
    if (earlier !== undefined && merged !== null) this.#remove(this.#held.indexOf(earlier))
    const held: Held =
      earlier === undefined || merged === null
        ? { message, firstSeq: message.seq, bytes: frame.length }
        : { message: merged, firstSeq: earlier.firstSeq, bytes: JSON.stringify(merged).length }
    this.#held.push(held)
    this.#bytes += held.bytes
    if (record !== null) this.#byRecord.set(record, held)
  }

  shift(): HeldFrame | null {
    const ranks = this.#held.map(({ message }) => (this.#isOrdered ? 0 : rankOf(message)))
    const held = this.#remove(ranks.indexOf(Math.min(...ranks)))
    if (held === undefined) return null
    const record = recordOf(held.message)
    if (record !== null && this.#byRecord.get(record) === held) this.#byRecord.delete(record)
    return { seq: held.message.seq, firstSeq: held.firstSeq, bytes: Buffer.from(JSON.stringify(held.message)) }
  }

  clear(): void {
    this.#held = []
    this.#byRecord.clear()
    this.#isOrdered = false
    this.#bytes = 0
  }

  #remove(index: number): Held | undefined {
    const [removed] = index < 0 ? [] : this.#held.splice(index, 1)
    this.#bytes -= removed?.bytes ?? 0
    if (this.isEmpty) this.#isOrdered = false
    return removed
  }
}

function rankOf(message: Message): number {
  if (message.type === 'alert') return 0
  return message.type === 'channel' && message.condition !== undefined ? 1 : 2
}

/** Null for messages that are never merged. */
function recordOf(message: Message): string | null {
  switch (message.type) {
    case 'alert':
    case 'event':
    case 'event_deleted':
    case 'receiver_added':
    case 'receiver_removed':
    case 'channel_removed':
    case 'site_removed':
      return null
    case 'channel':
    case 'receiver':
      return `${message.type} ${message.id}`
    case 'source':
      return `source ${message.code} ${message.address}`
    case 'site':
      return `site ${message.code}`
    case 'show':
      return `show ${message.show.id}`
    case 'check':
      return `check ${message.check.id}`
    case 'event_changed':
      return `event ${message.event.id}`
    case 'settings':
      return `settings ${message.manufacturer} ${message.group}`
    case 'status_update':
      return `status ${message.about} ${message.manufacturer}`
    default:
      // Lists are sent whole. Other messages have no content.
      return message.type
  }
}

/** Null if no single message has the effect of both. */
function merge(earlier: Message, later: Message): Message | null {
  if (earlier.type === 'channel' && later.type === 'channel') {
    if (!later.details || earlier.details === undefined) return { ...earlier, ...later }
    // One message cannot remove all earlier details and add new ones.
    if (earlier.details === null) return null
    return { ...earlier, ...later, details: { ...earlier.details, ...later.details } }
  }
  if (earlier.type === 'settings' && later.type === 'settings') {
    return { ...earlier, ...later, config: { ...earlier.config, ...later.config } }
  }
  if (earlier.type === 'slots' && later.type === 'slots') {
    const slots = new Map([...earlier.values, ...later.values].map(([id = 0, slot = 0]) => [id, slot]))
    return { ...later, values: [...slots].map((pair) => [...pair]) }
  }
  if (earlier.type === 'slot_records' && later.type === 'slot_records') {
    const records = new Map(earlier.slots.map((record) => [record.slot, record]))
    const removed = new Set([...earlier.removed, ...later.removed])
    for (const slot of later.removed) records.delete(slot)
    for (const record of later.slots) {
      records.set(record.slot, record)
      removed.delete(record.slot)
    }
    return { ...later, slots: [...records.values()], removed: [...removed] }
  }
  return { ...earlier, ...later } as Message
}
