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

export interface NotifiedAlert extends AlertBody {
  /** Anyone who opens it can acknowledge the alert. */
  readonly acknowledge_url?: string
}

export interface NotificationMessage extends MessageHeader {
  /** Empty in a test. */
  readonly alerts: readonly NotifiedAlert[]
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
  /** Null if the alert cannot be acknowledged with a link. */
  acknowledgeUrlOf?(alert: Alert): string | null
  /** Called for an alert that cannot be listed; `more` counts it. */
  onUnlisted(alert: Alert, error: unknown): void
}

export function createMessage(
  { id, type, created_at }: MessageHeader,
  alerts: readonly Alert[],
  { now, total = alerts.length, without_names, marksOf, acknowledgeUrlOf, onUnlisted }: MessageContext,
): NotificationMessage {
  const bodies = selectAlerts(alerts).flatMap((alert): NotifiedAlert[] => {
    try {
      const body = toChannelAlert(alert, { now, without_names, marks: marksOf(alert) })
      const acknowledge_url = acknowledgeUrlOf?.(alert) ?? null
      return [acknowledge_url === null ? body : { ...body, acknowledge_url }]
    } catch (error) {
      onUnlisted(alert, error)
      return []
    }
  })
  return { id, type, created_at, alerts: bodies, more: total - bodies.length }
}

/** The alert as the receivers of a notification channel may see it. */
export function toChannelAlert(
  alert: Alert,
  { now, without_names, marks }: Pick<MessageContext, 'now' | 'without_names'> & { readonly marks: AlertMarks },
): AlertBody {
  const { titleNow, ...others } = marks
  return without_names
    ? toAlertBody(withoutNames(alert), { now, ...others })
    : toAlertBody(alert, { now, titleNow, ...others })
}

/** The most severe first. */
export function selectAlerts<Listed extends { readonly severity: Severity }>(alerts: readonly Listed[]): Listed[] {
  const rank = ({ severity }: Listed) => severities.indexOf(severity)
  return alerts.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxAlertsPerMessage)
}
