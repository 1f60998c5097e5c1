import type { AlertBody } from '../../contract/alerts.ts'
import { type NotificationType, type Severity, severities } from '../../contract/values.ts'
import { type Alert, type AlertMarks, toAlertBody } from '../alerts/alert.ts'
import { withoutNames } from '../alerts/alert-names.ts'

const maxAlertsPerMessage = 50

interface MessageHeader {
  /** The `webhook-id`: the same at every try, different for each notification channel. */
  readonly id: string
  readonly type: NotificationType
  /** When it was queued, epoch milliseconds. */
  readonly created_at: number
}

export interface NotificationMessage extends MessageHeader {
  /** Empty in a test. */
  readonly alerts: readonly AlertBody[]
  readonly more: number
}

interface MessageContext {
  /** Epoch milliseconds. */
  readonly now: number
  /** The number of alerts, if `alerts` are only the listed ones. */
  readonly total?: number
  /** See `NotificationChannel`. */
  readonly without_names: boolean
  marksOf(alert: Alert): AlertMarks
  /** Called for an alert that cannot be listed; `more` counts it. */
  onUnlisted(alert: Alert, error: unknown): void
}

export function createMessage(
  { id, type, created_at }: MessageHeader,
  alerts: readonly Alert[],
  { now, total = alerts.length, without_names, marksOf, onUnlisted }: MessageContext,
): NotificationMessage {
  const bodies = selectAlerts(alerts).flatMap((alert) => {
    try {
      const { titleNow, ...marks } = marksOf(alert)
      return without_names
        ? toAlertBody(withoutNames(alert), { now, ...marks })
        : toAlertBody(alert, { now, titleNow, ...marks })
    } catch (error) {
      onUnlisted(alert, error)
      return []
    }
  })
  return { id, type, created_at, alerts: bodies, more: total - bodies.length }
}

/** The most severe first. */
export function selectAlerts<Listed extends { readonly severity: Severity }>(alerts: readonly Listed[]): Listed[] {
  const rank = ({ severity }: Listed) => severities.indexOf(severity)
  return alerts.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxAlertsPerMessage)
}
