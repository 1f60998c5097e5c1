/** Puts receivers into memory, which announces what changed. */

import type { Alerts } from '../alerts/alerts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { Cache } from '../platform/cache.ts'
import type { ReportingSources } from '../sources/reporting-sources.ts'
import type { ReceiverStore } from './receiver-store.ts'

export interface ReceiverUpdateDeps {
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'put' | 'putConditions' | 'remove'>
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly conditions: Pick<ConditionMonitor, 'put' | 'remove' | 'withReported'>
  readonly alerts: Pick<Alerts, 'evaluateReceiver'>
  readonly reportingSources: Pick<ReportingSources, 'remove'>
  /** Called with the id of every receiver of which this process has received a report. */
  onReceived(receiverId: number): void
}

export class ReceiverUpdates {
  readonly #deps: ReceiverUpdateDeps

  constructor(deps: ReceiverUpdateDeps) {
    this.#deps = deps
  }

  put(receiver: Receiver): void {
    const { receiverStore, conditions, cache } = this.#deps
    // The conditions of a followed receiver come with it.
    if (receiver.origin === undefined) conditions.put(receiver)
    else receiverStore.put(receiver)
    cache.drop(receiver.manufacturer)
  }

  /** Puts a receiver of which only conditions have changed since it was read, and evaluates its alerts. */
  publishConditions(receiver: Receiver): void {
    const { receiverStore, cache, alerts } = this.#deps
    const before = receiverStore.get(receiver.id)
    receiverStore.putConditions(receiver)
    cache.drop(receiver.manufacturer)
    alerts.evaluateReceiver(before, receiver)
  }

  /** Puts a receiver after a report that this process received, and evaluates its conditions and alerts. */
  publishReported(reported: Receiver): void {
    const { receiverStore, conditions, alerts, onReceived } = this.#deps
    const before = receiverStore.get(reported.id)
    const after = conditions.withReported(reported)
    this.put(after)
    alerts.evaluateReceiver(before, after)
    onReceived(after.id)
  }

  remove(receiver: Receiver): void {
    const { receiverStore, conditions, reportingSources, cache } = this.#deps
    const { id, manufacturer } = receiver
    receiverStore.remove(id)
    conditions.remove(receiver)
    reportingSources.remove(id)
    cache.drop(manufacturer)
  }
}
