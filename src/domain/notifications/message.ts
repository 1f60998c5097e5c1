/** What a notification says. */

import type { AlertBody } from '../../contract/resources/alerts.ts'
import { type NotificationType, type Severity, severities } from '../../contract/values.ts'

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

/** Returns the alerts that a message lists, the most severe first. */
export function selectAlerts<Listed extends { readonly severity: Severity }>(alerts: readonly Listed[]): Listed[] {
  const rank = ({ severity }: Listed) => severities.indexOf(severity)
  return alerts.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxAlertsPerMessage)
}
