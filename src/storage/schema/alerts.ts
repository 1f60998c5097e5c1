/** Alerts, silences and notifications. */

import type { Generated } from 'kysely'
import type { NotificationChannelType } from '../../contract/notification-services.ts'
import type { DeliveryStatus, NotificationType, Severity } from '../../contract/values.ts'
import type { AlertKind } from '../../domain/alerts/alert.ts'
import type { Flag } from './flag.ts'

export interface AlertTables {
  alerts: AlertRow
  silences: SilenceRow
  notification_channels: NotificationChannelRow
  notification_rules: NotificationRuleRow
  notification_deliveries: NotificationDeliveryRow
  notification_delivery_alerts: NotificationDeliveryAlertRow
}

export interface AlertRow {
  id: Generated<number>
  subject: string
  kind: AlertKind
  severity: 'info' | 'warning' | 'critical'
  message: string
  /** Empty for alerts about the service itself. */
  manufacturer: string
  receiver_id: number | null
  channel_id: number | null
  raised_at: number
  cleared_at: number | null
  /** JSON; null for alerts of older versions. */
  data: string | null
  /** JSON of `AlertFirst`; null while the alert is unchanged. */
  first: string | null
  /** JSON: a list of `Acknowledgement`; null before the first one, and for alerts of version 1.0.0. */
  acknowledgements: string | null
  acknowledged_by: string | null
  acknowledged_at: number | null
  note: string | null
  snoozed_by: string | null
  snoozed_at: number | null
  /** JSON: a time in epoch milliseconds, `cleared` or `show_end`. */
  snoozed_until: string | null
  revision: number
  /** See `domain/notifications/plan.ts`. */
  notification_round: Generated<number>
  /** Code and name of the site that has raised it; null for an alert of this installation. */
  site: Generated<string | null>
  site_name: Generated<string | null>
}

export interface SilenceRow {
  id: Generated<number>
  /** JSON: a list of ids. */
  channels: string
  /** JSON: a list of ids. */
  groups: string
  /** JSON: a list of kinds. */
  kinds: string
  until: number
  reason: string
  created_by: string
  created_at: number
  version: number
}

export interface NotificationChannelRow {
  id: Generated<number>
  name: string
  type: NotificationChannelType
  enabled: Flag
  without_names: Generated<Flag>
  /** Encrypted: the key that signs links which acknowledge an alert; null if messages have none. */
  acknowledge_key: string | null
  /** JSON: the configuration without its secrets. */
  config: string
  /** Encrypted JSON: the secrets of the configuration; null if it has none. */
  secrets: string | null
  /** Encrypted: the secret with which a webhook's messages are signed; null for other services. */
  signing_secret: string | null
  /** Encrypted: the secret with which they are also signed until `previous_until`. */
  previous_secret: string | null
  previous_until: number | null
  version: number
}

interface NotificationRuleRow {
  id: Generated<number>
  name: string
  /** JSON: the rule without its id, name and version. */
  rule: string
  version: number
}

export interface NotificationDeliveryRow {
  id: Generated<number>
  message_id: string
  /** Null if the notification channel was deleted. */
  notification_channel_id: number | null
  /** Null for a test, or if the rule was deleted. */
  rule_id: number | null
  type: NotificationType
  status: DeliveryStatus
  attempts: number
  last_error: string | null
  created_at: number
  last_attempt_at: number | null
  /** Null unless it is retried. */
  next_attempt_at: number | null
  sent_at: number | null
}

/** An alert in a message, as it was when the message was queued. */
interface NotificationDeliveryAlertRow {
  delivery_id: number
  alert_id: number
  kind: AlertKind
  severity: Severity
  round: number
}
