/** For tests: keeps open alerts, applies changes to them as the database does, and describes the changes in short. */

import { type AlertKind, alertKindTable } from '../../contract/alert-kinds.ts'
import { type Alert, type AlertCause, type AlertChange, noResponse, toFirst } from './alert.ts'
import type { AlertSettings } from './alert-settings.ts'
import { type Comparison, compareCauses, noStarts } from './compare-causes.ts'

export class TestAlerts {
  /** Epoch milliseconds. */
  now = 1_000_000
  starts = noStarts
  dueAt = Number.POSITIVE_INFINITY
  readonly settings: Partial<Record<AlertKind, Partial<AlertSettings>>> = {}
  #lastId = 0
  readonly #open = new Map<string, Alert>()
  readonly #followedAt = new Map<number, number>()

  get open(): readonly Alert[] {
    return [...this.#open.values()]
  }

  put(alert: Alert): void {
    this.#open.set(alert.subject, alert)
  }

  /** Compares the causes with the open alerts and returns the changes: `+kind severity`, `~kind severity`, `=kind` if only values differ, `-kind`. */
  compare(comparison: Pick<Comparison, 'causes' | 'endingOf'>): readonly string[] {
    const { changes, starts, dueAt } = compareCauses({
      ...comparison,
      open: this.open,
      starts: this.starts,
      now: this.now,
      followedAt: ({ id }) => this.#followedAt.get(id),
      settings: ({ kind }) => {
        const { isEnabled, delaySeconds } = alertKindTable[kind]
        return { isEnabled, delaySeconds, severity: null, ...this.settings[kind] }
      },
    })
    this.starts = starts
    this.dueAt = dueAt
    return changes.map((change) => this.#apply(change))
  }

  #apply(change: AlertChange): string {
    switch (change.type) {
      case 'raise': {
        this.#lastId += 1
        this.put(this.#toAlert(change.cause, this.#lastId))
        return `+${change.cause.kind} ${change.cause.severity}`
      }
      case 'update':
        this.#followedAt.set(change.alert.id, this.now)
        this.put({
          ...change.alert,
          ...change.cause,
          ...(change.isWorse && { ...noResponse, state: 'raised' as const }),
        })
        if (change.cause.kind === change.alert.kind && change.cause.severity === change.alert.severity) {
          return `=${change.cause.kind}`
        }
        return `~${change.cause.kind} ${change.cause.severity}${change.isWorse ? '' : ' (not worse)'}`
      case 'clear':
        this.#open.delete(change.alert.subject)
        return `-${change.alert.kind}`
      case 'end_snooze':
        return `snooze of ${change.alert.kind} ended`
      case 'copy':
        return `copy of ${change.copy.kind}`
    }
  }

  #toAlert(cause: AlertCause, id: number): Alert {
    const first = toFirst(cause, this.now)
    const times = { raised_at: this.now, cleared_at: null }
    return { ...cause, ...noResponse, id, state: 'raised', ...times, first, acknowledgements: [], site: null }
  }
}
