/** What a notification says. */

import type { AlertBody } from '../../contract/alerts.ts'
import { type NotificationType, type Severity, severities } from '../../contract/values.ts'
import { type Alert, toAlertBody } from '../alerts/alert.ts'

/** The most alerts that a message lists. */
const maxAlertsPerMessage = 50

export interface NotificationMessage {
  /** The same at every try, and different for each notification channel: the `webhook-id`. */
  readonly id: string
  readonly type: NotificationType
  /** When it was queued, epoch milliseconds. */
  readonly created_at: number
  /** At most `maxAlertsPerMessage`; none in a test. */
  readonly alerts: readonly AlertBody[]
  /** The number of further alerts. */
  readonly more: number
}

interface MessageContext {
  /** Epoch milliseconds. */
  readonly now: number
  /** The number of alerts, if `alerts` are only those that the message lists. */
  readonly total?: number
  isSilenced(alert: Alert): boolean
  /** Called for an alert that cannot be listed. It counts as a further one. */
  onUnlisted(alert: Alert, error: unknown): void
}

/** Creates a message about these alerts as they are now. */
export function createMessage(
  { id, type, created_at }: Pick<NotificationMessage, 'id' | 'type' | 'created_at'>,
  alerts: readonly Alert[],
  { now, total = alerts.length, isSilenced, onUnlisted }: MessageContext,
): NotificationMessage {
  const bodies = selectAlerts(alerts).flatMap((alert) => {
    try {
      return toAlertBody(alert, { now, isSilenced: isSilenced(alert) })
    } catch (error) {
      onUnlisted(alert, error)
      return []
    }
  })
  return { id, type, created_at, alerts: bodies, more: total - bodies.length }
}

/** Returns the alerts that a message lists, the most severe first. */
export function selectAlerts<Listed extends { readonly severity: Severity }>(alerts: readonly Listed[]): Listed[] {
  const rank = ({ severity }: Listed) => severities.indexOf(severity)
  return alerts.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxAlertsPerMessage)
}
