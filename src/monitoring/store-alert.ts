/** Announces `storage_failing` while changes cannot be stored. The alert itself cannot be stored either; its id is 0. */

import { type Alert, noData } from '../domain/alerts/alert.ts'
import type { AlertSettings } from '../domain/alerts/alert-settings.ts'
import { type Cause, toAlertCause } from '../domain/alerts/compare-causes.ts'
import { describeEnding } from '../domain/alerts/describe-alert.ts'
import { type StoreCondition, storeFaults } from '../domain/equipment/health.ts'
import { UnstoredAlert } from './unstored-alert.ts'

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
  readonly #alert: UnstoredAlert

  constructor(deps: StoreAlertDeps) {
    this.#deps = deps
    this.#alert = new UnstoredAlert({ ...deps, id: 0 })
  }

  /** Returns the alert while it is open. */
  list(): readonly Alert[] {
    return this.#alert.list()
  }

  /** Called regularly with the current condition of the database. */
  update(condition: StoreCondition, at = performance.now()): void {
    const { isEnabled, delaySeconds, severity } = this.#deps.settings()
    if (condition === 'ok' || !isEnabled) {
      this.#since = null
      this.#alert.clear((alert) =>
        condition === 'ok' ? 'Changes are stored again' : describeEnding(alert, 'disabled'),
      )
      return
    }
    this.#since ??= at
    const waitMs = (condition === 'unwritable' ? unwritableForMs : 0) + delaySeconds * 1000
    if (at - this.#since >= waitMs) this.#alert.raise(toAlertCause(causeOf(condition), severity))
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
