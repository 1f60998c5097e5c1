/**
 * The alerts that are announced while they cannot be stored. Their ids are not positive. Each process has its own; they
 * end with the process.
 */

import {
  type Alert,
  type AlertCause,
  type AlertResponse,
  alertState,
  noData,
  noResponse,
  toFirst,
} from '../domain/alerts/alert.ts'
import { type Cause, followEveryMs, toAlertCause } from '../domain/alerts/compare-causes.ts'
import { describeEnding } from '../domain/alerts/describe-alert.ts'
import { type StoreCondition, storeFaults } from '../domain/equipment/health.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import type { AlertContext } from './alert-context.ts'

interface UnstoredAlertChanged {
  readonly alert: Alert
  /** True if its kind, severity and state are unchanged. */
  readonly hasOnlyOtherValues: boolean
}

/** Shorter interruptions, such as a restart of the database server, raise no alert. */
const unwritableForMs = 10_000

type UnstoredResponse = Partial<AlertResponse & Pick<Alert, 'acknowledgements'>>

export class UnstoredAlerts {
  readonly changed = new Topic<UnstoredAlertChanged>()
  readonly recording = new UnstoredAlert(-1, this.changed)
  readonly #storage = new UnstoredAlert(0, this.changed)
  readonly #settings: EffectiveSettings
  readonly #context: AlertContext
  readonly #log: Log
  /** When the database was first found at fault (`performance.now()`); null without a fault. */
  #faultSince: number | null = null

  constructor(settings: EffectiveSettings, context: AlertContext, log: Log) {
    this.#settings = settings
    this.#context = context
    this.#log = log
  }

  list(): readonly Alert[] {
    return this.#all().flatMap((alert) => alert.list())
  }

  update(condition: StoreCondition, at = performance.now()): void {
    this.#updateStorage(condition, at)
    for (const alert of this.#all()) {
      const [open] = alert.list()
      if (open === undefined || !this.#context.isSnoozeOver(open)) continue
      alert.respond({ snoozed_by: null, snoozed_at: null, snoozed_until: null })
    }
  }

  find(id: number): Alert | undefined {
    return this.list().find((alert) => alert.id === id)
  }

  respond(id: number, response: UnstoredResponse): Alert {
    const alert = this.#all().find((candidate) => candidate.list().some((open) => open.id === id))
    if (alert === undefined) throw new Error(`There is no open alert ${id} that is not stored.`)
    this.#log.info({ alert: id, ...response }, 'a response to an alert that cannot be stored was not audited')
    return alert.respond(response)
  }

  #all(): readonly UnstoredAlert[] {
    return [this.#storage, this.recording]
  }

  #updateStorage(condition: StoreCondition, at: number): void {
    const { isEnabled, delaySeconds, severity } = this.#settings.alertSettings('storage_failing', service)
    if (condition === 'ok' || !isEnabled) {
      this.#faultSince = null
      this.#storage.clear((open) =>
        condition === 'ok' ? 'Changes are stored again' : describeEnding(open, 'disabled'),
      )
      return
    }
    this.#faultSince ??= at
    const waitMs = (condition === 'unwritable' ? unwritableForMs : 0) + delaySeconds * 1000
    if (at - this.#faultSince >= waitMs) this.#storage.raise(toAlertCause(storageCause(condition), severity))
  }
}

class UnstoredAlert {
  readonly #id: number
  readonly #changed: Topic<UnstoredAlertChanged>
  #alert: Alert | null = null
  /** When the open alert last followed the values of its cause (epoch ms). */
  #followedAt = Number.NEGATIVE_INFINITY

  constructor(id: number, changed: Topic<UnstoredAlertChanged>) {
    this.#id = id
    this.#changed = changed
  }

  list(): readonly Alert[] {
    return this.#alert === null ? [] : [this.#alert]
  }

  /** An open alert follows the values of its cause. */
  raise(cause: AlertCause): void {
    if (this.#alert !== null) {
      this.#follow(this.#alert, cause)
      return
    }
    const raised_at = now()
    const first = toFirst(cause, raised_at)
    this.#put({
      ...cause,
      ...noResponse,
      id: this.#id,
      state: 'raised',
      raised_at,
      cleared_at: null,
      first,
      acknowledgements: [],
      site: null,
    })
  }

  respond(response: UnstoredResponse): Alert {
    if (this.#alert === null) throw new Error('The alert is not open.')
    const alert = { ...this.#alert, ...response }
    return this.#put({ ...alert, state: alertState(alert) })
  }

  clear(messageOf: (alert: Alert) => string): void {
    const alert = this.#alert
    if (alert === null) return
    this.#alert = null
    const cleared: Alert = { ...alert, state: 'cleared', cleared_at: now(), message: messageOf(alert) }
    this.#changed.publish({ alert: cleared, hasOnlyOtherValues: false })
  }

  #put(alert: Alert, hasOnlyOtherValues = false): Alert {
    this.#alert = alert
    this.#changed.publish({ alert, hasOnlyOtherValues })
    return alert
  }

  #follow(alert: Alert, { message, data }: AlertCause): void {
    if (message === alert.message || Math.abs(now() - this.#followedAt) < followEveryMs) return
    this.#followedAt = now()
    this.#put({ ...alert, message, data }, true)
  }
}

const service = { manufacturer: null, slots: [] }

function storageCause(condition: keyof typeof storeFaults): Cause {
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
