/** The alerts that are announced while they cannot be stored. Each process has its own; they end with the process. */

import type { Alert, AlertResponse } from '../domain/alerts/alert.ts'
import type { AlertSettings } from '../domain/alerts/alert-settings.ts'
import type { StoreCondition } from '../domain/equipment/health.ts'
import type { Log } from '../platform/log.ts'
import { StoreAlert } from './store-alert.ts'
import { UnstoredAlert } from './unstored-alert.ts'

interface UnstoredAlertsDeps {
  settings(): AlertSettings
  isSnoozeOver(alert: Alert): boolean
  publish(alert: Alert, hasOnlyOtherValues: boolean): void
  readonly log: Log
  /** Epoch milliseconds. */
  now(): number
}

export class UnstoredAlerts {
  readonly #deps: UnstoredAlertsDeps
  readonly #storage: UnstoredAlert
  readonly #store: StoreAlert
  readonly recording: UnstoredAlert

  constructor(deps: UnstoredAlertsDeps) {
    this.#deps = deps
    this.#storage = new UnstoredAlert({ ...deps, id: 0 })
    this.recording = new UnstoredAlert({ ...deps, id: -1 })
    this.#store = new StoreAlert({ settings: deps.settings, alert: this.#storage })
  }

  list(): readonly Alert[] {
    return this.#all().flatMap((alert) => alert.list())
  }

  update(condition: StoreCondition): void {
    this.#store.update(condition)
    for (const alert of this.#all()) {
      const [open] = alert.list()
      if (open === undefined || !this.#deps.isSnoozeOver(open)) continue
      alert.respond({ snoozed_by: null, snoozed_at: null, snoozed_until: null })
    }
  }

  find(id: number): Alert | undefined {
    return this.list().find((alert) => alert.id === id)
  }

  /** An acknowledged alert stays as it is. */
  respond(id: number, response: Partial<AlertResponse>): Alert {
    const alert = this.#all().find((candidate) => candidate.list().some((open) => open.id === id))
    const [open] = alert?.list() ?? []
    if (alert === undefined || open === undefined) throw new Error(`There is no open alert ${id} that is not stored.`)
    if (open.state === 'acknowledged') return open
    this.#deps.log.info({ alert: id, ...response }, 'a response to an alert that cannot be stored was not audited')
    return alert.respond(response)
  }

  #all(): readonly UnstoredAlert[] {
    return [this.#storage, this.recording]
  }
}
