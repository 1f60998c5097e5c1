/** An alert that is announced although it cannot be stored. Its id is not positive. */

import {
  type Alert,
  type AlertCause,
  type AlertResponse,
  alertState,
  noResponse,
  toFirst,
} from '../domain/alerts/alert.ts'
import { followEveryMs } from '../domain/alerts/compare-causes.ts'

interface UnstoredAlertDeps {
  readonly id: number
  publish(alert: Alert, hasOnlyOtherValues: boolean): void
  /** Epoch milliseconds. */
  now(): number
}

export class UnstoredAlert {
  readonly #deps: UnstoredAlertDeps
  #alert: Alert | null = null
  /** When the open alert last followed the values of its cause (epoch ms). */
  #followedAt = Number.NEGATIVE_INFINITY

  constructor(deps: UnstoredAlertDeps) {
    this.#deps = deps
  }

  list(): readonly Alert[] {
    return this.#alert === null ? [] : [this.#alert]
  }

  /** An open alert follows the values of its cause. */
  raise(cause: AlertCause): void {
    const { id, publish, now } = this.#deps
    const raised_at = now()
    if (this.#alert !== null) this.#follow(this.#alert, cause)
    else {
      const first = toFirst(cause, raised_at)
      const alert: Alert = {
        ...cause,
        ...noResponse,
        id,
        state: 'raised',
        raised_at,
        cleared_at: null,
        first,
        site: null,
      }
      this.#alert = alert
      publish(alert, false)
    }
  }

  respond(response: Partial<AlertResponse>): Alert {
    if (this.#alert === null) throw new Error('The alert is not open.')
    const alert = { ...this.#alert, ...response }
    this.#alert = { ...alert, state: alertState(alert) }
    this.#deps.publish(this.#alert, false)
    return this.#alert
  }

  clear(messageOf: (alert: Alert) => string): void {
    const alert = this.#alert
    if (alert === null) return
    const { publish, now } = this.#deps
    this.#alert = null
    publish({ ...alert, state: 'cleared', cleared_at: now(), message: messageOf(alert) }, false)
  }

  #follow(alert: Alert, { message, data }: AlertCause): void {
    const { publish, now } = this.#deps
    if (message === alert.message || Math.abs(now() - this.#followedAt) < followEveryMs) return
    this.#followedAt = now()
    this.#alert = { ...alert, message, data }
    publish(this.#alert, true)
  }
}
