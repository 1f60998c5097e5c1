/**
 * Events that are not stored yet, in order. They are indexed, because thousands of channels can begin and end a range
 * at once.
 */

import type { EventDraft, EventRecord } from '../domain/events/event.ts'

interface AddOperation {
  readonly type: 'add'
  event: EventDraft
}

export type Operation =
  | AddOperation
  | { readonly type: 'close'; readonly subject: string; readonly event: EventDraft | EventRecord }

export class UnstoredEvents {
  readonly #limit: number
  /** Inserted in order; deleting the first one is fast. */
  readonly #waiting = new Set<Operation>()
  #storing: readonly Operation[] = []
  /** The operations that wait, by their events. */
  readonly #addOf = new Map<EventDraft | EventRecord, AddOperation>()
  /** The `transmitter_off` events that wait, by channel. */
  readonly #switchOffOf = new Map<number, AddOperation>()
  /** How many operations close the range of a subject, waiting or being stored. */
  readonly #closing = new Map<string, number>()
  #discarded = 0

  /** The oldest operations beyond `limit` are discarded. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many operations wait. */
  get size(): number {
    return this.#waiting.size
  }

  add(event: EventDraft): void {
    this.#put({ type: 'add', event })
  }

  /** Ends a range that is stored, or is being stored. */
  close(subject: string, event: EventDraft | EventRecord): void {
    this.#put({ type: 'close', subject, event })
  }

  /** Replaces an event that waits. Returns false if it does not wait. */
  replace(before: EventDraft | EventRecord, after: EventDraft): boolean {
    const operation = this.#addOf.get(before)
    if (operation === undefined) return false
    this.#addOf.delete(before)
    operation.event = after
    this.#addOf.set(after, operation)
    return true
  }

  /** Removes the event that the transmitter of a channel was switched off. Returns false if none waits. */
  removeSwitchOff(channelId: number): boolean {
    const operation = this.#switchOffOf.get(channelId)
    if (operation === undefined) return false
    this.#remove(operation)
    return true
  }

  /** True while the end of the range is not stored yet. */
  isClosing(subject: string): boolean {
    return this.#closing.has(subject)
  }

  /** Returns the oldest `count` waiting operations. Until `stored` or `failed` is called, they are being stored. */
  take(count: number): readonly Operation[] {
    const operations: Operation[] = []
    for (const operation of this.#waiting) {
      if (operations.length === count) break
      operations.push(operation)
      this.#remove(operation)
    }
    this.#storing = operations
    return operations
  }

  /** Returns how many operations were discarded since the last call. */
  stored(): number {
    for (const operation of this.#storing) this.#countClosing(operation, -1)
    this.#storing = []
    const discarded = this.#discarded
    this.#discarded = 0
    return discarded
  }

  /** Queues the taken operations again, before those that were added since. */
  failed(): void {
    const operations = [...this.#storing, ...this.#waiting]
    for (const operation of operations) this.#countClosing(operation, -1)
    this.#storing = []
    this.#waiting.clear()
    for (const operation of operations) this.#put(operation)
  }

  #put(operation: Operation): void {
    this.#waiting.add(operation)
    this.#countClosing(operation, 1)
    if (operation.type === 'add') {
      const { event } = operation
      this.#addOf.set(event, operation)
      if (event.kind === 'transmitter_off' && event.channel_id !== null)
        this.#switchOffOf.set(event.channel_id, operation)
    }
    if (this.#waiting.size <= this.#limit) return
    for (const oldest of this.#waiting) {
      this.#remove(oldest)
      this.#countClosing(oldest, -1)
      this.#discarded += 1
      return
    }
  }

  #remove(operation: Operation): void {
    this.#waiting.delete(operation)
    if (operation.type !== 'add') return
    const { event } = operation
    this.#addOf.delete(event)
    if (event.channel_id !== null && this.#switchOffOf.get(event.channel_id) === operation) {
      this.#switchOffOf.delete(event.channel_id)
    }
  }

  #countClosing(operation: Operation, change: 1 | -1): void {
    if (operation.type !== 'close') return
    const count = (this.#closing.get(operation.subject) ?? 0) + change
    if (count === 0) this.#closing.delete(operation.subject)
    else this.#closing.set(operation.subject, count)
  }
}
