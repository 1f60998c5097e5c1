/** Announces `storage_failing` while changes cannot be stored. */

import { noData } from '../domain/alerts/alert.ts'
import type { AlertSettings } from '../domain/alerts/alert-settings.ts'
import { type Cause, toAlertCause } from '../domain/alerts/compare-causes.ts'
import { describeEnding } from '../domain/alerts/describe-alert.ts'
import { type StoreCondition, storeFaults } from '../domain/equipment/health.ts'
import type { UnstoredAlert } from './unstored-alert.ts'

interface StoreAlertDeps {
  settings(): AlertSettings
  readonly alert: UnstoredAlert
}

/** Shorter interruptions, such as a restart of the database server, raise no alert. */
const unwritableForMs = 10_000

export class StoreAlert {
  readonly #deps: StoreAlertDeps
  /** When the current fault was first seen (`performance.now()`); null without a fault. */
  #since: number | null = null

  constructor(deps: StoreAlertDeps) {
    this.#deps = deps
  }

  update(condition: StoreCondition, at = performance.now()): void {
    const { settings, alert } = this.#deps
    const { isEnabled, delaySeconds, severity } = settings()
    if (condition === 'ok' || !isEnabled) {
      this.#since = null
      alert.clear((open) => (condition === 'ok' ? 'Changes are stored again' : describeEnding(open, 'disabled')))
      return
    }
    this.#since ??= at
    const waitMs = (condition === 'unwritable' ? unwritableForMs : 0) + delaySeconds * 1000
    if (at - this.#since >= waitMs) alert.raise(toAlertCause(causeOf(condition), severity))
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
