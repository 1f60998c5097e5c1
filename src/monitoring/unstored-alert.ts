/** An alert that is announced although it cannot be stored. Its id is not positive. */

import { type Alert, type AlertCause, type AlertResponse, alertState, noResponse } from '../domain/alerts/alert.ts'

interface UnstoredAlertDeps {
  readonly id: number
  publish(alert: Alert): void
  /** The wall-clock time in epoch ms. */
  now(): number
}

export class UnstoredAlert {
  readonly #deps: UnstoredAlertDeps
  #alert: Alert | null = null

  constructor(deps: UnstoredAlertDeps) {
    this.#deps = deps
  }

  /** Returns the alert while it is open. */
  list(): readonly Alert[] {
    return this.#alert === null ? [] : [this.#alert]
  }

  raise(cause: AlertCause): void {
    if (this.#alert !== null) return
    const { id, publish, now } = this.#deps
    this.#alert = { ...cause, ...noResponse, id, state: 'raised', raised_at: now(), cleared_at: null, site: null }
    publish(this.#alert)
  }

  /** Records what a user has done about the open alert, or that a snooze has ended. Returns the alert. */
  respond(response: Partial<AlertResponse>): Alert {
    if (this.#alert === null) throw new Error('The alert is not open.')
    const alert = { ...this.#alert, ...response }
    this.#alert = { ...alert, state: alertState(alert) }
    this.#deps.publish(this.#alert)
    return this.#alert
  }

  clear(messageOf: (alert: Alert) => string): void {
    const alert = this.#alert
    if (alert === null) return
    const { publish, now } = this.#deps
    this.#alert = null
    publish({ ...alert, state: 'cleared', cleared_at: now(), message: messageOf(alert) })
  }
}
