/** Puts receivers into memory, which announces the changes. */

import type { Receiver } from '../domain/equipment/receiver.ts'
import { Topic } from '../platform/topic.ts'
import type { IngestSubsystems } from './ingest-subsystems.ts'

export class ReceiverUpdates {
  /** This process has received a report of the receiver with this id. */
  readonly reported = new Topic<number>()
  readonly #service: IngestSubsystems

  constructor(service: IngestSubsystems) {
    this.#service = service
  }

  put(receiver: Receiver): void {
    const { receiverStore, conditions, cache } = this.#service
    // The conditions of a followed receiver come with it.
    if (receiver.origin === undefined) conditions.put(receiver)
    else receiverStore.put(receiver)
    cache.drop(receiver.manufacturer)
  }

  /** Puts a receiver of which only conditions have changed since it was read, and evaluates its alerts. */
  publishConditions(receiver: Receiver): void {
    const { receiverStore, cache, alerts } = this.#service
    const before = receiverStore.get(receiver.id)
    receiverStore.putConditions(receiver)
    cache.drop(receiver.manufacturer)
    alerts.evaluateReceiver(before, receiver)
  }

  /** Puts a receiver after a report that this process received, and evaluates its conditions and alerts. */
  publishReported(reported: Receiver): void {
    const { receiverStore, conditions, alerts } = this.#service
    const before = receiverStore.get(reported.id)
    const after = conditions.withReported(reported)
    this.put(after)
    alerts.evaluateReceiver(before, after)
    this.reported.publish(after.id)
  }

  remove(receiver: Receiver): void {
    const { receiverStore, conditions, receiverSources, cache } = this.#service
    const { id, manufacturer } = receiver
    receiverStore.remove(id)
    conditions.remove(receiver)
    receiverSources.remove(id)
    cache.drop(manufacturer)
  }
}
