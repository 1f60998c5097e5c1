/** Announces `storage_failing` while changes cannot be stored. The alert itself cannot be stored either; its id is 0. */

import { type Alert, noData, noResponse } from '../domain/alerts/alert.ts'
import type { AlertSettings } from '../domain/alerts/alert-settings.ts'
import { type Cause, toAlertCause } from '../domain/alerts/compare-causes.ts'
import { type StoreCondition, storeFaults } from '../domain/equipment/health.ts'

interface StoreAlertDeps {
  settings(): AlertSettings
  publish(alert: Alert): void
  /** The wall-clock time in epoch ms. */
  now(): number
}

/** Shorter interruptions, such as a restart of the database server, raise no alert. */
const unwritableForMs = 10_000

export class StoreAlert {
  readonly #deps: StoreAlertDeps
  /** When the current fault was first seen (`performance.now()`); null without a fault. */
  #since: number | null = null
  #alert: Alert | null = null

  constructor(deps: StoreAlertDeps) {
    this.#deps = deps
  }

  /** Returns the alert while it is open. */
  list(): readonly Alert[] {
    return this.#alert === null ? [] : [this.#alert]
  }

  /** Called regularly with the current condition of the database. */
  update(condition: StoreCondition, at = performance.now()): void {
    const { settings, now } = this.#deps
    const { isEnabled, delaySeconds, severity } = settings()
    if (condition === 'ok' || !isEnabled) {
      this.#since = null
      if (this.#alert === null) return
      const message = condition === 'ok' ? 'Changes are stored again' : `Disabled by a setting: ${this.#alert.message}`
      this.#deps.publish({ ...this.#alert, state: 'cleared', cleared_at: now(), message })
      this.#alert = null
      return
    }
    this.#since ??= at
    const waitMs = (condition === 'unwritable' ? unwritableForMs : 0) + delaySeconds * 1000
    if (this.#alert !== null || at - this.#since < waitMs) return
    const times = { raised_at: now(), cleared_at: null }
    this.#alert = { ...toAlertCause(causeOf(condition), severity), ...noResponse, ...times, id: 0, state: 'raised' }
    this.#deps.publish(this.#alert)
  }
}

function causeOf(condition: keyof typeof storeFaults): Cause {
  return {
    subject: 'storage',
    kind: 'storage_failing',
    since: null,
    isInhibited: false,
    manufacturer: null,
    receiver_id: null,
    channel_id: null,
    data: { ...noData, error: storeFaults[condition] },
  }
}
