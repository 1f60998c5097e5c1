/** Publishes a message when the status of a source's subscription has changed. */

import type { StatusUpdate } from '../contract/messages.ts'
import { type Connection, type ConnectionStatus, subscriptionStatus } from '../domain/equipment/connection.ts'
import { Topic } from '../platform/topic.ts'

/** A subscription has connected, failed or ended. */
export interface SubscriptionStatusChanged {
  readonly update: StatusUpdate
  /** True if this status was already published. */
  readonly isRepeated: boolean
}

export class StatusPublisher {
  readonly changed = new Topic<SubscriptionStatusChanged>()
  /** The last status of each source's subscription. */
  readonly #last = new Map<string, ConnectionStatus | null>()
  /** The last published status of each source's subscription; unlike `#last`, it is never `connecting`. */
  readonly #published = new Map<string, ConnectionStatus>()
  /** When each subscription went down (`performance.now()`), by source. */
  readonly #downSince = new Map<string, number>()

  /** Returns when the source's subscription went down (`performance.now()`); null while it is not down. */
  downSince(source: string): number | null {
    return this.#downSince.get(source) ?? null
  }

  /**
   * Updates the status of the source's subscription from its connections, and publishes a change unless `isSilent`.
   * Connection attempts are not published.
   */
  update(source: string, connections: readonly Connection[], { isSilent } = { isSilent: false }): void {
    const status = subscriptionStatus(connections)
    this.#updateDownSince(source, status)
    const previous = this.#last.get(source)
    this.#last.set(source, status)
    const [first] = connections
    if (first === undefined || status === null || status === 'connecting') return
    const before = this.#published.get(source) ?? 'disconnected'
    this.#published.set(source, status)
    if (previous === status || isSilent) return
    const { manufacturer } = first
    const reason = connections.find((connection) => connection.status === status)?.error_message ?? null
    const message = `${manufacturer}: subscription ${status}${reason === null ? '' : `: ${reason}`}`
    const update = { type: 'status_update', about: 'link', manufacturer, status, message } as const
    this.changed.publish({ update, isRepeated: before === status })
  }

  #updateDownSince(source: string, status: ConnectionStatus | null): void {
    if (status === null || status === 'connected' || status === 'stopped') this.#downSince.delete(source)
    else if (!this.#downSince.has(source)) this.#downSince.set(source, performance.now())
  }
}
