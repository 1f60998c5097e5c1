import { type AlertKind, alertKindTable } from '../../contract/alert-kinds.ts'
import { type Severity, severities } from '../../contract/values.ts'
import { isSameJson } from '../json.ts'
import { type Alert, type AlertCause, type AlertChange, batteryKinds } from './alert.ts'
import { withFirstNames } from './alert-names.ts'
import type { AlertSettings } from './alert-settings.ts'
import { type AlertEnding, describeAlert, describeEnding } from './describe-alert.ts'

export interface Cause extends Omit<AlertCause, 'severity' | 'message'> {
  /** Absent: the severity of the kind. */
  readonly severity?: Severity
  /** Epoch milliseconds; null if unknown. */
  readonly since: number | null
  /** True while a more general problem, such as an offline receiver, is the reason: no alert is raised. */
  readonly isInhibited: boolean
}

/**
 * When each cause began, by subject and kind, in epoch milliseconds. Infinity while a cause is inhibited: its delay starts
 * when the inhibition ends.
 */
export type CauseStarts = ReadonlyMap<string, number>

export const noStarts: CauseStarts = new Map()

export interface ComparedCauses {
  /** Causes of the same subject are ordered from the worst; one alert covers all of them. */
  readonly causes: readonly Cause[]
  readonly open: readonly Alert[]
  /** The ending of an open alert without a cause; null while its cause may still be true. */
  endingOf(alert: Alert): AlertEnding | null
}

export interface Comparison extends ComparedCauses {
  /** Returned by the previous call. */
  readonly starts: CauseStarts
  readonly now: number
  /** The time of the last update with the values of its cause (epoch ms). */
  followedAt(alert: Alert): number | undefined
  settings(subject: Cause | Alert): AlertSettings
}

interface Compared {
  readonly changes: readonly AlertChange[]
  readonly starts: CauseStarts
  /** The end of the next delay (epoch ms); Infinity if none is running. */
  readonly dueAt: number
}

/** The values of an open alert change at most this often, because clients are notified of each change. */
export const followEveryMs = 10_000

export function compareCauses(comparison: Comparison): Compared {
  const { causes, open, starts, now, followedAt, settings, endingOf } = comparison
  const alerts = new Map(open.map((alert) => [alert.subject, alert]))
  const startsNow = new Map<string, number>()
  const lasting = new Set<string>()
  const due = new Map<string, AlertCause>()
  let dueAt = Number.POSITIVE_INFINITY
  for (const cause of causes) {
    const { isEnabled, delaySeconds, severity } = settings(cause)
    if (!isEnabled) continue
    lasting.add(cause.subject)
    const key = `${cause.subject} ${cause.kind}`
    if (cause.isInhibited) {
      startsNow.set(key, Number.POSITIVE_INFINITY)
      continue
    }
    const start = Math.min(now, starts.get(key) ?? cause.since ?? now)
    startsNow.set(key, start)
    const alert = alerts.get(cause.subject)
    const isKnown = alert !== undefined && kindRank(cause.kind) <= kindRank(alert.kind)
    const raisedAt = start + delaySeconds * 1000
    if (raisedAt > now && !isKnown) dueAt = Math.min(dueAt, raisedAt)
    else if (!due.has(cause.subject)) due.set(cause.subject, toAlertCause(withBeginningOf(alert, cause), severity))
  }
  const changes: AlertChange[] = []
  for (const alert of open) {
    const cause = due.get(alert.subject)
    if (cause !== undefined) {
      const isFollowing = cause.kind === alert.kind && cause.severity === alert.severity
      if (isFollowing && cause.message === alert.message && isSameJson(cause.data, alert.data)) continue
      const nextAt = isFollowing ? (followedAt(alert) ?? Number.NEGATIVE_INFINITY) + followEveryMs : now
      // The clock was set back if the alert followed in the future.
      if (nextAt <= now || nextAt > now + followEveryMs) {
        changes.push({ type: 'update', alert, cause, isWorse: isWorse(cause, alert) })
      } else dueAt = Math.min(dueAt, nextAt)
    } else if (!lasting.has(alert.subject)) {
      const ending = settings(alert).isEnabled ? endingOf(alert) : 'disabled'
      if (ending !== null) changes.push({ type: 'clear', alert, message: describeEnding(alert, ending) })
    }
  }
  for (const cause of due.values()) if (!alerts.has(cause.subject)) changes.push({ type: 'raise', cause })
  return { changes, starts: startsNow.size === 0 ? noStarts : startsNow, dueAt }
}

/** An alert keeps the names and the RF level of its beginning. */
function withBeginningOf(alert: Alert | undefined, cause: Cause): Cause {
  if (alert === undefined) return cause
  const { rf_level } = alert.data
  const level = rf_level === undefined || cause.kind !== alert.kind ? cause.data.rf_level : rf_level
  const data = withFirstNames(cause.data, alert.data)
  return { ...cause, data: level === undefined ? data : { ...data, rf_level: level } }
}

export function toAlertCause(cause: Cause, severity: Severity | null): AlertCause {
  const { subject, kind, manufacturer, receiver_id, channel_id, data } = cause
  const message = describeAlert(cause)
  const effective = severity ?? cause.severity ?? alertKindTable[kind].severity
  return { subject, kind, severity: effective, message, manufacturer, receiver_id, channel_id, data }
}

interface Rank {
  readonly kind: AlertKind
  readonly severity: Severity
}

export function isWorse(cause: Rank, alert: Rank): boolean {
  const difference = kindRank(cause.kind) - kindRank(alert.kind)
  return difference === 0 ? severities.indexOf(cause.severity) > severities.indexOf(alert.severity) : difference > 0
}

const rankedKinds: readonly AlertKind[] = batteryKinds.toReversed()

function kindRank(kind: AlertKind): number {
  return rankedKinds.indexOf(kind)
}
